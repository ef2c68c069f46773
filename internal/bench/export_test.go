package bench

import (
	"context"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// HistoryInSim returns the history from which InSim computes its figures.
func HistoryInSim(ctx context.Context, l Load) (*history.History, error) {
	m, err := inSim(ctx, l)
	return &m.recorder.history, err
}

// Counting returns lock with a counter of traffic like that of a queue, and a function
// that returns the sum.
func Counting(lock catalogue.Lock) (counted catalogue.Lock, sum func() Traffic) {
	var p ports
	return p.counted(lock), func() Traffic {
		t, _, _ := p.sum()
		return t
	}
}
