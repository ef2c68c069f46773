package model_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/internal/rapidtest"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// newReplicated returns a leader and an empty follower.
func newReplicated() (leader, follower *model.Server) {
	o := model.Options{Replicated: true}
	leader, follower = model.New(o), model.New(o)
	follower.Follow()
	return leader, follower
}

// carry applies the leader's writes to follower.
func carry(now time.Duration, leader, follower *model.Server) {
	for _, w := range leader.Writes() {
		follower.Replicate(now, w)
	}
}

// incidents adds events that calls do not include: expiry by the server itself
// and memory pressure.
func incidents(calls []call) *rapid.Generator[[]call] {
	return rapid.Custom(func(t *rapid.T) []call {
		for i := range calls {
			switch rapid.IntRange(0, 11).Draw(t, "incident") {
			case 10:
				calls[i].do = expire
			case 11:
				calls[i].do = (*model.Server).Evict
			}
		}
		return calls
	})
}

// state returns a server's state without its role.
func state(server *model.Server, now time.Duration) []byte {
	return bytes.TrimSuffix(server.AppendState(nil, now), []byte("f"))
}

// A follower with all writes has its leader's data, gives the same answers to
// reads, and has no effects.
func TestFollowerHoldsWhatItsLeaderHolds(t *testing.T) {
	rapidtest.Check(t, func(t *rapid.T) {
		leader, follower := newReplicated()
		for _, c := range incidents(calls().Draw(t, "calls")).Draw(t, "incidents") {
			play(leader, []call{c})
			carry(c.now, leader, follower)
			if got, want := state(follower, c.now), state(leader, c.now); !bytes.Equal(got, want) {
				t.Fatalf("after %+v the follower holds\n%q, its leader\n%q", c, got, want)
			}
			for _, key := range []string{"k", "l", "n"} {
				for _, v := range []redis.Verb{redis.Get, redis.PTTL, redis.Type, redis.HGetAll} {
					do := on(v, key, "")
					got := follower.Apply(c.now, 0, do)
					if want := leader.Apply(c.now, 0, do); got != want {
						t.Fatalf("after %+v: %+v: the follower says %+v, its leader %+v", c, do, got, want)
					}
				}
			}
			carry(c.now, leader, follower)
			if effects := follower.Effects(); len(effects) != 0 {
				t.Fatalf("the follower has the effects %v", effects)
			}
		}
	})
}

// No command changes a follower.
func TestFollowerIsNotChangedByCommands(t *testing.T) {
	rapidtest.Check(t, func(t *rapid.T) {
		leader, follower := newReplicated()
		all := calls().Draw(t, "calls")
		play(leader, all)
		now := all[len(all)-1].now
		carry(now, leader, follower)
		before := state(follower, now)
		effects := play(follower, append(calls().Draw(t, "asked"), call{now, 0, expire}, call{now, 0, (*model.Server).Evict}))
		if after := state(follower, now); !bytes.Equal(before, after) {
			t.Fatalf("it held\n%q, and holds\n%q", before, after)
		}
		if len(effects)+len(follower.Writes()) != 0 {
			t.Fatalf("it has the effects %v, or writes", effects)
		}
	})
}

// A promoted follower continues like its leader.
func TestPromotionKeeps(t *testing.T) {
	rapidtest.Check(t, func(t *rapid.T) {
		leader, follower := newReplicated()
		before, after := calls().Draw(t, "before"), calls().Draw(t, "after")
		play(leader, before)
		now := before[len(before)-1].now
		carry(now, leader, follower)
		follower.Lead(now)
		leader.Expire(now)
		for i := 0; ; i++ {
			if got, want := state(follower, now), state(leader, now); !bytes.Equal(got, want) {
				t.Fatalf("%d calls after its promotion the follower holds\n%q, its leader\n%q", i, got, want)
			}
			if i == len(after) {
				return
			}
			c := after[i]
			now = c.now
			got, want := follower.Apply(now, c.by, c.do.(redis.Command)), leader.Apply(now, c.by, c.do.(redis.Command))
			if got != want {
				t.Fatalf("%+v: the follower that was promoted says %+v, its leader %+v", c, got, want)
			}
		}
	})
}

// After a full synchronisation two servers have the same data. Exactly the
// entries that no longer exist as made are Lost.
func TestCopyFrom(t *testing.T) {
	rapidtest.Check(t, func(t *rapid.T) {
		from, to := newReplicated()
		to.Lead(0)
		a, b := calls().Draw(t, "from"), calls().Draw(t, "to")
		now := max(a[len(a)-1].now, b[len(b)-1].now)
		play(from, append(a, call{now, 0, expire}))
		play(to, append(b, call{now, 0, expire}))
		var want []model.Effect
		makers := makersOf(from)
		for key, maker := range to.Entries {
			if m, there := makers[key]; !there || m != maker {
				want = append(want, model.Effect{Kind: model.Lost, Key: key, Maker: maker})
			}
		}
		to.Follow()
		to.CopyFrom(now, from)
		if got := slices.Clone(to.Effects()); !slices.Equal(got, want) {
			t.Fatalf("the effects are %v, want %v", got, want)
		}
		if got, want := state(to, now), state(from, now); !bytes.Equal(got, want) {
			t.Fatalf("the copy holds\n%q, it was copied from\n%q", got, want)
		}
		if got, want := fmt.Sprint(makersOf(to)), fmt.Sprint(makers); got != want {
			t.Fatalf("the makers of the copy are %v, want %v", got, want)
		}
		to.CopyFrom(now, from)
		if effects := to.Effects(); len(effects) != 0 {
			t.Fatalf("a second copy has the effects %v", effects)
		}
		to.Lead(now)
		if next, ok := to.NextExpiry(); ok && next <= now {
			t.Fatalf("at %v, the next expiry of the copy is %v", now, next)
		}
		a1, ok1 := from.NextExpiry()
		a2, ok2 := to.NextExpiry()
		if a1 != a2 || ok1 != ok2 {
			t.Fatalf("the next expiry of the copy is %v, %v; want %v, %v", a2, ok2, a1, ok1)
		}
	})
}

