package wire

import (
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

func (x *call) get(key string) reply { return x.step(redis.Command{Verb: redis.Get, Key: key}) }

// set is SET Key Value [NX | XX] [GET] [an expiry | KEEPTTL].
func set(x *call, w []string) reply {
	o, ok := parseOptions(w[3:], "NX", "XX", "GET", "KEEPTTL")
	if !ok {
		return failure(errSyntax)
	}
	c := redis.Command{Verb: redis.Set, Key: w[1], Value: w[2], NX: o.has("NX"), KeepTTL: o.has("KEEPTTL")}
	c.Instant = o.absolute && !x.timed
	var late bool
	if o.unit != 0 {
		var err reply
		if c.TTL, late, err = x.ttlOf(o.number, o.unit, o.absolute, "set"); err.failed() {
			return err
		}
	}
	old := reply{}
	if o.has("GET") {
		if old = x.get(c.Key); old.failed() {
			return old
		}
	}
	if o.has("XX") && !x.exists(c.Key) {
		return old
	}
	r := x.setAt(c, late)
	if o.has("GET") {
		return old
	}
	return r
}

// setAt executes SET. A key whose expiry is in the past (late) is gone at once.
func (x *call) setAt(c redis.Command, late bool) reply {
	if !late {
		return x.step(c)
	}
	c.TTL = 0
	r := x.step(c)
	if r.Kind == redis.Status {
		x.step(redis.Command{Verb: redis.PExpire, Key: c.Key, TTL: redis.AtOnce})
	}
	return r
}

func setNX(x *call, w []string) reply {
	return x.step(redis.Command{Verb: redis.SetNX, Key: w[1], Value: w[2]})
}

func setEx(name string, u unit) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		ttl, _, err := x.ttlOf(w[2], u, false, name)
		if err.failed() {
			return err
		}
		return x.step(redis.Command{Verb: redis.Set, Key: w[1], Value: w[3], TTL: ttl})
	}
}

func getSet(x *call, w []string) reply {
	return x.step(redis.Command{Verb: redis.GetSet, Key: w[1], Value: w[2]})
}

func getDel(x *call, w []string) reply {
	r := x.get(w[1])
	if r.Kind == redis.Bulk {
		x.step(redis.Command{Verb: redis.Del, Key: w[1]})
	}
	return r
}

// getEx is GETEX Key [an expiry | PERSIST].
func getEx(x *call, w []string) reply {
	o, ok := parseOptions(w[2:], "PERSIST")
	if !ok {
		return failure(errSyntax)
	}
	r := x.get(w[1])
	if r.Kind != redis.Bulk {
		return r
	}
	c := redis.Command{Verb: redis.PExpire, Key: w[1], Instant: o.absolute && !x.timed}
	switch {
	case o.unit != 0:
		var late bool
		var err reply
		if c.TTL, late, err = x.ttlOf(o.number, o.unit, o.absolute, "getex"); err.failed() {
			return err
		}
		if late {
			c.TTL = redis.AtOnce
		}
	case o.has("PERSIST"):
		c.Verb = redis.Persist
	default:
		return r
	}
	x.step(c)
	return r
}

func mget(x *call, w []string) reply {
	r := listOf(array)
	for _, key := range w[1:] {
		value := x.get(key)
		if value.failed() {
			value = reply{}
		}
		r.list = append(r.list, value)
	}
	return r
}

func mset(x *call, w []string) reply {
	if len(w)%2 == 0 {
		return wrongArity(w[0])
	}
	for i := 1; i < len(w); i += 2 {
		if r := x.step(redis.Command{Verb: redis.Set, Key: w[i], Value: w[i+1]}); r.failed() {
			return r
		}
	}
	return okay
}

func msetNX(x *call, w []string) reply {
	if len(w)%2 == 0 {
		return wrongArity(w[0])
	}
	for i := 1; i < len(w); i += 2 {
		if x.exists(w[i]) {
			return integer(0)
		}
	}
	if r := mset(x, w); r.failed() {
		return r
	}
	return integer(1)
}

func getRange(x *call, w []string) reply {
	from, ok1 := parseInt(w[2])
	to, ok2 := parseInt(w[3])
	if !ok1 || !ok2 {
		return failure(errInteger)
	}
	r := x.get(w[1])
	if r.failed() {
		return r
	}
	if from < 0 && to < 0 && from > to {
		return bulk("")
	}
	size := int64(len(r.Str))
	if from < 0 {
		from = max(from+size, 0)
	}
	if to < 0 {
		to = max(to+size, 0)
	}
	to = min(to, size-1)
	if from > to {
		return bulk("")
	}
	return bulk(r.Str[from : to+1])
}

func strLen(x *call, w []string) reply {
	r := x.get(w[1])
	if r.failed() {
		return r
	}
	return integer(int64(len(r.Str)))
}

func incr(by int64) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		return x.step(redis.Command{Verb: redis.IncrBy, Key: w[1], N: by})
	}
}

// incrBy is INCRBY (sign 1) and DECRBY (sign -1).
func incrBy(sign int64) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		n, ok := parseInt(w[2])
		switch {
		case !ok:
			return failure(errInteger)
		case sign < 0 && n == -n && n != 0: // the least number
			return failure("ERR decrement would overflow")
		}
		return x.step(redis.Command{Verb: redis.IncrBy, Key: w[1], N: sign * n})
	}
}

// options are the options of SET and GETEX. At most one is an expiry.
type options struct {
	names    []string
	number   string // of the expiry
	unit     unit   // 0: no expiry
	absolute bool
}

func (o options) has(name string) bool { return slices.Contains(o.names, name) }

// exclude are the options that do not go together. EX means any expiry.
var exclude = [][2]string{{"NX", "XX"}, {"KEEPTTL", "EX"}, {"PERSIST", "EX"}}

// parseOptions reads an expiry and those names.
func parseOptions(words []string, names ...string) (o options, ok bool) {
	for i := 0; i < len(words); i++ {
		word := strings.ToUpper(words[i])
		u, absolute := expiryOption(word)
		switch {
		case u != 0 && o.unit == 0 && i+1 < len(words):
			i++
			o.unit, o.absolute, o.number = u, absolute, words[i]
			o.names = append(o.names, "EX")
		case u == 0 && slices.Contains(names, word):
			o.names = append(o.names, word)
		default:
			return options{}, false
		}
	}
	for _, pair := range exclude {
		if o.has(pair[0]) && o.has(pair[1]) {
			return options{}, false
		}
	}
	return o, true
}

func expiryOption(word string) (u unit, absolute bool) {
	switch word {
	case "EX", "EXAT":
		return second, word == "EXAT"
	case "PX", "PXAT":
		return millisecond, word == "PXAT"
	}
	return 0, false
}
