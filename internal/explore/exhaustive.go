package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/workloads"
)

// Exhausted is the result of a search through everything that can happen within a
// bound, under one kind of fault.
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
	Schedules int  `json:"schedules"` // paths that were tried: the path to a state, and one more step
	Complete  bool `json:"complete"`  // the search reached all states within the bound
}

// Words describes a proof within the bound, and the decisions that the search fixes.
func (b Bound) Words() string {
	again := ""
	if b.Clients <= 2 {
		again = ", and one of them once more after an uncertain answer, if a date was written and 3/2 T have passed since"
	}
	return fmt.Sprintf("each of %s asks for the lock %s%s. "+
		"%s. Messages arrive, and thinking, holding, waiting and faults end, in every order. "+
		"Time goes on when no message is on its way and no client works: to the next timer, or, where dates were written, by 3/2 T, at most %s. "+
		"Not varied: any other duration. Without a fault no section and no message outlasts a lease.",
		names.Count(b.Clients, "client"), often(b.Acquires), again, faultsStrike(b.Faults), often(env.Passages))
}

func often(n int) string {
	if n == 1 {
		return "once"
	}
	return names.Count(n, "time")
}

func faultsStrike(n int) string {
	switch n {
	case 0:
		return "No fault strikes"
	case 1:
		return "At most 1 fault of the kind strikes, at any step"
	}
	return "At most " + names.Count(n, "fault") + " of the kind strike, at any step"
}

// Proof is the result for one property within a bound.
type Proof struct {
	Outcome checker.Outcome // valid, violated or n/a; unknown if the search was not complete
	Reason  string          // of unknown and n/a
	Judged  *harness.Judged // the shortest schedule that violates it
	Steps   int             // the length of that schedule up to the violation
}

// durations says why a property cannot be judged where only order counts.
const durations = "it is about durations, and this strategy knows order only"

// Exhaustive searches everything that can happen to the lock within the bound of s,
// breadth first: the first schedule that violates a property is the shortest. The bound
// is Clients.Least × Acquires.Least, and at most Count.Least faults of one kind. The
// search ends early, with a partial result, when ctx ends, after s.For, or after s.Runs
// schedules, if these are positive. progress may be nil; it is called from time to
// time.
func Exhaustive(ctx context.Context, sim env.Simulator, s *Settings, progress func(schedules, states int)) (*Exhausted, error) {
	e := newExhaustion(ctx, sim, s, progress)
	if s.For > 0 {
		var cancel context.CancelFunc
		e.ctx, cancel = context.WithTimeout(ctx, s.For)
		defer cancel()
	}
	return e.run()
}

// scope returns the plan whose runs are searched, with every fault that may strike.
func (s *Settings) scope() *harness.Plan {
	p := &harness.Plan{
		Lock: s.Lock, Options: s.Options, On: s.On, Seed: 1, Lease: s.Lease,
		Server: s.Server, Fencing: s.Fencing, Promises: s.Promises,
		Clients: clientNames(s.Clients.Least), Acquires: s.Acquires.Least,
		// A client may hold for up to Hold: less than T/3.
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

// SearchableLock returns an error if a lock cannot be searched. The search takes what a
// client has learnt for its state, so the client must do one thing at a time. A client
// with a session does not.
func SearchableLock(lock *catalogue.Lock) error {
	if lock.Nodes > 1 || lock.Replicas > 0 || lock.Lease == catalogue.LeaseRenewed || lock.Lease == catalogue.LeaseSession || lock.Together > 1 {
		return fmt.Errorf("%s has clients or servers that do several things at a time: use random runs", lock.ID)
	}
	return nil
}

// SearchableFault returns an error if a kind of fault cannot be searched. Where only
// order counts, no clock runs fast or slow. What servers do among themselves, or
// clients in the background, is not a step.
func SearchableFault(f faults.Fault) error {
	switch f.Name {
	case "hang", "rate", "server-rate", "server-pause", "failover", "partition-servers", "session-expiry":
		return fmt.Errorf("%s is no step of a search in which order decides: use random runs", f.Name)
	}
	return nil
}

// SearchableWorkload returns an error if a workload cannot be searched.
func SearchableWorkload(w workloads.Workload) error {
	switch w.Name {
	case "give-up", "nested": // nested waits for its own lock, and the duration decides whether its lease ends
		return fmt.Errorf("%s cannot be searched: %s", w.Name, durations)
	}
	return nil
}

// targets returns everything that a fault can act on.
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
	thorough bool // take every step from every state; for tests

	nodes     []node
	schedules atomic.Int64
	seen      map[harness.State]bool
	ends      map[harness.State]bool
	found     map[checker.Property][]uint8 // the path to the first violation
}

// node is a state that was found, and the step to it.
type node struct {
	parent   int32 // -1: the start
	step     uint8
	violated checker.Set
	steps    uint8 // that can be taken from it
	rest     harness.State
	local    []harness.Local
	first    *crossing // the result of its first step, if known
}

// crossing is the result of a step: where it leads, without the parent.
type crossing struct {
	node
	state harness.State
}

func newExhaustion(ctx context.Context, sim env.Simulator, s *Settings, progress func(schedules, states int)) *exhaustion {
	return &exhaustion{sim: sim, settings: s, plan: s.scope(), ctx: ctx, start: time.Now(), progress: progress}
}

// path returns the path to a node, and one step beyond.
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
	workers := make([]*walker, Workers(e.settings.Jobs))
	for i := range workers {
		workers[i] = newWalker(e)
		defer workers[i].buffer.Close()
	}
	e.schedules.Add(1)
	first, err := workers[0].walk(nil)
	if err != nil {
		return nil, err
	}
	first.parent = -1
	e.nodes = []node{first.node}
	e.seen[first.state] = true
	complete := true
	for from, to := 0, 1; from < to && complete; from, to = to, len(e.nodes) {
		if complete, err = e.level(workers, int32(from), int32(to)); err != nil {
			return nil, err
		}
	}
	return e.bound(complete)
}

