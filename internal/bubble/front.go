package bubble

import (
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
)

// Front implements sim.Outside.
func (w *World) Front(server string) sim.Front {
	f := w.fronts[server]
	if f == nil {
		f = new(redisFront)
		w.fronts[server] = f
	}
	return f
}

// redisFront is the protocol of a Redis server.
type redisFront struct{ wire.Server }

func (f *redisFront) Do(state *any, apply func(redis.Command) redis.Reply, words []string) []byte {
	c, _ := (*state).(*wire.Conn)
	if c == nil {
		c = new(wire.Conn)
		*state = c
	}
	return f.Server.Do(c, apply, words)
}

// stores returns the addresses of the servers that keep locks.
func (w *World) stores() (addrs []string) {
	layout := catalogue.NewLayout(&w.cfg.Lock, w.cfg.Server, w.cfg.Options)
	for _, name := range layout.Masters() {
		addrs = append(addrs, w.addr(name))
	}
	return addrs
}
