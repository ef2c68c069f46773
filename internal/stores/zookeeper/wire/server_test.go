package wire_test

import (
	"bytes"
	"net"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/wire"
)

const tick = 500 * time.Millisecond

// server is an ensemble of three: the model behind the protocol. All members commit at the
// same time.
type server struct {
	start  time.Time
	ticker *time.Ticker
	all    sync.WaitGroup
	stop   chan struct{}

	mu      sync.Mutex
	leader  model.Leader
	leading int
	epoch   int32
	members [3]*model.Member
	down    [3]bool
	log     []model.Txn
	conns   []*serverConn
	missing []string
	watches []model.Watch // of each SetWatches
}

// serverConn is a client's connection. Its answers wait in out, so that the server
// never waits for a client.
type serverConn struct {
	net.Conn
	member  int
	session int64
	out     chan []byte
}

func newServer(t *testing.T) *server {
	s := &server{start: time.Now(), ticker: time.NewTicker(tick / 10), stop: make(chan struct{})}
	for i := range s.members {
		s.members[i] = model.NewMember()
	}
	s.elect(0)
	s.all.Go(func() {
		for {
			select {
			case <-s.stop:
				return
			case <-s.ticker.C:
				s.mu.Lock()
				for _, x := range s.leader.Expire(s.now()) {
					s.commit(x)
				}
				s.mu.Unlock()
			}
		}
	})
	t.Cleanup(s.close)
	return s
}

func (s *server) close() {
	s.hangUp()
	s.ticker.Stop()
	close(s.stop)
	s.all.Wait()
}

// elect makes member n the leader.
func (s *server) elect(n int) {
	s.leading, s.epoch = n, s.epoch+1
	s.leader.Lead(s.now(), tick, s.epoch, s.members[n])
}

func (s *server) now() time.Duration { return time.Since(s.start) }

// hangUp closes all connections.
func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.Close()
	}
}

// dial connects to the first member.
func (s *server) dial() (net.Conn, error) { return s.dialTo(0) }

// dialTo connects to member n.
func (s *server) dialTo(n int) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down[n] {
		return nil, syscall.ECONNREFUSED
	}
	client, conn := net.Pipe()
	c := &serverConn{Conn: conn, member: n, out: make(chan []byte, 1000)}
	s.all.Go(func() {
		for b := range c.out {
			c.Write(b)
		}
		c.Close()
	})
	s.conns = append(s.conns, c)
	s.all.Go(func() { s.serve(c) })
	return client, nil
}

func (s *server) serve(c *serverConn) {
	defer s.leave(c)
	var p wire.Parser
	for b := make([]byte, 4096); ; {
		n, err := c.Read(b)
		if err != nil {
			return
		}
		p.Feed(b[:n])
		for {
			r, ok, err := p.Next()
			if err != nil {
				return
			}
			if !ok {
				break
			}
			if !s.answer(c, &r) {
				return
			}
		}
	}
}

func (s *server) leave(c *serverConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = slices.DeleteFunc(s.conns, func(o *serverConn) bool { return o == c })
	if o := s.conn(c.session); o == nil || o.member != c.member {
		s.members[c.member].Detach(c.session)
	}
	close(c.out)
}

func (s *server) conn(session int64) *serverConn {
	for _, c := range s.conns {
		if c.session == session {
			return c
		}
	}
	return nil
}

// commit commits a transaction, sends the events, and returns the reply.
func (s *server) commit(x model.Txn) (r zookeeper.Reply) {
	s.log = append(s.log, x)
	for i, m := range s.members {
		if !s.down[i] {
			r = m.Commit(x)
			s.fire(i)
		}
	}
	s.leader.Committed(x.Zxid)
	if c := s.conn(x.Session); c != nil && x.Kind == model.Closing && x.By == 0 {
		c.Close() // it has expired
	}
	return r
}

// fire sends the events of member n.
func (s *server) fire(n int) {
	for _, f := range s.members[n].Fired() {
		if c := s.conn(f.Session); c != nil && c.member == n {
			c.out <- wire.AppendEvent(nil, f.Event)
		}
	}
}

// answer answers a request. It returns false if the connection ends with it.
func (s *server) answer(c *serverConn, r *wire.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Kind == wire.Hello {
		return s.greet(c, r)
	}
	var reply zookeeper.Reply
	member := s.members[c.member]
	alive := s.leader.Touch(s.now(), c.session)
	switch {
	case r.Kind == wire.Unknown:
		s.missing = append(s.missing, r.Missing)
		alive = false
	case !alive:
		reply.Code = wire.SessionExpired
	case r.Kind == wire.Farewell:
		x, _ := s.leader.Close(s.now(), c.session, 1)
		reply, alive = s.commit(x), false
	case r.Kind == wire.SetWatches:
		s.watches = append(s.watches, r.Watches...)
		member.Attach(c.session, r.Watches, r.Zxid)
		s.fire(c.member)
	case r.Kind != wire.Call:
	case slices.Contains([]zookeeper.Verb{zookeeper.Create, zookeeper.Delete, zookeeper.SetData}, r.Command.Verb):
		x, _ := s.leader.Propose(s.now(), c.session, 1, r.Command)
		reply = s.commit(x)
	default:
		reply = member.Read(c.session, r.Command)
	}
	c.out <- wire.AppendAnswer(nil, r, member.Zxid(), reply)
	return alive
}

func (s *server) greet(c *serverConn, r *wire.Request) bool {
	id, length := r.Session, time.Duration(0)
	switch {
	case id == 0:
		x := s.leader.Open(s.now(), 0, r.Length)
		s.commit(x)
		id, length = x.Session, x.Timeout
	case bytes.Equal(r.Password, wire.Password(id)) && s.leader.Touch(s.now(), id):
		length = r.Length
		if old := s.conn(id); old != nil {
			old.session = 0
			old.Close()
		}
	}
	c.out <- wire.AppendHello(nil, id, wire.Password(id), length)
	if length != 0 {
		c.session = id
	}
	return length != 0
}
