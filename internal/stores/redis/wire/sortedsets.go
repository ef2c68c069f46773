package wire

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

const errFloat = "ERR value is not a valid float"

// parseFloat reads a score as Redis does.
func parseFloat(s string) (f float64, ok bool) {
	if s == "" || strings.ContainsAny(s, "_ \t\n\r") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, (err == nil || math.IsInf(f, 0)) && !math.IsNaN(f)
}

// byScore is the order of a sorted set.
func byScore(a, b item) int {
	return cmp.Or(cmp.Compare(a.score, b.score), strings.Compare(a.name, b.name))
}

// score is the answer that has a score.
func score(f float64) reply {
	return reply{Reply: redis.Reply{Kind: double, Str: formatNumber(f, 17)}}
}

// scored returns members, with their scores if these are wanted: in RESP3 each pair is an
// array.
func (x *call) scored(items []item, scores bool) reply {
	if !scores {
		return named(array, items)
	}
	r := listOf(array)
	for _, i := range items {
		pair := []reply{bulk(i.name), score(i.score)}
		if x.conn.resp3 && x.script == nil {
			pair = []reply{listOf(array, pair...)}
		}
		r.list = append(r.list, pair...)
	}
	return r
}

// zaddOptions are the options of ZADD.
type zaddOptions struct{ nx, xx, gt, lt, ch, incr bool }

// zadd is ZADD key [options] score member…
func zadd(x *call, w []string) reply {
	var o zaddOptions
	at := 2
options:
	for ; at < len(w); at++ {
		switch strings.ToUpper(w[at]) {
		case "NX":
			o.nx = true
		case "XX":
			o.xx = true
		case "GT":
			o.gt = true
		case "LT":
			o.lt = true
		case "CH":
			o.ch = true
		case "INCR":
			o.incr = true
		default:
			break options
		}
	}
	pairs := w[at:]
	switch {
	case len(pairs) == 0 || len(pairs)%2 != 0:
		return failure(errSyntax)
	case o.nx && o.xx:
		return failure("ERR XX and NX options at the same time are not compatible")
	case o.gt && (o.nx || o.lt), o.lt && o.nx:
		return failure("ERR GT, LT, and/or NX options at the same time are not compatible")
	case o.incr && len(pairs) > 2:
		return failure("ERR INCR option supports a single increment-element pair")
	}
	return x.zadd(w[1], o, pairs)
}

func (x *call) zadd(key string, o zaddOptions, pairs []string) reply {
	scores := make([]float64, len(pairs)/2)
	for i := range scores {
		f, ok := parseFloat(pairs[2*i])
		if !ok {
			return failure(errFloat)
		}
		scores[i] = f
	}
	items, r := x.load(key, redis.SortedSet)
	if r.failed() {
		return r
	}
	var added, changed int64
	last := reply{} // of INCR
	for i, f := range scores {
		name := pairs[2*i+1]
		at := indexOf(items, name)
		if at < 0 {
			if !o.xx {
				items, added, last = append(items, item{name, f}), added+1, score(f)
			}
			continue
		}
		old := items[at].score
		if o.incr {
			f += old
		}
		switch {
		case math.IsNaN(f):
			return failure("ERR resulting score is not a number (NaN)")
		case o.nx, o.gt && f <= old, o.lt && f >= old:
			continue
		case f != old:
			items[at].score, changed = f, changed+1
		}
		last = score(f)
	}
	if added+changed > 0 {
		slices.SortFunc(items, byScore)
		x.store(key, redis.SortedSet, items)
	}
	switch {
	case o.incr:
		return last
	case o.ch:
		return integer(added + changed)
	}
	return integer(added)
}

func zincrBy(x *call, w []string) reply { return x.zadd(w[1], zaddOptions{incr: true}, w[2:]) }

func zscore(_ *call, items []item, w []string) reply {
	if at := indexOf(items, w[2]); at >= 0 {
		return score(items[at].score)
	}
	return reply{}
}

// zrank is ZRANK, and ZREVRANK with reverse.
func zrank(reverse bool) func(*call, []string) reply {
	return with(redis.SortedSet, func(_ *call, items []item, w []string) reply {
		at := indexOf(items, w[2])
		switch {
		case at < 0:
			return reply{}
		case reverse:
			at = len(items) - 1 - at
		}
		return integer(int64(at))
	})
}

// bound is an end of a range of scores.
type bound struct {
	score float64
	open  bool // it is not in the range
}

