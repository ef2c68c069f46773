package explore

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/workloads"
)

// Range is the range of a number that is drawn for each run, both ends included.
type Range struct{ Least, Most int }

// Exactly returns the range of one number.
func Exactly(n int) Range { return Range{n, n} }

// The default ranges. Most runs have one fault: see Settings.Plan.
var (
	AnyClients  = Range{2, 5}
	AnyAcquires = Range{1, 20}
	AnyCount    = Range{1, 2}
	anyDepth    = Range{1, 4}
)

// Usual fixes what the settings leave open, for an environment where runs are too
// expensive to draw it anew each time: 5 clients × 20 acquires, several faults on busy
// clients, and workloads.Usual.
func (s *Settings) Usual(lease time.Duration) {
	for _, n := range []struct {
		r     *Range
		usual int
	}{{&s.Clients, 5}, {&s.Acquires, 20}, {&s.Count, 0}} {
		if n.r.Least < n.r.Most {
			*n.r = Exactly(n.usual)
		}
	}
	s.Shape, s.Busy = workloads.Usual(lease), true
}

// drawer draws how one run differs from the others of its batch.
type drawer struct{ *rand.Rand }

func (d drawer) from(r Range) int { return r.Least + d.IntN(r.Most-r.Least+1) }

// between draws so that all orders of magnitude are equally likely.
func (d drawer) between(least, most float64) float64 {
	return least * math.Pow(most/least, d.Float64())
}

// Plan returns the plan of run i, from 0. Its seed is Seed+i. Everything that the
// settings leave open is drawn: the number of clients, their workload, the speed of the
// network. Some shapes make a bug impossible, so no shape is that of every run.
//
// The draws depend on the lock's kind of lease, never on its name.
func (s *Settings) Plan(i int) *harness.Plan {
	p := &harness.Plan{
		Lock: s.Lock, Options: s.Options, On: s.On, Cell: s.Cell, CellSettings: s.CellSettings, Seed: s.Seed + uint64(i), Lease: s.Lease,
		Server: s.Server, Fencing: s.Fencing, Promises: s.Promises, Worker: s.Worker, Store: s.Store, Shape: s.Shape,
	}
	if s.Use != nil {
		p.Use(s.Use)
	}
	lock, _ := p.UnderTest()
	// This is not the stream of the run's other choices: faults do not shift those of
	// the network.
	d := drawer{rand.New(rand.NewPCG(p.Seed, 0x6661756c74))}
	p.Clients = clientNames(d.from(s.Clients))
	p.Acquires = d.from(s.Acquires)
	if s.Shape == (workloads.Shape{}) {
		p.Shape = d.shape(s.Lease, lock.Lease, len(p.Clients))
	}
	count := s.Count.Least
	if s.Count.Most > count && d.IntN(4) == 0 {
		count = d.from(s.Count)
	}
	layout := catalogue.NewLayout(&lock, s.Server, s.Options)
	p.Faults = faults.Random(faults.Scope{
		Kinds: s.applicable(&lock), Mixed: s.Mixed, Count: count, Busy: s.Busy,
		Clients: p.Clients, Servers: layout.Masters(), Stores: s.stores(&lock, layout), Acquires: p.Acquires, Lease: s.Lease,
		Length: length(p), Points: s.Points,
	}, d.Int64N)
	if lock.Store != catalogue.StoreZooKeeper && slices.ContainsFunc(p.Faults, func(in faults.Injection) bool { return needsReplicas(in.Fault) }) {
		p.Server.Replicas = max(p.Server.Replicas, replicas)
	}
	// Drawn last, so that a run has the same faults with every strategy and workload.
	if p.Strategy = s.Strategy; p.Strategy == harness.PCT {
		p.Depth = s.Depth
		if s.Depth == 0 {
			p.Depth = d.from(anyDepth)
		}
	}
	p.Workload = d.workload(s.Workloads)
	return p
}

// workload draws what clients do, and returns its name in plans.
func (d drawer) workload(among []workloads.Workload) string {
	one := 0
	if len(among) > 1 {
		one = d.IntN(len(among))
	}
	if len(among) == 0 || among[one].Name == workloads.AsUsual {
		return ""
	}
	return among[one].Name
}

// replicas is how many replicas a node gets if a fault needs some.
const replicas = 2

// stores returns the data servers, with the replicas that a fault may need.
func (s *Settings) stores(lock *catalogue.Lock, layout catalogue.Layout) []string {
	if lock.Store != catalogue.StoreZooKeeper && s.Server.Replicas == 0 && lock.Replicas == 0 && slices.ContainsFunc(s.Kinds, func(f faults.Fault) bool { return f.Need == faults.NeedReplicas }) {
		layout = catalogue.NewLayout(lock, catalogue.Server{Nodes: s.Server.Nodes, Replicas: replicas}, s.Options)
	}
	return layout.Stores()
}

func needsReplicas(fault string) bool {
	f, _ := faults.Find(fault)
	return f.Need == faults.NeedReplicas
}

// applicable returns the kinds of faults that apply to a lock.
func (s *Settings) applicable(lock *catalogue.Lock) []faults.Fault {
	not := func(f faults.Fault) bool { return lock.Applies(f, s.Server) != nil }
	if !slices.ContainsFunc(s.Kinds, not) {
		return s.Kinds
	}
	return slices.DeleteFunc(slices.Clone(s.Kinds), not)
}

// round truncates d to the unit of latencies and sleeps.
func round(d float64) time.Duration { return time.Duration(d).Truncate(time.Microsecond) }

// shape draws the hold, the think time and the latency. An undisturbed critical section
// stays below T/3, unless grants do not end while their holder lives: then the hold
// goes up to 2 T.
func (d drawer) shape(lease time.Duration, ends catalogue.Lease, clients int) workloads.Shape {
	t := float64(lease)
	latency := d.between(float64(200*time.Microsecond), max(float64(5*time.Millisecond), t/400))
	hold := d.between(0.01, 2) * t
	if ends == catalogue.LeaseFixed {
		// The answer of the acquire, a read and a write: five messages beside the hold.
		hold = d.between(0.01, 0.3) * t
		hold = max(0, min(hold, t/3-5*latency))
	}
	// With 0.1 clients always wait, with 10 hardly ever.
	think := min(hold*float64(clients)*d.between(0.1, 10), 2*t)
	return workloads.Shape{Think: round(think), Hold: round(hold), Latency: round(latency)}
}

// length estimates the length of an undisturbed run: either the lock is never free, or
// clients do not wait for each other.
func length(p *harness.Plan) time.Duration {
	s := p.Shape
	section := s.Hold/2 + 5*s.Latency
	together := section * time.Duration(len(p.Clients))
	alone := section + s.Think/2
	return max(together, alone) * time.Duration(p.Acquires)
}

func clientNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "c" + strconv.Itoa(i+1)
	}
	return names
}
