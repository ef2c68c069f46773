package model_test

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/internal/rapidtest"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// call is one call of a server: a command with its tag, or an event.
type call struct {
	now time.Duration
	by  int
	do  any // a redis.Command, or a func(*model.Server, time.Duration)
}

func play(server *model.Server, calls []call) []model.Effect {
	var effects []model.Effect
	for _, c := range calls {
		switch do := c.do.(type) {
		case redis.Command:
			server.Apply(c.now, c.by, do)
		case func(*model.Server, time.Duration):
			do(server, c.now)
		}
		effects = append(effects, server.Effects()...)
	}
	return effects
}

var (
	expire  = (*model.Server).Expire
	crash   = (*model.Server).Crash
	kill    = (*model.Server).Kill
	restart = (*model.Server).Restart
)

func set(key, value string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.Set, Key: key, Value: value, TTL: ttl}
}

func setIfAbsent(key, value string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.Set, Key: key, Value: value, TTL: ttl, NX: true}
}

func pexpire(key string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.PExpire, Key: key, TTL: ttl}
}

func grant(key, value, counter string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.Grant, Key: key, Value: value, Counter: counter, TTL: ttl}
}

func claim(key, value, counter string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.Claim, Key: key, Value: value, Counter: counter, TTL: ttl}
}

func extend(key, value string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.Extend, Key: key, Value: value, TTL: ttl}
}

func replace(key, old, value string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.Replace, Key: key, Old: old, Value: value, TTL: ttl}
}

func hset(key, field, value string) redis.Command {
	return redis.Command{Verb: redis.HSet, Key: key, Field: field, Value: value}
}

func hincrBy(key, field string, n int64) redis.Command {
	return redis.Command{Verb: redis.HIncrBy, Key: key, Field: field, N: n}
}

func hdel(key, field string) redis.Command {
	return redis.Command{Verb: redis.HDel, Key: key, Field: field}
}

func on(v redis.Verb, key, value string) redis.Command {
	return redis.Command{Verb: v, Key: key, Value: value}
}

