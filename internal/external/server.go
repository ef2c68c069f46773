package external

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// answerLimit is how long a server may take to answer.
const answerLimit = 5 * time.Second

// server is a server of the user.
type server struct {
	name, addr string
	kind       string      // of a worker's targets; "": it is reached by its announced address only
	announced  []string    // addresses by which servers name it
	tls        *tls.Config // nil: no TLS
	auth       []string    // the command that proves to Redis who asks; nil: none
	root       string      // the node in ZooKeeper below which clients work
}

// Name implements clients.Server.
func (s *server) Name() string { return s.name }

// Drop implements clients.Server: nothing is observed.
func (s *server) Drop(string, ...any) {}

// Reach implements clients.Server.
func (s *server) Reach(ctx context.Context, _ string) (clients.Conn, clients.Dialect, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	if s.kind == worker.TargetMySQL {
		conn, err := s.reachMySQL(ctx)
		return conn, &clients.MySQL{Replies: bufio.NewReader(conn)}, err
	}
	conn, r, err := s.connect(ctx)
	switch {
	case err != nil:
		return nil, nil, err
	case s.kind == worker.TargetZooKeeper:
		return conn, &chroot{ZooKeeper: clients.ZooKeeper{Replies: r}, root: s.root, asked: map[int32]int32{}}, nil
	}
	return conn, &clients.Redis{Replies: r, Names: s.isSentinel()}, nil
}

func (s *server) isSentinel() bool { return strings.HasPrefix(s.name, "sentinel") }

// dial connects to the server without TLS.
func (s *server) dial(ctx context.Context) (*net.TCPConn, error) {
	conn, err := (&net.Dialer{Timeout: answerLimit}).DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

// connect connects to the server, and proves who asks.
func (s *server) connect(ctx context.Context) (conn clients.Conn, r *bufio.Reader, err error) {
	plain, err := s.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	conn = plain
	defer func() {
		if err != nil {
			plain.Close()
		}
	}()
	if s.tls != nil {
		secure := tls.Client(plain, s.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, nil, err
		}
		conn = secure
	}
	r = bufio.NewReader(conn)
	if s.auth == nil {
		return conn, r, nil
	}
	_, err = ask(conn, r, s.auth...)
	if s.isSentinel() && err != nil && strings.Contains(err.Error(), "without any password") {
		err = nil // Sentinels often have none
	}
	return conn, r, err
}

// ask sends a command of Redis, and returns the answer. An answer that is an error is one.
func ask(conn net.Conn, r *bufio.Reader, words ...string) (clients.Value, error) {
	conn.SetDeadline(time.Now().Add(answerLimit))
	defer conn.SetDeadline(time.Time{})
	if _, err := conn.Write(clients.Encode(words...)); err != nil {
		return clients.Value{}, err
	}
	v, err := clients.ReadValue(r)
	if err == nil && v.Kind == '-' {
		err = errors.New(v.Text)
	}
	return v, err
}

// talk is a conversation of our own with a server.
type talk struct {
	clients.Conn
	replies *bufio.Reader
}

// open begins a conversation with the server.
func (s *server) open(ctx context.Context) (*talk, error) {
	conn, r, err := s.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", s.name, s.addr, err)
	}
	return &talk{conn, r}, nil
}

func (t *talk) do(words ...string) (clients.Value, error) { return ask(t, t.replies, words...) }
