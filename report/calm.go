package report

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// calm tells what happened in a run that kept all promises: what a fault did to a
// holder, and how it ended well.
func (p *plot) calm() {
	for _, tell := range []func() bool{p.refused, p.outlived, p.shared, p.struck, p.undisturbed} {
		if tell() {
			break
		}
	}
	p.complete()
	p.apart()
	for _, m := range p.moments {
		p.climax = max(p.climax, m.pos)
	}
}

// rest returns sentences about the faults that have no moment, and about the faults and
// grants after the last one. It returns "" without any.
func (p *plot) rest() string {
	grants, last := 0, p.moments[len(p.moments)-1].pos
	var before []*grant                   // untold
	var untold, later, was, what []string // untold, later: names of faults
	told := map[int]bool{}                // by line
	for _, m := range p.moments {
		told[m.pos] = true
		for _, begins := range m.faults {
			told[begins] = true
		}
	}
	for _, g := range p.d.grants {
		switch {
		case g.got > last:
			grants++
		case !told[g.got]:
			before = append(before, g)
		}
	}
	for _, f := range p.d.faults {
		switch {
		case !f.hit() || told[f.begins]:
		case f.begins > last:
			later = append(later, f.Name)
		default:
			untold = append(untold, f.Name)
		}
	}
	if grants > 0 {
		what = append(what, more(grants, "grant"))
	}
	if len(later) > 0 {
		what = append(what, moreFaults(later))
	}
	text := ""
	if n := len(before); n > 0 {
		to := "to "
		if n > 1 {
			to = "the first to "
		}
		was = append(was, more(n, "grant")+" ("+to+before[0].client+" at "+p.d.units.at(p.d.at(before[0].got))+")")
	}
	if len(untold) > 0 {
		was = append(was, moreFaults(untold))
	}
	if len(was) > 0 {
		verb := "were "
		if len(before)+len(untold) == 1 {
			verb = "was "
		}
		text = "There " + verb + list(was) + "."
	}
	if len(what) > 0 {
		text += " The run went on until " + p.d.units.at(p.d.at(none)) + ", with " + list(what) + "."
	}
	return strings.TrimSpace(text)
}

// moreFaults returns how many more faults there were, and their kinds.
func moreFaults(names []string) string {
	n := len(names)
	slices.Sort(names)
	return more(n, "fault") + " (" + list(slices.Compact(names)) + ")"
}

// refused tells how the resource turned a stale access away.
func (p *plot) refused() bool {
	for _, v := range p.d.visits {
		if v.f != history.Refuse || v.grant == nil {
			continue
		}
		p.climax = v.pos
		p.stale(v)
		for _, g := range p.d.grants {
			if g.token <= v.grant.token || g.got > v.pos {
				continue
			}
			if v.grant.holds(g.got) {
				p.enters(g, v.grant)
			} else {
				p.granted(g, "", "")
			}
			for _, w := range p.d.visits {
				if w.grant == g && w.f == history.Write {
					p.writing(w)
				}
			}
			break
		}
		p.refusal(v)
		return true
	}
	return false
}

// outlived tells of a holder whose entry ended before its hold.
func (p *plot) outlived() bool {
	for _, g := range p.d.grants {
		s := g.lastEntry()
		if s == nil || s.to == none || !g.holds(s.to) {
			continue
		}
		for _, y := range p.d.grants {
			if y.got > s.to && g.holds(y.got) {
				p.together(g, y)
				return true
			}
		}
		p.climax = s.to
		p.holder(g)
		p.leaves(g, key)
		p.next(s.to, "", "")
		return true
	}
	return false
}

// maxAsking is the largest number of clients that ask at one time and that a story names.
const maxAsking = 5

// shared tells of clients that repeatedly split the servers among them, and which
// client was granted the lock in the end.
func (p *plot) shared() bool {
	free := gap{0, p.d.last()}
	if len(p.d.grants) > 0 {
		free.end = p.d.grants[0].got
	}
	if len(p.d.all) == 0 || !p.split(free, 3) {
		return false
	}
	var together []string
	for _, o := range p.d.all {
		if o.asks() && p.d.at(o.invoke) == p.d.at(p.d.all[0].invoke) {
			p.with(o.client)
			together = append(together, o.client)
		}
	}
	first, who := p.d.all[0], list(together)
	if n := len(together); n > maxAsking {
		who = fmt.Sprintf("%s and %d others", together[0], n-1)
	}
	if len(together) > 1 {
		p.add(happens(first.invoke, who, "asked for the lock", "ask for the lock").in(first.client))
	}
	p.asks(first)
	p.next(0, "", "")
	return true
}