// TestEffects checks each effect and its entry's maker.
func TestEffects(t *testing.T) {
	for _, c := range []struct {
		name  string
		fsync model.Fsync
		calls []call
		want  []model.Effect
	}{
		{"no change, no effect", model.None, []call{
			{0, 1, on(redis.Get, "k", "")},
			{0, 1, on(redis.Del, "k", "")},
			{0, 1, pexpire("k", s)},
			{0, 1, on(redis.CompareAndDelete, "k", "v")},
			{0, 1, set("k", "v", -1)},
			{0, 1, on(redis.RPush, "k", "v")},
			{0, 1, on(redis.Incr, "k", "")},
			{0, 2, setIfAbsent("k", "v", s)},
		}, []model.Effect{{model.Created, "k", 1, 1}}},
		{"set over another's", model.None, []call{
			{0, 1, setIfAbsent("k", "v", s)}, {0, 2, set("k", "w", s)}, {0, 3, on(redis.Del, "k", "")},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Overwritten, "k", 1, 2}, {model.Removed, "k", 2, 3}}},
		{"expiry moved", model.None, []call{
			{0, 1, set("k", "v", 0)},
			{0, 2, pexpire("k", s)},
			{ms, 3, pexpire("k", s)},
			{ms, 4, pexpire("k", s)},
			{ms, 5, pexpire("k", 0)},
		}, []model.Effect{
			{model.Created, "k", 1, 1},
			{model.Shortened, "k", 1, 2},
			{model.Prolonged, "k", 1, 3},
			{model.Removed, "k", 1, 5},
		}},
		{"a repeated claim", model.None, []call{
			{0, 1, claim("k", "v", "", s)},
			{0, 2, claim("k", "w", "", s)},
			{0, 3, claim("k", "v", "", s)},
			{0, 4, claim("k", "v", "", ms)},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Prolonged, "k", 1, 3}, {model.Shortened, "k", 1, 4}}},
		{"getset over another's", model.None, []call{
			{0, 1, on(redis.GetSet, "k", "v")}, {0, 2, on(redis.GetSet, "k", "w")},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Overwritten, "k", 1, 2}}},
		{"a set that keeps the expiry", model.None, []call{
			{0, 1, set("k", "v", 2*ms)}, {ms, 2, redis.Command{Verb: redis.Set, Key: "k", KeepTTL: true}}, {3 * ms, 0, expire},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Overwritten, "k", 1, 2}, {model.Expired, "k", 2, 0}}},
		{"persist", model.None, []call{
			{0, 1, set("k", "v", s)}, {0, 2, on(redis.Persist, "k", "")}, {0, 3, on(redis.Persist, "k", "")}, {9 * s, 0, expire},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Prolonged, "k", 1, 2}}},
		{"a hash that counts its holder's entries", model.None, []call{
			{0, 1, hincrBy("k", "a", 1)},
			{0, 2, pexpire("k", s)},
			{0, 3, hincrBy("k", "a", 1)},
			{0, 4, hincrBy("k", "a", -1)},
			{0, 5, hset("k", "b", "1")},
			{0, 6, hset("k", "b", "1")},
			{0, 7, hdel("k", "b")},
			{0, 8, hdel("k", "c")},
			{0, 9, hdel("k", "a")},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Shortened, "k", 1, 2}, {model.Removed, "k", 1, 9}}},
		{"a new value in a hash", model.None, []call{
			{0, 1, hset("k", "owner", "a")}, {0, 2, hset("k", "owner", "b")}, {0, 3, on(redis.Del, "k", "")},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Overwritten, "k", 1, 2}, {model.Removed, "k", 2, 3}}},
		{"extended by the holder", model.None, []call{
			{0, 1, set("k", "v", s)}, {0, 2, extend("k", "w", 2*s)}, {0, 3, extend("k", "v", 2*s)}, {0, 4, extend("k", "v", 0)},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Prolonged, "k", 1, 3}, {model.Removed, "k", 1, 4}}},
		{"replaced by a client that knows the value", model.None, []call{
			{0, 1, replace("k", "", "v", s)}, {0, 2, replace("k", "w", "x", s)}, {0, 3, replace("k", "v", "x", s)},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Removed, "k", 1, 3}, {model.Created, "k", 3, 3}}},
		{"a grant that fails", model.None, []call{
			{0, 1, on(redis.RPush, "l", "x")}, {0, 2, grant("k", "v", "l", s)}, {0, 3, grant("k", "v", "n", s)},
		}, []model.Effect{{model.Created, "l", 1, 1}, {model.Created, "k", 3, 3}, {model.Created, "n", 3, 3}}},
		{"expired, met by a command", model.None, []call{
			{0, 1, set("k", "v", ms)}, {2 * ms, 2, setIfAbsent("k", "w", ms)},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Expired, "k", 1, 0}, {model.Created, "k", 2, 2}}},
		{"expired, by time and then by key", model.None, []call{
			{0, 1, set("c", "", ms)},
			{0, 2, set("b", "", 2*ms)},
			{0, 3, set("a", "", 2*ms)},
			{0, 4, set("d", "", 3*ms)},
			{3 * ms, 0, expire},
		}, []model.Effect{
			{model.Created, "c", 1, 1},
			{model.Created, "b", 2, 2},
			{model.Created, "a", 3, 3},
			{model.Created, "d", 4, 4},
			{model.Expired, "c", 1, 0},
			{model.Expired, "a", 3, 0},
			{model.Expired, "b", 2, 0},
		}},
		{"a clock that jumps ahead expires, one that jumps back keeps", model.None, []call{
			{s, 1, set("k", "v", s)}, {-s, 0, expire}, {s, 2, setIfAbsent("k", "w", s)}, {5 * s, 0, expire},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Expired, "k", 1, 0}}},

		{"without a log a crash loses all", model.None, []call{
			{0, 1, set("b", "", 0)}, {0, 2, set("a", "", s)}, {9 * s / 10, 0, crash}, {2 * s, 0, restart},
		}, []model.Effect{
			{model.Created, "b", 1, 1}, {model.Created, "a", 2, 2}, {model.Lost, "a", 2, 0}, {model.Lost, "b", 1, 0},
		}},
		{"without a log a kill loses all", model.None, []call{
			{0, 1, set("b", "", 0)}, {0, 0, kill}, {0, 0, restart}, {0, 2, on(redis.SetNX, "b", "")},
		}, []model.Effect{{model.Created, "b", 1, 1}, {model.Lost, "b", 1, 0}, {model.Created, "b", 2, 2}}},
		{"with sync always all is kept", model.Always, []call{
			{0, 1, set("k", "v", s)}, {0, 0, crash}, {s, 0, restart}, {2 * s, 0, crash}, {3 * s, 0, restart},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Expired, "k", 1, 0}}},
		{"a kill loses no line of the log", model.Everysec, []call{
			{0, 1, set("k", "v", 0)}, {0, 0, kill}, {0, 0, restart}, {0, 2, setIfAbsent("k", "w", 0)},
		}, []model.Effect{{model.Created, "k", 1, 1}}},
		{"a crash loses the last second", model.Everysec, []call{
			{s / 2, 1, set("old", "", 0)},
			{3 * s / 2, 2, set("new", "", 0)},
			{7 * s / 4, 0, crash},
			{2 * s, 0, restart},
			{2 * s, 3, setIfAbsent("old", "", 0)},
		}, []model.Effect{{model.Created, "old", 1, 1}, {model.Created, "new", 2, 2}, {model.Lost, "new", 2, 0}}},
		{"a crash after the fsync loses nothing", model.Everysec, []call{
			{s / 2, 1, set("k", "", 0)}, {s, 0, crash}, {s, 0, restart},
		}, []model.Effect{{model.Created, "k", 1, 1}}},
		{"a crash restores a released entry", model.Everysec, []call{
			{0, 1, set("k", "v", 5*s)},
			{3 * s / 2, 2, on(redis.Del, "k", "")},
			{7 * s / 4, 3, set("k", "w", 5*s)},
			{7 * s / 4, 0, crash},
			{2 * s, 0, restart},
			{6 * s, 0, expire},
		}, []model.Effect{
			{model.Created, "k", 1, 1},
			{model.Removed, "k", 1, 2},
			{model.Created, "k", 3, 3},
			{model.Lost, "k", 3, 0},
			{model.Created, "k", 1, 0},
			{model.Expired, "k", 1, 0},
		}},
		{"but not one that has expired meanwhile", model.Everysec, []call{
			{0, 1, set("k", "v", 3*s/2)}, {3 * s / 2, 2, on(redis.Del, "k", "")}, {7 * s / 4, 0, crash}, {2 * s, 0, restart},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Removed, "k", 1, 2}}},
		{"a crash undoes an extension", model.Everysec, []call{
			{0, 1, set("k", "v", 5*s)}, {s, 2, pexpire("k", 9*s)}, {s, 0, crash}, {2 * s, 0, restart},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Prolonged, "k", 1, 2}, {model.Shortened, "k", 1, 0}}},
		{"a crash sets a hash back", model.Everysec, []call{
			{0, 1, hset("k", "a", "1")}, {s, 2, hset("k", "b", "1")}, {s, 0, crash}, {s, 0, restart},
		}, []model.Effect{{model.Created, "k", 1, 1}, {model.Lost, "k", 1, 0}, {model.Created, "k", 1, 0}}},
		{"a crash sets a counter back", model.Everysec, []call{
			{0, 1, on(redis.Incr, "n", "")}, {s, 2, on(redis.Incr, "n", "")}, {s, 0, crash}, {s, 0, restart},
		}, []model.Effect{{model.Created, "n", 1, 1}, {model.Lost, "n", 2, 0}, {model.Created, "n", 1, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := play(model.New(model.Options{Fsync: c.fsync}), c.calls)
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%v, want\n%v", got, c.want)
			}
		})
	}
}

