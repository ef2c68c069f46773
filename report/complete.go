package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// fewAcquires is the largest number of acquires of a run whose story tells of every
// client.
const fewAcquires = 8

// complete adds to the story of a short run without a violation what decided its
// outcome: who held while a client of the story waited, which operations failed, which
// entries were lost, and what came of the other clients.
func (p *plot) complete() {
	asks := 0
	for _, o := range p.d.all {
		if o.asks() {
			asks++
		}
	}
	if asks > fewAcquires {
		return
	}
	p.weigh(side, func() {
		for _, g := range slices.Backward(p.d.grants) {
			if p.said[g.got] {
				p.predecessor(g)
			}
		}
		for i, o := range p.d.all {
			switch {
			case o.outcome == history.Fail && !slices.ContainsFunc(p.d.all[:i], o.failsLike):
				p.fails(o)
			case o.outcome == history.Info && o.asks() && o.grant == nil && o.err != history.ErrCrashed && len(o.stays) > 0:
				p.remains(o)
			}
		}
		for _, s := range p.d.stays {
			if s.to != none && s.by == nil && (s.how == history.Lose || p.d.queue) {
				p.entryEnds(s)
			}
		}
	})
	p.weigh(detail, func() {
		for _, o := range p.d.all {
			late := slices.DeleteFunc(slices.Clone(o.stays), func(s *stay) bool {
				return o.over() == none || p.d.at(s.from)-p.d.at(o.over()) <= p.d.slack()
			})
			if len(late) > 0 && slices.Contains(p.clients, o.client) {
				p.makes("", late...)
			}
		}
		for _, o := range p.d.all {
			if o.asks() && (!slices.Contains(p.clients, o.client) || p.whole && o.grant != nil) {
				p.outcome(o)
			}
		}
	})
	if p.whole && !slices.ContainsFunc(p.d.grants, func(g *grant) bool { return !p.said[g.got] }) {
		p.coda, p.whole = "", false
	}
}

// failsLike reports whether o and x are failed operations of one kind by one client.
func (o *op) failsLike(x *op) bool {
	return x.outcome == history.Fail && x.client == o.client && x.f == o.f && x.err == o.err
}

// predecessor tells of the hold that g's acquire had to wait for.
func (p *plot) predecessor(g *grant) {
	var last *grant
	for _, o := range p.d.grants {
		if before(o.end, g.got) && o.end > g.op.invoke && (last == nil || last.end < o.end) {
			last = o
		}
	}
	if last != nil {
		p.granted(last, "", "")
		p.leaves(last, side)
	}
}

// outcome tells what came of an acquire.
func (p *plot) outcome(o *op) {
	if o.grant != nil {
		p.granted(o.grant, "", "")
		p.leaves(o.grant, side)
		return
	}
	p.fails(o)
}

// fails tells of an operation that did not do what its client wanted.
func (p *plot) fails(o *op) {
	switch {
	case o.done == none || o.err == history.ErrCrashed:
	case o.asks() && o.outcome != history.OK:
		who, did, does := p.ended(o)
		often, why := 0, p.d.reason(o)
		for _, x := range p.d.all {
			if !o.failsLike(x) {
				continue
			}
			often++
			if why != "" && p.d.reason(x) != why { // not the reason of all
				did, does = strings.TrimSuffix(did, why), strings.TrimSuffix(does, why)
			}
		}
		if often > 1 {
			did, does = did+"; that happened "+times(often), does+", "+times(often)
		}
		p.with(o.client)
		if p.d.queue && len(o.stays) > 0 {
			p.queued(o.stays[0])
			p.entryEnds(o.stays[0])
		}
		p.add(moment{pos: o.done, lane: o.client, actor: o.client, who: who, did: did, line: who + " " + does})
	case o.f == history.Release && o.grant != nil:
		p.leaves(o.grant, side)
	case o.f == history.Release:
		p.with(o.client)
		p.add(acts(o.done, o.client, "tried to release the lock, which it did not hold, and was refused",
			"tries to release the lock, which it does not hold, and is refused"))
	}
}

// apart tells that a holder had released the lock before the next one of the story was
// granted it, so that no reader thinks that both held.
func (p *plot) apart() {
	var earlier *grant
	for _, g := range p.d.grants {
		if !p.said[g.got] {
			continue
		}
		if e := earlier; e != nil && e.release != nil && e.release.invoke < g.got && (p.everyFault || e.until(g.got) > p.d.at(g.got)) {
			p.leaves(e, side)
		}
		earlier = g
	}
}

// excused returns a sentence about the longest time that handover does not count: nobody
// held the lock, a client waited for longer than handover allows, and a fault was in force.
// It returns "" without one.
func (p *plot) excused() (text string) {
	var longest time.Duration
	p.idle(func(who string, from, to time.Duration) {
		var names []string
		for _, f := range p.d.faults {
			if f.Stops && !f.Once && !f.Ends && p.d.at(f.begins) < to && p.d.at(f.end) > from && !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
		if len(names) > 0 && to-from > longest {
			longest = to - from
			text = fmt.Sprintf("Nobody held the lock %s while %s waited, but handover does not count the time of a fault that is in force (%s).",
				p.during(span{from: from, to: to}), who, list(names))
		}
	})
	return text
}

// longer adds to a story about a slow handover that a later one took longer.
func (p *plot) longer() {
	if len(p.spans) == 0 || p.spans[0].label != nobodyHolds {
		return
	}
	told, text := p.spans[0], ""
	longest := told.to - told.from
	p.idle(func(who string, from, to time.Duration) {
		if from >= told.to && to-from > longest {
			longest = to - from
			text = fmt.Sprintf("Nor did anybody hold it %s, while %s waited.", p.during(span{from: from, to: to}), who)
		}
	})
	p.coda = strings.TrimSpace(p.coda + " " + text)
}

// idle calls f for each time in which nobody held the lock and a client waited for it, if
// that was longer than handover allows.
func (p *plot) idle(f func(who string, from, to time.Duration)) {
	bound := cmp.Or(time.Duration(p.d.h.Header.HandoverMS)*time.Millisecond, p.d.h.Header.Lease()/2)
	var waiting []*op // acquires that reach into the gap
	next := 0
	for _, free := range p.free(0, p.d.last()) {
		for ; next < len(p.d.all) && p.d.all[next].invoke < free.end; next++ {
			if o := p.d.all[next]; o.asks() {
				waiting = append(waiting, o)
			}
		}
		waiting = slices.DeleteFunc(waiting, func(o *op) bool { return !before(free.begin, o.over()) })
		if p.d.at(free.end)-p.d.at(free.begin) <= bound || bound == 0 {
			continue
		}
		if who, from, to := p.wanted(waiting, free, bound); to-from > bound {
			f(who, from, to)
		}
	}
}

// wanted returns the first time in a gap in which one of these acquires waited, and whose
// was first. A client that asks again within bound goes on waiting.
func (p *plot) wanted(waiting []*op, free gap, bound time.Duration) (who string, from, to time.Duration) {
	for _, o := range waiting {
		if who == "" {
			who, from = o.client, max(p.d.at(o.invoke), p.d.at(free.begin))
			to = from
		}
		if p.d.at(o.invoke) <= to+bound {
			to = max(to, min(p.d.at(o.over()), p.d.at(free.end)))
		}
	}
	return who, from, to
}
