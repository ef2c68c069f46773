package client_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/client"
	"github.com/lockcheck/lockcheck/internal/stores/redis/porttest"
)

func TestConformance(t *testing.T) {
	porttest.Run(t, func(t *testing.T) porttest.World {
		addr, start := dockertest.Redis(t), time.Now()
		var conns []redis.Transport
		for range 3 {
			c := client.New(client.Options{Addr: addr})
			t.Cleanup(func() { c.Close() })
			conns = append(conns, c)
		}
		return porttest.World{
			Conns: conns,
			Now:   func() time.Duration { return time.Since(start) },
			Sleep: time.Sleep,
			Slack: 20 * time.Millisecond,
		}
	})
}
