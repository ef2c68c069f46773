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

// learner is an observer of an ensemble, as ZooKeeper calls a server that has no
// vote and that the leader tells what it commits: each transaction, in order,
// with the session and the number of the request that asked for it. Whoever
// leads next tells it what it has missed. It holds nobody up: a leader waits for
// no observer.
//
// Watches would not do. An event does not say who caused it, nor which
// transaction it was (before ZooKeeper 3.9), and what happens while an observing
// client changes servers it is never told.
//
// Source: Apache ZooKeeper 3.8, Learner, Observer and LearnerHandler.
type learner struct {
	servers []*ZooKeeperServer
	// commit is told each transaction, and who leads; and when all was told of
	// earlier epochs, with a transaction that is none.
	commit func(leader *ZooKeeperServer, t txn)
	ready  chan struct{} // closed when a leader has told all there was
	once   sync.Once
	zxid   int64 // the last that commit was told

	mu    sync.Mutex
	least int64        // who leads an earlier epoch leads no more
	epoch int64        // of the leader
	to    *net.TCPConn // the leader; nil: none yet
	ends  []error      // what each server last ended with; nil: it was not asked yet
}

func newLearner(servers []*ZooKeeperServer, commit func(*ZooKeeperServer, txn)) *learner {
	return &learner{servers: servers, commit: commit, ready: make(chan struct{}), ends: make([]error, len(servers))}
}

// beyond says that there is a transaction of that number: who leads an earlier
// epoch does not lead any more, though it may not know that yet.
func (l *learner) beyond(zxid int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.least = max(l.least, zxid>>32)
	if l.to != nil && l.epoch < l.least {
		l.to.Close()
	}
}

// leads notes the leader that conn leads to, unless it is known that another one
// leads.
func (l *learner) leads(conn *net.TCPConn, zxid int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if zxid>>32 < l.least {
		return errStale
	}
	l.to, l.epoch, l.least = conn, zxid>>32, zxid>>32
	return nil
}

var errStale = errors.New("another server leads by now")

// txn is a transaction: one of a request that was refused changes nothing, and is
// none of the kinds.
type txn struct {
	zxid    int64
	session int64 // whose request it was, or which was closed
	xid     int32 // the request's
	kind    int32
	path    string
	// ephemeral says of a node that is made that it goes with the session.
	ephemeral bool
}

func (t txn) creates() bool {
	return t.kind == opCreate || t.kind == opCreate2 || t.kind == opCreateContainer || t.kind == opCreateTTL
}

// The kinds of transactions, which are those of requests: ZooDefs.OpCode.
const (
	opCreate          = 1
	opDelete          = 2
	opMulti           = 14
	opCreate2         = 15
	opCreateContainer = 19
	opDeleteContainer = 20
	opCreateTTL       = 21
	opCloseSession    = -11
)

// The kinds of packets between a leader and who follows it: Leader.
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
	// learnerID is the number of the observer, which no server has.
	learnerID = 255
	// learnerVersion is that of the protocol between servers.
	learnerVersion = 0x10000
	// greetLimit is how long a server may take to say that it leads, and
	// quietLimit how long a leader may say nothing: it sends two pings a tick.
	greetLimit = 300 * time.Millisecond
	quietLimit = 2 * Tick
)

// errGap: the leader cannot tell what the observer has missed.
var errGap = errors.New("the leader does not tell what it has committed meanwhile")

// follow learns from whoever leads until ctx ends, or with errGap.
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

// refused is why the servers did not take the observer when it last asked each,
// or not for longer.
func (l *learner) refused() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.ends...)
}

// learn learns from s for as long as it leads.
func (l *learner) learn(ctx context.Context, s *ZooKeeperServer) error {
	conn, err := (&net.Dialer{Timeout: greetLimit}).DialContext(ctx, "tcp", s.quorum)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	c := &learning{learner: l, server: s, conn: conn.(*net.TCPConn), r: bufio.NewReader(conn), proposed: map[int64]txn{}}
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

// learning is a connection of the observer's to one leader.
type learning struct {
	*learner
	server   *ZooKeeperServer
	conn     *net.TCPConn
	r        *bufio.Reader
	proposed map[int64]txn // by zxid: what was missed; the commits follow
}

// packet is what servers send each other.
type packet struct {
	kind int32
	zxid int64
	data []byte
}

func (c *learning) read() (p packet, err error) {
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
	// Who asks is always nobody: an empty list.
	_, err = c.r.Discard(4)
	return p, err
}

func (c *learning) write(p packet) error {
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

// greet introduces the observer. It has seen no epoch: so it has no say in which
// is the next.
func (c *learning) greet() error {
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
	if err := c.leads(c.conn, p.zxid); err != nil {
		return err
	}
	return c.write(packet{kind: learnAckEpoch, zxid: c.zxid, data: jute.AppendInt(nil, -1)})
}

func (c *learning) take(p packet) error {
	switch p.kind {
	case learnDiff, learnUpToDate:
	case learnSnapshot:
		select {
		case <-c.ready:
			return errGap
		default:
			if err := c.passSnapshot(); err != nil {
				return err
			}
			c.zxid = p.zxid // what comes besides, up to there, is in it
			return nil
		}
	case learnProposal:
		t := readTxn(p.data)
		c.proposed[t.zxid] = t
	case learnCommit:
		t, ok := c.proposed[p.zxid]
		if !ok && p.zxid > c.zxid {
			return fmt.Errorf("%w: a commit of what was not proposed", errGap)
		}
		delete(c.proposed, p.zxid)
		c.tell(t)
	case learnInform:
		c.tell(readTxn(p.data))
	case learnNew:
		// All that was decided before this epoch is told.
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

func (c *learning) tell(t txn) {
	if t.zxid > c.zxid {
		c.zxid = t.zxid
		c.commit(c.server, t)
	}
}

// snapshotEnd is what stands behind a snapshot.
var snapshotEnd = jute.AppendBuffer(nil, "BenWasHere")

// passSnapshot passes over all that the ensemble has: before the first client
// that is nothing of a lock's.
func (c *learning) passSnapshot() error {
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

// readTxn reads a transaction: its header, and what it begins with.
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
		var acls int32
		for acls, p = p.Int(); acls > 0; acls-- {
			_, p = p.Skip(4).Text()
			_, p = p.Text()
		}
		t.ephemeral = len(p) > 0 && p[0] != 0
	case t.kind == opDelete, t.kind == opDeleteContainer:
		t.path, _ = p.Text()
	}
	return t
}
