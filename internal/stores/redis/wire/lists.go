package wire

import (
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// end is an end of a list.
type end bool

const (
	left  end = false
	right end = true
)

// put adds an element at an end.
func (e end) put(items []item, name string) []item {
	if e == right {
		return append(items, item{name: name})
	}
	return slices.Insert(items, 0, item{name: name})
}

// take takes the element at an end.
func (e end) take(items []item) (name string, rest []item) {
	if e == right {
		return items[len(items)-1].name, items[:len(items)-1]
	}
	return items[0].name, items[1:]
}

// endOf reads LEFT or RIGHT.
func endOf(word string) (e end, ok bool) {
	return end(strings.EqualFold(word, "right")), strings.EqualFold(word, "left") || strings.EqualFold(word, "right")
}

// listPush is LPUSH and its relatives. exists: the list has to exist.
func listPush(e end, exists bool) func(*call, []string) reply {
	return with(redis.List, func(x *call, items []item, w []string) reply {
		if exists && items == nil {
			return integer(0)
		}
		for _, name := range w[2:] {
			items = e.put(items, name)
		}
		x.store(w[1], redis.List, items)
		return integer(int64(len(items)))
	})
}

// listPop is LPOP key [count] and RPOP.
func listPop(e end) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		n, r := counted(w, wrongArity(w[0]))
		if r.failed() {
			return r
		}
		items, r := x.load(w[1], redis.List)
		switch {
		case r.failed() || items == nil && len(w) == 2:
			return r
		case items == nil:
			return listOf(nilArray)
		}
		taken := listOf(array)
		for ; n > 0 && len(items) > 0; n-- {
			var name string
			name, items = e.take(items)
			taken.list = append(taken.list, bulk(name))
		}
		if len(taken.list) > 0 {
			x.store(w[1], redis.List, items)
		}
		if len(w) == 2 {
			return taken.list[0]
		}
		return taken
	}
}

func lrange(_ *call, _, chosen []item, _ []string) reply { return named(array, chosen) }

func ltrim(x *call, items, chosen []item, w []string) reply {
	if items != nil {
		x.store(w[1], redis.List, chosen)
	}
	return okay
}

func lindex(_ *call, items []item, w []string) reply {
	if items == nil {
		return reply{}
	}
	n, ok := parseInt(w[2])
	if !ok {
		return failure(errInteger)
	}
	if n < 0 {
		n += int64(len(items))
	}
	if n < 0 || n >= int64(len(items)) {
		return reply{}
	}
	return bulk(items[n].name)
}

// lrem is LREM key count element: it removes count of them from the left, or from the
// right if count is negative; 0: all.
func lrem(x *call, w []string) reply {
	n, ok := parseInt(w[2])
	if !ok {
		return failure(errInteger)
	}
	items, r := x.load(w[1], redis.List)
	if r.failed() {
		return r
	}
	most, backward := n, n < 0
	if backward {
		most = -n
		slices.Reverse(items)
	}
	removed := int64(0)
	items = slices.DeleteFunc(items, func(i item) bool {
		gone := i.name == w[3] && (n == 0 || removed < most)
		if gone {
			removed++
		}
		return gone
	})
	if backward {
		slices.Reverse(items)
	}
	if removed > 0 {
		x.store(w[1], redis.List, items)
	}
	return integer(removed)
}

// lmove is LMOVE from to LEFT|RIGHT LEFT|RIGHT.
func lmove(x *call, w []string) reply {
	from, ok1 := endOf(w[3])
	to, ok2 := endOf(w[4])
	if !ok1 || !ok2 {
		return failure(errSyntax)
	}
	r, _ := x.move(w[1], w[2], from, to)
	return r
}

func rpoplpush(x *call, w []string) reply {
	r, _ := x.move(w[1], w[2], right, left)
	return r
}

// move moves an element from the end of a list to the end of another one, or of the same.
// done is false if there is none.
func (x *call) move(key, onto string, from, to end) (r reply, done bool) {
	items, r := x.load(key, redis.List)
	if r.failed() || items == nil {
		return r, r.failed()
	}
	if _, r = x.load(onto, redis.List); r.failed() {
		return r, true
	}
	name, items := from.take(items)
	x.store(key, redis.List, items)
	others, _ := x.load(onto, redis.List)
	x.store(onto, redis.List, to.put(others, name))
	return bulk(name), true
}
