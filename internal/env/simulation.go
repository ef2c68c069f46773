package env

import (
	"errors"
	"time"
)

// Simulator makes a Simulation, in memory of its own.
type Simulator func() Simulation

// Simulation is an environment in virtual time. One run after another may use its
// memory: Reset begins each, and Close lets go of what is no memory.
type Simulation interface {
	Environment
	Crossing
	Ordering
	Reset(Config, Observer, Decisions)
	// Limit is how many events the run may have, if that is less than all may have.
	Limit(events int)
	// Events is how many events the run has had, Requests how many requests its
	// locks have made.
	Events() int
	Requests() int
	// Spend ends the run, because it has used up a budget that the simulation does
	// not keep.
	Spend(words string)
	Decided() Decided
	// Sequential: one thing happens at a time, so that who records it needs no lock.
	Sequential()
}

// Decisions say how a run comes out where it could come out otherwise. The zero
// value draws everything from seed 0.
type Decisions struct {
	Seed uint64
	// Depth of PCT, where it is not 0: latencies follow from priorities of clients
	// that change Depth-1 times in Steps steps. See docs/pct.md.
	Depth, Steps int
	Record       bool // Decided returns the choices
	// Replay is a record of choices; what it does not name is 0. nil: they are drawn.
	Replay []Choice
	// Follow are the names of steps: order decides, and no length. A name that cannot
	// be taken is left out. Where names are missing the run goes on by itself: what is
	// under way arrives, clients ask again, time passes; no fault strikes. nil: time decides.
	Follow []string
	// Pick returns the position of the step to take, or less than 0 to end the run with
	// ErrStopped. nil: nobody picks.
	Pick func(Crossing) int
}

// Decided is what a run has decided.
type Decided struct {
	Choices         []Choice // in order; nil unless recorded
	Order           []string // the names of all steps, where names were followed
	Missing         int      // choices or steps that the record or the names did not have
	Unused          int      // those that were in it, and never asked for or taken
	Steps, Expected int      // of PCT: how often it chose between clients, and was expected to
}

// Crossing is a run in which order decides, between two steps. It is good until
// Pick returns.
type Crossing interface {
	Steps() int            // that can be taken; 0: the run is over
	StepName(i int) string // as "c1→redis-1"
	// Learns is the client that gets the answer that it waits for in step i, or "".
	// Until then it has no other step, so nothing that it does comes in between.
	Learns(i int) string
	// Concerns reports whether step i is an Offer that concerns a client.
	Concerns(i int, client string) bool
	Now() time.Duration
	// AppendState appends the state of the clients and of what is under way,
	// AppendServers that of the servers: two runs of one configuration and state go on
	// alike, whatever has led there.
	AppendState([]byte) []byte
	AppendServers([]byte) []byte
	// Underway are the operations, by the index of their invoke, of which a request is
	// still under way. It is good after AppendState.
	Underway() []int
}

// Ordering is an environment in which order may decide when a fault strikes.
type Ordering interface {
	// Ordered reports whether order decides. The other methods are for such runs only.
	Ordered() bool
	// Dated reports whether somebody has learnt a date that may be written down.
	Dated() bool
	// Outlast has the running task, which is the client's, wait until dates have passed,
	// nothing is under way from or to the client, and open says so. It returns false if
	// nothing else can happen before that.
	Outlast(client string, open func() bool) bool
	// Idle reports whether it is all the same if a client is paused now or later: it
	// does nothing, for as long as it likes, or its request is still under way.
	Idle(client string) bool
	Offer(Offer)
}

// Offer is something that the harness lets happen where order decides, at any
// time while it is open.
type Offer struct {
	Name   func() string
	On     []string // whom it concerns
	Begins bool     // a fault strikes: nothing that comes by itself
	Tells  bool     // who asks a server again may get another answer afterwards
	Open   func() bool
	Do     func()
}

// Passages is how often time may pass in a run although no timer is due: the date of
// one holder is over, and then that of the next.
const Passages = 2

// ErrStopped ends a run whose order goes no further.
var ErrStopped = errors.New("sim: the order goes no further")

// A BudgetError is that a run has used up its budget, and says which. It depends on
// the run alone, and no machine: the same run ends there again.
type BudgetError string

func (e BudgetError) Error() string { return "sim: " + string(e) }
