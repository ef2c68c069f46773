package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Scope is what a random schedule is drawn for. There is no lock in it: what
// is drawn does not depend on what is tested.
type Scope struct {
	Kinds    []Fault // the zero Fault: in some runs nothing goes wrong
	Mixed    bool    // each fault is of a kind of its own; else all are of one
	Count    int     // faults in the run; 0, with Busy: as many as are usual
	Busy     bool    // strike clients that are busy: a run is dear
	Clients  []string
	Servers  []string      // that clients ask
	Stores   []string      // these, and their replicas; none: Servers
	Acquires int           // acquisitions of each client
	Lease    time.Duration // T
	Length   time.Duration // how long an undisturbed run takes, about
}

// Random draws a schedule: one kind of fault, Count times. Half of them
// start at a point of a random client's operations, the others at a time. Every
// other one of those after the first comes soon after the one before: what two
// faults break together they mostly break within one lease. Where there are
// several servers, every other fault of servers or links strikes some of them
// at once.
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
			// At the same critical section or the next: of the same client, or of
			// another, which is about as far.
			in.Point = s.point(client, schedule[len(schedule)-1].Point.Acquisition+int(draw(2)), draw)
		case draw(2) == 0:
			in.Point = s.point(client, 1+int(draw(int64(s.Acquires))), draw)
		default:
			in.At = time.Duration(draw(int64(s.Length)))
		}
		if f.Draw != nil {
			f.Draw(&in, s.Lease, draw)
		}
		for _, on := range s.struck(f, client, first, draw) {
			in.On = on
			schedule = append(schedule, in)
		}
	}
	return schedule
}

// struck is whom a fault strikes: a client, servers from the first on, or the
// links between these.
func (s *Scope) struck(f Fault, client string, first int64, draw func(int64) int64) (list [][]string) {
	switch f.On {
	case OnClient:
		return [][]string{{client}}
	case OnServers:
		if len(s.Stores) == 0 {
			return [][]string{from(s.Servers, first, 1)}
		}
		return [][]string{from(s.Stores, draw(int64(len(s.Stores))), 1+draw(int64(max(1, len(s.Stores)-1))))}
	}
	servers := from(s.Servers, first, 1)
	if n := int64(len(s.Servers)); n > 1 && draw(2) == 0 {
		servers = from(s.Servers, first, 2+draw(n-1))
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

// from are n of a list, beginning with the first, and with its start after its end.
func from(list []string, first, n int64) []string {
	some := make([]string, n)
	for i := range some {
		some[i] = list[(int(first)+i)%len(list)]
	}
	return some
}

// point draws a point in one critical section of a client.
func (s *Scope) point(client string, acquisition int, draw func(n int64) int64) *Point {
	p := points[draw(int64(len(points)))]
	p.Client, p.Acquisition = client, min(acquisition, s.Acquires)
	return &p
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
	case p.Last || p.Request > steps && !p.Exact:
		return reached.Last || reached.Request > steps
	default:
		return p.Request == reached.Request
	}
}

// Validate says what is wrong with an injection into a place with these
// clients, servers that keep data, and monitors of those servers. At the end of
// a link the monitors and the guarded resource count as servers.
func (in Injection) Validate(clients, servers, monitors []string) error {
	f, ok := Find(in.Fault)
	if !ok {
		return fmt.Errorf("no fault %q", in.Fault)
	}
	all := slices.Concat(servers, monitors)
	among := map[Target][][]string{OnClient: {clients}, OnServer: {servers}, OnLink: {clients, append(all, history.Resource)}}[f.On]
	if f.On == OnServers {
		among = slices.Repeat([][]string{all}, max(1, len(in.On)))
	}
	if len(in.On) != len(among) {
		return fmt.Errorf("%s acts on %s, not on %q", in.Fault, f.On, in.On)
	}
	for i, name := range in.On {
		if !slices.Contains(among[i], name) {
			return fmt.Errorf("%s on %q: there is nothing of that name; there are %s", in.Fault, name, strings.Join(among[i], ", "))
		}
	}
	if in.At < 0 || in.For < 0 || f.Name == delay.Name && in.Amount < 0 {
		return fmt.Errorf("%s: a time is negative", in.Fault)
	}
	if in.Point != nil {
		return in.Point.validate(clients)
	}
	return nil
}

func (p *Point) validate(clients []string) error {
	ops := []string{history.Acquire, history.Read, history.Write, history.Release}
	switch {
	case !slices.Contains(clients, p.Client):
		return fmt.Errorf("a point of %q: there is no client of that name; there are %s", p.Client, strings.Join(clients, ", "))
	case !slices.Contains(ops, p.Op):
		return fmt.Errorf("a point in %q: the operations are %s", p.Op, strings.Join(ops, ", "))
	case p.Acquisition < 1:
		return fmt.Errorf("a point in critical section %d of %s: the first is 1", p.Acquisition, p.Client)
	case p.OK && (p.Op != history.Acquire || p.Last || p.Request != 0), !p.OK && p.Last == (p.Request > 0), p.Request < 0:
		return fmt.Errorf("a point of %s in its %s has to be at one request, at the last, or after an acquire's ok", p.Client, p.Op)
	}
	return nil
}
