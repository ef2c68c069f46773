package workloads

import "github.com/lockcheck/lockcheck/history"

// Guarded is the resource that a lock guards: one value. With fencing it keeps the
// highest token that it has seen and refuses lower ones.
type Guarded struct {
	Fencing history.Fencing
	value   int64
	highest uint64
}

// Read returns the value.
func (g *Guarded) Read(token uint64) (value int64, stale bool) {
	if g.Fencing == history.FencingAll && g.stale(token) {
		return 0, true
	}
	return g.value, false
}

// Write replaces the value, and returns the one before.
func (g *Guarded) Write(token uint64, value int64) (was int64, stale bool) {
	if g.Fencing != history.FencingOff && g.stale(token) {
		return 0, true
	}
	was, g.value = g.value, value
	return was, false
}

// Value returns the resource's value.
func (g *Guarded) Value() int64 { return g.value }

// Highest returns the highest token that the resource has seen.
func (g *Guarded) Highest() uint64 { return g.highest }

func (g *Guarded) stale(token uint64) bool {
	if token < g.highest {
		return true
	}
	g.highest = token
	return false
}
