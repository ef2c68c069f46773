package wire

import (
	"slices"
	"strconv"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// item is an element of a list or a set, or a member of a sorted set with its score.
type item struct {
	name  string
	score float64
}

// load returns the elements of a key. r is an error, or zero.
func (x *call) load(key string, of redis.Collection) (items []item, r reply) {
	joined := x.step(redis.Command{Verb: redis.Load, Key: key, Of: of})
	if joined.failed() {
		return nil, joined
	}
	for name, score := range redis.Fields(joined.Str) {
		i := item{name: name}
		if of == redis.SortedSet {
			i.score, _ = strconv.ParseFloat(score, 64)
		}
		items = append(items, i)
	}
	return items, reply{}
}

// store replaces the elements of a key. A key without any is gone.
func (x *call) store(key string, of redis.Collection, items []item) {
	var joined []byte
	for _, i := range items {
		score := ""
		if of == redis.SortedSet {
			score = strconv.FormatFloat(i.score, 'g', -1, 64)
		}
		joined = redis.AppendField(joined, i.name, score)
	}
	x.step(redis.Command{Verb: redis.Store, Key: key, Of: of, Value: string(joined)})
	x.server.stored = true
}

// with returns a command that works on the elements of its first word. If it fails
// because of their type, it does nothing.
func with(of redis.Collection, work func(x *call, items []item, w []string) reply) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		items, r := x.load(w[1], of)
		if r.failed() {
			return r
		}
		return work(x, items, w)
	}
}

// ranged is with for a command whose next two words are a range: it fails first if they
// are none. choose is between or within.
func ranged(of redis.Collection, choose func([]item, string, string) ([]item, reply), work func(x *call, items, chosen []item, w []string) reply) func(*call, []string) reply {
	rest := with(of, func(x *call, items []item, w []string) reply {
		chosen, _ := choose(items, w[2], w[3])
		return work(x, items, chosen, w)
	})
	return func(x *call, w []string) reply {
		if _, r := choose(nil, w[2], w[3]); r.failed() {
			return r
		}
		return rest(x, w)
	}
}

// count returns a command that counts the elements.
func count(of redis.Collection) func(*call, []string) reply {
	return with(of, func(_ *call, items []item, _ []string) reply { return integer(int64(len(items))) })
}

// counted reads the number at the end of a command that takes elements: without one it is
// 1. excess is the answer to further words. r is an error, or zero.
func counted(w []string, excess reply) (n int64, r reply) {
	switch len(w) {
	case 2:
		return 1, r
	case 3:
		n, ok := parseInt(w[2])
		if !ok || n < 0 {
			r = failure("ERR value is out of range, must be positive")
		}
		return n, r
	}
	return 0, excess
}

// indexOf returns the index of an element, or -1.
func indexOf(items []item, name string) int {
	return slices.IndexFunc(items, func(i item) bool { return i.name == name })
}

// remove returns a command that removes elements by their names, from a set.
func remove(of redis.Collection) func(*call, []string) reply {
	return with(of, func(x *call, items []item, w []string) reply {
		before := len(items)
		for _, name := range w[2:] {
			if i := indexOf(items, name); i >= 0 {
				items = append(items[:i], items[i+1:]...)
			}
		}
		if len(items) < before {
			x.store(w[1], of, items)
		}
		return integer(int64(before - len(items)))
	})
}

// between returns the elements with the indices from to to, both inclusive. Negative ones
// count from the end. r is an error, or zero.
func between(items []item, from, to string) (list []item, r reply) {
	a, b, ok := span(len(items), from, to)
	if !ok {
		return nil, failure(errInteger)
	}
	return items[a:b], reply{}
}

// span returns the indices of a range, b exclusive.
func span(n int, from, to string) (a, b int, ok bool) {
	first, ok1 := parseInt(from)
	last, ok2 := parseInt(to)
	if !ok1 || !ok2 {
		return 0, 0, false
	}
	size := int64(n)
	if first < 0 {
		first = max(first+size, 0)
	}
	if last < 0 {
		last += size
	}
	last = min(last, size-1)
	if first > last {
		return 0, 0, true
	}
	return int(first), int(last) + 1, true
}

// named returns the names of elements.
func named(kind redis.Kind, items []item) reply {
	r := listOf(kind)
	for _, i := range items {
		r.list = append(r.list, bulk(i.name))
	}
	return r
}
