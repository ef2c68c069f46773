// Package userlock is a lock that a user brings in Go, as the environments see it.
package userlock

import (
	"context"
	"fmt"
	"net"
	"runtime/debug"
	"strings"
	"time"
)

// Patience is how long, in T, the user's code may go on after its context has ended: a
// function without a context waits as long as it likes, and what it then gets is used.
const Patience = 10

// Maker makes the lock of one client. It is called once for each client of a run.
type Maker func(Site) (Lock, error)

// Site is what a client is given: its name, and its way to the servers.
type Site interface {
	Client() string
	Lease() time.Duration
	// Addrs returns the addresses of the servers that keep locks, Sentinels those of the
	// Sentinels.
	Addrs() []string
	Sentinels() []string
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)
	// Seed returns a number for the client's random choices.
	Seed() uint64
}

// Misuse is an error of the user's code that is no answer of a lock: it ends the test
// without a verdict.
type Misuse struct{ Words string }

func (m *Misuse) Error() string { return m.Words }

// Lock is the lock of one client. Its errors mean what those of package locks mean.
type Lock interface {
	Acquire(ctx context.Context, name string) (Grant, error)
	// Try is Acquire without a wait, if CanTry.
	Try(ctx context.Context, name string) (Grant, error)
	CanTry() bool
	Close() error
}

// Grant is what an acquire got.
type Grant interface {
	Release(ctx context.Context) error
	// Extend makes the lease last as long as a new one, if CanExtend.
	Extend(ctx context.Context) error
	CanExtend() bool
	// Until returns until when the client may believe in it; zero: unknown.
	Until() time.Time
	// Token returns the fencing token; 0: none.
	Token() uint64
	// Lost is closed when the lock knows that it has lost the grant; nil: never.
	Lost() <-chan struct{}
}

// Guard calls f. It turns a panic of the user's code into an error with its stack. A
// *Misuse stays as it is.
func Guard(what string, f func() error) (err error) {
	defer func() {
		p := recover()
		if m, ok := p.(*Misuse); ok {
			err = m
		} else if p != nil {
			err = &Misuse{Words: fmt.Sprintf("%s panicked: %v\n%s", what, p, OwnFrames(string(debug.Stack())))}
		}
	}()
	return f()
}

// OwnFrames returns the frames of a stack that are neither of the runtime nor of lockcheck.
func OwnFrames(stack string) string {
	lines := strings.Split(strings.TrimSpace(stack), "\n")
	text := lines[0] + "\n"
	for i := 1; i+1 < len(lines); i += 2 {
		if call := lines[i]; !strings.HasPrefix(call, "runtime") && !strings.HasPrefix(call, "panic(") && !strings.Contains(call, "lockcheck/internal/") && !strings.Contains(call, "lockcheck.(") {
			text += call + "\n" + lines[i+1] + "\n"
		}
	}
	return text
}
