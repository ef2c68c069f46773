package harness

import (
	"errors"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/workloads"
)

// recorder writes the history of a run. Clients, faults, servers and the guarded
// resource all record through it.
type recorder struct {
	plan        *Plan
	environment env.Environment
	sink        func(*history.Entry)
	injector    injector

	mu         mutex // in docker many goroutines record
	begun      bool  // nothing is recorded before: there is no time yet
	over       bool  // all scripts that will end have ended
	history    history.History
	guarded    workloads.Guarded
	grants     []int           // by the index of the acquire
	grant      int             // the last number
	written    int64           // the last value
	leases     []time.Duration // when each grant ends, as the lock last reported; 0: it reported nothing
	lost       []int           // acquires whose loss was reported before their ok
	process    int             // the last process number
	closed     bool
	clients    []*client // those of the plan, then unused ones of an earlier run
	processes  map[string]*client
	entries    map[int]*client // open unrequested entries, by their acquires
	most       int             // how many faults may strike where order decides; 0: all
	askedAgain bool            // a client has asked again; see askAgain
	unseen     history.Entry   // receives entries that are not recorded
}

// reset prepares a run. Fields that it does not name become zero.
func (r *recorder) reset(plan *Plan, sink func(*history.Entry)) {
	*r = recorder{
		plan:      plan,
		sink:      sink,
		history:   history.History{Entries: r.history.Entries[:0]},
		guarded:   workloads.Guarded{Fencing: plan.Fencing},
		grants:    r.grants[:0],
		lost:      r.lost[:0],
		leases:    r.leases[:0],
		clients:   r.clients,
		processes: r.processes,
		entries:   r.entries,
		injector:  injector{rec: r, most: r.most, injections: r.injector.injections[:0], inForce: r.injector.inForce},
	}
	clear(r.injector.inForce)
	clear(r.processes)
	clear(r.entries)
	if r.processes == nil {
		r.processes = make(map[string]*client, len(plan.Clients))
	}
	for i, name := range plan.Clients {
		if i == len(r.clients) {
			c := new(client)
			c.task = func() { r.play(c) }
			r.clients = append(r.clients, c)
		}
		r.process++
		c := r.clients[i]
		*c = client{rec: r, name: name, n: i, process: r.process, task: c.task, armed: c.armed[:0], open: c.open[:0]}
		r.processes[name] = c
	}
}

// begin opens the record, once the environment exists.
func (r *recorder) begin(environment env.Environment, header history.Header) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.environment, r.begun = environment, true
	r.history.Header = header
	for name, c := range r.processes {
		c.end = environment.Client(name)
	}
}

// count returns the number of entries.
func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.history.Entries)
}

// add records one entry and returns its index.
func (r *recorder) add(e *history.Entry) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.addLocked(e)
}

func (r *recorder) addLocked(e *history.Entry) int {
	added := r.next()
	index, now := added.Index, added.Time
	*added = *e
	added.Index, added.Time = index, now
	return r.commit(added)
}

// next returns the next entry. The caller fills it in place, because entries are large,
// and then passes it to commit.
func (r *recorder) next() *history.Entry {
	if !r.begun || r.closed {
		r.unseen = history.Entry{}
		return &r.unseen
	}
	list := &r.history.Entries
	n := len(*list)
	if n == mostEntries {
		if p, ok := r.environment.(env.Simulation); ok {
			p.Spend(names.Count(mostEntries, "recorded line"))
		}
	}
	if n < cap(*list) {
		*list = (*list)[:n+1]
		(*list)[n] = history.Entry{}
	} else {
		*list = append(*list, history.Entry{})
	}
	e := &(*list)[n]
	e.Index, e.Time = n+1, r.environment.Now()
	return e
}

// nextOf is next for an operation f of c.
func (r *recorder) nextOf(c *client, t history.Type, f string, grant int) *history.Entry {
	e := r.next()
	e.Client, e.Process.N = c.name, c.process
	e.Type, e.F, e.Lock, e.Grant = t, f, LockName, grant
	return e
}

// commit passes an entry to the sink and returns its index; 0: it is not recorded.
func (r *recorder) commit(e *history.Entry) int {
	if r.sink != nil && e != &r.unseen {
		r.sink(e)
	}
	return e.Index
}

