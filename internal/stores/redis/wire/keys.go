package wire

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// unit is the unit of an expiry in milliseconds.
type unit int64

const (
	millisecond unit = 1
	second      unit = 1000
)

// ttlOf reads an expiry for a key that the command with that name sets. late means
// that it is in the past.
func (x *call) ttlOf(number string, u unit, absolute bool, name string) (ttl time.Duration, late bool, err reply) {
	n, ok := parseInt(number)
	if !ok {
		return 0, false, failure(errInteger)
	}
	ms, ok := x.milliseconds(n, u, absolute)
	if n <= 0 || !ok {
		return 0, false, failure("ERR invalid expire time in '" + name + "' command")
	}
	return duration(ms), ms <= 0, reply{}
}

// milliseconds returns how long after now an expiry of n units is. It returns false if
// that overflows.
func (x *call) milliseconds(n int64, u unit, absolute bool) (ms int64, ok bool) {
	ms = n * int64(u)
	if ms/int64(u) != n {
		return 0, false
	}
	if ms < 0 || !absolute && ms < math.MaxInt64>>1 { // no clock is earlier, or that late
		return ms, true
	}
	now := x.now() / 1000
	if absolute {
		return ms - now, true
	}
	return ms, ms <= math.MaxInt64-now
}

// now returns the server's clock in microseconds.
func (x *call) now() int64 { return x.apply(redis.Command{Verb: redis.Time}).Int }

// duration returns ms as a time to live for the model: at most 292 years.
func duration(ms int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Millisecond) // ms
	switch {
	case ms > most:
		return math.MaxInt64
	case ms < -most:
		return math.MinInt64
	case ms == 0:
		return redis.AtOnce
	}
	return time.Duration(ms) * time.Millisecond
}

// expire is EXPIRE and its relatives.
func expire(name string, u unit, absolute bool) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		only, err := parseConditions(w[3:])
		if err.failed() {
			return err
		}
		n, ok := parseInt(w[2])
		if !ok {
			return failure(errInteger)
		}
		ms, ok := x.milliseconds(n, u, absolute)
		if !ok {
			return failure("ERR invalid expire time in '" + name + "' command")
		}
		if !x.allows(only, w[1], ms) {
			return integer(0)
		}
		return x.step(redis.Command{Verb: redis.PExpire, Key: w[1], TTL: duration(ms), Instant: absolute && !x.timed})
	}
}

// parseConditions reads the conditions of EXPIRE.
func parseConditions(words []string) (only []string, err reply) {
	for _, word := range words {
		option := strings.ToUpper(word)
		if !slices.Contains([]string{"NX", "XX", "GT", "LT"}, option) {
			return nil, failure("ERR Unsupported option " + word)
		}
		only = append(only, option)
	}
	has := func(option string) bool { return slices.Contains(only, option) }
	switch {
	case has("NX") && len(only) > 1 && (has("XX") || has("GT") || has("LT")):
		return nil, failure("ERR NX and XX, GT or LT options at the same time are not compatible")
	case has("GT") && has("LT"):
		return nil, failure("ERR GT and LT options at the same time are not compatible")
	}
	return only, reply{}
}

// allows reports whether all conditions allow that a key expires in so many milliseconds.
func (x *call) allows(only []string, key string, ms int64) bool {
	if len(only) == 0 {
		return true
	}
	left := x.apply(redis.Command{Verb: redis.PTTL, Key: key}).Int
	for _, option := range only {
		switch {
		case option == "NX" && left != -1,
			option == "XX" && left == -1,
			option == "GT" && (left == -1 || ms <= left),
			option == "LT" && left != -1 && ms >= left:
			return false
		}
	}
	return true
}

// keyed returns a command that is one step on its first word.
func keyed(v redis.Verb) func(*call, []string) reply {
	return func(x *call, w []string) reply { return x.step(redis.Command{Verb: v, Key: w[1]}) }
}

func ttl(x *call, w []string) reply {
	r := x.step(redis.Command{Verb: redis.PTTL, Key: w[1]})
	if r.Int > 0 {
		r.Int = (r.Int + 500) / 1000
	}
	return r
}

func (x *call) exists(key string) bool {
	return x.apply(redis.Command{Verb: redis.Type, Key: key}).Str != "none"
}

func exists(x *call, w []string) reply {
	n := int64(0)
	for _, key := range w[1:] {
		if x.exists(key) {
			n++
		}
	}
	return integer(n)
}

func del(x *call, w []string) reply {
	return x.sum(w[1:], func(key string) redis.Command { return redis.Command{Verb: redis.Del, Key: key} })
}

// sum executes the step of each word, and returns the sum of their numbers.
func (x *call) sum(words []string, step func(word string) redis.Command) reply {
	n := int64(0)
	for _, word := range words {
		r := x.step(step(word))
		if r.failed() {
			return r
		}
		n += r.Int
	}
	return integer(n)
}
