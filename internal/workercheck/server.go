package workercheck

import (
	"net"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
)

// server is a Redis server in this process: the model, on true time.
type server struct {
	net.Listener
	start time.Time

	mu    sync.Mutex
	model *model.Server
	front wire.Server
	conns map[*wire.Conn]net.Conn
}

// listen starts a server.
func listen() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{Listener: l, start: time.Now(), model: model.New(model.Options{}), conns: map[*wire.Conn]net.Conn{}}
	go s.accept()
	return s, nil
}

func (s *server) accept() {
	for {
		conn, err := s.Accept()
		if err != nil {
			return
		}
		go s.serve(conn)
	}
}

// serve answers the requests of one connection, up to its end.
func (s *server) serve(conn net.Conn) {
	state := new(wire.Conn)
	s.mu.Lock()
	s.conns[state] = conn
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.front.Drop(state)
		delete(s.conns, state)
		conn.Close()
	}()
	var requests wire.Parser
	b := make([]byte, 4096)
	for !state.Closed() {
		n, err := conn.Read(b)
		if err != nil {
			return
		}
		requests.Feed(b[:n])
		for {
			words, ok, err := requests.Next()
			if err != nil {
				return
			}
			if !ok {
				break
			}
			s.do(state, conn, words)
		}
	}
}

// do serves one request, and sends what it causes for other connections.
func (s *server) do(state *wire.Conn, conn net.Conn, words []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	conn.Write(s.front.Do(state, func(c redis.Command) redis.Reply { return s.model.Apply(time.Since(s.start), 0, c) }, words))
	for _, p := range s.front.Pushes() {
		if other := s.conns[p.Conn]; other != nil {
			other.Write(p.Data)
		}
	}
}

// missing returns the first request that the model does not know; "": none.
func (s *server) missing() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.front.Missing()
}