// parseBound reads one as C's strtod does: no number is 0.
func parseBound(s string) (b bound, ok bool) {
	s, b.open = strings.CutPrefix(s, "(")
	b.score, ok = parseFloat(cmp.Or(s, "0"))
	return b, ok
}

// within returns the members with scores from low to high. r is an error, or zero.
func within(items []item, low, high string) (list []item, r reply) {
	a, ok1 := parseBound(low)
	b, ok2 := parseBound(high)
	if !ok1 || !ok2 {
		return nil, failure("ERR min or max is not a float")
	}
	for _, i := range items {
		if (i.score > a.score || !a.open && i.score == a.score) && (i.score < b.score || !b.open && i.score == b.score) {
			list = append(list, i)
		}
	}
	return list, reply{}
}

// selection are the options of ZRANGE.
type selection struct {
	byScore, reverse, scores bool
	limited                  bool
	offset, most             int64
}

// zrange is ZRANGE and its relatives: they differ in the options that they set, and in
// those that a request may have.
func zrange(o selection, allowed ...string) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		o := o
		for i := 4; i < len(w); i++ {
			option := strings.ToUpper(w[i])
			switch {
			case option == "BYLEX" && slices.Contains(allowed, "BYSCORE"):
				return x.miss(strings.ToUpper(w[0]) + " BYLEX")
			case !slices.Contains(allowed, option):
				return failure(errSyntax)
			case option == "WITHSCORES":
				o.scores = true
			case option == "BYSCORE":
				o.byScore = true
			case option == "REV":
				o.reverse = true
			case option == "LIMIT" && i+2 < len(w):
				var ok1, ok2 bool
				o.offset, ok1 = parseInt(w[i+1])
				o.most, ok2 = parseInt(w[i+2])
				if !ok1 || !ok2 {
					return failure(errInteger)
				}
				o.limited = true
				i += 2
			default:
				return failure(errSyntax)
			}
		}
		if o.limited && o.most != -1 && !o.byScore {
			return failure("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX")
		}
		return x.zrange(w[1], w[2], w[3], o)
	}
}

func (x *call) zrange(key, from, to string, o selection) reply {
	low, high, valid := from, to, within
	switch {
	case o.byScore && o.reverse:
		low, high = to, from
	case !o.byScore:
		valid = between
	}
	if _, r := valid(nil, low, high); r.failed() {
		return r
	}
	items, r := x.load(key, redis.SortedSet)
	if r.failed() {
		return r
	}
	if o.byScore {
		items, _ = within(items, low, high)
	}
	if o.reverse {
		slices.Reverse(items)
	}
	if !o.byScore {
		items, _ = between(items, low, high)
	}
	if o.limited {
		if o.offset < 0 || o.offset > int64(len(items)) {
			o.offset = int64(len(items))
		}
		items = items[o.offset:]
		if o.most >= 0 {
			items = items[:min(o.most, int64(len(items)))]
		}
	}
	return x.scored(items, o.scores)
}

func zcount(_ *call, _, chosen []item, _ []string) reply { return integer(int64(len(chosen))) }

// zremRange is ZREMRANGEBYSCORE and ZREMRANGEBYRANK.
func zremRange(x *call, items, gone []item, w []string) reply {
	kept := slices.DeleteFunc(slices.Clone(items), func(i item) bool { return indexOf(gone, i.name) >= 0 })
	if len(gone) > 0 {
		x.store(w[1], redis.SortedSet, kept)
	}
	return integer(int64(len(gone)))
}

// zpop is ZPOPMIN key [count], and ZPOPMAX at the right end.
func zpop(e end) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		n, r := counted(w, failure(errSyntax))
		if r.failed() {
			return r
		}
		taken, r := x.zpop(w[1], e, n)
		if r.failed() {
			return r
		}
		r = x.scored(taken, true)
		if len(w) == 2 && len(taken) > 0 && len(r.list) == 1 { // RESP3 without a count: one flat pair
			r = r.list[0]
		}
		return r
	}
}

// zpop takes up to n members from an end.
func (x *call) zpop(key string, e end, n int64) (taken []item, r reply) {
	items, r := x.load(key, redis.SortedSet)
	if r.failed() || len(items) == 0 || n == 0 {
		return nil, r
	}
	n = min(n, int64(len(items)))
	if e == right {
		slices.Reverse(items)
	}
	taken, items = items[:n:n], items[n:]
	if e == right {
		slices.Reverse(items)
	}
	x.store(key, redis.SortedSet, items)
	return taken, reply{}
}
