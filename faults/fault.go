package faults

import (
	"fmt"
	"slices"
	"time"
)

// Fault is something that can go wrong, on its own: what it does to which
// part of a place, and how it heals.
type Fault struct {
	Name string
	Does string // in a line
	On   Target
	Need Need // what the place must be able to do

	// Start makes it happen. Heal ends it: nil for a fault that is over at
	// once or stays. hits is how many messages were touched; -1: it does not say.
	Start func(p Place, id int, in Injection) error
	Heal  func(p Place, id int, in Injection) (hits int, err error)

	// Draw completes an injection for a random run: how long, how far, in
	// which direction. T is the lease.
	Draw func(in *Injection, t time.Duration, draw func(n int64) int64)
}

// Need is something that not every place can do.
type Need string

// The needs.
const (
	NeedClock Need = "a server whose clock can be set"
	NeedStop  Need = "clients that can be stopped: on Docker, Linux"
)

// All are all faults, in the order in which they are shown.
func All() []Fault {
	return []Fault{
		pause, kill, powerOff,
		restart, restartLost, serverJump,
		partition, partitionOneway, delay, dropReply, killConnection,
	}
}

// Find returns the fault with that name.
func Find(name string) (Fault, bool) {
	all := All()
	i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}, false
	}
	return all[i], true
}

// Available says why f does not apply where a place offers only what it has;
// nil: it applies.
func (f Fault) Available(has []Need) error {
	if f.Need == "" || slices.Contains(has, f.Need) {
		return nil
	}
	return fmt.Errorf("%s needs %s", f.Name, f.Need)
}

// between draws evenly from tenths of T.
func between(draw func(int64) int64, t time.Duration, from, to int64) time.Duration {
	return t * time.Duration(10*from+draw(10*(to-from)+1)) / 100
}

// lasts draws how long a disturbance goes on: 0.1–2.5 T.
func lasts(in *Injection, t time.Duration, draw func(int64) int64) {
	in.For = between(draw, t, 1, 25)
}