// makersOf returns the maker of each entry of a server.
func makersOf(server *model.Server) map[string]int {
	m := map[string]int{}
	for key, maker := range server.Entries {
		m[key] = maker
	}
	return m
}

// A leader's changes become writes, those by requests and its own. A command
// without a change, or with an undone one, makes none.
func TestWrites(t *testing.T) {
	leader, _ := newReplicated()
	play(leader, []call{
		{0, 1, set("k", "v", ms)},
		{0, 2, setIfAbsent("k", "w", ms)},
		{0, 3, on(redis.RPush, "l", "x")},
		{0, 4, grant("g", "v", "l", ms)},
		{0, 5, grant("g", "v", "n", ms)},
		{2 * ms, 0, expire},
		{3 * ms, 6, pexpire("n", s)},
		{3 * ms, 0, (*model.Server).Evict},
	})
	want := []string{
		`set "k" to "v" until 1 ms, by 1`,
		`set "l" to a list of 1, by 3`,
		`set "g" to "v" until 1 ms, by 5`,
		`set "n" to "1", by 5`,
		`del "g"`, `del "k"`,
		`set "n" to "1" until 1003 ms, by 5`,
		`del "n"`,
	}
	var got []string
	for _, w := range leader.Writes() {
		got = append(got, w.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	if w := leader.Writes(); len(w) != 0 {
		t.Errorf("second call: %v", w)
	}
	leader.Apply(4*ms, 7, set("k", "v", 0))
	leader.Kill(4 * ms)
	leader.Restart(4 * ms)
	if w := leader.Writes(); len(w) != 0 {
		t.Errorf("after the end of the process: %v", w)
	}
}

// A clock that is ahead ends a lease when its server becomes the leader.
func TestPromotionExpiresByTheFollowersClock(t *testing.T) {
	leader, follower := newReplicated()
	leader.Apply(0, 1, set("k", "v", s))
	carry(0, leader, follower)
	follower.Expire(2 * s)
	if next, ok := follower.NextExpiry(); ok {
		t.Errorf("as a follower it would expire a key at %v", next)
	}
	if got := makersOf(follower); len(got) != 1 {
		t.Errorf("as a follower it holds %v, want what its leader has not deleted", got)
	}
	follower.Lead(2 * s)
	if got, want := follower.Effects(), []model.Effect{{Kind: model.Expired, Key: "k", Maker: 1}}; !slices.Equal(got, want) {
		t.Errorf("the effects of its promotion are %v, want %v", got, want)
	}
}

// A follower's crash loses only copies.
func TestFollowersCrashHasNoEffects(t *testing.T) {
	for _, fsync := range []model.Fsync{model.None, model.Everysec, model.Always} {
		leader, _ := newReplicated()
		follower := model.New(model.Options{Fsync: fsync, Replicated: true})
		follower.Follow()
		leader.Apply(0, 1, set("k", "v", s))
		carry(0, leader, follower)
		leader.Apply(0, 1, on(redis.Del, "k", ""))
		carry(0, leader, follower)
		if effects := play(follower, []call{{0, 0, crash}, {0, 0, restart}, {0, 0, kill}, {0, 0, restart}}); len(effects) != 0 {
			t.Errorf("fsync %d: the effects are %v, want none", fsync, effects)
		}
	}
}

// A leader no longer has its due entries. A follower has them until the leader's
// deletion arrives, or until it leads.
func TestEntriesThatAreDue(t *testing.T) {
	leader, follower := newReplicated()
	leader.Apply(0, 1, set("k", "v", ms))
	carry(0, leader, follower)
	for _, server := range []*model.Server{leader, follower} {
		server.Apply(2*ms, 0, on(redis.Get, "another", ""))
	}
	if got := makersOf(leader); len(got) != 0 {
		t.Errorf("the leader holds %v", got)
	}
	if got := makersOf(follower); len(got) != 1 {
		t.Errorf("the follower holds %v", got)
	}
}

// Writes do not change while the leader continues.
func TestWritesStayUntilTheNext(t *testing.T) {
	leader, follower := newReplicated()
	leader.Apply(0, 1, set("a", "v", s))
	first := leader.Writes()
	leader.Apply(0, 2, set("b", "v", s))
	for _, w := range first {
		follower.Replicate(0, w)
	}
	carry(0, leader, follower)
	if got := fmt.Sprint(makersOf(follower)); got != "map[a:1 b:2]" {
		t.Errorf("the follower holds %v", got)
	}
}

// A reset server has no previous state.
func TestResetForgetsTheRole(t *testing.T) {
	server, _ := newReplicated()
	server.Apply(0, 1, set("k", "v", s))
	server.Evict(0)
	server.Follow()
	server.Reset(model.Options{Policy: model.NoEviction})
	server.Apply(0, 1, set("k", "v", s))
	if n := len(server.Writes()); n != 0 {
		t.Errorf("it has %d writes, but no replicas", n)
	}
	server.Evict(0)
	server.Reset(model.Options{Replicated: true})
	if r := server.Apply(0, 1, set("k", "v", s)); r.Kind != redis.Status {
		t.Errorf("a SET returns %+v", r)
	}
	if n := len(server.Writes()); n != 1 {
		t.Errorf("a SET has %d writes", n)
	}
}
