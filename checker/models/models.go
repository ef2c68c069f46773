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
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// A Model is an abstract object: a lock of some kind, or a register.
type Model struct {
	Name  string
	Param string      // what the number in "name=number" is: "permits", "limit"; "" where there is none
	N     int         // that number; 0: none
	First history.Opt //  of a register: the value that is there at first, if it is known

	State  string // what the object remembers
	Rules  string // what it allows
	Source string // where the rules come from
	Exact  string // why the direct judge is right, and what it leaves to Porcupine

	kind kind
	rule rule
}

// kind is what a model makes of operations.
type kind uint8

const (
	holding   kind = iota // acquires and releases that belong together
	anonymous             // acquires and releases that do not
	register              // reads, writes and cas
)

// rule is what sets models of a kind apart.
type rule struct {
	reentrant bool // who holds may acquire again, at most limit times in all (0: any number)
	shared    bool // readers share
	permits   bool // as many may hold as there are permits
	tokens    bool // fencing tokens grow
	fifo      bool // grants follow the queue
	leases    bool // holds end with their validity
	cas       bool // of a register: it knows cas
	fenced    bool // of a register: it refuses stale tokens
}

// String is the model as Parse reads it.
func (m Model) String() string {
	switch {
	case m.First.Set:
		return fmt.Sprintf("%s=%d", m.Name, m.First.V)
	case m.N > 0:
		return fmt.Sprintf("%s=%d", m.Name, m.N)
	}
	return m.Name
}

// All lists the models.
func All() []Model { return append([]Model(nil), table[:]...) }

// Parse finds a model by its name, with its number if it has one:
// "owner-mutex", "semaphore=3". An error says what is wrong.
func Parse(text string) (Model, error) {
	name, number, given := strings.Cut(text, "=")
	for _, m := range table {
		if m.Name != name {
			continue
		}
		switch {
		case given && m.Param == "":
			return Model{}, fmt.Errorf("the model %s has no number: leave out =%s", name, number)
		case given && m.kind == register:
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil {
				return Model{}, fmt.Errorf("the number of the model %s, its %s, is %q: want a 64-bit integer", name, m.Param, number)
			}
			m.First = history.Some(n)
		case given:
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || n > most {
				return Model{}, fmt.Errorf("the number of the model %s, its %s, is %q: want an integer from 1 to %d", name, m.Param, number, most)
			}
			m.N = n
		case m.rule.permits:
			return Model{}, fmt.Errorf("the model %s needs its number of %s: %s=3, for example", name, m.Param, name)
		}
		return m, nil
	}
	return Model{}, fmt.Errorf("there is no model %q", name)
}

// most is the largest number that a model may have.
const most = 1_000_000
