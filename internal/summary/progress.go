package summary

import (
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/names"
)

// Progress shows the progress of a batch on a terminal.
func (to *Printer) Progress(s *explore.Settings) func(int) {
	if !to.ShowsProgress() {
		return nil
	}
	start := time.Now()
	return func(done int) {
		to.ShowProgress(howFar(s, done, time.Since(start)))
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

// SearchProgress shows the progress of a search on a terminal.
func (to *Printer) SearchProgress(lock, fault string) func(schedules, states int) {
	if !to.ShowsProgress() {
		return nil
	}
	return func(schedules, states int) {
		to.ShowProgress(fmt.Sprintf("%s %s: %s states, %s schedules ", lock, fault, names.Thousands(states), names.Thousands(schedules)))
	}
}

// MatrixProgress shows the progress of a matrix on a terminal. With timed it also
// estimates the remaining time.
func (to *Printer) MatrixProgress(timed bool) func(explore.Far) {
	if !to.ShowsProgress() {
		return nil
	}
	start := time.Now()
	var shown time.Time
	return func(f explore.Far) {
		now := time.Now()
		if now.Sub(shown) < 100*time.Millisecond {
			return
		}
		shown = now
		to.ShowProgress(matrixFar(f, now.Sub(start), timed))
	}
}

func matrixFar(f explore.Far, took time.Duration, timed bool) string {
	rate := float64(f.Runs) / took.Seconds()
	words := fmt.Sprintf("%d of %s, %s, %.1f a second", f.CellsDone, names.Count(f.Cells, "cell"), names.Count(f.Runs, "run"), rate)
	if timed && rate > 0 {
		words = fmt.Sprintf("%d of %s, %s, %.0f a second, about %.0f s left",
			f.CellsDone, names.Count(f.Cells, "cell"), names.Count(f.Runs, "run"), rate, float64(f.Left)/rate)
	}
	return words
}
