package results

import "github.com/lockcheck/lockcheck/checker"

// Mechanism is the number of runs that violated a property in one way.
type Mechanism struct {
	Name    checker.Mechanism `json:"mechanism"`          // property:cause:fault, see docs/shrinking.md
	Count   int               `json:"count"`              // how many runs
	Seed    uint64            `json:"seed"`               // the lowest seed of them
	LeftOut bool              `json:"left_out,omitempty"` // --not names it: its runs are in no other number of the property, and do not decide the exit code
}
