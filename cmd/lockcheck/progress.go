package main

import (
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/names"
)

// progress shows the progress of a batch on a terminal.
func (a *app) progress(s *explore.Settings) func(int) {
	if !a.ShowsProgress() {
		return nil
	}
	start := time.Now()
	return func(done int) {
		a.ShowProgress(howFar(s, done, time.Since(start)))
	}
}

// howFar returns the progress line.
func howFar(s *explore.Settings, done int, took time.Duration) string {
	words := names.Thousands(done)
	if s.Runs < batch.Unlimited {
		words += " of " + names.Thousands(s.Runs)
	}
	words += fmt.Sprintf(" runs, %.0f a second", float64(done)/took.Seconds())
	if s.For > 0 {
		words += fmt.Sprintf(", %.0f of %.0f s", took.Seconds(), s.For.Seconds())
	}
	return words + " "
}
