package porttest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// testCase is a sequence of commands on a server without keys, with the replies
// of Redis 7.0.
type testCase struct {
	name  string
	exact bool // only with exact time
	steps []step
}

type step struct {
	sleep time.Duration // before do; do may be missing
	do    redis.Command
	want  redis.Reply
}

// These are the replies.
var (
	none       = redis.Reply{}
	ok         = redis.Reply{Kind: redis.Status, Str: "OK"}
	wrongType  = failure("WRONGTYPE Operation against a key holding the wrong kind of value")
	badExpire  = failure("ERR invalid expire time in 'set' command")
	notInteger = failure("ERR value is not an integer or out of range")
	overflow   = failure("ERR increment or decrement would overflow")
	badTimeout = failure("ERR timeout is negative")
)

func failure(message string) redis.Reply { return redis.Reply{Kind: redis.Error, Str: message} }
func bulk(value string) redis.Reply      { return redis.Reply{Kind: redis.Bulk, Str: value} }
func number(n int64) redis.Reply         { return redis.Reply{Kind: redis.Int, Int: n} }

// These commands use the keys k (the lock), n (the counter) and l (a list).
func get(key string) redis.Command   { return redis.Command{Verb: redis.Get, Key: key} }
func del(key string) redis.Command   { return redis.Command{Verb: redis.Del, Key: key} }
func pttl(key string) redis.Command  { return redis.Command{Verb: redis.PTTL, Key: key} }
func incr(key string) redis.Command  { return redis.Command{Verb: redis.Incr, Key: key} }
func rpush(key string) redis.Command { return redis.Command{Verb: redis.RPush, Key: key, Value: "x"} }

func set(key, value string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.Set, Key: key, Value: value, TTL: ttl}
}

func setIfAbsent(key, value string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.Set, Key: key, Value: value, TTL: ttl, NX: true}
}

func setNX(key, value string) redis.Command {
	return redis.Command{Verb: redis.SetNX, Key: key, Value: value}
}

func pexpire(key string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.PExpire, Key: key, TTL: ttl}
}

func compareAndDelete(key, value string) redis.Command {
	return redis.Command{Verb: redis.CompareAndDelete, Key: key, Value: value}
}

func grant(key, value, counter string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.Grant, Key: key, Value: value, Counter: counter, TTL: ttl}
}

func claim(key, value, counter string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.Claim, Key: key, Value: value, Counter: counter, TTL: ttl}
}

func getSet(key, value string) redis.Command {
	return redis.Command{Verb: redis.GetSet, Key: key, Value: value}
}

func extend(key, value string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.Extend, Key: key, Value: value, TTL: ttl}
}

func replace(key, old, value string, ttl time.Duration) redis.Command {
	return redis.Command{Verb: redis.Replace, Key: key, Old: old, Value: value, TTL: ttl}
}

func wait(replicas int64, limit time.Duration) redis.Command {
	return redis.Command{Verb: redis.Wait, N: replicas, TTL: limit}
}

const (
	brief = 100 * time.Millisecond // a time to live that a case waits for
	half  = brief / 2
	long  = time.Hour // one that a case does not wait for
	ms    = time.Millisecond
)

func cases() []testCase {
	return append(append(stringCases(), expiryCases()...), scriptCases()...)
}

