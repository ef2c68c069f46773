package wire_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	redisclient "github.com/lockcheck/lockcheck/internal/stores/redis/client"
	"github.com/lockcheck/lockcheck/internal/stores/redis/porttest"
	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
)

// The model passes the suite of the port through go-redis and its protocol, too.
func TestPort(t *testing.T) {
	porttest.Run(t, func(t *testing.T) porttest.World {
		end := newFrontEnd()
		end.clock = time.UnixMilli(1_700_000_000_000) // the suite counts whole milliseconds
		l := &listener{ends: map[string]*frontEnd{"127.0.0.1:6379": end}, boxes: map[*wire.Conn]chan []byte{}}
		var conns []redis.Transport
		for range 3 {
			c := redisclient.New(redisclient.Options{Addr: "127.0.0.1:6379", Dialer: l.dial})
			t.Cleanup(func() { c.Close() })
			conns = append(conns, c)
		}
		return porttest.World{
			Conns: conns,
			Now:   func() time.Duration { return time.Duration(end.clock.UnixNano()) },
			Sleep: end.sleep,
		}
	})
}
