package wire_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
)

// frontEnd is the package's side: a front end on a model.
type frontEnd struct {
	clock  time.Time
	model  *model.Server
	server wire.Server
	conns  map[string]*wire.Conn
	output map[*wire.Conn]*bytes.Buffer
	waits  map[*wire.Conn]wait
}

// wait is a request that waits for its answer.
type wait struct {
	serial int
	until  time.Time
}

func newFrontEnd() *frontEnd {
	return &frontEnd{
		clock: time.Now(), model: model.New(model.Options{Policy: model.NoEviction}),
		conns: map[string]*wire.Conn{}, output: map[*wire.Conn]*bytes.Buffer{}, waits: map[*wire.Conn]wait{},
	}
}

func (f *frontEnd) now() time.Time { return f.clock }

func (f *frontEnd) sleep(d time.Duration) {
	f.clock = f.clock.Add(d)
	for c, w := range f.waits {
		if serial, timeout := f.server.Blocked(c); serial == w.serial && timeout > 0 && !f.clock.Before(w.until) {
			f.output[c].Write(f.server.Timeout(c))
		}
	}
}

func (f *frontEnd) tell(t *testing.T, what string) {
	now := time.Duration(f.clock.UnixNano())
	switch what {
	case "follow":
		f.model.Follow()
		f.server.Follows = func() (host, port string, ok bool) { return "127.0.0.1", "1", true }
	case "lead":
		f.model.Lead(now)
		f.server.Follows = nil
	case "full":
		f.model.Evict(now)
	case "relieved":
		f.model.Relieve()
	default:
		t.Fatal(what)
	}
}

func (f *frontEnd) apply(c redis.Command) redis.Reply {
	r := f.model.Apply(time.Duration(f.clock.UnixNano()), 1, c)
	for _, e := range f.model.Effects() {
		if e.Kind == model.Expired {
			f.server.Changed(e.Key)
		}
	}
	return r
}

func (f *frontEnd) conn(name string) *wire.Conn {
	if f.conns[name] == nil {
		f.conns[name] = new(wire.Conn)
		f.output[f.conns[name]] = new(bytes.Buffer)
	}
	return f.conns[name]
}

func (f *frontEnd) send(t *testing.T, conn, request string) {
	c := f.conn(conn)
	var p wire.Parser
	p.Feed([]byte(request))
	words, ok, err := p.Next()
	if !ok || err != nil {
		t.Fatalf("%q: %v %v", request, ok, err)
	}
	f.output[c].Write(f.server.Do(c, f.apply, words))
	if serial, timeout := f.server.Blocked(c); serial > 0 {
		f.waits[c] = wait{serial, f.clock.Add(timeout)}
	}
	for _, p := range f.server.Pushes() {
		f.output[p.Conn].Write(p.Data)
	}
}

func (f *frontEnd) receive(t *testing.T, conn string) string {
	t.Helper()
	b := f.output[f.conn(conn)]
	m, err := message(bufio.NewReader(bytes.NewReader(b.Bytes())))
	if err != nil {
		t.Fatalf("connection %s has %q", conn, m)
	}
	b.Next(len(m))
	return m
}

func (f *frontEnd) idle(t *testing.T) {
	for name, c := range f.conns {
		if rest := f.output[c].String(); rest != "" {
			t.Errorf("connection %s has %q left", name, rest)
		}
	}
}

// server is a real server.
type server struct {
	addr  string
	conns map[string]net.Conn
	input map[string]*bufio.Reader
}

// begin empties the server, with new connections.
func (s *server) begin(t *testing.T) {
	s.conns, s.input = map[string]net.Conn{}, map[string]*bufio.Reader{}
	for _, words := range []string{
		"REPLICAOF NO ONE", "CONFIG SET maxmemory 0", "FLUSHALL", "SCRIPT FLUSH",
	} {
		s.send(t, "operator", encode(strings.Fields(words)))
		if answer := s.receive(t, "operator"); !strings.HasPrefix(answer, "+OK") {
			t.Fatalf("%s: %s", words, answer)
		}
	}
}

func (s *server) now() time.Time        { return time.Now() }
func (s *server) sleep(d time.Duration) { time.Sleep(d) }

func (s *server) tell(t *testing.T, what string) {
	s.send(t, "operator", encode(strings.Fields(map[string]string{
		"follow": "REPLICAOF 127.0.0.1 1", "lead": "REPLICAOF NO ONE",
		"full": "CONFIG SET maxmemory 1", "relieved": "CONFIG SET maxmemory 0",
	}[what])))
	if answer := s.receive(t, "operator"); !strings.HasPrefix(answer, "+OK") {
		t.Fatalf("%s: %s", what, answer)
	}
}

func (s *server) conn(t *testing.T, name string) net.Conn {
	if s.conns[name] == nil {
		network := "tcp"
		if strings.HasPrefix(s.addr, "/") {
			network = "unix"
		}
		c, err := net.Dial(network, s.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		s.conns[name], s.input[name] = c, bufio.NewReader(c)
	}
	return s.conns[name]
}

func (s *server) send(t *testing.T, conn, request string) {
	if _, err := io.WriteString(s.conn(t, conn), request); err != nil {
		t.Fatal(err)
	}
}

func (s *server) receive(t *testing.T, conn string) string {
	t.Helper()
	if err := s.conn(t, conn).SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	m, err := message(s.input[conn])
	if err != nil {
		t.Fatalf("connection %s: %q, %v", conn, m, err)
	}
	return m
}

func (s *server) idle(t *testing.T) {
	for name, c := range s.conns {
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if rest, err := s.input[name].ReadByte(); err == nil {
			t.Errorf("connection %s has %q… left", name, rest)
		}
	}
}

// realServer returns the address of a Redis 7.0 server that the test may empty:
// LOCKCHECK_REDIS (a socket if it begins with a slash), or else a server in Docker.
func realServer(t *testing.T) string {
	if addr := os.Getenv("LOCKCHECK_REDIS"); addr != "" {
		return addr
	}
	return dockertest.Redis(t)
}
