package faults

import (
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Scope is what a random schedule is drawn for. There is no lock in it: what
// is drawn does not depend on what is tested.
type Scope struct {
	Kinds    []Fault
	Count    int // faults in the run
	Clients  []string
	Servers  []string
	Acquires int           // acquisitions of each client
	Lease    time.Duration // T
	Length   time.Duration // how long an undisturbed run takes, about
}

// Random draws a schedule: one kind of fault, Count times. Half of them
// start at a point of a random client's operations, the others at a time.
func Random(s Scope, draw func(n int64) int64) []Injection {
	if len(s.Kinds) == 0 || s.Count == 0 {
		return nil
	}
	f := s.Kinds[draw(int64(len(s.Kinds)))]
	schedule := make([]Injection, s.Count)
	for i := range schedule {
		in := &schedule[i]
		in.Fault = f.Name
		client := s.Clients[draw(int64(len(s.Clients)))]
		server := s.Servers[draw(int64(len(s.Servers)))]
		switch f.On {
		case OnClient:
			in.On = []string{client}
		case OnServer:
			in.On = []string{server}
		case OnLink:
			in.On = []string{client, server}
		}
		if draw(2) == 0 {
			p := points[draw(int64(len(points)))]
			p.Client = client
			p.Acquisition = 1 + int(draw(int64(s.Acquires)))
			in.Point = &p
		} else {
			in.At = time.Duration(draw(int64(s.Length)))
		}
		if f.Draw != nil {
			f.Draw(in, s.Lease, draw)
		}
	}
	return schedule
}

// points are where a fault may strike. An operation that has fewer requests
// is struck at its last one.
var points = []Point{
	{Op: history.Acquire, Request: 1},
	{Op: history.Acquire, Request: 1, After: true},
	{Op: history.Acquire, Request: 2},
	{Op: history.Acquire, Request: 2, After: true},
	{Op: history.Acquire, OK: true, After: true},
	{Op: history.Acquire, OK: true, After: true},
	{Op: history.Read, Request: 1},
	{Op: history.Write, Request: 1},
	{Op: history.Write, Request: 1, After: true},
	{Op: history.Release, Request: 1},
	{Op: history.Release, Last: true},
	{Op: history.Release, Last: true},
}

// At tells whether the point that a client has reached is p. steps is how many
// requests the operation has when nobody is in its way: a point at a request
// that it lacks is the one at its last.
func (p Point) At(reached Point, steps int) bool {
	if p.Client != reached.Client || p.Op != reached.Op || p.Acquisition != reached.Acquisition || p.After != reached.After {
		return false
	}
	switch {
	case p.OK || reached.OK:
		return p.OK && reached.OK
	case p.Last || p.Request > steps:
		return reached.Last || reached.Request > steps
	default:
		return p.Request == reached.Request
	}
}

// Validate says what is wrong with an injection.
func (in Injection) Validate() error {
	f, ok := Find(in.Fault)
	if !ok {
		return fmt.Errorf("no fault %q", in.Fault)
	}
	want := 1
	if f.On == OnLink {
		want = 2
	}
	if len(in.On) != want {
		return fmt.Errorf("%s acts on %d, not on %q", in.Fault, want, in.On)
	}
	return nil
}
