package docker

import (
	"bufio"
	"errors"
	"io"
	"net"
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// leader is a fake server that leads an epoch (0: none) and sends this to an observer.
// It then hangs up, unless it stays.
func leader(t *testing.T, epoch int64, stays bool, tells ...[]byte) *ZooKeeperServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c := &leaderConn{conn: conn.(*net.TCPConn), r: bufio.NewReader(conn)}
			if hello, err := c.read(); err != nil || hello.kind != learnObserver {
				t.Errorf("greeted by %+v, %v", hello, err)
			}
			if epoch > 0 {
				c.write(packet{kind: learnLeader, zxid: epoch << 32, data: jute.AppendInt(nil, learnerVersion)})
				conn.Write(slices.Concat(tells...))
			}
			if epoch == 0 || !stays {
				conn.(*net.TCPConn).CloseWrite()
			}
			io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	return &ZooKeeperServer{quorum: l.Addr().String()}
}

// The observer follows the present leader only. It gets missed transactions as
// proposals and commits; each counts once. If a leader has forgotten missed ones the
// observer reports that, and it has an error for each server that no longer serves it.
func TestLearner(t *testing.T) {
	t.Parallel()
	said := func(kind int32, zxid int64) []byte {
		b := jute.AppendLong(jute.AppendInt(jute.AppendLong(nil, 7), 3), zxid)
		return packet{kind, zxid, jute.AppendBuffer(jute.AppendInt(jute.AppendLong(b, 0), jute.OpDelete), "/a/x")}.bytes()
	}
	bare := func(kind int32, zxid int64) []byte { return packet{kind: kind, zxid: zxid}.bytes() }
	snapshot := slices.Concat(bare(learnSnapshot, 0), []byte("\x00\x00\x00\x00\x00\x0aBenWas..."), snapshotEnd)
	const one, two, four = 1 << 32, 2 << 32, 4 << 32
	first := leader(t, 1, false, snapshot, bare(learnNew, one), bare(learnUpToDate, -1), said(learnInform, one+1))
	second := leader(
		t, 2, true, bare(learnDiff, one+2),
		said(learnProposal, one+1), bare(learnCommit, one+1), said(learnProposal, one+2), bare(learnCommit, one+2), said(learnProposal, one+3),
		bare(learnNew, two), bare(learnPing, 0), said(learnInform, two+1),
	)
	forgetful := leader(t, 4, true, snapshot)
	type told struct {
		by   *ZooKeeperServer
		zxid int64
	}
	got := make(chan told, 10)
	l := newLearner([]*ZooKeeperServer{leader(t, 0, false), first, second, forgetful}, func(s *ZooKeeperServer, x txn) { got <- told{s, x.zxid} })
	ended := make(chan error, 1)
	go func() { ended <- l.follow(t.Context()) }()
	for _, want := range []told{{first, one}, {first, one + 1}, {second, one + 2}, {second, two}, {second, two + 1}} {
		if is := <-got; is != want {
			t.Fatalf("got %x by %v, want %x by %v", is.zxid, is.by, want.zxid, want.by)
		}
	}
	l.beyond(two + 9) // of the same epoch: it goes on
	l.beyond(four)
	if err := <-ended; !errors.Is(err, errGap) {
		t.Error(err)
	}
	if err := l.lastErrors(); !errors.Is(err, errGap) || !errors.Is(err, io.EOF) {
		t.Errorf("errors %v, want one of each server", err)
	}
	if len(got) > 0 {
		t.Errorf("got %x in the end", (<-got).zxid)
	}
}
