package wire

import "github.com/lockcheck/lockcheck/internal/stores/redis"

func hget(x *call, w []string) reply { return x.hget(w[1], w[2]) }

func (x *call) hget(key, field string) reply {
	return x.step(redis.Command{Verb: redis.HGet, Key: key, Field: field})
}

// hset is HSET Key and pairs of a field and a value.
func hset(x *call, w []string) reply {
	if len(w)%2 != 0 {
		return wrongArity(w[0])
	}
	n := int64(0)
	for i := 2; i < len(w); i += 2 {
		r := x.step(redis.Command{Verb: redis.HSet, Key: w[1], Field: w[i], Value: w[i+1]})
		if r.failed() {
			return r
		}
		n += r.Int
	}
	return integer(n)
}

func hmset(x *call, w []string) reply {
	if r := hset(x, w); r.failed() {
		return r
	}
	return okay
}

func hsetNX(x *call, w []string) reply {
	switch r := hget(x, w); r.Kind {
	case redis.Error:
		return r
	case redis.Bulk:
		return integer(0)
	}
	return hset(x, w)
}

func hmget(x *call, w []string) reply {
	r := listOf(array)
	for _, field := range w[2:] {
		value := x.hget(w[1], field)
		if value.failed() {
			return value
		}
		r.list = append(r.list, value)
	}
	return r
}

func hdel(x *call, w []string) reply {
	return x.sum(w[2:], func(field string) redis.Command {
		return redis.Command{Verb: redis.HDel, Key: w[1], Field: field}
	})
}

func hexists(x *call, w []string) reply {
	switch r := hget(x, w); r.Kind {
	case redis.Error:
		return r
	case redis.Bulk:
		return integer(1)
	}
	return integer(0)
}

func hincrBy(x *call, w []string) reply {
	n, ok := parseInt(w[3])
	if !ok {
		return failure(errInteger)
	}
	return x.step(redis.Command{Verb: redis.HIncrBy, Key: w[1], Field: w[2], N: n})
}

// fields returns the fields and values of a hash as a list of that kind, as far as they
// are wanted.
func (x *call) fields(key string, kind redis.Kind, names, values bool) reply {
	r := x.step(redis.Command{Verb: redis.HGetAll, Key: key})
	if r.failed() {
		return r
	}
	list := listOf(kind)
	for field, value := range redis.Fields(r.Str) {
		if names {
			list.list = append(list.list, bulk(field))
		}
		if values {
			list.list = append(list.list, bulk(value))
		}
	}
	return list
}

func hgetAll(x *call, w []string) reply { return x.fields(w[1], mapping, true, true) }
func hkeys(x *call, w []string) reply   { return x.fields(w[1], array, true, false) }
func hvals(x *call, w []string) reply   { return x.fields(w[1], array, false, true) }

func hlen(x *call, w []string) reply {
	r := hkeys(x, w)
	if r.failed() {
		return r
	}
	return integer(int64(len(r.list)))
}
