package catalogue

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

// T is the lease in the tables. Each environment chooses its own lease, and Scaled
// converts a table's times to it.
const T = time.Second

// Kind is the kind of evidence that a case has to give.
type Kind string

// The kinds.
const (
	Violation Kind = "violation" // its properties are violated
	Control   Kind = "control"   // the hazard was reached, and its properties held
	Figures   Kind = "measure"   // as Violation, and a figure shows how bad it is
)

// Case is a documented failure: a script, a schedule and the expected outcome.
type Case struct {
	ID     string
	Kind   Kind
	Title  string // the failure, in a line
	Tells  string // the lesson, in a sentence or two
	Source string
	Setup  Setup

	Schedules []Schedule
	Remedy    Remedy
	Figure    *Figure // set for a measure only
	// NotOn gives the reason for each environment that cannot show the case.
	NotOn map[string]string
	// LeastLease is the shortest T for which the case works: with a shorter one, the
	// failure lasts no longer than a message takes.
	LeastLease time.Duration
	// OwnTime is set if the fault has to strike within a time that does not depend on
	// T. A longer lease then does not help a fault that came too late.
	OwnTime bool
}

// Setup is a lock and the servers that it uses.
type Setup struct {
	Lock    string
	Options Options
	Server  Server
	Fencing history.Fencing
}

// Schedule is one way to run a case. Its times are written in T.
type Schedule struct {
	Name    string // set where a case has several schedules
	Scripts []workloads.Script
	Faults  []faults.Injection
	Hazard  checker.Counter    // the run must reach it, or it shows nothing; optional without a fault, if Must is enough
	Must    []checker.Property // the story is about the first one
	May     []checker.Property // may be violated as well
	// Never lists counters that must stay zero: a run that reaches one shows
	// something else.
	Never []checker.Counter
	// Blind lists properties of Must that an environment cannot observe.
	Blind map[string][]checker.Property
}

// Remedy is a fix for a case: the same schedule, with one thing changed.
type Remedy struct {
	Words string // the fix, in a sentence
	None  string // the reason, if no remedy can be run
	Setup Setup
	Keeps []checker.Property // these must be valid; the others are shown
}

// Impossible returns why the case cannot be shown in an environment with that lease,
// or "" if it can.
func (c *Case) Impossible(place string, lease time.Duration) string {
	if why := c.NotOn[place]; why != "" {
		return why
	}
	if lease < c.LeastLease {
		return fmt.Sprintf("with a lease below %v what it shows takes no longer than a message", c.LeastLease)
	}
	return ""
}

// Figure is the quantity that a measure reports. It is at least AtLeast as
// documented, and at most AtMost with the remedy.
type Figure struct {
	Of      Quantity
	AtLeast float64
	AtMost  float64
}

// Quantity is something that can be measured in a run.
type Quantity string

// The quantities.
const (
	RequestsPerGrant Quantity = "requests to the servers for each grant"
	LongestGap       Quantity = "T without a holder while a client waited"
	LongestWait      Quantity = "T until the client that waited longest had its answer"
	PassedBy         Quantity = "later acquires that were granted the lock before one client"
	SplitVotes       Quantity = "times that clients had shared the nodes and none could get a majority"
)

// measured has the words for the quantities that a case measures.
var measured = map[Quantity]struct{ label, figure string }{
	RequestsPerGrant: {"Requests to the servers for each grant", "%.3g"},
	LongestGap:       {"Longest time without a holder while a client waited", "%.3f T"},
	LongestWait:      {"Longest wait for an answer", "%.3f T"},
	PassedBy:         {"Later acquires that were granted the lock before one client", "%.3g"},
	SplitVotes:       {"Times that clients had shared the nodes and none could get a majority", "%.3g"},
}

// Label returns the name of the quantity.
func (q Quantity) Label() string { return measured[q].label }

// Figure formats a value of the quantity, with its unit.
func (q Quantity) Figure(n float64) string { return fmt.Sprintf(measured[q].figure, n) }

// Scaled returns the schedule for a lease of t.
func (s Schedule) Scaled(t time.Duration) Schedule {
	scale := func(d time.Duration) time.Duration {
		return time.Duration(int64(d) * (int64(t) / 1000) / (int64(T) / 1000))
	}
	s.Scripts = slices.Clone(s.Scripts)
	for i := range s.Scripts {
		steps := slices.Clone(s.Scripts[i].Steps)
		for j := range steps {
			steps[j].At, steps[j].Wait, steps[j].Limit = scale(steps[j].At), scale(steps[j].Wait), scale(steps[j].Limit)
		}
		s.Scripts[i].Steps = steps
	}
	s.Faults = slices.Clone(s.Faults)
	for i := range s.Faults {
		f := &s.Faults[i]
		f.At, f.For, f.Amount = scale(f.At), scale(f.For), scale(f.Amount)
	}
	return s
}