func stringCases() []testCase {
	maxed := fmt.Sprint(int64(math.MaxInt64))
	return []testCase{
		{name: "an empty server", steps: []step{
			{do: get("k"), want: none},
			{do: del("k"), want: number(0)},
			{do: pttl("k"), want: number(-2)},
			{do: pexpire("k", long), want: number(0)},
			{do: pexpire("k", -long), want: number(0)},
			{do: compareAndDelete("k", ""), want: number(0)},
		}},
		{name: "set, get, del", steps: []step{
			{do: set("k", "v", 0), want: ok},
			{do: get("k"), want: bulk("v")},
			{do: pttl("k"), want: number(-1)},
			{do: set("k", "w", 0), want: ok},
			{do: get("k"), want: bulk("w")},
			{do: del("k"), want: number(1)},
			{do: get("k"), want: none},
		}},
		{name: "an empty value is a value", steps: []step{
			{do: set("k", "", 0), want: ok},
			{do: get("k"), want: bulk("")},
			{do: setNX("k", "v"), want: number(0)},
			{do: incr("k"), want: notInteger},
			{do: compareAndDelete("k", "x"), want: number(0)},
			{do: compareAndDelete("k", ""), want: number(1)},
		}},
		{name: "set if absent", steps: []step{
			{do: setIfAbsent("k", "v", 0), want: ok},
			{do: setIfAbsent("k", "w", 0), want: none},
			{do: setIfAbsent("k", "v", 0), want: none},
			{do: setIfAbsent("k", "w", long), want: none},
			{do: pttl("k"), want: number(-1)},
			{do: get("k"), want: bulk("v")},
		}},
		{name: "setnx", steps: []step{
			{do: setNX("k", "v"), want: number(1)},
			{do: setNX("k", "w"), want: number(0)},
			{do: get("k"), want: bulk("v")},
			{do: pttl("k"), want: number(-1)},
		}},
		{name: "getset", steps: []step{
			{do: getSet("k", "v"), want: none},
			{do: getSet("k", ""), want: bulk("v")},
			{do: getSet("k", "w"), want: bulk("")},
			{do: get("k"), want: bulk("w")},
			{do: set("k", "v", long), want: ok},
			{do: getSet("k", "w"), want: bulk("v")},
			{do: pttl("k"), want: number(-1)},
			{do: incr("n"), want: number(1)},
			{do: getSet("n", "7"), want: bulk("1")},
			{do: incr("n"), want: number(8)},
			{do: rpush("l"), want: number(1)},
			{do: getSet("l", "v"), want: wrongType},
			{do: rpush("l"), want: number(2)},
			{do: set("k", "v", brief), want: ok},
			{sleep: 2 * brief, do: getSet("k", "w"), want: none},
		}},
		{name: "wait without replicas", steps: []step{
			{do: wait(0, 0), want: number(0)},
			{do: set("k", "v", 0), want: ok},
			{do: wait(-1, 0), want: number(0)},
			{do: wait(1, ms), want: number(0)},
			{do: wait(1, -ms), want: badTimeout},
		}},
		{name: "incr", steps: []step{
			{do: incr("n"), want: number(1)},
			{do: incr("n"), want: number(2)},
			{do: get("n"), want: bulk("2")},
			{do: pttl("n"), want: number(-1)},
			{do: compareAndDelete("n", "02"), want: number(0)},
			{do: compareAndDelete("n", "2"), want: number(1)},
			{do: incr("n"), want: number(1)},
		}},
		{name: "incr of numbers as text", steps: []step{
			{do: set("n", "41", 0), want: ok},
			{do: incr("n"), want: number(42)},
			{do: set("n", "-1", 0), want: ok},
			{do: incr("n"), want: number(0)},
			{do: get("n"), want: bulk("0")},
			{do: incr("n"), want: number(1)},
			{do: set("n", "-9223372036854775808", 0), want: ok},
			{do: incr("n"), want: number(math.MinInt64 + 1)},
		}},
		{name: "incr of something that is not a number", steps: notNumbers()},
		{name: "incr at the greatest number", steps: []step{
			{do: set("n", maxed, 0), want: ok},
			{do: incr("n"), want: overflow},
			{do: get("n"), want: bulk(maxed)},
			{do: set("n", "9223372036854775806", 0), want: ok},
			{do: incr("n"), want: number(math.MaxInt64)},
			{do: incr("n"), want: overflow},
		}},
		{name: "incr keeps the expiry", steps: []step{
			{do: set("n", "1", brief), want: ok},
			{do: incr("n"), want: number(2)},
			{sleep: 2 * brief, do: incr("n"), want: number(1)},
		}},
		{name: "rpush", steps: []step{
			{do: rpush("l"), want: number(1)},
			{do: rpush("l"), want: number(2)},
			{do: pttl("l"), want: number(-1)},
			{do: del("l"), want: number(1)},
			{do: rpush("l"), want: number(1)},
		}},
		{name: "a list is not a string", steps: []step{
			{do: rpush("l"), want: number(1)},
			{do: get("l"), want: wrongType},
			{do: incr("l"), want: wrongType},
			{do: setIfAbsent("l", "v", 0), want: none},
			{do: setNX("l", "v"), want: number(0)},
			{do: pexpire("l", brief), want: number(1)},
			{do: rpush("l"), want: number(2)},
			{sleep: 2 * brief, do: rpush("l"), want: number(1)},
			{do: set("l", "v", 0), want: ok},
			{do: get("l"), want: bulk("v")},
		}},
		{name: "a string is not a list", steps: []step{
			{do: set("k", "v", 0), want: ok},
			{do: rpush("k"), want: wrongType},
			{do: incr("n"), want: number(1)},
			{do: rpush("n"), want: wrongType},
			{do: get("k"), want: bulk("v")},
		}},
	}
}

