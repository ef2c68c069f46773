package docker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// learner is an observer of an ensemble: ZooKeeper's name for a server without a vote.
// The leader sends it each committed transaction, in order, with the session and the
// number of its request. A new leader sends it what it has missed. It delays nobody,
// because a leader does not wait for observers.
//
// Watches would not do. An event names neither its cause nor its transaction (before
// ZooKeeper 3.9), and an observing client misses events while it changes servers.
//
// Source: Apache ZooKeeper 3.8, Learner, Observer and LearnerHandler.
type learner struct {
	servers []*ZooKeeperServer
	// commit gets each transaction, with its leader. After the transactions of earlier
	// epochs it gets an empty one.
	commit func(leader *ZooKeeperServer, t txn)
	ready  chan struct{} // closed when a leader has sent everything so far
	once   sync.Once
	zxid   int64 // the last that commit got

	mu    sync.Mutex
	least int64        // the leader of an earlier epoch has been replaced
	epoch int64        // of the leader
	to    *net.TCPConn // nil: none yet
	ends  []error      // the last error of each server; nil: not asked yet
}

func newLearner(servers []*ZooKeeperServer, commit func(*ZooKeeperServer, txn)) *learner {
	return &learner{servers: servers, commit: commit, ready: make(chan struct{}), ends: make([]error, len(servers))}
}

// beyond records that a transaction of that number exists: the leader of an earlier
// epoch has been replaced, though it may not know that yet.
func (l *learner) beyond(zxid int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.least = max(l.least, zxid>>32)
	if l.to != nil && l.epoch < l.least {
		l.to.Close()
	}
}

// setLeader records the leader behind conn. It returns an error if another server is
// known to lead.
func (l *learner) setLeader(conn *net.TCPConn, zxid int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if zxid>>32 < l.least {
		return errStale
	}
	l.to, l.epoch, l.least = conn, zxid>>32, zxid>>32
	return nil
}

var errStale = errors.New("another server leads now")

// txn is a transaction. The transaction of a refused request changes nothing, and is of
// no kind below.
type txn struct {
	zxid    int64
	session int64 // the session of the request, or the closed session
	xid     int32 // the number of the request
	kind    int32
	path    string
	// ephemeral: a created node ends with the session.
	ephemeral bool
}

func (t txn) creates() bool {
	return t.kind == jute.OpCreate || t.kind == jute.OpCreate2 || t.kind == jute.OpCreateContainer || t.kind == jute.OpCreateTTL
}

// The kinds of packets between a leader and its followers: Leader.
const (
	learnProposal = 2
	learnAck      = 3
	learnCommit   = 4
	learnPing     = 5
	learnInform   = 8
	learnNew      = 10
	learnUpToDate = 12
	learnDiff     = 13
	learnSnapshot = 15
	learnObserver = 16
	learnLeader   = 17
	learnAckEpoch = 18
)

const (
	// learnerID is the observer's number; no server has it.
	learnerID = 255
	// learnerVersion is the version of the protocol between servers.
	learnerVersion = 0x10000
	// greetLimit is how long a server may take to report that it leads, and quietLimit
	// how long a leader may be silent: it sends two pings a tick.
	greetLimit = 300 * time.Millisecond
	quietLimit = 2 * Tick
)

// errGap: the leader cannot send what the observer has missed.
var errGap = errors.New("the leader does not send what it has committed meanwhile")

// follow learns from each leader in turn until ctx ends, or returns errGap.
func (l *learner) follow(ctx context.Context) error {
	for ctx.Err() == nil {
		for i, s := range l.servers {
			err := l.learn(ctx, s)
			l.mu.Lock()
			l.ends[i] = fmt.Errorf("%s: %w", s.quorum, err)
			l.mu.Unlock()
			if errors.Is(err, errGap) {
				return err
			}
		}
		time.Sleep(10 * time.Millisecond) // they may be electing, on the same cores
	}
	return ctx.Err()
}

// lastErrors returns the last error of each server: why it refused the observer, or
// ended.
func (l *learner) lastErrors() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.ends...)
}

// learn learns from s while s leads.
func (l *learner) learn(ctx context.Context, s *ZooKeeperServer) error {
	conn, err := (&net.Dialer{Timeout: greetLimit}).DialContext(ctx, "tcp", s.quorum)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	c := &leaderConn{learner: l, server: s, conn: conn.(*net.TCPConn), r: bufio.NewReader(conn), proposed: map[int64]txn{}}
	conn.SetDeadline(time.Now().Add(greetLimit))
	if err := c.greet(); err != nil {
		return err
	}
	for {
		conn.SetDeadline(time.Now().Add(quietLimit))
		p, err := c.read()
		if err == nil {
			err = c.take(p)
		}
		if err != nil {
			return err
		}
	}
}

