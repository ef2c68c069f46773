package main

import (
	"fmt"

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

// promise is the list of properties that must hold; empty: all that apply.
type promise []checker.Property

// covers tells whether p is among them.
func (pr promise) covers(p checker.Property) bool {
	if len(pr) == 0 {
		return true
	}
	for _, q := range pr {
		if p == q {
			return true
		}
	}
	return false
}

// code is the exit code for the outcomes of all properties.
func (pr promise) code(outcome func(checker.Property) checker.Outcome) int {
	code, judged := held, false
	for _, p := range checker.Properties {
		if !pr.covers(p) {
			continue
		}
		switch outcome(p) {
		case checker.Violated:
			return violated
		case checker.Unknown:
			code = unproven
		case checker.NA:
			if len(pr) > 0 {
				code = unproven
			}
		case checker.Valid:
			judged = true
		}
	}
	if !judged {
		return unproven
	}
	return code
}

func (pr promise) strings() []string {
	var list []string
	for _, p := range pr {
		list = append(list, string(p))
	}
	return list
}
