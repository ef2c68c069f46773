package docker

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// pond is a server whose link is cut while it is being reached. Nothing else of it is
// used.
type pond struct {
	farServer
	net.Listener
	link chan *link
}

func (p *pond) reach(context.Context, string) (*net.TCPConn, dialect, error) {
	conn, err := net.Dial("tcp", p.Addr().String())
	(<-p.link).cut()
	if err != nil {
		return nil, nil, err
	}
	return conn.(*net.TCPConn), &mysqlTalk{replies: bufio.NewReader(conn)}, nil
}

// A cut also resets connections that are being made: none may lead to the old server.
func TestLinkCutsNewConnections(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	far := &pond{Listener: server, link: make(chan *link, 1)}
	l, err := newLink("c1", far, newDisturbances(), new(atomic.Int64))
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	far.link <- l
	conn, err := net.Dial("tcp", l.addr())
	if err == nil {
		defer conn.Close()
		conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		_, err = conn.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("not reset: %v", err)
	}
}

// Until the new primary leads, no client reaches it, nor the old one, which may still
// serve.
func TestNoClientReachesAPrimaryDuringItsPromotion(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	servers := []*mysqld{{}, {}}
	for _, s := range servers {
		s.Addr, s.up = server.Addr().String(), true
	}
	cuts := 0
	p := &primary{
		servers: servers, rows: newRows(nil, "mysql-1", nil, t.Logf),
		first: servers[0], sessions: map[string][]int64{}, cut: func() { cuts++ },
	}
	reached := func() bool {
		conn, _, err := p.reach(t.Context(), "c1")
		if err == nil {
			conn.Close()
		}
		return err == nil
	}
	if !reached() {
		t.Error("the primary is not reached")
	}
	p.replaceBy(servers[1])
	if reached() || cuts != 1 || !servers[0].deposed.Load() || p.leader() != servers[1] {
		t.Errorf("rising: reached, or cut off %d times, or not in the old one's place", cuts)
	}
}
