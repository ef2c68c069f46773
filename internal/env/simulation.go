package env

import (
	"errors"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// The environments in virtual time.
const (
	Sim    = "sim"    // package sim
	Bubble = "bubble" // package bubble
)

// IsVirtual reports whether time is virtual in an environment, so that its runs repeat.
func IsVirtual(on string) bool { return on == Sim || on == Bubble }

// Simulator makes a Simulation, in memory of its own.
type Simulator func() Simulation

// Simulation is an environment in virtual time, in which one thing happens at a time: a
// recorder needs no mutex. Reset begins a run in the memory of the run before; Close
// releases everything but memory.
type Simulation interface {
	Environment
	Crossing
	Ordering
	Reset(Config, Observer, Decisions)
	// Limit sets how many events the run may have, if that is below the default.
	Limit(events int)
	// Events returns how many events the run has had, Requests how many requests its
	// locks have made.
	Events() int
	Requests() int
	// Spend ends the run because it has used up a budget that the harness keeps.
	Spend(words string)
	Decided() Decided
}

// Decisions fix the choices of a run. The zero value draws all of them from seed 0.
type Decisions struct {
	Seed uint64
	// Depth is that of PCT; 0: no PCT. Latencies then follow from priorities of
	// clients, which change Depth-1 times in Steps steps. See docs/pct.md.
	Depth, Steps int
	Record       bool // Decided returns the choices, and the messages
	// Replay is a record of choices; choices that it does not name are 0. nil: draw
	// them.
	Replay []Choice
	// Follow are the names of steps: order decides, durations do not. A name without a
	// matching step is skipped. After the last name the run goes on by itself: messages
	// on their way arrive, clients ask again, time passes, no fault strikes. nil: time
	// decides.
	Follow []string
	// Path are the positions of the first steps. Then Pick returns the position of the
	// step to take, or a negative number to end the run with ErrStopped. nil: no choice
	// from outside.
	Path []uint8
	Pick func(Crossing) int
}

// Decided is the record of a run's decisions.
type Decided struct {
	Choices         []Choice          // in order; nil unless recorded
	Order           []string          // the names of all steps, if names were followed
	Missing         int               // choices or steps that the record or the names lacked
	Unused          int               // recorded choices or names that the run never used
	Messages        *history.Messages // nil unless recorded
	Steps, Expected int               // of PCT: how often it chose between clients, and how often it was expected to
}

// Crossing is a run in which order decides, between two steps. It is valid until Pick
// returns.
type Crossing interface {
	Steps() int            // how many steps can be taken; 0: the run is over
	StepName(i int) string // as "c1→redis-1"
	// Learns returns the client that in step i gets the answer it waits for, or "". The
	// client has no other step before, so it does nothing in between.
	Learns(i int) string
	// Concerns reports whether step i is an Offer that concerns client.
	Concerns(i int, client string) bool
	Now() time.Duration
	// AppendState appends the state of the clients and of all messages and timers,
	// AppendServers the state of the servers. Two runs of one configuration in the same
	// state continue alike, whatever their pasts.
	AppendState([]byte) []byte
	AppendServers([]byte) []byte
	// Underway returns the operations with a request still on its way, by the index of
	// their invoke. It is valid after AppendState.
	Underway() []int
}

// Ordering is an environment in which order may decide when a fault strikes.
type Ordering interface {
	// Ordered reports whether order decides. The other methods are for such runs only.
	Ordered() bool
	// Dated reports whether a client has learnt a date that it may write down.
	Dated() bool
	// Outlast makes the running task, which must be the client's, wait until all dates
	// have passed, no message from or to the client is on its way, and open returns
	// true. It returns false if nothing else can happen before that.
	Outlast(client string, open func() bool) bool
	// Idle reports whether pausing a client now or later makes no difference: it does
	// nothing for as long as it likes, or its request is still on its way.
	Idle(client string) bool
	Offer(Offer)
}

// Offer is an action that the harness allows where order decides, at any time while it
// is open.
type Offer struct {
	Action
	On     []string // the clients that it concerns
	Begins bool     // it begins a fault: only a choice makes it happen
	Tells  bool     // a client that asks a server again afterwards may get another answer
}

// Action is what an Offer does.
type Action interface {
	Name() string
	Open() bool
	Do()
}

// Passages is how often time may pass in a run while no timer is due: the date of one
// holder ends, and then that of the next.
const Passages = 2

// ErrStopped ends a run whose given order ends.
var ErrStopped = errors.New("sim: the order goes no further")

// A BudgetError reports which budget a run has used up. It depends on the run alone,
// not on the machine: the same run ends there again.
type BudgetError string

func (e BudgetError) Error() string { return "sim: " + string(e) }
