package sim

import (
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/locks"
)

// A fault on a client applies to all clients of its process and to no others.
// Only a hang applies to one.
func TestAProcessIsStruckAsAWhole(t *testing.T) {
	asks := func(e catalogue.Env, ctx context.Context) error {
		e.Host.Sleep(ctx, 600*time.Millisecond)
		e.Host.Sleep(ctx, time.Second-e.Host.Mono())
		err := set(e, ctx)
		if wrong := e.Host.Now().Sub(time.Unix(0, int64(epoch))); wrong > time.Minute {
			return locks.ErrLost
		}
		return err
	}
	const dead, late = "the client crashed", "no answer in time"
	for name, c := range map[string]struct {
		strike func(*World) error
		heal   func(*World) error
		want   [3]string // the end of each client's acquire
	}{
		"paused": {
			func(w *World) error { return w.Pause("c2") },
			func(w *World) error { return w.Resume("c1") },
			[3]string{"5s c1 ends: <nil>", "5s c2 ends: <nil>", "1s c3 ends: <nil>"},
		},
		"killed": {
			func(w *World) error { return w.Kill("c2") }, nil,
			[3]string{"500ms c1 ends: " + dead, "500ms c2 ends: " + dead, "1s c3 ends: <nil>"},
		},
		"dark": {
			func(w *World) error { return w.PowerOff("c2") }, nil,
			[3]string{"500ms c1 ends: " + dead, "500ms c2 ends: " + dead, "1s c3 ends: <nil>"},
		},
		"cut off": {
			func(w *World) error {
				return w.Impair(1, faults.Impairment{Client: "c2", Server: catalogue.RedisName, Action: faults.Hold})
			}, nil,
			[3]string{"3.5s c1 ends: " + late, "3.5s c2 ends: " + late, "1s c3 ends: <nil>"},
		},
		"with a wrong clock": {
			func(w *World) error { return w.Jump("c2", time.Hour) }, nil,
			[3]string{"1s c1 ends: " + locks.ErrLost.Error(), "1s c2 ends: " + locks.ErrLost.Error(), "1s c3 ends: <nil>"},
		},
		"with a slow clock": {
			func(w *World) error { return w.Rate("c2", -4*time.Second) }, nil,
			[3]string{"1.333s c1 ends: <nil>", "1.333s c2 ends: <nil>", "1s c3 ends: <nil>"},
		},
		"hanging in one": {
			func(w *World) error { return w.Hang("c2") },
			func(w *World) error { return w.Unhang("c2") },
			[3]string{"1s c1 ends: <nil>", "5s c2 ends: <nil>", "1s c3 ends: <nil>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{}
			cfg := configOf(catalogue.StoreRedis, asks, "c1", "c2", "c3")
			cfg.Lock.Together = 2
			s.World = New(cfg, s, replayOf())
			s.After(time.Second/2, func() { must(t, c.strike(s.World)) })
			s.After(5*time.Second, func() {
				if c.heal != nil {
					must(t, c.heal(s.World))
				}
			})
			ends := map[string]bool{}
			for _, line := range s.run(t, time.Minute) {
				ends[line] = true
			}
			for _, line := range c.want {
				if !ends[line] {
					t.Errorf("no line %q in %v", line, s.seen)
				}
			}
		})
	}
}