// notNumbers are steps in which INCR refuses texts that look like numbers.
func notNumbers() []step {
	var steps []step
	for _, s := range []string{
		"", "v", "-", "+1", " 1", "1 ", "01", "-0", "-01", "00", "1.0", "1e3", "0x1", "1\n", "١",
		"9223372036854775808", "-9223372036854775809", strings.Repeat("1", 21),
	} {
		steps = append(steps,
			step{do: set("n", s, 0), want: ok},
			step{do: incr("n"), want: notInteger},
			step{do: get("n"), want: bulk(s)})
	}
	return steps
}

func expiryCases() []testCase {
	return []testCase{
		{name: "set expires", steps: []step{
			{do: set("k", "v", brief), want: ok},
			{do: pttl("k"), want: number(brief.Milliseconds())},
			{sleep: half, do: get("k"), want: bulk("v")},
			{do: pttl("k"), want: number(half.Milliseconds())},
			{sleep: brief, do: get("k"), want: none},
			{do: pttl("k"), want: number(-2)},
			{do: del("k"), want: number(0)},
			{do: setNX("k", "w"), want: number(1)},
			{do: pttl("k"), want: number(-1)},
		}},
		{name: "set if absent waits for expiry", steps: []step{
			{do: setIfAbsent("k", "v", brief), want: ok},
			{sleep: half, do: setIfAbsent("k", "w", long), want: none},
			{do: pttl("k"), want: number(half.Milliseconds())},
			{sleep: brief, do: setIfAbsent("k", "w", long), want: ok},
			{do: pttl("k"), want: number(long.Milliseconds())},
		}},
		{name: "set removes the expiry", steps: []step{
			{do: set("k", "v", brief), want: ok},
			{do: set("k", "w", 0), want: ok},
			{do: pttl("k"), want: number(-1)},
			{sleep: 2 * brief, do: get("k"), want: bulk("w")},
		}},
		{name: "pexpire prolongs and shortens", steps: []step{
			{do: set("k", "v", brief), want: ok},
			{do: pexpire("k", 3*brief), want: number(1)},
			{sleep: 2 * brief, do: get("k"), want: bulk("v")},
			{do: pexpire("k", brief), want: number(1)},
			{do: pttl("k"), want: number(brief.Milliseconds())},
			{sleep: 2 * brief, do: pexpire("k", long), want: number(0)},
		}},
		{name: "pexpire at once", steps: []step{
			{do: set("k", "v", 0), want: ok},
			{do: pexpire("k", 0), want: number(1)},
			{do: get("k"), want: none},
			{do: set("k", "v", long), want: ok},
			{do: pexpire("k", -ms), want: number(1)},
			{do: get("k"), want: none},
			{do: set("k", "v", 0), want: ok},
			{do: pexpire("k", -long), want: number(1)},
			{do: pttl("k"), want: number(-2)},
		}},
		{name: "an invalid time to live", steps: []step{
			{do: set("k", "v", -ms), want: badExpire},
			{do: set("k", "v", -ms/2), want: badExpire},
			{do: get("k"), want: none},
			{do: setIfAbsent("k", "v", -long), want: badExpire},
			{do: set("k", "v", 0), want: ok},
			{do: setIfAbsent("k", "w", -ms), want: badExpire},
			{do: set("k", "w", -ms), want: badExpire},
			{do: get("k"), want: bulk("v")},
		}},
		{name: "the longest time to live", steps: []step{
			{do: set("k", "v", math.MaxInt64), want: ok},
			{do: pttl("k"), want: number(math.MaxInt64/int64(ms) + 1)},
			{do: pexpire("k", math.MaxInt64), want: number(1)},
			{do: get("k"), want: bulk("v")},
			{do: pexpire("k", math.MinInt64), want: number(1)},
			{do: get("k"), want: none},
		}},
		{name: "a part of a millisecond is rounded up", exact: true, steps: []step{
			{do: set("k", "v", 1), want: ok},
			{do: pttl("k"), want: number(1)},
			{do: set("k", "v", ms+1), want: ok},
			{do: pttl("k"), want: number(2)},
		}},
		{name: "the last millisecond counts", exact: true, steps: []step{
			{do: set("k", "v", 5*ms), want: ok},
			{sleep: 4 * ms, do: pttl("k"), want: number(1)},
			{sleep: ms, do: pttl("k"), want: number(0)},
			{do: get("k"), want: bulk("v")},
			{do: setNX("k", "w"), want: number(0)},
			{sleep: ms - 1, do: get("k"), want: bulk("v")},
			{sleep: 1, do: get("k"), want: none},
		}},
	}
}

