package models

import (
	"cmp"
	"fmt"
	"slices"
)

// judgeEvents judges a mutex without owners. A grant that may have ended before it
// was certain is optional: it may have been given and taken back in one instant. A
// release that may confirm an earlier one may have taken effect then. A violation in
// spite of all that is certain.
func (o *object) judgeEvents() finding {
	seems := o.events
	for n := len(seems); n > 0 && seems[n-1].release && seems[n-1].hold != none; n-- {
		seems = seems[:n-1]
	}
	least := *o
	least.events = seems
	tied := slices.ContainsFunc(seems, func(e event) bool { return e.tied && e.ret != never })
	confirms := slices.ContainsFunc(seems, event.confirms)
	if tied || confirms {
		least.events = o.loosened(seems, true)
	}
	a := alternation{events: least.events}
	i := a.run(nil)
	switch {
	case i != none:
		f := least.noTurn(&a, i)
		f.excess = tied || confirms // the events allow more than the history does
		return f
	case len(o.refused) > 0:
		return undecided("tries were refused")
	case !tied && !confirms || stuck(seems, nil, false) == none:
		return legal
	case confirms && stuck(o.loosened(seems, false), nil, false) == none:
		return legal
	case confirms:
		return undecided("a release may have confirmed an earlier one")
	default:
		return undecided("a grant may have ended before it was certain")
	}
}

// loosened returns events in which each release that may confirm an event without an
// answer may come as early as that event. Each such event is then needed once: the
// confirmed one may come in place of the release itself, or, if most is false, not at
// all. If most is true, grants that may have ended before they were certain are
// optional, so that the events allow everything that the history allows.
func (o *object) loosened(events []event, most bool) []event {
	list := slices.Clone(events)
	used := make([]bool, len(o.events))
	for i := range list {
		e := &list[i]
		if most && e.tied {
			e.ret = never
		}
		if !e.confirms() {
			continue
		}
		by := &o.events[e.by]
		switch {
		case by.call >= e.call:
		case by.hold == none && !used[e.by]: // else it is not in the list
			used[e.by] = true
			list[e.by].call, e.call = e.call, by.call
		case most:
			e.call = by.call
		}
	}
	if !most {
		left := list[:0]
		for i, e := range list {
			if !used[i] {
				left = append(left, e)
			}
		}
		list = left
	}
	slices.SortStableFunc(list, func(a, b event) int { return cmp.Compare(a.call, b.call) })
	return list
}

// The longest stretch of events that is searched for the few that prove a violation,
// and the number of events that are shown of a longer one.
const (
	longestWindow = 256
	lastEvents    = 4
)

// noTurn returns the violation that event i had no turn. It has as few events without
// an order as can be found; for a long stretch it has their number.
func (o *object) noTurn(a *alternation, i int32) finding {
	events, free := o.window(i)
	if len(events) > longestWindow {
		return o.tooMany(a, i)
	}
	optional := make([]bool, len(events))
	impossible := func() bool {
		return stuck(events, optional, false) != none && (free || stuck(events, optional, true) != none)
	}
	for size := (len(events) + 1) / 2; size > 0; size /= 2 { // by halves: long stretches that are not needed go first
		for at := 0; at < len(events); at += size {
			was := slices.Clone(optional[at:min(at+size, len(events))])
			for k := range was {
				optional[at+k] = true
			}
			if !impossible() {
				copy(optional[at:], was)
			}
		}
	}
	var facts []fact
	acquires, releases := 0, 0
	first, last := never, none
	for k := range events {
		e := &events[k]
		if optional[k] || e.ret == never {
			continue
		}
		facts = append(facts, fact{opID{eventOp, e.n}, []int32{e.call, e.ret}})
		first, last = min(first, e.call), max(last, e.ret)
		if e.release {
			releases++
		} else {
			acquires++
		}
	}
	f := violation(facts, "")
	f.sentence = o.counted(events, optional, first, last, acquires, releases)
	f.open, f.whole = !free, free
	return f
}

