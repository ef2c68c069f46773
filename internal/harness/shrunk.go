package harness

import (
	"fmt"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/names"
)

// Shrunk records for which property a plan was shrunk, and how far.
type Shrunk struct {
	For     checker.Property `json:"for"`               // the property that its run still violates
	From    Size             `json:"from"`              // size of the original run
	To      Size             `json:"to"`                // size of the shrunk run
	Replays int              `json:"replays"`           // runs that shrinking took
	Stopped string           `json:"stopped,omitempty"` // why it may not be the shortest: budget (of events), time or interrupted
}

// Reasons why shrinking stopped before it found nothing shorter.
const (
	StoppedBudget    = "budget"      // of events; a repetition stops at the same point
	StoppedTime      = "time"        // the time limit; another attempt may go further
	StoppedInterrupt = "interrupted" // by the user; another attempt may go further
)

// Size is the size of a run, as its reader sees it.
type Size struct {
	Clients      int `json:"clients"`      // clients of the lock
	Faults       int `json:"faults"`       // faults that are injected
	Acquisitions int `json:"acquisitions"` // grants of the lock
	Operations   int `json:"operations"`   // operations that clients invoked
}

// String says what a run was shrunk for, and from what size to what size.
func (s *Shrunk) String() string {
	words := fmt.Sprintf("Shrunk   for %s from %s, %s, %s to %d, %d, %d", s.For,
		names.Count(s.From.Clients, "client"), names.Count(s.From.Acquisitions, "acquisition"), names.Count(s.From.Faults, "fault"),
		s.To.Clients, s.To.Acquisitions, s.To.Faults)
	switch s.Stopped {
	case StoppedTime:
		words += "; the time was over, so there may be a shorter one"
	case StoppedInterrupt:
		words += "; interrupted, so there may be a shorter one"
	case StoppedBudget:
		words += "; the budget was used up, so there may be a shorter one"
	}
	return words
}