func scriptCases() []testCase {
	return []testCase{
		{name: "compare and delete", steps: []step{
			{do: set("k", "v", long), want: ok},
			{do: compareAndDelete("k", "w"), want: number(0)},
			{do: compareAndDelete("k", ""), want: number(0)},
			{do: get("k"), want: bulk("v")},
			{do: compareAndDelete("k", "v"), want: number(1)},
			{do: compareAndDelete("k", "v"), want: number(0)},
			{do: rpush("l"), want: number(1)},
			{do: compareAndDelete("l", "x"), want: wrongType},
			{do: set("k", "v", brief), want: ok},
			{sleep: 2 * brief, do: compareAndDelete("k", "v"), want: number(0)},
		}},
		{name: "grant", steps: []step{
			{do: grant("k", "v", "n", brief), want: number(1)},
			{do: get("k"), want: bulk("v")},
			{do: pttl("k"), want: number(brief.Milliseconds())},
			{do: grant("k", "w", "n", brief), want: number(0)},
			{do: grant("k", "v", "n", brief), want: number(0)},
			{do: get("n"), want: bulk("1")},
			{do: pttl("n"), want: number(-1)},
			{sleep: 2 * brief, do: grant("k", "w", "n", 0), want: number(2)},
			{do: pttl("k"), want: number(-1)},
			{do: del("k"), want: number(1)},
			{do: grant("k", "w", "", long), want: number(1)},
			{do: grant("k", "w", "", long), want: number(0)},
			{do: get("n"), want: bulk("2")},
		}},
		{name: "a failed grant has no effect", steps: []step{
			{do: rpush("l"), want: number(1)},
			{do: grant("k", "v", "l", long), want: wrongType},
			{do: get("k"), want: none},
			{do: set("n", "x", 0), want: ok},
			{do: grant("k", "v", "n", long), want: notInteger},
			{do: get("k"), want: none},
			{do: set("n", fmt.Sprint(int64(math.MaxInt64)), 0), want: ok},
			{do: grant("k", "v", "n", long), want: overflow},
			{do: get("k"), want: none},
			{do: grant("k", "v", "m", -ms), want: badExpire},
			{do: get("m"), want: none},
			{do: grant("l", "v", "m", long), want: number(0)},
			{do: get("m"), want: none},
		}},
		{name: "claim", steps: []step{
			{do: claim("k", "v", "n", brief), want: number(1)},
			{do: claim("k", "w", "n", long), want: number(0)},
			{do: pttl("k"), want: number(brief.Milliseconds())},
			{sleep: half, do: claim("k", "v", "n", brief), want: number(2)},
			{do: pttl("k"), want: number(brief.Milliseconds())},
			{sleep: 2 * brief, do: claim("k", "w", "n", brief), want: number(3)},
			{do: claim("k", "w", "n", 0), want: number(4)},
			{do: pttl("k"), want: number(-1)},
			{do: claim("k", "w", "n", long), want: number(5)},
			{do: pttl("k"), want: number(long.Milliseconds())},
			{do: claim("k", "w", "", long), want: number(1)},
			{do: claim("k", "v", "", long), want: number(0)},
			{do: get("n"), want: bulk("5")},
		}},
		{name: "a failed claim has no effect", steps: []step{
			{do: rpush("l"), want: number(1)},
			{do: claim("k", "v", "l", long), want: wrongType},
			{do: get("k"), want: none},
			{do: set("k", "v", 0), want: ok},
			{do: claim("k", "v", "l", long), want: wrongType},
			{do: pttl("k"), want: number(-1)},
			{do: claim("k", "v", "n", -ms), want: badExpire},
			{do: claim("k", "w", "n", -ms), want: badExpire},
			{do: claim("l", "x", "n", long), want: wrongType},
			{do: get("n"), want: none},
			{do: get("k"), want: bulk("v")},
		}},
		{name: "extend", steps: []step{
			{do: extend("k", "v", long), want: number(0)},
			{do: set("k", "v", brief), want: ok},
			{do: extend("k", "w", long), want: number(0)},
			{do: pttl("k"), want: number(brief.Milliseconds())},
			{sleep: half, do: extend("k", "v", 2*brief), want: number(1)},
			{sleep: brief, do: get("k"), want: bulk("v")},
			{do: extend("k", "v", brief), want: number(1)},
			{do: pttl("k"), want: number(brief.Milliseconds())},
			{sleep: 2 * brief, do: extend("k", "v", long), want: number(0)},
			{do: set("k", "v", 0), want: ok},
			{do: extend("k", "v", long), want: number(1)},
			{do: pttl("k"), want: number(long.Milliseconds())},
			{do: extend("k", "v", 0), want: number(1)},
			{do: get("k"), want: none},
			{do: rpush("l"), want: number(1)},
			{do: extend("l", "x", long), want: wrongType},
			{do: pttl("l"), want: number(-1)},
		}},
		{name: "replace", steps: []step{
			{do: replace("k", "old", "v", brief), want: number(1)},
			{do: pttl("k"), want: number(brief.Milliseconds())},
			{do: replace("k", "old", "w", long), want: number(0)},
			{do: get("k"), want: bulk("v")},
			{do: replace("k", "v", "w", long), want: number(1)},
			{do: get("k"), want: bulk("w")},
			{do: pttl("k"), want: number(long.Milliseconds())},
			{do: replace("k", "w", "w", 0), want: number(1)},
			{do: pttl("k"), want: number(-1)},
			{do: replace("k", "w", "x", brief), want: number(1)},
			{sleep: 2 * brief, do: replace("k", "", "v", long), want: number(1)},
			{do: incr("n"), want: number(1)},
			{do: replace("n", "1", "v", long), want: number(1)},
			{do: get("n"), want: bulk("v")},
		}},
		{name: "a failed replace has no effect", steps: []step{
			{do: replace("k", "", "v", -ms), want: badExpire},
			{do: get("k"), want: none},
			{do: set("k", "v", 0), want: ok},
			{do: replace("k", "v", "w", -ms), want: badExpire},
			{do: get("k"), want: bulk("v")},
			{do: rpush("l"), want: number(1)},
			{do: replace("l", "x", "v", long), want: wrongType},
			{do: replace("l", "x", "v", -ms), want: badExpire},
			{do: rpush("l"), want: number(2)},
		}},
		{name: "tokens are Lua's numbers", steps: []step{
			{do: set("n", "9007199254740990", 0), want: ok},
			{do: grant("a", "v", "n", 0), want: number(1<<53 - 1)},
			{do: grant("b", "v", "n", 0), want: number(1 << 53)},
			{do: grant("c", "v", "n", 0), want: number(1 << 53)},
			{do: get("n"), want: bulk("9007199254740993")},
		}},
		{name: "a key that is its own counter", steps: []step{
			{do: grant("k", "v", "k", long), want: notInteger},
			{do: get("k"), want: none},
			{do: grant("k", "7", "k", long), want: number(8)},
			{do: get("k"), want: bulk("8")},
			{do: claim("k", "7", "k", long), want: number(0)},
			{do: claim("k", "8", "k", long), want: number(9)},
			{do: get("k"), want: bulk("8")},
		}},
	}
}

