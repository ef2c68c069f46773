package models

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// Limits for asking Porcupine after the direct judge has decided.
const (
	confirmTime = 200 * time.Millisecond // for each search
	smallEnough = 2000                   // operations of a lock that is searched as a whole
	windowSize  = 500                    // operations around a witness
	othersTime  = 2 * time.Second        // for all locks after the first violated one
	// Each operation without an answer may double the time of a search.
	fewUnanswered = 8
)

// Verdict judges the added entries. No entries can be added after that. If ctx ends,
// or a limit of the Options is reached, undecided locks are Unknown; a violation that
// was found stays.
func (j *Judge) Verdict(ctx context.Context) Verdict {
	j.finish()
	objects := j.objects(j.holds, false)
	v := Verdict{Outcome: checker.Valid}
	if why := j.timeless(); why != "" {
		return Verdict{Outcome: checker.Unknown, Reason: why}
	}
	b := newBudget(ctx, j.opts)
	decided := 0
	for i, o := range objects {
		v.Operations += o.count()
		f := o.judge(b)
		if f.outcome == checker.Violated && j.locks[i].doubt != "" {
			o, f = j.surely(i, f, b)
		}
		switch f.outcome {
		case checker.Violated:
			v.Locks = append(v.Locks, j.locks[i].name)
			if v.Outcome != checker.Violated {
				v.Outcome, v.Reason, v.Limited = checker.Violated, "", false
				v.Witness, v.picture = j.witness(f), &picture{o, f}
				b.shorten(othersTime)
			}
			continue
		case checker.Unknown:
			if v.Outcome == checker.Valid {
				v.Outcome, v.Reason, v.Limited = checker.Unknown, f.reason, f.limited
			}
		default:
			decided++
		}
		if v.Outcome != checker.Violated && (v.picture == nil || o.count() > v.picture.object.count()) {
			v.picture = &picture{object: o}
		}
	}
	if v.Outcome == checker.Unknown && len(objects) > 1 {
		v.Reason += fmt.Sprintf("; %d of %d locks are decided, and valid", decided, len(objects))
	}
	if v.Outcome == checker.Valid {
		if why := j.vacuous(objects); why != "" {
			v.Outcome, v.Reason = checker.Unknown, why
		}
	}
	v.Hint = j.hint(v.Outcome)
	return v
}

// hint returns another thing to try, or "".
func (j *Judge) hint(o checker.Outcome) string {
	k, r := j.model.kind, j.model.rule
	switch {
	case k == register && o == checker.Unknown && !j.saw.accesses && j.saw.acquires:
		return "The history has acquires, and no reads or writes: try the model owner-mutex."
	case k != register && o == checker.Unknown && !j.saw.acquires && j.saw.cas:
		return "The history has reads, writes and cas, and no acquires: try the model cas-register."
	case k != register && o == checker.Unknown && !j.saw.acquires && j.saw.accesses:
		return "The history has reads and writes, and no acquires: try the model register."
	case k != register && o == checker.Violated && j.saw.shared && !r.shared:
		return "The history has acquires that are shared: the model rw-mutex lets readers share."
	}
	return ""
}

// timeless returns why leases cannot be judged, or "".
func (j *Judge) timeless() string {
	switch {
	case !j.model.rule.leases || len(j.times) == 0 || !j.saw.acquires:
		return ""
	case len(j.deadlines) == 0:
		return "no grant says how long it is valid (valid_until): there is nothing to judge"
	case j.times[len(j.times)-1] == 0:
		return "the history has no times, so it is not known when a lease ends: there is nothing to judge"
	}
	return ""
}

// vacuous returns why the absence of violations proves nothing, or "".
func (j *Judge) vacuous(objects []*object) string {
	granted, queued := 0, false
	for i := range j.locks {
		granted += j.locks[i].granted
	}
	for _, o := range objects {
		for i := range o.holds {
			queued = queued || o.holds[i].queued != none
		}
	}
	r := j.model.rule
	switch {
	case granted == 0 && j.model.kind == register:
		return "no read or write succeeded: there is nothing to judge"
	case granted == 0:
		return "no acquire succeeded: there is nothing to judge"
	case r.fifo && !queued:
		return "no acquire says when it had a place in the queue (queued), so the order of grants cannot be judged; nobody held what another one held"
	case r.fenced && !j.saw.tokens:
		return "no access has a token, so refusals cannot be judged; as a register it is valid"
	case r.tokens && !slices.ContainsFunc(j.holds, func(h hold) bool { return h.token != 0 }):
		return "no grant has a token, so tokens cannot be judged; nobody held what another one held"
	}
	return ""
}