// invoke records the start of an operation and returns its index; 0: the client is
// dead, and nothing begins. The nth write of a run writes n, so that a lost update never
// puts a value in place that was there before.
func (r *recorder) invoke(c *client, f string, grant int, text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.killed() || r.closed {
		return 0
	}
	e := r.nextOf(c, history.Invoke, f, grant)
	e.Text = text
	switch f {
	case history.Acquire, history.Try:
		c.asks = e.Index
	case history.Write:
		r.written++
		c.value = r.written
		e.Value = history.Some(c.value)
	}
	return r.commit(e)
}

// granted records an acquire's ok and returns the number of the grant; 0: the client
// was killed meanwhile, and there is no ok.
func (r *recorder) granted(c *client, f string, op int, g env.Grant) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.killed() {
		r.completeLocked(c, f, 0, history.Opt{}, env.ErrCrashed)
		return 0
	}
	r.grant++
	r.leases = append(r.leases, g.ValidUntil)
	for len(r.grants) <= op {
		r.grants = append(r.grants, 0)
	}
	r.grants[op], c.asks = r.grant, 0
	e := r.nextOf(c, history.OK, f, r.grant)
	e.Token, e.ValidUntil = g.Token, g.ValidUntil
	if g.Stands != 0 {
		e.Op = history.Some(int64(g.Stands))
	}
	r.commit(e)
	if slices.Contains(r.lost, op) {
		r.commit(r.nextOf(c, history.Event, history.Lost, r.grant))
		r.leases[r.grant-1] = r.environment.Now()
	}
	return r.grant
}

// extended records how an extend ended.
func (r *recorder) extended(c *client, grant int, until time.Duration, err error) workloads.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || c.killed() {
		return r.completeLocked(c, history.Extend, grant, history.Opt{}, err)
	}
	e := r.nextOf(c, history.OK, history.Extend, grant)
	e.ValidUntil = until
	r.leases[grant-1] = until
	r.commit(e)
	return workloads.OK
}

// complete records how an operation ended. After an uncertain end the client gets a new
// process number: the operation of the old one may still happen.
func (r *recorder) complete(c *client, f string, grant int, value history.Opt, err error) workloads.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.completeLocked(c, f, grant, value, err)
}

func (r *recorder) completeLocked(c *client, f string, grant int, value history.Opt, err error) workloads.Result {
	if c.killed() && !errors.Is(err, env.ErrBudget) {
		err = env.ErrCrashed // the client did not live to see an answer
	}
	if f == history.Acquire || f == history.Try {
		c.asks = 0
	}
	e := r.nextOf(c, history.OK, f, grant)
	e.Value = value
	if err == nil {
		r.commit(e)
		return workloads.OK
	}
	res := workloads.No
	if locks.IsDefinite(err) {
		e.Type, e.Error = history.Fail, word(err)
		e.Text = explanation(err, e.Error)
	} else {
		e.Type, e.Error, e.Text, res = history.Info, word(err), err.Error(), workloads.Unknown
		r.process++
		c.process = r.process
	}
	r.commit(e)
	if errors.Is(err, env.ErrCrashed) || errors.Is(err, env.ErrBudget) {
		res = workloads.Dead
		if !c.killed() {
			gone := []string{c.name}
			if errors.Is(err, env.ErrCrashed) { // a budget ends one client, not its process
				gone = r.mates(c.name)
			}
			r.markDead(gone)
			r.addLocked(&history.Entry{
				Process: history.Process{Name: history.Nemesis},
				Type:    history.Info, F: history.Exit, On: gone, Text: err.Error(),
			})
		}
	}
	return res
}

// explanation returns the text of a definite error; "": its word is all that is known.
func explanation(err error, word string) string {
	if x, ok := errors.AsType[*env.Explained](err); ok {
		return x.Text
	}
	if word == errUnavailable {
		return err.Error()
	}
	return ""
}

// errUnavailable: the server could not be asked, so nothing happened.
const errUnavailable = "unavailable"

// words are the error words of histories.
var words = []struct {
	err  error
	word string
}{
	{locks.ErrNotAcquired, history.ErrHeld},
	{locks.ErrNotHeld, history.ErrNotHeld},
	{locks.ErrLost, history.ErrLost},
	{env.ErrStaleToken, history.ErrStaleToken},
	{env.ErrTimeout, history.ErrTimeout},
	{env.ErrCrashed, history.ErrCrashed},
	{env.ErrBudget, history.ErrBudget},
}