func runCases(t *testing.T, w World) {
	for _, c := range cases() {
		if c.exact && w.Slack != 0 {
			continue // the random sequences are the best approximation in this world
		}
		t.Run(c.name, func(t *testing.T) {
			if w.Slack != 0 {
				t.Parallel()
			}
			const tries = 60
			for try := range tries {
				failure, late := w.play(t.Context(), c)
				switch {
				case late: // the machine may be less busy in a while
					w.Sleep(time.Duration(min(try, 20)) * 100 * ms)
					continue
				case failure != "":
					t.Fatal(failure)
				}
				return
			}
			t.Fatalf("late in all of %d tries: this machine is too slow for the test", tries)
		})
	}
}

// play executes c once and returns a description of the first failure. late means
// that an answer came so late that another one than the wanted says nothing.
func (w World) play(ctx context.Context, c testCase) (failure string, late bool) {
	p, due := prefix(), w.Now()
	for i, s := range c.steps {
		if s.sleep > 0 {
			due += s.sleep
			w.Sleep(due - w.Now())
		}
		// Neighbouring steps alternate, so that a connection sees another's
		// changes.
		got, err := w.Conns[i%len(w.Conns)].Do(ctx, 0, within(p, s.do))
		switch {
		case err != nil:
			return fmt.Sprintf("step %d, %s: %v", i, describe(s.do), err), false
		case w.same(s.do, got, s.want):
		case w.Now()-due > w.Slack*3/4:
			return "", true
		default:
			return fmt.Sprintf("step %d, %s: got %+v, want %+v", i, describe(s.do), got, s.want), false
		}
	}
	return "", false
}

// same reports whether got equals want as a reply to c, apart from Slack.
func (w World) same(c redis.Command, got, want redis.Reply) bool {
	if c.Verb == redis.PTTL && got.Kind == redis.Int && got.Int >= 0 && want.Int >= 0 {
		off := time.Duration(got.Int-want.Int) * ms
		return want.Kind == redis.Int && off.Abs() <= w.Slack
	}
	return got == want
}