// finish processes operations without a completion.
func (j *Judge) finish() {
	for i := range j.procs {
		p, id := &j.procs[i], int32(i)
		f := p.f
		if f == "" {
			continue
		}
		l := &j.locks[p.lock]
		switch f {
		case history.Acquire, history.Try:
			if p.hold == none {
				p.hold = j.add(hold{lock: p.lock, proc: id, call: p.call, ret: never, shared: p.shared})
			}
			j.holds[p.hold].queued = none
			j.early(p.hold, p)
			if j.model.kind == anonymous {
				l.events = append(l.events, event{proc: id, call: p.call, ret: never, hold: p.hold})
			}
		case history.Release:
			if j.model.kind == anonymous {
				l.events = append(l.events, event{proc: id, call: p.call, ret: never, hold: none, release: true, about: p.hold, open: p.means.open})
			}
			if p.hold != none {
				j.settle(p, true, true)
				j.holds[p.hold].close(p.call)
			}
		case history.Read, history.Write, history.CAS:
			j.access(p.lock, access{
				what: whats[f], proc: id, call: p.call, ret: never, token: p.token,
				value: p.value.V, known: p.value.Set && f != history.Read, from: p.was.V, based: p.was.Set,
			})
		}
		p.f = ""
	}
	for i := range j.locks {
		j.locks[i].events = j.ends(j.locks[i].events)
	}
	for id, r := range j.readings {
		h := &j.holds[id]
		if !r.mayEnd() {
			r.gone = h.gone
		}
		if r.end = min(r.end, h.end); r.end != never {
			r.end = min(max(r.end, r.floor, h.call), r.gone)
		}
	}
	for i := range j.holds { // a client with one of the holds on an entry has the entry
		if h := &j.holds[i]; h.joint != 0 {
			floor := h.floor
			if r := j.reading(int32(i)); r != nil {
				floor = r.floor
			}
			l := &j.losses[h.joint-1]
			l.pos, l.least = max(l.pos, h.floor), max(l.least, floor)
		}
	}
	for i := range j.holds {
		h := &j.holds[i]
		if h.end != never {
			if h.end = h.alone; h.joint != 0 {
				h.end = min(h.end, j.losses[h.joint-1].pos)
			}
			h.end = min(max(h.end, h.floor, h.call), h.gone)
		}
		if h.alone != never {
			h.alone = min(max(h.alone, h.floor, h.call), h.gone)
		}
	}
}

// objects returns the locks with their judged operations. sure leaves out operations
// of uncertain meaning.
func (j *Judge) objects(holds []hold, sure bool) []*object {
	list := make([]*object, len(j.locks))
	for i := range j.locks {
		l := &j.locks[i]
		o := &object{j: j, lock: int32(i), strays: slices.Clone(l.strays), refused: l.refused, events: l.events, accesses: l.accesses}
		o.strays = slices.DeleteFunc(o.strays, func(s stray) bool { return s.doubt == loose && !sure || s.doubt == seems && sure })
		if sure && j.model.kind == anonymous {
			o.events = j.unclear(l)
		}
		if j.resources { // they stand where the accesses took effect
			o.accesses = l.effects
		}
		if f := j.model.First; f.Set {
			o.accesses = append([]access{{what: write, known: true, proc: none, call: atFirst, ret: atFirst, value: f.V}}, o.accesses...)
		}
		slices.SortStableFunc(o.accesses, func(a, b access) int { return int(a.call) - int(b.call) })
		list[i] = o
	}
	if j.model.kind == holding {
		j.share(list, holds)
	}
	return list
}

// share gives each lock its holds.
func (j *Judge) share(list []*object, holds []hold) {
	if len(list) == 1 && !j.model.rule.leases {
		list[0].holds = holds
		return
	}
	place := make([]int32, len(holds)) // index in the list of its lock
	for i := range holds {
		o := list[holds[i].lock]
		place[i] = int32(len(o.holds))
		o.holds = append(o.holds, holds[i])
	}
	for _, o := range list {
		for i := range o.strays {
			if h := &o.strays[i].hold; *h != none {
				*h = place[*h]
			}
		}
	}
	if !j.model.rule.leases {
		return
	}
	deadlines := make([][]deadline, len(list))
	for _, d := range j.deadlines {
		l := holds[d.hold].lock
		deadlines[l] = append(deadlines[l], deadline{place[d.hold], d.pos, d.call, d.until, d.granted})
	}
	for i, o := range list {
		o.holds = j.stretches(o.holds, deadlines[i])
	}
}

// count returns how many operations of an object are judged.
func (o *object) count() int {
	n := len(o.strays) + len(o.refused) + len(o.events) + len(o.accesses)
	if o.j.model.First.Set {
		n--
	}
	for i := range o.holds {
		if n++; o.holds[i].end != never {
			n++
		}
	}
	return n
}

// unanswered returns how many acquires, events and accesses may or may not have
// happened.
func (o *object) unanswered() (n int) {
	for i := range o.holds {
		if h := &o.holds[i]; !h.presupposed() && !h.void {
			n++
		}
	}
	for i := range o.events {
		if o.events[i].ret == never {
			n++
		}
	}
	for i := range o.accesses {
		if o.accesses[i].ret == never {
			n++
		}
	}
	return n
}

// judge judges one lock: directly, by Porcupine if that does not decide, and by both
// if that is quick.
func (o *object) judge(b *budget) finding {
	var f finding
	switch o.j.model.kind {
	case anonymous:
		f = o.judgeEvents()
	case register:
		f = o.judgeAccesses()
	default:
		f = o.judgeHolds()
	}
	if f.outcome == checker.Unknown {
		f = o.decide(b, f.reason)
	} else {
		f = o.confirm(b, f)
	}
	return f
}

// surely judges a lock again that is violated in one reading of its history: first
// with the facts that hold in every reading, then reading by reading.
func (j *Judge) surely(lock int, seems finding, b *budget) (*object, finding) {
	if j.certain == nil {
		j.certain = j.objects(j.least(), true)
	}
	o := j.certain[lock]
	if f := o.judge(b); f.outcome == checker.Violated {
		return o, f
	}
	if r, f := j.each(lock, b); f.outcome != checker.Unknown {
		return r, f
	}
	return o, undecided("it is not certain " + j.locks[lock].doubt + "; if it is as it seems: " + strings.TrimSuffix(seems.sentence, "."))
}

// witness returns the facts of a finding with their lines.
func (j *Judge) witness(f finding) *Witness {
	w := &Witness{Sentence: f.sentence}
	for _, x := range f.facts {
		for _, pos := range x.at {
			w.Lines = append(w.Lines, j.lines.of(pos))
		}
	}
	for _, pos := range f.shown {
		w.Lines = append(w.Lines, j.lines.of(pos))
	}
	slices.Sort(w.Lines)
	w.Lines = slices.Compact(w.Lines)
	return w
}
