package explore

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
	numbers "github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/workloads"
)

// Exhausted is what is known of everything that can happen in a small scope,
// under one kind of fault.
type Exhausted struct {
	Fault string // "": none
	Bound
	Ends     int // states in which a run is over
	Outcomes map[checker.Property]Proof
	Took     time.Duration

	ends map[harness.State]bool
}

// Bound is how far an exhaustive search went.
type Bound struct {
	Clients   int  `json:"clients"`   // clients of the lock
	Acquires  int  `json:"acquires"`  // acquisitions of each client
	Faults    int  `json:"faults"`    // faults in one schedule, at most
	States    int  `json:"states"`    // different states that were reached
	Schedules int  `json:"schedules"` // ways to them that were tried: the way to a state, and one step more
	Complete  bool `json:"complete"`  // whether these are all states there are within this bound
}

// Words says what a proof within the bound is about, and what the search does not
// vary.
func (b Bound) Words() string {
	again := ""
	if b.Clients <= 2 {
		again = ", and one of them that does not learn the outcome once more, if a date was written and time has gone on by 3/2 T since"
	}
	return fmt.Sprintf("each of %s asks for the lock %s%s. "+
		"%s. Messages arrive, and thinking, holding, waiting and faults end, in every order. "+
		"Time goes on when no message is under way and no client works: to the next timer, or, where dates were written, by 3/2 T, at most %s. "+
		"Not varied: any other length. Without a fault no section and no message outlasts a lease.",
		numbers.Count(b.Clients, "client"), often(b.Acquires), again, faultsStrike(b.Faults), often(env.Passages))
}

func often(n int) string {
	if n == 1 {
		return "once"
	}
	return numbers.Count(n, "time")
}

func faultsStrike(n int) string {
	switch n {
	case 0:
		return "No fault strikes"
	case 1:
		return "At most 1 fault of the kind strikes, at any step"
	}
	return "At most " + numbers.Count(n, "fault") + " of the kind strike, at any step"
}

// Proof is what is known of one property within a bound.
type Proof struct {
	Outcome checker.Outcome // valid, violated, n/a; unknown where the search did not come to its end
	Reason  string          // of unknown and n/a
	Judged  *harness.Judged // the shortest schedule that violates it
	Steps   int             // of that schedule, up to where it does
}

// lengths says why a property cannot be judged where only order counts.
const lengths = "it is about lengths, and this strategy knows order only"

// Exhaustive goes through everything that can happen to the lock in the scope of
// s, breadth first, so that the first schedule that violates a property is the
// shortest: Clients.Least × Acquires.Least, and at most Count.Least faults of
// one kind. It ends early, with what it has, when ctx does, when s.For is over,
// or after s.Runs schedules, if that is more than 0. progress, if not nil, is
// called now and then.
func Exhaustive(ctx context.Context, sim env.Simulator, s *Settings, progress func(schedules, states int)) (*Exhausted, error) {
	e := newExhaustion(ctx, sim, s, progress)
	if s.For > 0 {
		var cancel context.CancelFunc
		e.ctx, cancel = context.WithTimeout(ctx, s.For)
		defer cancel()
	}
	return e.run()
}

// scope is the plan whose runs are explored: with every fault that may strike.
func (s *Settings) scope() *harness.Plan {
	p := &harness.Plan{
		Lock: s.Lock, Options: s.Options, On: s.On, Seed: 1, Lease: s.Lease,
		Server: s.Server, Fencing: s.Fencing, Promises: s.Promises,
		Clients: clientNames(s.Clients.Least), Acquires: s.Acquires.Least,
		// How long a client holds is what it may hold for: less than T/3.
		Shape: workloads.Shape{Hold: 3 * s.Lease / 10},
		Order: []string{},
	}
	if len(s.Workloads) > 0 {
		p.Workload = drawer{}.workload(s.Workloads[:1])
	}
	if s.Use != nil {
		p.Use(s.Use)
	}
	lock, _ := catalogue.FindLock(s.Lock)
	layout := catalogue.NewLayout(&lock, s.Server, s.Options)
	for _, kind := range s.Kinds {
		for _, on := range targets(kind.On, p.Clients, layout.Masters()) {
			for _, in := range kind.Extremes(s.Lease) {
				in.On = on
				for range s.Count.Least {
					p.Faults = append(p.Faults, in)
				}
			}
		}
	}
	return p
}

// SearchableLock says why all that can happen to a lock cannot be gone through;
// nil: it can. What a client has learnt is taken for its state, which takes that
// it does one thing at a time; and a session is not kept by one.
func SearchableLock(lock *catalogue.Lock) error {
	if lock.Nodes > 1 || lock.Replicas > 0 || lock.Lease == catalogue.LeaseRenewed || lock.Lease == catalogue.LeaseSession || lock.Together > 1 {
		return fmt.Errorf("%s has clients that do several things at a time, or servers that do: random runs are for it", lock.ID)
	}
	return nil
}

