package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
)

// Exit codes. People script against them.
const (
	held        = 0
	violated    = 1 // or not as expected
	unproven    = 2 // unknown, vacuous, nothing ran
	noPlace     = 3 // the place could not be set up
	usage       = 4 // wrong usage, or a file that is missing or not a history
	bug         = 5 // of lockcheck itself
	interrupted = 130
)

// exitError ends the command with a code. Without err everything has been said.
// An error that is none is a bug of lockcheck: whoever can explain it to the
// person who typed the command makes it one of these.
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

// exit ends the command with a code, silently; 0 is no error.
func exit(code int) error {
	if code == held {
		return nil
	}
	return &exitError{code: code}
}

// guard calls f, and makes an error of a panic in it. The stack follows the
// first line.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// codeFor is the exit code for an error.
func codeFor(err error) int {
	if err == nil {
		return held
	}
	exit := &exitError{code: bug}
	errors.As(err, &exit)
	return exit.code
}

// complain says on stderr what went wrong, and returns the exit code for it.
func (a *app) complain(err error) int {
	if err == nil {
		return held
	}
	exit := &exitError{code: bug, err: err}
	errors.As(err, &exit)
	switch {
	case exit.err == nil: // everything has been said
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

// worse is the code that decides when two things came out differently: the
// first that applies of 5, 4, 3, 1, 2, 0.
func worse(a, b int) int {
	for _, code := range []int{bug, usage, noPlace, violated, unproven} {
		if a == code || b == code {
			return code
		}
	}
	return held
}

// codeOf is the exit code for what came of a promise.
func codeOf(out checker.Outcome) int {
	switch out {
	case checker.Valid:
		return held
	case checker.Violated:
		return violated
	}
	return unproven
}
