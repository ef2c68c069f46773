package faults

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Scope is the environment and the load that Random draws a schedule for. It names no
// lock: the schedule does not depend on the lock under test.
type Scope struct {
	Kinds    []Fault // the zero Fault: some runs have no fault
	Mixed    bool    // each fault is of a random kind; else all are of one
	Count    int     // faults in the run; 0, with Busy: the default of the kind
	Busy     bool    // strike clients that are busy, because runs are expensive
	Clients  []string
	Servers  []string      // those that clients ask
	Stores   []string      // Servers and their replicas; nil: Servers
	Acquires int           // acquisitions of each client
	Lease    time.Duration // T
	Length   time.Duration // the approximate length of an undisturbed run
	Points   []Point       // of any client's operations, where faults may strike; nil: those that suit every lock
}

// Random draws a schedule of Count faults of one kind. Half of them start at a point of
// a random client's operations, the others at a time. After the first, every second one
// on average comes soon after the one before: two faults that break something together
// mostly do so within one lease. If a fault of a client or its link waits for a command, a
// holder is struck before, for longer than a lease: most such requests come only then.
// Where there are several servers, every second fault of servers or links strikes several
// of them at once; an operator acts on one.
func Random(s Scope, draw func(n int64) int64) []Injection {
	if len(s.Kinds) == 0 || s.Count == 0 && !s.Busy {
		return nil
	}
	f := s.Kinds[draw(int64(len(s.Kinds)))]
	if f.Name == "" {
		return nil
	}
	if s.Busy {
		return busy(&s, f, draw)
	}
	schedule := make([]Injection, 0, s.Count)
	for i := range s.Count {
		if s.Mixed && i > 0 {
			f = s.Kinds[draw(int64(len(s.Kinds)))]
		}
		client := s.Clients[draw(int64(len(s.Clients)))]
		first := draw(int64(len(s.Servers)))
		in := Injection{Fault: f.Name}
		near := i > 0 && draw(2) == 0
		switch {
		case near && schedule[len(schedule)-1].Point == nil:
			before := schedule[len(schedule)-1]
			in.At = min(before.At+time.Duration(draw(int64(before.For+s.Lease/2))), s.Length-1)
		case near:
			// At the same critical section or the next, of the same client or another:
			// all clients are about as far.
			in.Point = s.point(client, schedule[len(schedule)-1].Point.Acquisition+int(draw(2)), draw)
		case draw(2) == 0:
			in.Point = s.point(client, 1+int(draw(int64(s.Acquires))), draw)
		default:
			in.At = time.Duration(draw(int64(s.Length)))
		}
		if in.Point != nil && in.Point.Command != "" && (f.On == OnClient || f.On == OnLink) && len(s.Clients) > 1 {
			holder := take(s.Clients, int64(slices.Index(s.Clients, client))+1+draw(int64(len(s.Clients)-1)), 1)[0]
			at := &Point{Client: holder, Acquisition: in.Point.Acquisition, Op: history.Acquire, OK: true, After: true}
			schedule = append(schedule, s.injections(Injection{Fault: f.Name, Point: at}, f, holder, first, s.Lease*11/10, draw)...)
		}
		schedule = append(schedule, s.injections(in, f, client, first, 0, draw)...)
	}
	return schedule
}

// injections returns an injection for each target, with a duration, if it has one, of at
// least that much.
func (s *Scope) injections(in Injection, f Fault, client string, first int64, least time.Duration, draw func(int64) int64) (list []Injection) {
	if f.Draw != nil {
		f.Draw(&in, s.Lease, draw)
	}
	if in.For > 0 {
		in.For = max(in.For, least)
	}
	for _, on := range s.targets(f, client, first, draw) {
		in.On = on
		list = append(list, in)
	}
	return list
}

// targets draws the targets of a fault: a client, servers from the first on, or the
// client's links to these servers.
func (s *Scope) targets(f Fault, client string, first int64, draw func(int64) int64) (list [][]string) {
	switch f.On {
	case OnClient:
		return [][]string{{client}}
	case OnServers:
		if len(s.Stores) == 0 {
			return [][]string{take(s.Servers, first, 1)}
		}
		return [][]string{take(s.Stores, draw(int64(len(s.Stores))), 1+draw(int64(max(1, len(s.Stores)-1))))}
	}
	servers := take(s.Servers, first, 1)
	if n := int64(len(s.Servers)); n > 1 && f.Operator == "" && draw(2) == 0 {
		servers = take(s.Servers, first, 2+draw(n-1))
	}
	for _, server := range servers {
		if f.On == OnLink {
			list = append(list, []string{client, server})
		} else {
			list = append(list, []string{server})
		}
	}
	return list
}

// take returns n elements of a list, beginning with the first, around its end.
func take(list []string, first, n int64) []string {
	some := make([]string, n)
	for i := range some {
		some[i] = list[(int(first)+i)%len(list)]
	}
	return some
}

// point draws a point in one critical section of a client.
func (s *Scope) point(client string, acquisition int, draw func(n int64) int64) *Point {
	among := s.Points
	if among == nil {
		among = points
	}
	p := among[draw(int64(len(among)))]
	p.Client, p.Acquisition = client, min(acquisition, s.Acquires)
	return &p
}

// points are where a fault may strike. A fault strikes at an operation's last request
// if the operation has fewer.
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
