// Package gotest is where the environment of real servers registers for Go tests of a
// user's lock. So only those tests link it that import it.
package gotest

import (
	"context"
	"errors"
	"io"

	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/userlock"
)

// Real is the environment of real servers.
type Real struct {
	// Open opens it, with a new directory for the files of runs, which the caller removes. It
	// returns an error if there is no Docker engine.
	Open func(context.Context, Setup) (*batch.Runner, error)
	// Serve is the process of one client: it speaks the worker protocol, until its input
	// ends.
	Serve func(in io.Reader, out io.Writer, make userlock.Maker) error
}

// Setup is what Open needs.
type Setup struct {
	On          string             // docker or external
	Yours       *endpoints.Servers // of external
	Worker, Env []string           // the command of a client's process, and what is added to its environment
	Log         io.Writer          // for people
	Say         func(format string, args ...any)
	Cleanup     func(func()) // calls a function at the end of the test
}

var real *Real

// Register makes the environment available. It is called before tests begin.
func Register(r Real) { real = &r }

// Registered returns the environment, or an error that says how to link it.
func Registered() (*Real, error) {
	if real == nil {
		return nil, errors.New("real servers need one more import in this package's tests:\n\n\t_ \"github.com/lockcheck/lockcheck/docker\"")
	}
	return real, nil
}