// SearchableFault says the same of a kind of fault. Where order counts and no
// length, nothing runs fast or slow; and what servers do among themselves, or
// clients in the background, is no step.
func SearchableFault(f faults.Fault) error {
	switch f.Name {
	case "hang", "rate", "server-rate", "server-pause", "failover", "partition-servers", "session-expiry":
		return fmt.Errorf("%s is no step of a search in which order decides: random runs are for it", f.Name)
	}
	return nil
}

// SearchableWorkload says why what clients do in w cannot be gone through.
func SearchableWorkload(w workloads.Workload) error {
	switch w.Name {
	case "give-up", "nested": // which waits for its own lock, and for how long decides whether its lease ends
		return fmt.Errorf("%s cannot be gone through: %s", w.Name, lengths)
	}
	return nil
}

// targets are all that a fault can act on.
func targets(on faults.Target, clients, servers []string) (list [][]string) {
	switch on {
	case faults.OnServer, faults.OnServers:
		for _, s := range servers {
			list = append(list, []string{s})
		}
	case faults.OnClient:
		for _, c := range clients {
			list = append(list, []string{c})
		}
	case faults.OnLink:
		for _, c := range clients {
			for _, s := range servers {
				list = append(list, []string{c, s})
			}
		}
	}
	return list
}

// exhaustion is one search.
type exhaustion struct {
	sim      env.Simulator
	settings *Settings
	plan     *harness.Plan
	ctx      context.Context
	start    time.Time
	progress func(schedules, states int)
	thorough bool // take every step from every state: for tests

	nodes     []node
	schedules atomic.Int64
	seen      map[harness.State]bool
	ends      map[harness.State]bool
	found     map[checker.Property][]uint8 // the path to the first violation
}

// node is a state that was found, and the step that led there.
type node struct {
	parent   int32 // -1: the start
	step     uint8
	violated checker.Set
	steps    uint8 // that can be taken from it
	rest     harness.State
	local    []harness.Local
	first    *crossing // where the first step to take leads, if that is known
}

// crossing is where a step from a node leads.
type crossing struct {
	step     uint8
	state    harness.State
	rest     harness.State
	steps    uint8
	local    []harness.Local
	violated checker.Set
	first    *crossing // from there, if it is known; see node
}

func newExhaustion(ctx context.Context, sim env.Simulator, s *Settings, progress func(schedules, states int)) *exhaustion {
	return &exhaustion{sim: sim, settings: s, plan: s.scope(), ctx: ctx, start: time.Now(), progress: progress}
}

// path is the way to a node, and one step beyond.
func (e *exhaustion) path(buf []uint8, n int32, step uint8) []uint8 {
	buf = append(buf[:0], step)
	for ; n >= 0; n = e.nodes[n].parent {
		if e.nodes[n].parent >= 0 {
			buf = append(buf, e.nodes[n].step)
		}
	}
	slices.Reverse(buf)
	return buf
}

func (e *exhaustion) run() (*Exhausted, error) {
	e.seen, e.ends, e.found = map[harness.State]bool{}, map[harness.State]bool{}, map[checker.Property][]uint8{}
	workers := make([]*walker, workersFor(e.settings.Jobs))
	for i := range workers {
		workers[i] = newWalker(e)
		defer workers[i].buffer.Close()
	}
	e.schedules.Add(1)
	first, err := workers[0].walk(nil)
	if err != nil {
		return nil, err
	}
	e.nodes = []node{{parent: -1, steps: first.steps, rest: first.rest, local: first.local, first: first.first}}
	e.seen[first.state] = true
	complete := true
	for from, to := 0, 1; from < to && complete; from, to = to, len(e.nodes) {
		if complete, err = e.level(workers, int32(from), int32(to)); err != nil {
			return nil, err
		}
	}
	return e.bound(complete)
}

// workersFor is how many workers there are.
func workersFor(jobs int) int {
	if jobs <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return jobs
}

// chunk is how many nodes are expanded before what was found is taken in. It
// does not change what is found, nor in which order.
const chunk = 256

// level takes every step from the nodes from to to.
func (e *exhaustion) level(workers []*walker, from, to int32) (complete bool, err error) {
	var found [chunk][]crossing
	for ; from < to; from += chunk {
		if e.spent() {
			return false, nil
		}
		part := e.nodes[from:min(from+chunk, to)]
		var next atomic.Int32
		var group sync.WaitGroup
		errs := make([]error, len(workers))
		for w, worker := range workers {
			group.Go(func() {
				defer caught(&errs[w])
				for {
					i := next.Add(1) - 1
					if int(i) >= len(part) || errs[w] != nil || e.over() {
						return
					}
					found[i], errs[w] = worker.expand(found[i][:0], from+i)
				}
			})
		}
		group.Wait()
		for _, err := range errs {
			if err != nil {
				return false, err
			}
		}
		if e.over() {
			return false, nil
		}
		for i := range part {
			e.take(from+int32(i), found[i])
		}
		if e.progress != nil {
			e.progress(int(e.schedules.Load()), len(e.nodes))
		}
	}
	return true, nil
}

