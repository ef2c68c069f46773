package model_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
	"github.com/lockcheck/lockcheck/internal/stores/redis/porttest"
)

// world is a model server on a clock that only Sleep moves.
type world struct {
	server *model.Server
	now    time.Duration
}

func (w *world) Do(_ context.Context, _ time.Duration, c redis.Command) (redis.Reply, error) {
	return w.server.Apply(w.now, 1, c), nil
}

func TestConformance(t *testing.T) {
	for name, o := range map[string]model.Options{"no log": {}, "log": {Fsync: model.Everysec}} {
		t.Run(name, func(t *testing.T) {
			porttest.Run(t, func(*testing.T) porttest.World {
				w := &world{server: model.New(o), now: 1_700_000_000 * time.Second}
				return porttest.World{
					Conns: []redis.Transport{w, w, w},
					Now:   func() time.Duration { return w.now },
					Sleep: func(d time.Duration) { w.now += d },
				}
			})
		})
	}
}
