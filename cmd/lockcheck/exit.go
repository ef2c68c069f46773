package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
)

// Exit codes. Scripts depend on them.
const (
	held        = 0
	violated    = 1 // or a matrix that is not as expected
	unproven    = 2 // unknown, vacuous, nothing ran
	noPlace     = 3 // the environment could not be set up
	usage       = 4 // wrong usage, or a file that is missing or not a history
	bug         = 5 // a bug in lockcheck
	interrupted = 130
)

// exitError ends the command with a code. If err is nil, the message has been printed
// already. Any other error counts as a bug in lockcheck: code that can explain an error
// to the user wraps it in an exitError.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func fail(code int, format string, args ...any) error {
	return &exitError{code: code, err: fmt.Errorf(format, args...)}
}

// exit ends the command with a code and no message; code 0 gives nil.
func exit(code int) error {
	if code == held {
		return nil
	}
	return &exitError{code: code}
}

// guard calls f, and turns a panic in it into an error. The stack follows the first
// line.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// codeFor returns the exit code for an error.
func codeFor(err error) int {
	if err == nil {
		return held
	}
	exit := &exitError{code: bug}
	errors.As(err, &exit)
	return exit.code
}

// complain prints an error on stderr, and returns the exit code for it.
func (a *app) complain(err error) int {
	if err == nil {
		return held
	}
	exit := &exitError{code: bug, err: err}
	errors.As(err, &exit)
	switch {
	case exit.err == nil: // the message has been printed
	case exit.code == bug:
		line, stack, _ := strings.Cut(exit.Error(), "\n")
		a.say("lockcheck: this is a bug of lockcheck: %s; please report it with the command\n", line)
		if a.verbose && stack != "" {
			a.say("%s\n", stack)
		}
	default:
		a.say("lockcheck: %v\n", exit.err)
	}
	return exit.code
}

// worse returns the exit code that counts for two results: the first of 5, 4, 3, 1, 2,
// 0 that one of them has.
func worse(a, b int) int {
	for _, code := range []int{bug, usage, noPlace, violated, unproven} {
		if a == code || b == code {
			return code
		}
	}
	return held
}

// codeOf returns the exit code for the outcome of a promise.
func codeOf(out checker.Outcome) int {
	switch out {
	case checker.Valid:
		return held
	case checker.Violated:
		return violated
	}
	return unproven
}
