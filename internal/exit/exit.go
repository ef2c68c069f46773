// Package exit has the exit codes of the command, and the errors that carry them from
// where a user's mistake is seen to the end of the process. What was found decides its
// code where it is counted: results.Document.Decide, and packages cases, judging and replay.
package exit

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/lockcheck/lockcheck/checker"
)

// Exit codes. Scripts depend on them.
const (
	Held        = 0
	Violated    = 1 // or a matrix that is not as expected
	Unproven    = 2 // unknown, vacuous, nothing ran
	Unavailable = 3 // the environment could not be set up
	Usage       = 4 // wrong usage, or a file that is missing or not a history
	Bug         = 5 // a bug in lockcheck
	Interrupted = 130
)

// Error ends the command with a code. If Err is nil, the message has been printed
// already. Any other error counts as a bug in lockcheck: code that can explain an error
// to the user wraps it in an Error.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error with a message.
func Errorf(code int, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// With ends the command with a code and no message; code 0 gives nil.
func With(code int) error {
	if code == Held {
		return nil
	}
	return &Error{Code: code}
}

// Guard calls f, and turns a panic in it into an error. The stack follows the first
// line.
func Guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// Code returns the exit code for an error: that of the Error in it, or Bug.
func Code(err error) int {
	if err == nil {
		return Held
	}
	exit := &Error{Code: Bug}
	errors.As(err, &exit)
	return exit.Code
}

// Worse returns the exit code that counts for two results: the first of 5, 4, 3, 1, 2,
// 0 that one of them has.
func Worse(a, b int) int {
	for _, code := range []int{Bug, Usage, Unavailable, Violated, Unproven} {
		if a == code || b == code {
			return code
		}
	}
	return Held
}

// Of returns the exit code for the outcome of a promise.
func Of(out checker.Outcome) int {
	switch out {
	case checker.Valid:
		return Held
	case checker.Violated:
		return Violated
	}
	return Unproven
}
