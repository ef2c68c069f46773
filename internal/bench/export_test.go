package bench

import (
	"context"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/history"
)

// HistoryInSim is what InSim's figures are read from.
func HistoryInSim(ctx context.Context, l Load) (*history.History, error) {
	m, err := inSim(ctx, l)
	return &m.recorder.history, err
}

// Counting makes lock one whose traffic is counted as a queue's is, and tells
// what was counted.
func Counting(lock catalogue.Lock) (counted catalogue.Lock, sum func() Traffic) {
	var p ports
	return p.counted(lock), func() Traffic {
		t, _, _ := p.sum()
		return t
	}
}
