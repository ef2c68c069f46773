package models

import (
	"cmp"
	"slices"

	"github.com/lockcheck/lockcheck/checker"
)

// cluster is a value that was in place once: its writer, its readers, and the cas
// that replaced it.
type cluster struct {
	value   int64
	maker   int32 // access that wrote it; none: it was there from the start
	readers []int32
	next    int32 // access: the cas that replaced it, or none
	begun   bool  // it belongs to a chain
}

// chains judges a register whose values were each written once.
type chains struct {
	*object
	of       map[int64]*cluster
	order    []*cluster      // in the order of their creation
	atStart  *cluster        // the value without a writer
	certain  bool            // a certain access showed it
	earliest int32           // the first completion of a certain write or cas
	shownBy  map[int32]int32 // by indeterminate access: the line that shows that it happened
	zones    []zone
}

// zone is the time of a chain of values. If from is before to, the values must have
// been in place from from to to; else they only needed some instant in between.
type zone struct {
	from, to     int32 // the first completion and the last call
	least, most  int32 // the accesses with those positions
	first        *cluster
	lower, upper int32 // the same two positions, in order
}

func (z *zone) forward() bool { return z.from < z.to }

// judgeAccesses judges a register.
func (o *object) judgeAccesses() finding {
	if !o.model.rule.cas {
		for i := range o.accesses {
			if o.accesses[i].what == cas {
				return undecided("it has a cas, which the model register does not know: use cas-register")
			}
		}
	}
	c := chains{object: o, of: map[int64]*cluster{}, earliest: never, shownBy: map[int32]int32{}}
	f := c.judge()
	if f.outcome != checker.Violated {
		return f
	}
	if !f.open && c.ambiguous(f) {
		return undecided("what was read first may have been there from the start")
	}
	f.start = c.before(f)
	f.whole = f.whole || o.model.First.Set
	return f
}

// judge builds the clusters, joins them to chains and compares their zones.
func (c *chains) judge() finding {
	if f := c.gather(); f.outcome != checker.Valid {
		return f
	}
	for _, k := range c.order {
		if k.maker != none && c.accesses[k.maker].what == cas {
			continue // it is not the first of its chain
		}
		if f := c.chain(k); f.outcome != checker.Valid {
			return f
		}
	}
	for _, k := range c.order {
		if !k.begun {
			return undecided("values replaced each other in a circle")
		}
	}
	return c.compare()
}

// gather finds the writer, the readers and the replacement of each value.
func (c *chains) gather() finding {
	makers := map[int64]int32{} // of a value: its first certain writer, or else a possible one
	twice := map[int64]bool{}
	for i := range c.accesses {
		a := &c.accesses[i]
		if a.what != write && a.what != cas {
			continue
		}
		if !a.known || a.what == cas && !a.based {
			return undecided("not every write says what it wrote")
		}
		if a.ret != never {
			c.earliest = min(c.earliest, a.ret)
		}
		if m, ok := makers[a.value]; ok {
			twice[a.value] = true
			if c.accesses[m].ret != never || a.ret == never {
				continue
			}
		}
		makers[a.value] = int32(i)
	}
	// Certain accesses show values; the writers of those values are certain, too.
	for i := range c.accesses {
		a := &c.accesses[i]
		if a.ret == never || a.what == refuse || a.what == read && !a.known {
			continue
		}
		if a.what == write || a.what == cas {
			if m := makers[a.value]; m == int32(i) {
				c.cluster(a.value, m)
			} else { // another access wrote it too
				c.order = append(c.order, &cluster{value: a.value, maker: int32(i), next: none})
				if a.what == cas {
					return undecided("a value was written twice")
				}
			}
		}
		for show, at := a, int32(i); show.what != write; {
			v := show.value
			if show.what == cas {
				v = show.from
			}
			if twice[v] {
				return undecided("a value that was seen was written twice")
			}
			m, ok := makers[v]
			if !ok {
				m = none
			}
			known := c.of[v] != nil
			k := c.cluster(v, m)
			switch {
			case show.what == read:
				k.readers = append(k.readers, at)
			case k.next == none:
				k.next = at
			case k.next != at:
				return c.replacedTwice(k, at)
			}
			if m == none && c.model.First.Set {
				return violation(c.facts(at), "%s, and nobody ever wrote %d; %s.", c.doing(at), v, c.doing(0))
			}
			if m == none {
				if c.atStart != nil && c.atStart != k {
					return c.twoStarts(c.atStart, k)
				}
				c.atStart, c.certain = k, c.certain || show.ret != never
				break
			}
			if known || c.accesses[m].ret != never {
				break
			}
			c.shownBy[m] = at // it did happen
			show, at = &c.accesses[m], m
		}
	}
	return legal
}

func (c *chains) cluster(v int64, maker int32) *cluster {
	k := c.of[v]
	if k == nil {
		k = &cluster{value: v, maker: maker, next: none}
		c.of[v] = k
		c.order = append(c.order, k)
	}
	return k
}