// over tells whether time is up.
func (e *exhaustion) over() bool { return e.ctx.Err() != nil }

// maxStates is what fits into some gigabytes.
const maxStates = 10_000_000

// spent tells whether the schedules are. It is asked at the same places of every
// search, so that as many are carried out each time.
func (e *exhaustion) spent() bool {
	return e.settings.Runs > 0 && e.schedules.Load() >= int64(e.settings.Runs) || len(e.nodes) > maxStates
}

// take takes in where the steps from a node lead.
func (e *exhaustion) take(n int32, found []crossing) {
	e.nodes[n].local, e.nodes[n].first = nil, nil // it will not be left again
	for _, c := range found {
		if c.steps == 0 {
			e.ends[c.state] = true
		}
		if e.seen[c.state] {
			continue
		}
		e.seen[c.state] = true
		for _, p := range (c.violated &^ e.nodes[n].violated).List() {
			if e.found[p] == nil {
				e.found[p] = e.path(nil, n, c.step)
			}
		}
		e.nodes = append(e.nodes, node{parent: n, step: c.step, violated: c.violated, steps: c.steps, rest: c.rest, local: c.local, first: c.first})
	}
}

// walker carries out walks.
type walker struct {
	search  *exhaustion
	plan    harness.Plan
	buffer  *harness.Buffer
	monitor *checker.Monitor
	way     harness.Walk
	path    []uint8
	list    []crossing // where the walk came to
	next    uint8      // the step that it went on with
	most    int        // that could be taken from one state
}

func newWalker(e *exhaustion) *walker {
	return &walker{search: e, plan: *e.plan, buffer: harness.NewBuffer(e.sim), monitor: &checker.Monitor{NoExit: true}}
}

// step takes one step from a node.
func (w *walker) step(n int32, step uint8) (crossing, error) {
	w.search.schedules.Add(1)
	if first := w.search.nodes[n].first; first != nil && first.step == step {
		return *first, nil
	}
	w.path = w.search.path(w.path, n, step)
	c, err := w.walk(w.path)
	c.step = step
	return c, err
}

// ahead is how many steps a walk goes on from a state that is new: so the first step
// from there is not taken from the start of the run once more.
const ahead = 3

// walk carries out the steps of a path.
func (w *walker) walk(path []uint8) (crossing, error) {
	w.list = w.list[:0]
	w.way.Path, w.way.Faults, w.way.Monitor, w.way.Arrived = path, w.search.settings.Count.Least, w.monitor, w.arrived
	if err := w.buffer.Follow(&w.plan, &w.way); err != nil {
		return crossing{}, err
	}
	if w.most > 255 {
		return crossing{}, fmt.Errorf("%d steps at once: the scope is too large", w.most)
	}
	for i := len(w.list) - 1; i > 0; i-- {
		next := w.list[i]
		w.list[i-1].first = &next
	}
	return w.list[0], nil
}

// arrived takes in where a walk has come to, and says which step comes first from there.
func (w *walker) arrived() (first uint8, on bool) {
	c := crossing{
		step: w.next, state: w.way.State, rest: w.way.Rest, steps: uint8(w.way.Steps),
		local: slices.Clone(w.way.Local), violated: w.monitor.Violated(),
	}
	w.list, w.most = append(w.list, c), max(w.most, w.way.Steps)
	w.next = 0
	if len(c.local) > 0 && !w.search.thorough {
		w.next = c.local[0].Step
	}
	return w.next, len(w.list) <= ahead && c.steps > 0 && !w.search.seen[c.state]
}

// expand takes the steps from a node: all of them, or, where one of them does
// nothing but that a client learns something, that one and the faults that
// could come in between. Whatever else can happen can do so afterwards just as
// well: it concerns others, and neither a server nor the judge can tell which
// of the two came first.
func (w *walker) expand(found []crossing, n int32) ([]crossing, error) {
	at := &w.search.nodes[n]
	tried := len(found)
	for _, local := range at.local {
		if w.search.thorough {
			break
		}
		c, err := w.step(n, local.Step)
		if err != nil {
			return found, err
		}
		if c.rest != at.rest {
			continue
		}
		found = append(found, c)
		for step := range at.steps {
			if local.Faults>>step&1 == 0 {
				continue
			}
			if c, err = w.step(n, step); err != nil {
				return found, err
			}
			found = append(found, c)
		}
		return found, nil
	}
	found = found[:tried]
	for step := range at.steps {
		c, err := w.step(n, step)
		if err != nil {
			return found, err
		}
		found = append(found, c)
	}
	return found, nil
}
