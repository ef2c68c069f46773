package harness

import "github.com/lockcheck/lockcheck/checker"

// Shrunk says what a plan was shrunk for, and how far.
type Shrunk struct {
	For     checker.Property `json:"for"`  // the property that its run still violates
	From    Size             `json:"from"` // of the run that it was made of
	To      Size             `json:"to"`
	Replays int              `json:"replays"`           // runs that it took
	Stopped string           `json:"stopped,omitempty"` // why it may not be the shortest: see the Stopped constants
}

// Why shrinking ended before it could find nothing shorter any more.
const (
	StoppedBudget    = "budget"      // of events: as far as it goes, always
	StoppedInterrupt = "interrupted" // by somebody: another try may go further
)

// Size is how much happens in a run: what a reader has to take in.
type Size struct {
	Clients      int `json:"clients"`
	Faults       int `json:"faults"`
	Acquisitions int `json:"acquisitions"` // grants
	Operations   int `json:"operations"`   // that clients invoked
}
