package redis_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
)

func TestWaitsBetweenTries(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name string
		set  func(*redislocks.Options)
		want []time.Duration // the minimum and the spread of each wait
	}{
		{"random", func(*redislocks.Options) {}, []time.Duration{10 * ms, 30 * ms, 10 * ms, 30 * ms}},
		{"spin", func(o *redislocks.Options) { o.Spin = true }, []time.Duration{0, 0, 0, 0}},
		{"fixed", func(o *redislocks.Options) { o.FixedWait = true }, []time.Duration{20 * ms, 0, 20 * ms, 0}},
		{"exponential", func(o *redislocks.Options) { o.ExponentialWait = true }, []time.Duration{
			ms / 2, ms / 2, ms, ms, 2 * ms, 2 * ms, 4 * ms, 4 * ms, 8 * ms, 8 * ms, 16 * ms, 16 * ms, 32 * ms, 32 * ms, 50 * ms, 50 * ms, 50 * ms, 50 * ms,
		}},
	} {
		for name, create := range map[string]makeLock{
			"SET":         redislocks.NewSetLua,
			"SETNX":       redislocks.NewSetNX,
			"with a time": redislocks.NewSetNXGetSet,
		} {
			o := redislocks.Options{TTL: time.Second}
			tt.set(&o)
			d := newDesk(t)
			d.nodes[0].holds("other", 0)
			if _, err := create(d, d.port(), o).Acquire(d.Ends(500*ms), "a"); !errors.Is(err, locks.ErrNotAcquired) {
				t.Errorf("%s: %v", tt.name, err)
			}
			if got := d.waits[:len(tt.want)]; !slices.Equal(got, tt.want) {
				t.Errorf("%s, %s: waits %v, want %v", name, tt.name, got, tt.want)
			}
		}
	}
}
