// Package env says what a place is: where clients, servers and the network
// between them exist, and where faults act. Packages sim and docker are places.
package env

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/locks"
)

// Environment is where one run happens. The harness's own tasks live on true time:
// no fault touches them. Methods other than Go are called from a task, except
// Run and Close.
type Environment interface {
	faults.Place

	// Go starts a task of the harness. It runs once Run is called.
	Go(task func())
	// After calls f at that time from now, if the run lasts so long. f may act
	// on the place, and must not Sleep.
	After(d time.Duration, f func())
	// Run returns when all tasks have ended, or with an error when the place broke down.
	Run() error
	// Rand draws evenly from 0 ≤ x < n for who; what names the draw. 0 is the
	// least disturbing value.
	Rand(who, what string, n int64) int64
	// Now is the time since the start of the run; Sleep waits on it.
	Now() time.Duration
	Sleep(d time.Duration)
	// Observes says which properties that need a view of the servers can be
	// judged here: "ownership", "answers". It may lose one while a run goes on.
	Observes() []string
	// Client is the named client's end; its methods are called by one task at a time.
	Client(name string) Client
	// Close removes all that the place made. It may be called at any time.
	Close() error
}

// What an operation can end with, beside the errors of package locks.
var (
	// ErrCrashed: the client was killed, or its worker died. It may have happened.
	ErrCrashed = errors.New("the client crashed")
	// ErrBudget: the operation used up its budget of port calls, and the client
	// with it. It may have happened.
	ErrBudget = errors.New("the operation made too many requests, and its client crashed")
	// ErrTimeout: no answer in time. It may have happened.
	ErrTimeout = errors.New("no answer in time")
	// ErrStaleToken: the resource refused the access.
	ErrStaleToken = locks.Definite(errors.New("stale token"))
	// ErrNoReleaseName: the lock releases nothing by name, and nothing happened.
	ErrNoReleaseName = locks.Definite(errors.New("the lock releases only what it has granted"))
	// ErrWaits: the acquire goes on. It is a Patient's only.
	ErrWaits = errors.New("it waits on")
)

// A ProtocolError is a line that no worker of this protocol writes, or only one that
// has lost count. No answer of its can be trusted: it proves nothing of the lock.
type ProtocolError struct{ Line, Want string }

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("the worker does not keep to the protocol (docs/worker.md): it wrote %s, and lockcheck expected %s", e.Line, e.Want)
}

// Client is one client on its host. Errors are as package locks says; calls
// return ErrCrashed when the client is dead.
type Client interface {
	Acquire(op Op, timeout time.Duration) (Grant, error)
	Release(op Op) error
	// Read and Write access the guarded resource, from the client's host.
	Read(op Op) (int64, error)
	Write(op Op, value int64) error
}

// Patient is a Client whose lock calls the critical section itself
// (locks.Runner), and waits for it as long as it likes: nobody can call it off.
// When the time-out of an Acquire has passed that ends with ErrWaits; the same
// Op asked again waits on. Every entry after the first, and after Abandon, is
// one that nobody has asked for: see Observer.Enter.
type Patient interface {
	Client
	// Abandon says that nobody waits any more for what ended with ErrWaits.
	Abandon(op Op)
}

// NameReleaser is a Client that can release by name, whether it holds or not, if
// its lock can (locks.NameReleaser).
type NameReleaser interface {
	// ReleaseName is told which lock by op, which names the grant, too, that the
	// client means to give back; 0: it holds none. A lock that knows no such
	// thing: ErrNoReleaseName.
	ReleaseName(op Op) error
}

// Op says which operation of the history a call is.
type Op struct {
	Index       int // of its invoke: what servers do for it is recorded with By = Index
	Acquisition int // which critical section of the client it belongs to, from 1
	Lock        string
	Grant       int           // the innermost that the client holds; 0: none. An acquire is nested in it
	Acquire     int           // the index of the acquire that Grant came from; of an acquire: Index
	Timeout     time.Duration // of an access to the resource; 0: T/4
	Unfair      bool          // of an acquire: out of turn, where the lock knows that (locks.UnfairLocker)
}

// Grant is what an acquire got.
type Grant struct {
	Token      uint64        // 0: none
	ValidUntil time.Duration // on the clock of Environment.Now; 0: the lock does not say
	// Stands is the index of the acquire whose entries in the stores the grant
	// stands on, where that is another one: a Runner's Run may call the critical
	// section twice. 0: its own.
	Stands int
}

// Config is what a place is made from.
type Config struct {
	Lock    catalogue.Lock
	Options catalogue.Options
	Lease   time.Duration // T
	Clients []string
	Names   []string // of the locks
	Server  catalogue.Server
	// Latency is the longest that a message takes; 0: 5 ms. Only sim decides it.
	Latency time.Duration
	Seed    uint64
	// Schedule is what will be injected: only the points that it names are
	// announced.
	Schedule []faults.Injection
	Worker   []string // in docker: the command of a stranger's worker; nil: our own
}

// Observer is told what happens in a place, at the moment when it happens. In
// docker calls come from many goroutines.
type Observer interface {
	// Point is called when a client reaches a point in an operation, and the
	// client goes on when it returns: unless it was paused or killed meanwhile.
	Point(client string, op Op, p faults.Point)
	// Server is called for what a server did; Grant is filled in by the observer from Op.
	Server(e history.Entry)
	// Resource is an access that reaches the guarded resource: it answers with
	// the value read, or whether the write was accepted.
	Resource(a Access) Answer
	// Report is a client's news between operations: queued, lost, valid.
	Report(e history.Entry)
	// Enter is a grant that the client's caller does not wait for: its lock has
	// called the critical section. It returns the acquire that stands for it, or
	// a zero Op: the client is dead. Section goes through that critical section
	// then, in the task that calls it, on true time.
	Enter(client string, g Grant) Op
	Section(client string, acquire Op)
}

// Access is one access to the guarded resource.
type Access struct {
	Client string
	By     int // index of its invoke
	Grant  int
	Lock   string
	Write  bool
	Token  uint64 // 0: carries none
	Value  int64
}

// Answer is the resource's.
type Answer struct {
	Value int64
	Stale bool // refused: the token was stale
}
