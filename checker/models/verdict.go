package models

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lockcheck/lockcheck/checker"
)

// Verdict is the result of judging a history by a model.
type Verdict struct {
	Outcome    checker.Outcome // Valid, Violated or Unknown
	Reason     string          // of Unknown, with the part that was decided
	Limited    bool            // of Unknown: a limit of the Options was reached
	Hint       string          // another thing to try, or ""
	Operations int             // number of judged operations
	Witness    *Witness        // of Violated: of the first of Locks
	Locks      []string        // the violated locks

	picture *picture
}

// Witness is the evidence of a violation: facts that are all needed, and that no
// choice for the other operations explains.
type Witness struct {
	Sentence string // one English sentence that names lines
	Lines    []int  // in the file, from 1, in order
}

// picture is the input of a drawing.
type picture struct {
	object *object
	found  finding
}

// Verdict judges the added entries. No entries can be added after that. If ctx ends,
// or a limit of the Options is reached, undecided locks are Unknown; a violation that
// was found stays.
func (j *Judge) Verdict(ctx context.Context) Verdict {
	j.finish()
	vacuous := j.timeless()
	if vacuous != "" { // only releases and extends without a hold are left
		j.deadlines = nil
	}
	objects := j.objects(false)
	v := Verdict{Outcome: checker.Valid}
	b := newBudget(ctx, j.opts)
	decided := 0
	certain := sync.OnceValue(func() []*object { return j.objects(true) })
	for i, o := range objects {
		v.Operations += o.count()
		f := o.judge(b)
		if f.outcome == checker.Violated && j.locks[i].doubt != "" {
			o, f = j.surely(i, certain()[i], f, b)
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
		if why := cmp.Or(vacuous, j.vacuous(objects)); why != "" {
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

// judge judges one lock: directly, by Porcupine if that does not decide, and by both
// if that is quick.
func (o *object) judge(b *budget) finding {
	f := o.direct()
	if f.outcome == checker.Unknown {
		return o.decide(b, f.reason)
	}
	return o.confirm(b, f)
}

// direct returns the finding of the direct judge.
func (o *object) direct() finding {
	switch m := o.model; {
	case m.kind == anonymous:
		return o.judgeEvents()
	case m.rule.fenced:
		return o.judgeFenced()
	case m.kind == register:
		return o.judgeAccesses()
	default:
		return o.judgeHolds()
	}
}

// A short history is judged reading by reading if one reading does not decide. Its
// entries are kept, and read again with another choice for the operations that name
// no grant.
const mostReadings = 256

// each judges a lock in each reading of its history, until one is valid. If all are
// violated, it returns the first one.
func (j *Judge) each(lock int, b *budget) (object *object, f finding) {
	f.outcome = checker.Unknown
	if j.kept == nil {
		return nil, f
	}
	b = b.within(othersTime)
	c := choices{lock: int32(lock)}
	for range mostReadings {
		k := New(j.model, j.opts)
		k.choices, k.room = &c, 0
		for i := range j.kept {
			k.Add(&j.kept[i].entry, j.kept[i].line)
		}
		k.finish()
		o := k.objects(false)[lock]
		g := o.judge(b)
		if g.outcome == checker.Valid {
			return o, g
		}
		if object == nil {
			object, f = o, g
		}
		if g.outcome == checker.Unknown {
			f.outcome, f.limited = checker.Unknown, f.limited || g.limited
		}
		if !c.advance() {
			f.sentence = fmt.Sprintf("%s; %s makes no difference.", strings.TrimSuffix(f.sentence, "."), j.locks[lock].doubt)
			return object, f
		}
	}
	f.outcome = checker.Unknown
	return nil, f
}

// surely judges a lock again that is violated in one reading of its history: with the
// facts that hold in every reading, which are those of o, and reading by reading. A search
// that takes long comes last.
func (j *Judge) surely(lock int, o *object, seems finding, b *budget) (*object, finding) {
	sure := o.judge(b.brief())
	if sure.outcome == checker.Violated {
		return o, sure
	}
	r, f := j.each(lock, b.brief())
	if f.outcome != checker.Unknown {
		return r, f
	}
	if sure.outcome == checker.Unknown {
		if f := o.judge(b); f.outcome == checker.Violated {
			return o, f
		}
	}
	if f.limited {
		if r, f := j.each(lock, b); f.outcome != checker.Unknown {
			return r, f
		}
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