// A token may repeat after a crash has reset its counter.
func TestCrashRepeatsTokens(t *testing.T) {
	server := model.New(model.Options{Fsync: model.Everysec})
	play(server, []call{{0, 1, grant("a", "v", "n", s)}, {s, 2, grant("b", "v", "n", s)}, {s, 0, crash}, {s, 0, restart}})
	if r := server.Apply(s, 3, grant("c", "v", "n", s)); r.Int != 2 {
		t.Errorf("got token %d, want 2 again", r.Int)
	}
}

func TestNextExpiry(t *testing.T) {
	server := model.New(model.Options{})
	next := func(want time.Duration, wantOK bool) {
		t.Helper()
		if got, ok := server.NextExpiry(); got != want || ok != wantOK {
			t.Errorf("got %v, %v; want %v, %v", got, ok, want, wantOK)
		}
	}
	next(0, false)
	server.Apply(ms/2, 1, set("k", "v", 0))
	next(0, false)
	server.Apply(ms/2, 1, set("b", "v", 7*ms))
	server.Apply(ms/2, 1, set("a", "v", 5*ms))
	next(6*ms, true)
	server.Expire(6*ms - 1)
	next(6*ms, true)
	server.Expire(6 * ms)
	next(8*ms, true)
	server.Apply(6*ms, 1, set("b", "v", math.MaxInt64))
	next(0, false)
}