// chain follows a chain of values and notes its zone.
func (c *chains) chain(first *cluster) finding {
	z := zone{from: never, to: none, least: none, most: none, first: first}
	latest := none // the access so far with the latest call
	// must reports whether access i can come after another one.
	must := func(before, i int32) bool { return before == none || c.accesses[before].call <= c.accesses[i].ret }
	note := func(i int32) {
		a := &c.accesses[i]
		if a.ret < z.from {
			z.from, z.least = a.ret, i
		}
		if a.call > z.to || z.most == none {
			z.to, z.most = a.call, i
		}
		if latest == none || a.call > c.accesses[latest].call {
			latest = i
		}
	}
	for k := first; k != nil; {
		k.begun = true
		if k.maker == none {
			z.from = none
		} else {
			if !must(latest, k.maker) {
				return c.tooEarly(latest, k.maker)
			}
			note(k.maker)
		}
		in := latest
		for _, r := range k.readers {
			if !must(in, r) {
				return c.tooEarly(in, r)
			}
			note(r)
		}
		if k.next == none {
			break
		}
		k = c.of[c.accesses[k.next].value]
		if k != nil && k.begun {
			return undecided("values replaced each other in a circle")
		}
	}
	z.lower, z.upper = min(z.from, z.to), max(z.from, z.to)
	c.zones = append(c.zones, z)
	return legal
}

// compare looks for zones that conflict.
func (c *chains) compare() finding {
	slices.SortFunc(c.zones, func(a, b zone) int { return cmp.Compare(a.lower, b.lower) })
	var last *zone // the forward zone that ends last
	for i := range c.zones {
		z := &c.zones[i]
		if last != nil && (z.forward() && z.lower < last.upper || !z.forward() && z.upper < last.upper) {
			return c.inTheWay(last, z)
		}
		if z.forward() && (last == nil || z.upper > last.upper) {
			last = z
		}
	}
	return legal
}

// facts returns the evidence: accesses, each with the line that shows that it
// happened.
func (c *chains) facts(list ...int32) (facts []fact) {
	for _, i := range list {
		if i != none && c.accesses[i].call == atFirst {
			continue
		}
		for ok := i != none; ok; i, ok = c.shownBy[i] {
			this := fact{opID{accessOp, i}, c.accesses[i].at()}
			if !slices.ContainsFunc(facts, func(f fact) bool { return f.op == this.op }) {
				facts = append(facts, this)
			}
		}
	}
	return facts
}

// ambiguous reports whether a value in the facts may have been there from the start,
// although it was also written later.
func (c *chains) ambiguous(f finding) bool {
	if c.certain {
		return false
	}
	for _, x := range f.facts {
		if a := &c.accesses[x.op.n]; a.what != write && a.call < c.earliest {
			return true
		}
	}
	return false
}

// before returns a state in which the facts are impossible: with the value that was
// there from the start, or an unknown one.
func (c *chains) before(f finding) state {
	if c.model.First.Set {
		return c.start()
	}
	if f.open {
		return state{}
	}
	s := state{known: true}
	if c.atStart != nil {
		s.value = c.atStart.value
		return s
	}
	used := map[int64]bool{}
	for i := range c.accesses {
		used[c.accesses[i].value], used[c.accesses[i].from] = true, true
	}
	for used[s.value] {
		s.value++
	}
	return s
}

// tooEarly returns the violation that y was over before x was invoked, although the
// values show that it came after x.
func (c *chains) tooEarly(x, y int32) finding {
	return violation(c.facts(x, y), "%s, and that was over before %s, which it must have followed.", c.doing(y), c.doing(x))
}

func (c *chains) replacedTwice(k *cluster, second int32) finding {
	return violation(c.facts(k.next, second), "%s, and %s, but %d was in place only once.", c.doing(k.next), c.doing(second), k.value)
}

func (c *chains) twoStarts(a, b *cluster) finding {
	shows := func(k *cluster) int32 {
		if len(k.readers) > 0 {
			return k.readers[0]
		}
		return k.next
	}
	if c.accesses[shows(a)].ret == never || c.accesses[shows(b)].ret == never {
		return undecided("what was replaced without an answer may have been there from the start")
	}
	f := violation(c.facts(shows(a), shows(b)), "%s, and %s, but nobody ever wrote %d or %d, and only one of them can have been there from the start.",
		c.doing(shows(a)), c.doing(shows(b)), a.value, b.value)
	f.open = true
	return f
}

// inTheWay returns the violation that the values of b had to be in place, at least
// for an instant, while those of a were.
func (c *chains) inTheWay(a, b *zone) finding {
	f := violation(c.facts(a.least, a.most, b.least, b.most), "")
	f.sentence = c.noOrder(f.facts)
	return f
}
