package bubble

import (
	"net"
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
)

// sentinel is a Sentinel. It answers at once, in the goroutine that asks: go-redis waits
// for it with a mutex locked, and time stands still in a bubble while somebody waits for a
// mutex. No fault acts on a Sentinel.
type sentinel struct {
	world *World
	name  string
	wire  wire.Sentinel
	conns []*conn // guarded by the world's mutex, as all of it
}

func newSentinel(w *World, name string) *sentinel {
	others := func(names []string, not string) (list [][2]string) {
		for _, other := range names {
			if other != not {
				host, port := w.split(other)
				list = append(list, [2]string{host, port})
			}
		}
		return list
	}
	return &sentinel{world: w, name: name, wire: wire.Sentinel{
		Name:      w.layout.Masters()[0],
		Master:    func() (host, port string) { return w.split(w.MasterOf(name)) },
		Replicas:  func() [][2]string { return others(w.layout.Stores(), w.MasterOf(name)) },
		Sentinels: func() [][2]string { return others(w.layout.Sentinels, name) },
	}}
}

// dial connects a client.
func (s *sentinel) dial(x *conn) net.Conn {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	x.sentinel, x.state, x.codec = s, new(wire.Conn), new(redisCodec)
	s.conns = append(s.conns, x)
	return x
}

// serve answers what a client has written.
func (s *sentinel) serve(x *conn, data []byte) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	c := x.codec.(*redisCodec)
	c.parser.Feed(data)
	for {
		words, ok, err := c.parser.Next()
		if err != nil {
			x.fail(errReset)
		}
		if err != nil || !ok {
			return
		}
		answer := s.wire.Do(x.state, words)
		if missing := s.wire.Missing(); missing != "" {
			x.abort(lacks(strings.ToUpper(missing), s.name))
		}
		x.receive(answer)
	}
}

// Switched implements sim.Outside.
func (w *World) Switched(name, old, master string) {
	s := w.sentinels[name]
	oldHost, oldPort := w.split(old)
	host, port := w.split(master)
	w.later(func() {
		for _, x := range s.conns {
			if data := s.wire.SwitchMaster(x.state, oldHost, oldPort, host, port); data != nil {
				x.receive(data)
			}
		}
	})
}
