package harness

import (
	"fmt"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/names"
)

// Shrunk says what a plan was shrunk for, and how far.
type Shrunk struct {
	For     checker.Property `json:"for"`               // the property that its run still violates
	From    Size             `json:"from"`              // size of the run that it was made of
	To      Size             `json:"to"`                // size of the shrunk run
	Replays int              `json:"replays"`           // runs that shrinking took
	Stopped string           `json:"stopped,omitempty"` // why it may not be the shortest: budget (of events), time or interrupted
}

// Why shrinking ended before it could find nothing shorter any more.
const (
	StoppedBudget    = "budget"      // of events: as far as it goes, always
	StoppedTime      = "time"        // that there was: another try may go further
	StoppedInterrupt = "interrupted" // by somebody: another try may go further
)

// Size is how much happens in a run: what a reader has to take in.
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
