package checker

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// Limits of Porcupine's work, for each property.
const (
	referenceSteps = 200_000 // for a reported run
	sampleSteps    = 5_000   // for one of many runs
	smallEnough    = 2_000   // operations of a history that is searched whole
)

// Second counts the verdicts that Porcupine also judged, by its result.
type Second struct {
	Agreed    int `json:"agreed"`    // it came to the same
	Undecided int `json:"undecided"` // it came to the end of its budget, or the history is too long
	Disagreed int `json:"disagreed"` // it came to the opposite: one of the two judges has a bug
}

// Take counts one opinion, unless it is "".
func (s *Second) Take(o Opinion) {
	switch o {
	case Agreed:
		s.Agreed++
	case Undecided:
		s.Undecided++
	case Disagreed:
		s.Disagreed++
	}
}

// Add adds the counts of another Second.
func (s *Second) Add(o Second) {
	s.Agreed += o.Agreed
	s.Undecided += o.Undecided
	s.Disagreed += o.Disagreed
}

// Total returns how many verdicts Porcupine judged.
func (s Second) Total() int { return s.Agreed + s.Undecided + s.Disagreed }

// JudgeBoth is Judge, confirmed by Porcupine. Porcupine gets operations that were
// built from the lines alone: those around the witness of a violation, and all
// operations of small histories. If the two judges disagree, the verdict is Unknown,
// and the reason begins with "the judges disagree".
func JudgeBoth(h *history.History) []Verdict {
	verdicts := Judge(h)
	confirm(journal{list: h.Entries}, verdicts, referenceSteps)
	return verdicts
}

// OutOfTime is JudgeWithin's reason for Unknown if it ran out of time.
const OutOfTime = "it was not judged in time"

// JudgeWithin is JudgeBoth until ctx ends. Properties that are not judged by then are
// Unknown, with the reason OutOfTime. Verdicts without a confirmation by then stay.
func JudgeWithin(ctx context.Context, h *history.History) []Verdict {
	return judgeWithin(ctx, journal{list: h.Entries}, func() *timeline { return newTimeline(h) })
}

// JudgeLog is JudgeWithin of a long history. It needs about 100 bytes for each entry.
func JudgeLog(ctx context.Context, l *history.Log) []Verdict {
	return judgeWithin(ctx, journal{log: l}, func() *timeline { return newLogTimeline(l) })
}

func judgeWithin(ctx context.Context, j journal, read func() *timeline) []Verdict {
	list := make([]Verdict, len(judges))
	for i, p := range Properties {
		list[i] = unknown(p, OutOfTime)
	}
	if ctx.Err() != nil {
		return list
	}
	judged := make(chan Verdict, 2*len(judges)) // room for all, so that no sender waits
	go func() {
		defer close(judged)
		var all []Verdict
		t := read()
		for v := range t.verdict {
			if v.Outcome == Violated && len(t.locks.list) > 1 {
				v.Locks = t.violatedLocks(v.Property)
			}
			if judged <- v; ctx.Err() != nil {
				return
			}
			all = append(all, v)
		}
		confirm(j, all, referenceSteps)
		for _, v := range all {
			judged <- v
		}
	}()
	for {
		select {
		case v, ok := <-judged:
			if !ok {
				return list
			}
			list[slices.Index(Properties[:], v.Property)] = v
		case <-ctx.Done():
			return list
		}
	}
}

// Sample asks Porcupine about verdicts on h, in place: see JudgeBoth. It takes less
// effort, for one of many runs.
func Sample(h *history.History, verdicts []Verdict) {
	confirm(journal{list: h.Entries}, verdicts, sampleSteps)
}

func confirm(j journal, verdicts []Verdict, steps int) {
	var whole *lines
	if grantsOf(&j) <= smallEnough {
		whole = readLines(j, nil)
	}
	for i := range verdicts {
		v := &verdicts[i]
		encode := encoders[v.Property]
		if encode == nil || v.Outcome != Valid && v.Outcome != Violated {
			continue
		}
		said, why := Unknown, ""
		if v.Outcome == Violated {
			if ops := encode(readLines(j, around(v.Witness))); len(ops) <= smallEnough {
				said, _ = linearizable(ops, steps)
				why = "Porcupine finds an order for the operations around it"
			}
		}
		if whole != nil && (said == Unknown || said == v.Outcome) {
			if ops := encode(whole); len(ops) <= smallEnough {
				if of, _ := linearizable(ops, steps); of != Unknown {
					said = of
					why = "Porcupine finds an order for all operations"
				}
			}
		}
		switch {
		case said == Unknown:
			v.Porcupine = Undecided
		case said == v.Outcome:
			v.Porcupine = Agreed
		default:
			if said == Violated {
				why = "Porcupine finds no order for the operations"
			}
			*v = disagree(*v, why)
		}
	}
}

// grantsOf returns the number of acquires that were ok plus the number of writes: the
// size of Porcupine's input.
func grantsOf(j *journal) (n int) {
	for _, e := range j.each {
		if v := verbOf(e.F); (v == acquire || v == write) && e.Type == history.OK {
			n++
		}
	}
	return n
}

// around returns a function that keeps the grants that begin between the first and
// the last entry of a witness. Leaving out whole grants cannot create a violation: if
// some of them are impossible, all are.
func around(w *Witness) func(pos int) bool {
	first, last := w.Entries[0], w.Entries[len(w.Entries)-1]
	return func(pos int) bool { return first <= pos && pos <= last }
}

func disagree(v Verdict, why string) Verdict {
	said := "valid"
	if v.Witness != nil {
		said = v.Outcome.String() + ": " + v.Witness.Sentence
	}
	v = unknown(v.Property, fmt.Sprintf("the judges disagree: %s; the direct check says %s", why, said))
	v.Porcupine = Disagreed
	return v
}
