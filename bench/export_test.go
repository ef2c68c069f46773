package bench

import "github.com/lockcheck/lockcheck/catalogue"

// Counting makes lock one whose traffic is counted as a queue's is, and tells
// what was counted.
func Counting(lock catalogue.Lock) (counted catalogue.Lock, sum func() Traffic) {
	var p ports
	return p.counted(lock), func() Traffic {
		t, _, _ := p.sum()
		return t
	}
}
