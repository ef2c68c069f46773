package wire

import "github.com/lockcheck/lockcheck/internal/stores/redis"

// blpop is BLPOP key… timeout, and BRPOP.
func blpop(e end) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		last := len(w) - 1
		return x.block(w[1:last], w[last], listOf(nilArray), blocked{take: func(x *call, key string) (reply, bool) {
			items, r := x.load(key, redis.List)
			if r.failed() || items == nil {
				return r, r.failed()
			}
			name, items := e.take(items)
			x.store(key, redis.List, items)
			return listOf(array, bulk(key), bulk(name)), true
		}})
	}
}

// blmove is BLMOVE from to LEFT|RIGHT LEFT|RIGHT timeout.
func blmove(x *call, w []string) reply {
	from, ok1 := endOf(w[3])
	to, ok2 := endOf(w[4])
	if !ok1 || !ok2 {
		return failure(errSyntax)
	}
	return x.blockMove(w[1], w[2], from, to, w[5])
}

func brpoplpush(x *call, w []string) reply {
	return x.blockMove(w[1], w[2], right, left, w[3])
}

func (x *call) blockMove(key, onto string, from, to end, timeout string) reply {
	return x.block([]string{key}, timeout, reply{}, blocked{take: func(x *call, key string) (reply, bool) {
		return x.move(key, onto, from, to)
	}})
}

// bzpop is BZPOPMIN key… timeout, and BZPOPMAX at the right end.
func bzpop(e end) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		last := len(w) - 1
		return x.block(w[1:last], w[last], listOf(nilArray), blocked{take: func(x *call, key string) (reply, bool) {
			taken, r := x.zpop(key, e, 1)
			if r.failed() || taken == nil {
				return r, r.failed()
			}
			return listOf(array, bulk(key), bulk(taken[0].name), score(taken[0].score)), true
		}})
	}
}
