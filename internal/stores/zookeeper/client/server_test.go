package client_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fate is the server's treatment of a request.
type fate int

const (
	pass      fate = iota
	swallow        // it is lost
	loseReply      // it is executed; the answer does not come
	hangUp         // it is executed; the connection is closed in place of the answer
	drop           // the connection is closed; it is not executed
	late           // it is executed; the answer comes before that to the next
)

// These are numbers of the protocol.
const (
	opCreate, opDelete, opExists, opGetData, opSetData int32 = 1, 2, 3, 4, 5
	opSync, opGetChildren, opSetWatches, opClose       int32 = 9, 12, 101, -11
	created, deleted                                   int32 = 1, 2
)

// ask is a request as the server received it.
type ask struct {
	conn, op int32
	path     string
}

// greeting is the beginning of a connection.
type greeting struct {
	session  int64
	password string
	timeout  int32
}

// server implements a minimum of ZooKeeper's protocol: it accepts every request
// and loses messages on request. It stores no nodes: every node exists except
// those below /none, and its data is its path.
type server struct {
	addr     string
	listener net.Listener

	mu       sync.Mutex
	decide   func(ask) fate // nil: pass for all
	tells    []event        // events before the next reply
	silent   bool           // it sends no greeting
	expired  bool           // the session has expired
	session  int64
	greeted  []greeting
	asks     []ask
	executed []ask
	held     [][]byte // late replies
	conns    map[net.Conn]bool
	dialed   int32
}

type event struct {
	kind int32
	path string
}

const password = "sixteen letters!"

func newServer(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := &server{addr: l.Addr().String(), listener: l, session: 7, conns: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns[conn] = true
			s.dialed++
			number := s.dialed
			s.mu.Unlock()
			all.Go(func() { s.serve(conn, number) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.hangUp()
		all.Wait()
	})
	return s
}

// set changes the server's behaviour.
func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// hangUp closes all connections.
func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

// seen returns all requests so far, done the executed ones.
func (s *server) seen() []ask { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.asks) }
func (s *server) done() []ask { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.executed) }

// greetings returns the beginnings of all connections.
func (s *server) greetings() []greeting {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.greeted)
}

func (s *server) serve(conn net.Conn, number int32) {
	defer func() {
		conn.Close()
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
	}()
	hello := read(conn)
	if hello == nil {
		return
	}
	if !s.greet(conn, hello) {
		io.Copy(io.Discard, conn)
		return
	}
	for {
		p := read(conn)
		if p == nil || !s.answer(conn, number, p) {
			return
		}
	}
}

// greet answers a greeting, unless the server is silent.
func (s *server) greet(conn net.Conn, hello []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := greeting{
		timeout:  int32(binary.BigEndian.Uint32(hello[12:])),
		session:  int64(binary.BigEndian.Uint64(hello[16:])),
		password: string(hello[28:44]),
	}
	s.greeted = append(s.greeted, g)
	if s.silent {
		return false
	}
	id := s.session
	if s.expired {
		id = 0
	}
	b := ints(nil, 0, max(g.timeout, 1000))
	b = binary.BigEndian.AppendUint64(b, uint64(id))
	send(conn, text(b, password))
	return true
}

// answer answers a request. It returns false to close the connection.
func (s *server) answer(conn net.Conn, number int32, p []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	xid, op := int32(binary.BigEndian.Uint32(p)), int32(binary.BigEndian.Uint32(p[4:]))
	if xid == -2 {
		send(conn, header(xid, 0))
		return true
	}
	a := ask{conn: number, op: op}
	if op != opSetWatches && len(p) >= 12 {
		a.path = string(p[12 : 12+binary.BigEndian.Uint32(p[8:])])
	}
	s.asks = append(s.asks, a)
	f := pass
	if s.decide != nil {
		f = s.decide(a)
	}
	if f != swallow && f != drop {
		s.executed = append(s.executed, a)
	}
	for _, e := range s.tells {
		send(conn, text(append(header(-1, 0), ints(nil, e.kind, 3)...), e.path))
	}
	s.tells = nil
	reply := s.reply(xid, a)
	switch f {
	case drop, hangUp:
		return false
	case late:
		s.held = append(s.held, reply)
	case pass:
		for _, r := range append(s.held, reply) {
			send(conn, r)
		}
		s.held = nil
	}
	return op != opClose || f != pass
}

func (s *server) reply(xid int32, a ask) []byte {
	var code int32
	if strings.HasPrefix(a.path, "/none") {
		code = -101
	} else {
		fmt.Sscanf(a.path, "/code%d", &code)
	}
	b := header(xid, code)
	stat := make([]byte, 68)
	switch {
	case code != 0:
	case a.op == opCreate, a.op == opSync:
		b = text(b, a.path)
	case a.op == opExists, a.op == opSetData:
		b = append(b, stat...)
	case a.op == opGetData:
		b = append(text(b, a.path), stat...)
	case a.op == opGetChildren:
		b = append(text(ints(b, 1), "child"), stat...)
	}
	return b
}

func header(xid, code int32) []byte {
	return ints(nil, xid, 0, 5, code) // zxid 5
}

func ints(b []byte, values ...int32) []byte {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	return b
}

func text(b []byte, s string) []byte { return append(ints(b, int32(len(s))), s...) }

func send(w io.Writer, p []byte) { w.Write(append(ints(nil, int32(len(p))), p...)) }

// read reads a packet, or returns nil.
func read(r io.Reader) []byte {
	var n [4]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return nil
	}
	p := make([]byte, binary.BigEndian.Uint32(n[:]))
	if _, err := io.ReadFull(r, p); err != nil {
		return nil
	}
	return p
}