func word(err error) string {
	for _, w := range words {
		if errors.Is(err, w.err) {
			return w.word
		}
	}
	if locks.IsDefinite(err) {
		return errUnavailable
	}
	return "unknown"
}

// Server records an event of a server.
func (r *recorder) Server(e history.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if op := int(e.Op.V); e.Op.Set && op < len(r.grants) {
		e.Grant = r.grants[op]
	}
	r.addLocked(&e)
}

// Resource serves and records an access to the guarded resource.
func (r *recorder) Resource(a env.Access) env.Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.next()
	e.Process.Name, e.Type, e.F = history.Resource, history.Event, history.Read
	e.Lock, e.Grant, e.Token, e.By = a.Lock, a.Grant, a.Token, history.Some(int64(a.By))
	var value int64
	var stale bool
	if a.Write {
		var was int64
		was, stale = r.guarded.Write(a.Token, a.Value)
		e.F, e.Value, e.Was = history.Write, history.Some(a.Value), history.Some(was)
	} else {
		value, stale = r.guarded.Read(a.Token)
		e.Value = history.Some(value)
	}
	if stale {
		e.F, e.Was = history.Refuse, history.Opt{}
		if !a.Write {
			e.Value = history.Opt{}
		}
	}
	r.commit(e)
	return env.Answer{Value: value, Stale: stale}
}

// Report records a client's event: about a grant that it got, or about the place of its
// open acquire in the queue.
func (r *recorder) Report(e history.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.processes[e.Client]
	if c == nil {
		return
	}
	switch op, about := int(e.Op.V), e.Op.Set && e.Grant == 0; {
	case e.F == history.Late:
	case e.F == history.Queued:
		if op == 0 || op != c.asks || c.killed() {
			return
		}
	case about && op < len(r.grants) && r.grants[op] != 0:
		e.Grant, e.Op = r.grants[op], history.Opt{}
	case about && e.F == history.Lost: // the ok of its acquire is not recorded yet, and must precede it
		r.lost = append(r.lost, op)
		return
	case about:
		return // the ok of its acquire will have the deadline
	}
	if 0 < e.Grant && e.Grant <= len(r.leases) {
		switch e.F {
		case history.Valid:
			r.leases[e.Grant-1] = e.ValidUntil
		case history.Lost:
			r.leases[e.Grant-1] = r.environment.Now()
		}
	}
	e.Process, e.Type = history.Process{N: c.process}, history.Event
	r.addLocked(&e)
}

// leaseOf returns when a grant ends or was lost; 0: the lock did not report it.
func (r *recorder) leaseOf(grant int) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if grant == 0 || grant > len(r.leases) {
		return 0
	}
	return r.leases[grant-1]
}

// Point starts the faults that wait for a client's point.
func (r *recorder) Point(client string, op env.Op, p faults.Point) {
	r.injector.reach(r.processes[client], p)
}

// Enter records an unrequested grant: an acquire that begins when it has succeeded,
// under its own process number. The client's script goes on under another one.
func (r *recorder) Enter(name string, g env.Grant) env.Op {
	c := r.processes[name]
	r.mu.Lock()
	r.process++
	e := &client{rec: r, name: name, n: c.n, process: r.process, end: c.end, owner: c, acquisition: c.acquisition}
	r.mu.Unlock()
	if e.acquire = r.invoke(e, history.Acquire, 0, ""); e.acquire == 0 {
		return env.Op{}
	}
	grant := r.granted(e, history.Acquire, e.acquire, g)
	if grant == 0 {
		return env.Op{}
	}
	e.open = append(e.open, openGrant{e.acquire, grant})
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries == nil {
		r.entries = map[int]*client{}
	}
	r.entries[e.acquire] = e
	return e.op(e.acquire, 0)
}

// Section goes through the critical section of such a grant. The lock itself releases
// it, so the release has no recorded completion.
func (r *recorder) Section(_ string, acquire env.Op) {
	r.mu.Lock()
	e := r.entries[acquire.Index]
	delete(r.entries, acquire.Index)
	r.mu.Unlock()
	if r.section(e) != workloads.Dead {
		r.invoke(e, history.Release, e.innermost().grant, "")
	}
}

// close ends the record: later events are not observed.
func (r *recorder) close(observes []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.history.Header.Observes = slices.Clone(observes)
}