// struck tells of the first fault that struck a holder. Without one it tells of the
// first fault that struck a client in the middle of an operation, or disturbed its
// link.
func (p *plot) struck() bool {
	held, fell := lasting{}, map[*fault]bool{}
	for _, g := range p.d.grants {
		held.add(g.client, g.got, g.end)
		held.add(anybody, g.got, g.end)
		fell[g.fell] = true
	}
	for _, f := range p.d.faults {
		server := slices.ContainsFunc(f.on, p.d.serves) && !f.link()
		if !f.hit() || !fell[f] && !(server && held.at(anybody, f.start)) && !held.strikes(f) {
			continue
		}
		for _, g := range p.d.grants {
			if (server || f.strikes(g.client)) && g.got <= f.start && (g.end == none || f.start <= g.end || g.fell == f) {
				p.survives(g)
				p.returned(f)
				return true
			}
		}
	}
	busy, asked := lasting{}, map[string][]int{}
	for _, o := range p.d.all {
		busy.add(o.client, o.invoke, o.done)
		if o.asks() {
			asked[o.client] = append(asked[o.client], o.invoke)
		}
	}
	for _, f := range p.d.faults {
		link := f.link()
		disturbed := slices.ContainsFunc(f.victims(), func(name string) bool {
			i, _ := slices.BinarySearch(asked[name], f.start+1)
			return link && i < len(asked[name]) && before(asked[name][i], f.end)
		})
		if !f.hit() || !disturbed && !busy.strikes(f) {
			continue
		}
		for _, o := range p.d.all {
			later := link && f.start < o.invoke && before(o.invoke, f.end) && o.asks()
			if f.strikes(o.client) && (later || o.invoke <= f.start && (o.done == none || f.start <= o.done)) {
				if later {
					p.asks(o)
				}
				p.interrupted(o)
				return true
			}
		}
	}
	return false
}

// lasting is the times in which something lasted, by client. They are added in the
// order of their beginnings.
type lasting map[string][]gap

// anybody is the key for all clients.
const anybody = ""

// add adds a time. Without an end it lasts to the last line.
func (l lasting) add(who string, begin, end int) {
	list := l[who]
	if n := len(list); n > 0 && before(end, list[n-1].end) {
		end = list[n-1].end // the latest end so far
	}
	l[who] = append(list, gap{begin, end})
}

// at reports whether one of who's times had begun at pos and had not ended.
func (l lasting) at(who string, pos int) bool {
	i, _ := slices.BinarySearchFunc(l[who], pos+1, func(t gap, pos int) int { return cmp.Compare(t.begin, pos) })
	return i > 0 && !before(l[who][i-1].end, pos)
}

// strikes reports whether f struck a client during one of its times.
func (l lasting) strikes(f *fault) bool {
	return slices.ContainsFunc(f.victims(), func(name string) bool { return l.at(name, f.start) })
}

// survives tells how a grant ended that a fault struck, and which client came next.
func (p *plot) survives(g *grant) {
	p.granted(g, "", "")
	p.leaves(g, key)
	after := max(g.got, g.end)
	if s := g.lastEntry(); s != nil && s.to != none && (s.by == nil || s.by.client != g.client) {
		p.entriesEnd(g.restsOn())
	}
	for _, next := range p.d.grants {
		if next.got > after {
			p.vain(next.op)
			break
		}
	}
	p.next(after, "", "")
}

// interrupted tells the outcome of an operation that a fault struck.
func (p *plot) interrupted(o *op) {
	if g := o.grant; g != nil {
		if vain := g.inVain(); len(vain) > 0 {
			p.makes("", vain...)
			p.entriesEnd(vain)
			p.meanwhile(vain[0].to, g)
		}
		p.survives(g)
		return
	}
	p.asks(o)
	after := max(o.invoke, o.done)
	p.vain(o)
	if left := p.remains(o); len(left) > 0 {
		after = max(after, left[0].from)
	} else if o.outcome != history.Info && o.done != none && o.err != history.ErrCrashed {
		p.fails(o)
	}
	p.next(after, "", "")
}

