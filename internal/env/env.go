// Package env is the contract of an environment: clients, servers and the network
// between them, on which faults act. Packages sim and docker meet it.
package env

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/locks"
)

// Environment is where one run happens. The harness's own tasks live on true time,
// which no fault touches. Tasks call the methods, except Go, Run and Close.
type Environment interface {
	faults.Place

	// Go starts a task of the harness. It runs once Run is called.
	Go(task func())
	// After calls f when d has passed, if the run lasts that long. f may act on the
	// environment, and must not Sleep.
	After(d time.Duration, f func())
	// Run returns when all tasks have ended, or an error if the environment broke down.
	Run() error
	// Rand draws evenly from 0 ≤ x < n for a client (who); what is the name of the draw.
	// 0 is the least disturbing value.
	Rand(who, what string, n int64) int64
	// Now returns the time since the start of the run; Sleep waits on the same clock.
	Now() time.Duration
	Sleep(d time.Duration)
	// Observes returns the properties that need a view of the servers and can be judged
	// here: "ownership", "answers". The list may shrink during a run.
	Observes() []string
	// Client returns the named client. One task at a time calls its methods.
	Client(name string) Client
	// Close removes everything that the environment made. It may be called at any time.
	Close() error
}

// Errors of operations, beside those of package locks.
var (
	// ErrCrashed: the client was killed, or its worker died. The operation may have
	// happened.
	ErrCrashed = errors.New("the client crashed")
	// ErrBudget: the operation made more port calls than a run allows, and its client
	// crashed. It may have happened.
	ErrBudget = errors.New("the operation made too many requests, and its client crashed")
	// ErrTimeout: no answer in time. The operation may have happened.
	ErrTimeout = errors.New("no answer in time")
	// ErrStaleToken: the resource refused the access.
	ErrStaleToken = locks.Definite(errors.New("stale token"))
	// ErrNoReleaseName: the lock cannot release by name. Nothing happened.
	ErrNoReleaseName = locks.Definite(errors.New("the lock releases only what it has granted"))
	// ErrWaits: the acquire goes on. Only a Patient returns it.
	ErrWaits = errors.New("it waits on")
)

// Explained is the error of an operation with the text that a worker gave for it.
type Explained struct {
	Err  error // what it means
	Text string
}

func (e *Explained) Error() string { return e.Err.Error() + ": " + e.Text }

func (e *Explained) Unwrap() error { return e.Err }

// A ProtocolError reports a line that no correct worker writes at that moment, or a
// mistake in its code that the worker reports itself. Nothing that this worker answers is
// evidence against its lock.
type ProtocolError struct{ Line, Want, Misuse string }

func (e *ProtocolError) Error() string {
	if e.Misuse != "" {
		return e.Misuse
	}
	return fmt.Sprintf("the worker does not keep to the protocol (docs/worker.md): it wrote %s, and lockcheck expected %s", e.Line, e.Want)
}

// Client is one client on its host. Errors mean what package locks says; calls return
// ErrCrashed when the client is dead.
type Client interface {
	Acquire(op Op, timeout time.Duration) (Grant, error)
	Release(op Op) error
	// Read and Write access the guarded resource, from the client's host.
	Read(op Op) (int64, error)
	Write(op Op, value int64) error
}

// Patient is a Client whose lock calls the critical section itself (locks.Runner) and
// waits for it without a limit: the wait cannot be cancelled. An Acquire returns
// ErrWaits after its timeout; the same Op asked again goes on waiting. Every entry
// after the first, and every entry after Abandon, is unrequested: see Observer.Enter.
type Patient interface {
	Client
	// Abandon ends the client's interest in an acquire that returned ErrWaits.
	Abandon(op Op)
}

// Trier is a Client that can ask without a wait, if its lock can.
type Trier interface {
	CanTry() bool
	Try(op Op, timeout time.Duration) (Grant, error)
}

// Extender is a Client that can make the lease of a grant longer, if its lock can. It
// returns when the lease ends then; 0: unknown.
type Extender interface {
	CanExtend(acquire int) bool
	Extend(op Op) (validUntil time.Duration, err error)
}

// NameReleaser is a Client that can release by name, as a holder or not, if its lock
// can (locks.NameReleaser).
type NameReleaser interface {
	// ReleaseName releases the lock op.Lock. op.Grant is the grant that the client
	// means to release; 0: it holds none. It returns ErrNoReleaseName if the lock
	// cannot do that.
	ReleaseName(op Op) error
}

// Restarter is an Environment in which a killed client can start again, as a new process.
type Restarter interface {
	// Restart starts a client that Kill has ended. Client returns the new one from then on.
	// After an error the client is dead as before.
	Restart(client string) error
}

// Busy is an Environment on a machine that may be too busy for its clients.
type Busy interface {
	// Starved returns for how long a client's process has waited for a processor since
	// the last call: the one that has waited longest.
	Starved() time.Duration
}

// OneShot is an Environment that knows when a fault of a link that strikes once is over.
type OneShot interface {
	// WhenStruck sets the function that is called, in a task of its own, with the id of
	// an impairment that has lost its message. It is called before the first Impair.
	WhenStruck(f func(id int))
}

// Op is the operation of the history that a call belongs to.
type Op struct {
	Index       int // of its invoke; server events that it causes have By = Index
	Acquisition int // which critical section of the client it belongs to, from 1
	Lock        string
	Grant       int           // the innermost one of the client; 0: none. An acquire is nested in it
	Acquire     int           // the index of the acquire that led to Grant; of an acquire: Index
	Timeout     time.Duration // of an access to the resource; 0: T/4
	Unfair      bool          // of an acquire: out of turn, if the lock supports that (locks.UnfairLocker)
}

// Grant is what an acquire got.
type Grant struct {
	Token      uint64        // 0: none
	ValidUntil time.Duration // on the clock of Environment.Now; 0: the lock reports none
	// Stands is the index of the acquire that made the grant's entries in the stores,
	// if that is another acquire: a Runner may call the critical section twice. 0: its
	// own.
	Stands int
}

// Config describes an environment to make.
type Config struct {
	Lock    catalogue.Lock
	Options catalogue.Options
	Lease   time.Duration // T
	Clients []string
	Names   []string // of the named locks
	Server  catalogue.Server
	// Latency is the longest delay of a message; 0: 5 ms. Only sim uses it.
	Latency time.Duration
	Seed    uint64
	// Schedule is what will be injected. Only its points are announced.
	Schedule []faults.Injection
	Worker   []string // in docker: the command of the user's worker; nil: our own
}

// Observer receives what happens in an environment, at the moment when it happens. In
// docker many goroutines call it.
type Observer interface {
	// Point is called when a client reaches a point in an operation. The client goes on
	// when Point returns, unless it was paused or killed meanwhile.
	Point(client string, op Op, p faults.Point)
	// Server is called for each event of a server. The observer derives its Grant from
	// Op.
	Server(e history.Entry)
	// Resource is called for an access that reaches the guarded resource. It returns
	// the value read, or whether the write was accepted.
	Resource(a Access) Answer
	// Report is called for a client's events between operations: queued, lost, valid.
	Report(e history.Entry)
	// Enter is called when a lock has called the critical section and the client's
	// caller does not wait for it. It returns the acquire to which the entry counts; a
	// zero Op: the client is dead. Section then goes through that critical section, in
	// the calling task, on true time.
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
	Token  uint64 // 0: the access carries none
	Value  int64
}

// Answer is the answer of the resource.
type Answer struct {
	Value int64
	Stale bool // the access was refused: its token was stale
}