// counted says which events there were too many of: if the facts are of one kind, too
// few of the other kind can go between them.
func (o *object) counted(events []event, optional []bool, first, last int32, acquires, releases int) string {
	between := 0 // events of the other kind
	for k := range events {
		if e := &events[k]; e.release == (acquires > 0) && e.call < last && e.ret > first {
			between++
		}
	}
	span := fmt.Sprintf("from line %d to line %d %s", o.lines.of(first), o.lines.of(last), o.named(o.lock))
	few := func(thing string) string {
		if between == 0 {
			return "no " + thing + " can"
		}
		return "no more than " + plural(between, thing) + " can"
	}
	switch {
	case releases == 0 && between+1 < acquires:
		return fmt.Sprintf("%s was granted %d times, and %s have come between.", span, acquires, few("release"))
	case acquires == 0 && releases == 1:
		return fmt.Sprintf("%s was released (%s), and nobody can have acquired it before.", o.named(o.lock), o.span(first, last))
	case acquires == 0 && between+1 < releases:
		return fmt.Sprintf("%s was released %d times, and %s have come between.", span, releases, few("acquire"))
	default:
		return fmt.Sprintf("%s was granted %s and released %s: in no order is it free for each grant and held for each release, whatever the others did.",
			span, times(acquires), times(releases))
	}
}

// tooMany is the same, by numbers. All events were delayed for as long as possible,
// and all invoked events of the other kind have had their turns: there are too few of
// them. If an event of its own kind had an early turn because one of the other kind
// was urgent, only later events count.
func (o *object) tooMany(a *alternation, i int32) finding {
	last := &o.events[i]
	from, first := 0, none
	release := a.locked // kind of the turn under examination
	for k := len(a.turns) - 1; k >= 0; k-- {
		if release = !release; release != last.release {
			continue
		}
		if n := a.turns[k]; n == none || o.events[n].ret > last.ret {
			from = k + 2 // after the urgent one
			first = o.events[a.turns[k+1]].ret
			break
		}
	}
	var facts []fact
	same, other := 1, 0
	for k := len(a.turns) - 1; k >= from; k-- {
		n := a.turns[k]
		if n == none || o.events[n].release != last.release {
			other++
			continue
		}
		if same++; same <= lastEvents {
			facts = append(facts, fact{opID{eventOp, o.events[n].n}, []int32{o.events[n].call, o.events[n].ret}})
		}
	}
	facts = append(facts, fact{opID{eventOp, last.n}, []int32{last.call, last.ret}})
	said := []string{plural(same, "grant"), plural(other, "release")}
	if last.release {
		said = []string{plural(same, "release"), plural(other, "grant")}
	}
	span := fmt.Sprintf("up to line %d", o.lines.of(last.ret))
	if first != none {
		span = fmt.Sprintf("from line %d to line %d", o.lines.of(first), o.lines.of(last.ret))
	}
	f := violation(facts, "%s of %s: %s, at most %s.", span, o.named(o.lock), said[0], said[1])
	f.absence = true
	return f
}

// window returns a short stretch of events, up to the completion of event i, that has
// no order, whether or not the mutex was held before it. If free is set, it returns
// all events from the start, when the mutex was not held.
func (o *object) window(i int32) (events []event, free bool) {
	until := o.events[i].ret
	for size := int32(8); ; size *= 4 {
		from := until - size
		if from < 0 {
			from = none
		}
		events = events[:0]
		for _, e := range o.events {
			if e.call <= until && e.ret >= from { // a death may come right before an answer, at the same position
				if e.ret > until || e.call < from { // it may come after all of them, or have come before
					e.ret = never
				}
				events = append(events, e)
			}
		}
		if from == none || len(events) > longestWindow {
			return events, true
		}
		if stuck(events, nil, false) != none && stuck(events, nil, true) != none {
			return events, false
		}
	}
}
