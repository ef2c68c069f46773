package models

import (
	"fmt"

	"github.com/lockcheck/lockcheck/checker"
)

// finding is a judge's result for one lock.
type finding struct {
	outcome  checker.Outcome // Unknown: another judge has to decide
	reason   string
	sentence string
	facts    []fact
	limited  bool    // of Unknown: time or memory ran out
	shown    []int32 // positions that the sentence names, besides the facts
	excess   bool    // some facts may not be needed
	absence  bool    // the violation depends on the absence of other operations
	open     bool    // impossible from any state before the first fact
	whole    bool    // including all operations possible since the start
	start    state   // the state in which the facts are impossible
}

var legal = finding{outcome: checker.Valid}

func undecided(reason string) finding { return finding{outcome: checker.Unknown, reason: reason} }

// fact is a part of a witness: an operation, and the positions that show it.
type fact struct {
	op opID
	at []int32
}

func violation(facts []fact, format string, args ...any) finding {
	return finding{outcome: checker.Violated, facts: facts, sentence: fmt.Sprintf(format, args...)}
}

// starts returns the states that the object may have been in before the facts.
func (f *finding) starts(k kind) []state {
	if k == anonymous && f.open {
		return []state{{}, {locked: true}}
	}
	return []state{f.start}
}

// span returns the first and the last position of the facts.
func (f *finding) span() (from, to int32) {
	from, to = never, none
	for _, x := range f.facts {
		for _, pos := range x.at {
			from, to = min(from, pos), max(to, pos)
		}
	}
	if f.whole {
		from = 0
	}
	return from, to
}

// holdFact is the fact that hold i lasted.
func holdFact(i int32, h *hold) fact {
	if h.end == never {
		return fact{opID{acquireOp, i}, []int32{h.ret}}
	}
	return fact{opID{acquireOp, i}, []int32{h.ret, h.end}}
}

// acquireFact is the fact that hold i was granted.
func acquireFact(i int32, h *hold) fact { return fact{opID{acquireOp, i}, []int32{h.ret}} }
