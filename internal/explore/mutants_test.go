package explore

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// mutant is a lock of the catalogue in which one thing can be changed: redis-set-lua,
// or redis-setnx.
type mutant struct {
	env     catalogue.Env
	timeout time.Duration // of one request
	value   string        // of the acquire before this one
	granted string        // of the last grant
	failed  bool          // the acquire before failed, or is uncertain
	unsure  bool          // the acquire before is uncertain
	owed    func()        // a release that was put off
	mutation
}

// mutation is a change of a lock. The zero value changes nothing.
type mutation struct {
	like    string                                                          // the lock; "": redis-set-lua
	ttl     func(time.Duration) time.Duration                               // of the key; its holder assumes T
	draw    func(*mutant) string                                            // the value of an acquire
	set     func(l *mutant, ctx context.Context, name string) (bool, error) // the key, unless it exists
	release func(l *mutant, ctx context.Context, name, value string) error

	through func(redis.Transport) redis.Transport // all requests of the unchanged lock go through this; the other fields are ignored
}

// lock returns the changed lock.
func (m mutation) lock() (lock catalogue.Lock, like string) {
	like = cmp.Or(m.like, "redis-set-lua")
	lock, _ = catalogue.FindLock(like)
	lock.ID = "changed"
	if m.through != nil {
		unchanged := lock.New
		lock.New = func(e catalogue.Env) locks.Locker {
			e.Redis = slices.Clone(e.Redis)
			for i, port := range e.Redis {
				e.Redis[i].Transport = m.through(port.Transport)
			}
			return unchanged(e)
		}
		return lock, like
	}
	if m.draw == nil {
		m.draw = func(l *mutant) string { return l.env.Host.Unique() }
	}
	if m.set == nil {
		m.set = (*mutant).setNX
	}
	if m.release == nil {
		m.release = (*mutant).giveBack
	}
	lock.New = func(e catalogue.Env) locks.Locker {
		return &mutant{env: e, timeout: e.Lease / 4, mutation: m}
	}
	return lock, like
}

func (l *mutant) Close(context.Context) error { return nil }

func (l *mutant) Acquire(ctx context.Context, name string) (lease locks.Lease, err error) {
	if l.owed != nil {
		l.owed()
		l.owed = nil
	}
	l.value = l.draw(l)
	defer func() {
		l.failed, l.unsure = err != nil, err != nil && !locks.IsDefinite(err)
	}()
	for {
		sent := l.env.Host.Mono()
		switch ok, err := l.set(l, ctx, name); {
		case err != nil:
			return nil, err
		case ok:
			l.granted = l.value
			until := sent + l.env.Lease
			if l.like != "" {
				until = 0
			}
			return &mutantLease{l, name, l.value, until}, nil
		}
		if l.env.Host.Backoff(ctx, l.env.Lease/100, 3*l.env.Lease/100) != nil {
			return nil, locks.ErrNotAcquired
		}
	}
}

// expiry returns the expiry of the key; 0: none.
func (l *mutant) expiry() time.Duration {
	switch {
	case l.like != "":
		return 0
	case l.ttl != nil:
		return l.ttl(l.env.Lease)
	}
	return l.env.Lease
}

func (l *mutant) setNX(ctx context.Context, name string) (bool, error) {
	return l.env.Redis[0].SetIfAbsent(ctx, l.timeout, name, l.value, l.expiry())
}

func (l *mutant) giveBack(ctx context.Context, name, value string) error {
	if l.like != "" {
		return l.del(ctx, l.timeout, name)
	}
	ok, err := l.env.Redis[0].CompareAndDelete(ctx, l.timeout, name, value)
	return released(ok, err)
}

func (l *mutant) del(ctx context.Context, timeout time.Duration, name string) error {
	ok, err := l.env.Redis[0].Del(ctx, timeout, name)
	return released(ok, err)
}

// released returns the error of a release from its reply.
func released(ok bool, err error) error {
	if err == nil && !ok {
		return locks.ErrNotHeld
	}
	return err
}

type mutantLease struct {
	lock        *mutant
	name, value string
	until       time.Duration
}

func (l *mutantLease) Until() time.Duration { return l.until }

func (l *mutantLease) Release(ctx context.Context) error {
	return l.lock.release(l.lock, ctx, l.name, l.value)
}

// ungranted deletes only keys whose grant was answered: a key stays on a node
// that set it without an answer.
type ungranted struct {
	redis.Transport
	granted map[string]bool // by value
}

func (u *ungranted) Do(ctx context.Context, timeout time.Duration, c redis.Command) (redis.Reply, error) {
	if c.Verb == redis.CompareAndDelete && !u.granted[c.Value] {
		return redis.Reply{Kind: redis.Int}, nil
	}
	r, err := u.Transport.Do(ctx, timeout, c)
	if err == nil && c.TTL != 0 && (r.Kind == redis.Status || r.Int > 0) {
		u.granted[c.Value] = true
	}
	return r, err
}