// FindCase returns the case with that id.
func FindCase(id string) (Case, bool) {
	i := slices.IndexFunc(Cases, func(c Case) bool { return c.ID == id })
	if i < 0 {
		return Case{}, false
	}
	return Cases[i], true
}

// The clients of the cases.
const (
	c1 = "c1"
	c2 = "c2"
	c3 = "c3"
	c4 = "c4"
)

// Lists of properties that several cases must violate, may violate, or must keep. The
// story of a schedule is about the first property that it must violate.
var (
	overlap      = []checker.Property{checker.Exclusion, checker.LeaseExclusion}
	stolen       = []checker.Property{checker.Exclusion, checker.LeaseExclusion, checker.Ownership}
	stolenLate   = []checker.Property{checker.Ownership, checker.Exclusion, checker.LeaseExclusion} // by one whose own lease has ended
	exclusive    = []checker.Property{checker.Exclusion, checker.Resource}
	lateWrite    = []checker.Property{checker.Resource, checker.Exclusion}
	twoWrite     = []checker.Property{checker.Exclusion, checker.LeaseExclusion, checker.Resource}
	damage       = []checker.Property{checker.Resource, checker.Handover} // consequences of an overlap
	unharmed     = []checker.Property{checker.Ownership, checker.Resource, checker.Exclusion, checker.LeaseExclusion}
	starved      = []checker.Property{checker.Liveness}
	delay        = []checker.Property{checker.Handover}
	served       = []checker.Property{checker.Liveness, checker.Exclusion}
	fencingKeeps = []checker.Property{checker.Fencing, checker.Resource}
)

// script returns the script of one client.
func script(client string, steps ...workloads.Step) workloads.Script {
	return workloads.Script{Client: client, Steps: steps}
}

// visit returns the script of a client that goes through one critical section.
func visit(client string, at, limit, think time.Duration) workloads.Script {
	return script(client, section(at, limit, think)...)
}

// acquire returns a step that asks from at until at+limit.
func acquire(at, limit time.Duration) workloads.Step {
	return workloads.Step{Do: history.Acquire, At: at, Limit: limit}
}

// read, write and release follow after a wait.
func read() workloads.Step { return workloads.Step{Do: history.Read} }

func write(wait time.Duration) workloads.Step {
	return workloads.Step{Do: history.Write, Wait: wait}
}
func release() workloads.Step { return workloads.Step{Do: history.Release} }

// insist is a section whose client asks again if the outcome of its acquire is
// unknown, as after a connection reset.
func insist(at, limit, think time.Duration) []workloads.Step {
	steps := section(at, limit, think)
	steps[0].Again = true
	return steps
}

// until only waits: the run continues for operations that are still under way.
func until(at time.Duration) workloads.Step { return workloads.Step{At: at} }

// section is a whole critical section: acquire, read, think, write, release.
func section(at, limit, think time.Duration) []workloads.Step {
	return []workloads.Step{acquire(at, limit), read(), write(think), release()}
}

// leased makes the client write only while it holds, as its lock reports it;
// otherwise the client releases at once.
func leased(s workloads.Step) workloads.Step {
	s.Leased = true
	return s
}

// at is a point in the first critical section of c1.
func at(op string, p faults.Point) *faults.Point { return of(c1, op, p) }

// of is a point in the first critical section of a client.
func of(client, op string, p faults.Point) *faults.Point {
	p.Client, p.Acquisition, p.Op = client, 1, op
	return &p
}

// granted is the point at which c1 has been granted the lock; writing is the point
// just before its write.
func granted() *faults.Point { return at(history.Acquire, faults.Point{After: true, OK: true}) }
func writing() *faults.Point { return at(history.Write, faults.Point{Request: 1}) }

// crowd returns the scripts of n clients that do the same.
func crowd(n int, steps []workloads.Step) (list []workloads.Script) {
	for i := range n {
		list = append(list, script("c"+strconv.Itoa(i+1), steps...))
	}
	return list
}

// pauseC1 stops c1 from a point on.
func pauseC1(p *faults.Point, d time.Duration) []faults.Injection {
	return []faults.Injection{{Fault: "pause", On: []string{c1}, Point: p, For: d}}
}

// each makes a fault strike each of several servers.
func each(in faults.Injection, servers ...string) (list []faults.Injection) {
	for _, s := range servers {
		one := in
		one.On = append(slices.Clone(in.On), s)
		list = append(list, one)
	}
	return list
}

// Cases are the documented failures, in the order in which they are shown.
var Cases = slices.Concat(redisCases, replicaCases, redlockCases, zookeeperCases, mysqlCases)