// calls draws commands; the clock advances, goes back, or stands still.
func calls() *rapid.Generator[[]call] {
	return rapid.Custom(func(t *rapid.T) []call {
		var now time.Duration
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) call {
			now += time.Duration(rapid.SampledFrom([]int64{0, 0, 1, 1, 5, 300, -2}).Draw(t, "ms")) * ms
			return call{now, rapid.IntRange(1, 9).Draw(t, "by"), redis.Command{
				Verb:    redis.Verb(rapid.IntRange(int(redis.Get), int(redis.MayGrow)).Draw(t, "verb")),
				Key:     rapid.SampledFrom([]string{"k", "l", "n"}).Draw(t, "key"),
				Value:   rapid.SampledFrom([]string{"v", "1"}).Draw(t, "value"),
				Old:     rapid.SampledFrom([]string{"v", "2"}).Draw(t, "old"),
				Counter: rapid.SampledFrom([]string{"n", "", "k"}).Draw(t, "counter"),
				Field:   rapid.SampledFrom([]string{"f", "", "g"}).Draw(t, "field"),
				TTL:     time.Duration(rapid.IntRange(-1, 6).Draw(t, "ttl")) * ms,
				N:       rapid.Int64Range(-1, 1).Draw(t, "N"),
				NX:      rapid.Bool().Draw(t, "NX"),
				KeepTTL: rapid.Bool().Draw(t, "KEEPTTL"),
			}}
		}), 1, 60).Draw(t, "calls")
	})
}

// Replies are the same whether keys expire by themselves or when a command meets
// them.
func TestExpiryIsInvisible(t *testing.T) {
	rapidtest.Check(t, func(t *rapid.T) {
		lazy, active := model.New(model.Options{}), model.New(model.Options{})
		var latest time.Duration
		for i, c := range calls().Draw(t, "calls") {
			latest = max(latest, c.now) // both servers must use the later time: an expired key must not return
			active.Expire(latest)
			a, b := lazy.Apply(latest, c.by, c.do.(redis.Command)), active.Apply(latest, c.by, c.do.(redis.Command))
			if a != b {
				t.Fatalf("call %d: %+v without, %+v with active expiry", i, a, b)
			}
			if next, ok := active.NextExpiry(); ok && next <= latest {
				t.Fatalf("call %d: at %v, the next expiry is %v", i, latest, next)
			}
		}
		lazy.Expire(latest)
		if !bytes.Equal(lazy.AppendState(nil, latest), active.AppendState(nil, latest)) {
			t.Fatal("the states differ in the end")
		}
	})
}