// chunk is how many nodes are expanded before their results are merged. It does not
// change the results or their order.
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
				defer recoverError(&errs[w])
				for {
					i := next.Add(1) - 1
					if int(i) >= len(part) || errs[w] != nil || e.interrupted() {
						return
					}
					found[i], errs[w] = worker.expand(found[i][:0], from+i)
				}
			})
		}
		group.Wait()
		if err := cmp.Or(errs...); err != nil {
			return false, err
		}
		if e.interrupted() {
			return false, nil
		}
		for i := range part {
			e.merge(from+int32(i), found[i])
		}
		if e.progress != nil {
			e.progress(int(e.schedules.Load()), len(e.nodes))
		}
	}
	return true, nil
}

// interrupted reports whether the time is up.
func (e *exhaustion) interrupted() bool { return e.ctx.Err() != nil }

// maxStates is how many states fit into some GB.
const maxStates = 10_000_000

// spent reports whether the schedules are used up. Every search asks at the same
// places, so that it executes the same number each time.
func (e *exhaustion) spent() bool {
	return e.settings.Runs > 0 && e.schedules.Load() >= int64(e.settings.Runs) || len(e.nodes) > maxStates
}

// merge adds the results of the steps from a node.
func (e *exhaustion) merge(n int32, found []crossing) {
	e.nodes[n].local, e.nodes[n].first = nil, nil // its expansion is complete
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
		c.parent = n
		e.nodes = append(e.nodes, c.node)
	}
}

// walker executes walks.
type walker struct {
	search  *exhaustion
	plan    harness.Plan
	buffer  *harness.Buffer
	monitor *checker.Monitor
	way     harness.Walk
	path    []uint8
	list    []crossing // the results of the walk
	next    uint8      // the step with which it went on
	most    int        // the most steps of one state
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

// ahead is how many steps a walk goes on beyond a new state, so that these first steps
// need no walk of their own from the start of the run.
const ahead = 3

// walk executes the steps of a path.
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

// arrived records the state that a walk has reached, and returns the first step to take
// from it.
func (w *walker) arrived() (first uint8, on bool) {
	c := crossing{node{
		step: w.next, rest: w.way.Rest, steps: uint8(w.way.Steps),
		local: slices.Clone(w.way.Local), violated: w.monitor.Violated(),
	}, w.way.State}
	w.list, w.most = append(w.list, c), max(w.most, w.way.Steps)
	w.next = 0
	if len(c.local) > 0 && !w.search.thorough {
		w.next = c.local[0].Step
	}
	return w.next, len(w.list) <= ahead && c.steps > 0 && !w.search.seen[c.state]
}

// expand takes the steps from a node: all of them, or, if in one step only a client
// learns something, that step and the faults that could come before it. All other steps
// concern others: they can as well be taken afterwards, and neither a server nor the
// judge can see the difference.
func (w *walker) expand(found []crossing, n int32) ([]crossing, error) {
	at := &w.search.nodes[n]
	concerned := func(uint8) bool { return true }
	for _, local := range at.local {
		if w.search.thorough {
			break
		}
		c, err := w.step(n, local.Step)
		if err != nil {
			return found, err
		}
		if c.rest == at.rest {
			found = append(found, c)
			concerned = func(step uint8) bool { return local.Faults>>step&1 == 1 }
			break
		}
	}
	for step := range at.steps {
		if !concerned(step) {
			continue
		}
		c, err := w.step(n, step)
		if err != nil {
			return found, err
		}
		found = append(found, c)
	}
	return found, nil
}
