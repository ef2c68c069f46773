// Package models has the abstract objects that a history can be compared with,
// and for each of them two judges: a direct one, exact and in O(n log n), and
// Porcupine, a general checker of linearizability, which confirms the direct
// one where it can and decides where that does not.
//
// A history is linearizable by a model if every operation can be given an
// instant between its invoke and its completion at which it took effect, so
// that the object allows them in that order. The completion of an
// indeterminate operation never came: it may take effect at any time after its
// invoke, or never.
package models

import (
	"fmt"

	"github.com/lockcheck/lockcheck/history"
)

// To read this package, begin with the models and go up: no file needs one that stands
// later in this list.
//   - the models: this file, table;
//   - what a history says: hold, access; hand and readings, for operations that may
//     mean one of several grants; account, and words about it; lease, confirmable;
//   - reading: judge, doubts, meaning, endings, completions, collect;
//   - one lock for both judges: operation, finding, object;
//   - the rules, one operation after the other, for Porcupine: step, reference, tell;
//   - the direct judges: sweep, order, holds; alternation, mutex; register, fenced;
//   - Porcupine: search, cut, decide, confirm;
//   - entry points: verdict, picture.

// A Model is an abstract object: a lock of some kind, or a register.
type Model struct {
	Name  string
	Param string      // the meaning of the number in "name=number": "permits", "limit"; "": no number
	N     int         // that number; 0: none
	First history.Opt // of a register: its first value, if it is known

	State  string // the state of the object
	Rules  string // the rules of the object
	Source string // the source of the rules
	Exact  string // why the direct judge is right, and which cases it leaves to Porcupine

	kind kind
	rule rule
}

// kind is how a model treats operations.
type kind uint8

const (
	holding   kind = iota // acquires and releases in pairs
	anonymous             // acquires and releases without pairs
	register              // reads, writes and cas
)

// rule is the differences between models of a kind.
type rule struct {
	reentrant bool // a holder may acquire again, at most limit times in all (0: any number)
	shared    bool // readers share
	permits   bool // the number of holds is at most the number of permits
	tokens    bool // fencing tokens grow
	fifo      bool // grants follow the queue
	leases    bool // holds end with their validity
	cas       bool // of a register: it supports cas
	fenced    bool // of a register: it refuses stale tokens
}

// String returns the model in the form that Parse reads.
func (m Model) String() string {
	switch {
	case m.First.Set:
		return fmt.Sprintf("%s=%d", m.Name, m.First.V)
	case m.N > 0:
		return fmt.Sprintf("%s=%d", m.Name, m.N)
	}
	return m.Name
}