// A crash equals the absence of all writes after the last fsync.
func TestCrashIsTheLastFsync(t *testing.T) {
	rapidtest.Check(t, func(t *rapid.T) {
		all := calls().Draw(t, "calls")
		crashed, spared := model.New(model.Options{Fsync: model.Everysec}), model.New(model.Options{})
		end := all[len(all)-1].now
		synced := len(all)
		for synced > 0 && second(all[synced-1].now) == second(end) {
			synced--
		}
		play(crashed, append(all, call{end, 0, crash}, call{end, 0, restart}))
		play(spared, append(all[:synced:synced], call{end, 0, expire}))
		got := crashed.AppendState(nil, end)
		if want := spared.AppendState(nil, end); !bytes.HasPrefix(got, want) {
			t.Fatalf("after the crash %q, want %q", got, want)
		}
	})
}

func second(d time.Duration) int64 { return int64(math.Floor(d.Seconds())) }

// The effects show for every key whether it exists and who made it.
func TestEffectsTellTheState(t *testing.T) {
	rapidtest.Check(t, func(t *rapid.T) {
		server := model.New(model.Options{Fsync: model.Everysec})
		there := map[string]bool{}
		follow := func(effects []model.Effect) {
			for _, e := range effects {
				switch e.Kind {
				case model.Created:
					if there[e.Key] {
						t.Fatalf("%+v of an existing key", e)
					}
					there[e.Key] = true
				case model.Removed, model.Expired, model.Lost:
					if !there[e.Key] {
						t.Fatalf("%+v of a missing key", e)
					}
					there[e.Key] = false
				default:
					if !there[e.Key] {
						t.Fatalf("%+v of a missing key", e)
					}
				}
			}
		}
		for _, c := range calls().Draw(t, "calls") {
			if rapid.IntRange(0, 9).Draw(t, "crash") == 9 {
				follow(play(server, []call{{c.now, 0, crash}, {c.now, 0, restart}}))
			}
			follow(play(server, []call{c}))
			for _, key := range []string{"k", "l", "n"} {
				left := server.Apply(c.now, 0, on(redis.PTTL, key, ""))
				follow(server.Effects())
				if got := left.Int != -2; got != there[key] {
					t.Fatalf("%s there: %v, by its effects %v", key, got, there[key])
				}
			}
		}
	})
}

// States are equal exactly if the past makes no difference.
func TestAppendState(t *testing.T) {
	state := func(now time.Duration, calls ...call) string {
		server := model.New(model.Options{})
		play(server, calls)
		return string(server.AppendState(nil, now))
	}
	base := state(0, call{0, 1, set("a", "1", 5*ms)}, call{0, 2, set("b", "v", 0)})
	for name, got := range map[string]string{
		"the other order, other tags": state(0, call{0, 7, set("b", "v", 0)}, call{0, 8, set("a", "1", 5*ms)}),
		"counted, later":              state(s, call{0, 7, set("b", "v", 0)}, call{s, 7, on(redis.Incr, "a", "")}, call{s, 8, pexpire("a", 5*ms)}),
	} {
		if got != base {
			t.Errorf("%s: differs", name)
		}
	}
	for name, got := range map[string]string{
		"nothing":       state(0),
		"another value": state(0, call{0, 1, set("a", "2", 5*ms)}, call{0, 2, set("b", "v", 0)}),
		"later":         state(ms, call{0, 1, set("a", "1", 5*ms)}, call{0, 2, set("b", "v", 0)}),
		"no expiry":     state(0, call{0, 1, set("a", "1", 0)}, call{0, 2, set("b", "v", 0)}),
		"a hash":        state(0, call{0, 1, hset("a", "1", "1")}, call{0, 2, set("b", "v", 0)}, call{0, 3, pexpire("a", 5*ms)}),
		"a list":        state(0, call{0, 1, on(redis.RPush, "a", "1")}, call{0, 2, set("b", "v", 0)}, call{0, 3, pexpire("a", 5*ms)}),
	} {
		if got == base {
			t.Errorf("%s: does not differ", name)
		}
	}
}
