package wire

import (
	"cmp"
	"slices"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

func sadd(x *call, items []item, w []string) reply {
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
func smembers(_ *call, items []item, _ []string) reply {
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

func sismember(x *call, items []item, w []string) reply { return smismember(x, items, w).list[0] }

func smismember(_ *call, items []item, w []string) reply {
	r := listOf(array)
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
	n, r := counted(w, failure(errSyntax))
	if r.failed() {
		return r
	}
	items, r := x.load(w[1], redis.UnorderedSet)
	if r.failed() || items == nil && len(w) == 2 {
		return r
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