// atOnce is a timeout that has passed when the request is on its way: its result is
// ignored.
const atOnce = time.Nanosecond

// A harmful change of a lock is found in the cells that name it, a harmless one in
// none.
func TestMutantsAreFound(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lease time.Duration // 10 s
		mutation
		in []string // the cells that must find it; nil: it is harmless
	}{
		{name: "nothing is changed"},
		{name: "nothing is changed, and T is no whole number of seconds", lease: 1900 * time.Millisecond},
		{name: "nothing is changed in redis-setnx", mutation: mutation{like: "redis-setnx"}},
		{
			name: "the release does not look whose key it is",
			mutation: mutation{release: func(l *mutant, ctx context.Context, name, _ string) error {
				return l.del(ctx, l.timeout, name)
			}},
			in: []string{"pause", "restart-lost", "server-jump", "partition", "partition-oneway", "delay"},
		},
		{
			name: "the key expires in whole seconds, and its holder believes in milliseconds", lease: 1900 * time.Millisecond,
			mutation: mutation{ttl: func(t time.Duration) time.Duration { return t.Truncate(time.Second) }},
			in:       []string{"pause"},
		},
		{
			// A late release takes the lock from the client's own next grant.
			name: "an acquire that failed leaves the next with the value of the last grant",
			mutation: mutation{draw: func(l *mutant) string {
				if l.failed && l.granted != "" {
					return l.granted
				}
				return l.env.Host.Unique()
			}},
			in: []string{"delay"},
		},
		{
			// Harmless: that value had no grant before, so no release on its way can
			// match it.
			name: "an acquire that failed leaves the next its own value",
			mutation: mutation{draw: func(l *mutant) string {
				if l.failed {
					return l.value
				}
				return l.env.Host.Unique()
			}},
		},
		{
			// In the background, and done at the client's next call, because hosts have
			// no background tasks.
			name: "the release is put off until the client comes again",
			mutation: mutation{release: func(l *mutant, _ context.Context, name, value string) error {
				l.owed = func() { l.giveBack(context.Background(), name, value) }
				return nil
			}},
			in: []string{"none", "server-jump"},
		},
		{
			// In the background, and sent at once. If the request is lost, the ok is
			// false.
			name: "the release of a key that never expires does not wait for its answer",
			mutation: mutation{like: "redis-setnx", release: func(l *mutant, ctx context.Context, name, _ string) error {
				l.del(ctx, atOnce, name)
				return nil
			}},
			in: []string{"kill-connection"},
		},
		{
			// The lease replaces a lost release, and a late one compares: the harm is
			// that the ok may be false.
			name: "the release of a lease does not wait for its answer",
			mutation: mutation{release: func(l *mutant, ctx context.Context, name, value string) error {
				l.env.Redis[0].CompareAndDelete(ctx, atOnce, name, value)
				return nil
			}},
			in: []string{"server-pause", "restart", "partition", "delay", "kill-connection"},
		},
		{
			name: "after a timeout the key is set although another client has it",
			mutation: mutation{set: func(l *mutant, ctx context.Context, name string) (bool, error) {
				if l.unsure {
					return true, l.env.Redis[0].Set(ctx, l.timeout, name, l.value, l.expiry())
				}
				return l.setNX(ctx, name)
			}},
			in: []string{"partition", "delay", "drop-reply", "kill-connection"},
		},
		{
			// Only handovers show it.
			name: "redlock releases on the nodes that have granted, not on all",
			mutation: mutation{like: "redlock", through: func(t redis.Transport) redis.Transport {
				return &ungranted{t, map[string]bool{}}
			}},
			in: []string{"drop-reply", "server-pause"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lock, like := tt.lock()
			cells := cellsOf(t, defaults(cmp.Or(tt.lease, 10*time.Second), 1000), lock, like)
			if tt.in != nil {
				cells = slices.DeleteFunc(cells, func(c *Cell) bool {
					return !slices.Contains(tt.in, c.Fault) || !alltests.Wanted() && c.Fault != tt.in[0]
				})
			} else if !alltests.Wanted() {
				for _, c := range cells {
					c.Runs, c.Least = min(c.Runs, 50), min(c.Least, 50)
				}
			}
			results, _, err := Matrix(t.Context(), sim.Simulator, cells, 0, nil)
			must(t, err)
			for i, c := range cells {
				j := c.Judge(results[i], true)
				wrong := j.Standing == Unexpected
				switch {
				case !wrong && slices.Contains(tt.in, c.Fault):
					t.Errorf("it is not found under %s, in %d runs", c.Fault, results[i].Runs)
				case wrong && tt.in == nil:
					t.Errorf("it is found under %s, although it is harmless: %s", c.Fault, j.Reason)
				}
			}
		})
	}
}