// leaderConn is the observer's connection to one leader.
type leaderConn struct {
	*learner
	server   *ZooKeeperServer
	conn     *net.TCPConn
	r        *bufio.Reader
	proposed map[int64]txn // missed transactions by zxid, whose commits follow
}

// packet is a packet between servers.
type packet struct {
	kind int32
	zxid int64
	data []byte
}

func (c *leaderConn) read() (p packet, err error) {
	var head [16]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return p, err
	}
	var rest jute.Packet
	p.kind, rest = jute.Packet(head[:]).Int()
	p.zxid, rest = rest.Long()
	if n, _ := rest.Int(); n > 0 {
		p.data = make([]byte, n)
		if _, err := io.ReadFull(c.r, p.data); err != nil {
			return p, err
		}
	}
	// The list of credentials is always empty.
	_, err = c.r.Discard(4)
	return p, err
}

func (c *leaderConn) write(p packet) error {
	_, err := c.conn.Write(p.bytes())
	return err
}

func (p packet) bytes() []byte {
	b := jute.AppendLong(jute.AppendInt(nil, p.kind), p.zxid)
	if p.data == nil {
		b = jute.AppendInt(b, -1)
	} else {
		b = jute.AppendBuffer(b, p.data)
	}
	return jute.AppendInt(b, -1)
}

// greet introduces the observer. It claims to have seen no epoch, so it has no
// influence on the next one.
func (c *leaderConn) greet() error {
	info := jute.AppendLong(jute.AppendInt(jute.AppendLong(nil, learnerID), learnerVersion), 0)
	if err := c.write(packet{kind: learnObserver, data: info}); err != nil {
		return err
	}
	p, err := c.read()
	if err != nil {
		return err
	}
	if p.kind != learnLeader {
		return fmt.Errorf("%s answers an observer with a packet of kind %d", c.server.Addr, p.kind)
	}
	if err := c.setLeader(c.conn, p.zxid); err != nil {
		return err
	}
	return c.write(packet{kind: learnAckEpoch, zxid: c.zxid, data: jute.AppendInt(nil, -1)})
}

func (c *leaderConn) take(p packet) error {
	switch p.kind {
	case learnDiff, learnUpToDate:
	case learnSnapshot:
		select {
		case <-c.ready:
			return errGap
		default:
			if err := c.skipSnapshot(); err != nil {
				return err
			}
			c.zxid = p.zxid // it includes all further transactions up to there
			return nil
		}
	case learnProposal:
		t := readTxn(p.data)
		c.proposed[t.zxid] = t
	case learnCommit:
		t, ok := c.proposed[p.zxid]
		if !ok && p.zxid > c.zxid {
			return fmt.Errorf("%w: a commit without a proposal", errGap)
		}
		delete(c.proposed, p.zxid)
		c.report(t)
	case learnInform:
		c.report(readTxn(p.data))
	case learnNew:
		// All transactions before this epoch were sent.
		c.commit(c.server, txn{zxid: p.zxid})
		c.once.Do(func() { close(c.ready) })
		return c.write(packet{kind: learnAck, zxid: p.zxid})
	case learnPing:
		return c.write(packet{kind: learnPing, zxid: p.zxid, data: []byte{}})
	default:
		return fmt.Errorf("%w: a packet of kind %d", errGap, p.kind)
	}
	return nil
}

func (c *leaderConn) report(t txn) {
	if t.zxid > c.zxid {
		c.zxid = t.zxid
		c.commit(c.server, t)
	}
}

// snapshotEnd ends a snapshot.
var snapshotEnd = jute.AppendBuffer(nil, "BenWasHere")

// skipSnapshot skips the snapshot: before the first client it has no entries of locks.
func (c *leaderConn) skipSnapshot() error {
	for at := 0; at < len(snapshotEnd); {
		b, err := c.r.ReadByte()
		if err != nil {
			return err
		}
		switch {
		case b == snapshotEnd[at]:
			at++
		case b == 0 && at == 3: // still three zeros
		default:
			at = bytes.IndexByte(snapshotEnd[:1], b) + 1
		}
	}
	return nil
}

// readTxn reads the header of a transaction, and the start of its body.
func readTxn(b []byte) (t txn) {
	p := jute.Packet(b)
	t.session, p = p.Long()
	t.xid, p = p.Int()
	t.zxid, p = p.Long()
	t.kind, p = p.Skip(8).Int()
	switch {
	case t.creates():
		t.path, p = p.Text()
		_, p = p.Buffer()
		_, p = p.SkipACLs()
		t.ephemeral = len(p) > 0 && p[0] != 0
	case t.kind == jute.OpDelete, t.kind == jute.OpDeleteContainer, t.kind == jute.OpSetData:
		t.path, _ = p.Text()
	}
	return t
}
