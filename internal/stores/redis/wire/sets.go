package wire

import (
	"cmp"
	"slices"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

func sadd(x *call, w []string) reply {
	items, r := x.load(w[1], redis.UnorderedSet)
	if r.failed() {
		return r
	}
	before := len(items)
	for _, name := range w[2:] {
		if indexOf(items, name) < 0 {
			items = append(items, item{name: name})
		}
	}
	if len(items) > before {
		x.store(w[1], redis.UnorderedSet, items)
	}
	return integer(int64(len(items) - before))
}

// smembers answers in the order of insertion, but with integers only in their order, as
// Redis does. The order that Redis gives other sets looks random.
func smembers(x *call, w []string) reply {
	items, r := x.load(w[1], redis.UnorderedSet)
	if r.failed() {
		return r
	}
	return named(unordered, inOrder(items))
}

func inOrder(items []item) []item {
	for _, i := range items {
		if _, ok := parseInt(i.name); !ok {
			return items
		}
	}
	slices.SortFunc(items, func(a, b item) int {
		m, _ := parseInt(a.name)
		n, _ := parseInt(b.name)
		return cmp.Compare(m, n)
	})
	return items
}

func sismember(x *call, w []string) reply {
	r := smismember(x, w)
	if r.failed() {
		return r
	}
	return r.list[0]
}

func smismember(x *call, w []string) reply {
	items, r := x.load(w[1], redis.UnorderedSet)
	if r.failed() {
		return r
	}
	r = listOf(array)
	for _, name := range w[2:] {
		n := int64(0)
		if indexOf(items, name) >= 0 {
			n = 1
		}
		r.list = append(r.list, integer(n))
	}
	return r
}

// spop is SPOP key [count]. Redis takes members by chance, the model the first ones.
func spop(x *call, w []string) reply {
	if len(w) > 3 {
		return failure(errSyntax)
	}
	n := int64(1)
	if len(w) == 3 {
		var ok bool
		if n, ok = parseInt(w[2]); !ok || n < 0 {
			return failure("ERR value is out of range, must be positive")
		}
	}
	items, r := x.load(w[1], redis.UnorderedSet)
	switch {
	case r.failed():
		return r
	case items == nil && len(w) == 2:
		return reply{}
	}
	items = inOrder(items)
	taken := items[:min(n, int64(len(items)))]
	if len(taken) > 0 {
		x.store(w[1], redis.UnorderedSet, items[len(taken):])
	}
	if len(w) == 2 {
		return bulk(taken[0].name)
	}
	return named(unordered, taken)
}