// remains tells of the entries that an acquire without a grant left behind, which it
// returns, and that its outcome was unknown.
func (p *plot) remains(o *op) []*stay {
	left := slices.DeleteFunc(slices.Clone(o.stays), (*stay).own)
	if len(left) > 0 {
		p.makes("", left...)
	}
	if len(left) > 0 || o.outcome == history.Info {
		p.unanswered(o)
	}
	p.entriesEnd(left)
	return left
}

// meanwhile tells of the first other client that was granted the lock between a
// position and the grant g.
func (p *plot) meanwhile(pos int, g *grant) {
	for _, o := range p.d.grants {
		if o.client != g.client && pos < o.got && o.got < g.got {
			p.granted(o, "", "")
			p.leaves(o, side)
			return
		}
	}
}

// returned tells of the first grant from a server that had been down.
func (p *plot) returned(f *fault) {
	if !f.Down() || f.end == none {
		return
	}
	for _, g := range p.d.grants {
		if g.got > f.end && slices.ContainsFunc(g.restsOn(), func(s *stay) bool { return slices.Contains(f.on, s.home) }) {
			p.recovers = f
			p.granted(g, "", "")
			return
		}
	}
}

// overtaken names a client that waited while more than two acquires invoked later
// were granted the lock, or returns "".
func (p *plot) overtaken() string {
	const many = 1000 // the work grows with the square of their number
	if len(p.d.grants) > many {
		return ""
	}
	var most *grant
	passed := 2
	for _, g := range p.d.grants {
		n := 0
		for _, o := range p.d.grants {
			if p.d.at(o.op.invoke) > p.d.at(g.op.invoke) && o.got < g.got {
				n++
			}
		}
		if n > passed {
			most, passed = g, n
		}
	}
	if most == nil {
		return ""
	}
	at := func(pos int) string { return p.d.units.at(p.d.at(pos)) }
	return fmt.Sprintf(" %s asked at %s and was granted the lock at %s, after %d that asked later.",
		most.client, at(most.op.invoke), at(most.got), passed)
}

// undisturbed tells of the first hand-over in a run in which no fault struck a
// client.
func (p *plot) undisturbed() bool {
	if len(p.d.grants) == 0 {
		if len(p.d.all) > 0 {
			p.asks(p.d.all[0])
			p.coda = "Nobody was granted it."
		}
		return true
	}
	first, and := p.d.grants[0], "And so on:"
	for i, g := range p.d.grants[:min(2, len(p.d.grants))] {
		if i > 0 && first.client == g.client && first.holds(g.got) && first.nest != g.nest {
			p.enters(g, first)
			and = "In all"
		}
		p.granted(g, "", "")
		p.leaves(g, key)
	}
	struck := slices.ContainsFunc(p.d.faults, (*fault).hit)
	switch n := len(p.d.grants); {
	case slices.ContainsFunc(p.d.faults, p.d.meets()):
	case struck:
		p.coda = "What was injected struck nobody in the middle of anything."
	case n > 2:
		p.whole = true
		p.coda = fmt.Sprintf("%s the lock was granted %d times, and no fault struck.", and, n) + p.overtaken()
	}
	return true
}

// meets returns a function that reports whether a fault may have touched an operation
// under way: one of a struck client, or any operation if it struck a server.
func (d *digest) meets() func(*fault) bool {
	spans := lasting{}
	for _, o := range d.all {
		spans.add(anybody, o.invoke, o.over())
		spans.add(o.client, o.invoke, o.over())
	}
	busy := func(f *fault, who string) bool {
		s := spans[who]
		n := sort.Search(len(s), func(i int) bool { return !before(s[i].begin, f.end) })
		return n > 0 && before(f.start, s[n-1].end)
	}
	return func(f *fault) bool {
		return f.hit() && (slices.ContainsFunc(f.victims(), func(name string) bool { return busy(f, name) }) ||
			slices.ContainsFunc(f.on, d.serves) && busy(f, anybody))
	}
}
