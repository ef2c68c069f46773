package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/workloads"
)

// Plan is one run before it happens: everything that decides it. It is the content of
// schedule.json, and the input of a replay.
type Plan struct {
	Format   int                `json:"lockcheck_schedule"` // version of the file format
	Lock     string             `json:"lock"`               // id of the lock under test
	Options  catalogue.Options  `json:"options,omitzero"`   // its options, as in token,spin
	On       string             `json:"on"`                 // the environment: sim, docker or external
	Case     string             `json:"case,omitempty"`     // id of the documented case that it belongs to
	Cell     string             `json:"cell,omitempty"`     // name of the suite's cell that it belongs to; without effect on the run
	Seed     uint64             `json:"seed"`               // source of the choices that are not recorded
	Strategy string             `json:"strategy,omitempty"` // how choices follow from the seed: random or pct
	Depth    int                `json:"depth,omitempty"`    // depth of pct
	Lease    time.Duration      `json:"lease_ns"`           // T, the lease or session timeout, in ns
	Clients  []string           `json:"clients"`            // names of the clients
	Workload string             `json:"workload,omitempty"` // what they do at random; absent: usual
	Acquires int                `json:"acquires,omitempty"` // critical sections of each client, at random
	Sections []int              `json:"sections,omitempty"` // the same for each client, instead of acquires
	Shape    workloads.Shape    `json:"shape,omitzero"`     // times of these sections; absent: the defaults
	Scripts  []workloads.Script `json:"scripts,omitempty"`  // what clients do instead, in a case
	Server   catalogue.Server   `json:"server,omitzero"`    // how servers are set up, if not as usual
	Fencing  history.Fencing    `json:"fencing,omitempty"`  // true: every access to the resource carries a token; "writes": only writes do; absent: none
	Promises []string           `json:"promises,omitempty"` // properties that must hold; absent: all that apply
	Worker   []string           `json:"worker,omitempty"`   // command of a worker with its own lock; lock is then only its name
	Store    string             `json:"store,omitempty"`    // servers of that worker; absent: redis

	CellSettings string `json:"cell_settings,omitempty"` // digest of the settings of the suite's cell; without effect on the run

	Shrunk *Shrunk `json:"shrunk,omitempty"` // how it was shrunk, if it was

	Faults []faults.Injection `json:"faults"` // the injections
	// Choices are the decisions of a run in sim, in order. Absent: they follow from the
	// seed by the strategy.
	Choices []env.Choice `json:"choices,omitempty"`
	// Order replaces choices in a run in which order decides and durations do not: the
	// names of the steps that were taken. Faults without a point begin and end with a
	// step, too.
	Order []string `json:"order,omitempty"`

	lock *catalogue.Lock // replaces the catalogue's lock
}

// Use sets the lock under test, which may be missing in the catalogue.
func (p *Plan) Use(lock *catalogue.Lock) { p.Lock, p.lock = lock.ID, lock }

// planFormat is the version of the file format.
const planFormat = 1

// LockName is the one lock that the clients of a run use.
const LockName = "a"

var lockNames = []string{LockName}

// UnderTest returns the plan's lock on the plan's servers, and false if it is unknown.
func (p *Plan) UnderTest() (catalogue.Lock, bool) {
	lock, ok := catalogue.Lock{}, true
	switch {
	case p.lock != nil:
		lock = *p.lock
	case p.Worker != nil:
		var err error
		lock, err = catalogue.WorkerLock(p.Lock, p.Store)
		ok = err == nil
	default:
		lock, ok = catalogue.FindLock(p.Lock)
	}
	if n := p.Server.Nodes; lock.Nodes > 1 && n > 0 {
		lock.Nodes, lock.Steps = n, catalogue.Requests{Acquire: n, Release: n}
	}
	return lock, ok
}

// Layout returns the servers of the plan.
func (p *Plan) Layout() catalogue.Layout {
	lock, _ := p.UnderTest()
	return catalogue.NewLayout(&lock, p.Server, p.Options)
}

// Config returns the configuration of the plan's environment.
func (p *Plan) Config() (env.Config, error) {
	lock, ok := p.UnderTest()
	if !ok && (p.On == env.Bubble || p.Worker == nil && strings.HasPrefix(p.Lock, "Test")) {
		test, _, _ := strings.Cut(p.Lock, "/")
		return env.Config{}, fmt.Errorf("%s is the lock of a Go test, which replays it: go test -run '^%s$' -lockcheck.on=%s -lockcheck.replay=DIR", p.Lock, test, p.On)
	}
	if !ok && p.Worker != nil {
		_, err := catalogue.WorkerLock(p.Lock, p.Store)
		return env.Config{}, err
	}
	if !ok {
		return env.Config{}, fmt.Errorf("no lock %q", p.Lock)
	}
	server := p.Server
	if p.On == "external" && lock.Store == catalogue.StoreZooKeeper {
		server.Nodes = 0 // the ensemble is the user's, and has as many members as it has
	}
	if err := server.Fits(&lock); err != nil {
		return env.Config{}, err
	}
	return env.Config{
		Lock:    lock,
		Options: p.Options,
		Lease:   p.Lease,
		Clients: p.Clients,
		Names:   lockNames,
		Server:  p.Server,
		Latency: p.Shape.Latency,
		Seed:    p.Seed,
		Worker:  p.Worker,

		Schedule: p.Faults,
	}, nil
}

// header is the first line of the run's history.
func (p *Plan) header(observes []string) history.Header {
	lock, known := p.UnderTest()
	h := history.Header{
		Format:   history.Format,
		Version:  Version,
		Lock:     p.Lock,
		Options:  p.Options.String(),
		Servers:  p.Server.Words(),
		On:       p.On,
		Case:     p.Case,
		Workload: p.Workload,
		Seed:     p.Seed,
		LeaseMS:  p.Lease.Milliseconds(),
		Promises: p.Promises,
		Fencing:  p.Fencing,
		Order:    lock.Order && p.queues(),
		Nodes:    lock.Nodes,
		Observes: observes,

		ReleaseTells: lock.Tells,
	}
	if known && p.On != "external" { // what a user's servers save is not known
		h.Servers = p.Server.Under(&lock, p.Faults)
	}
	h.Faults = p.Kinds()
	return h
}

// Kinds returns the kinds of faults in the plan, in order.
func (p *Plan) Kinds() (kinds []string) {
	for _, in := range p.Faults {
		if !slices.Contains(kinds, in.Fault) {
			kinds = append(kinds, in.Fault)
		}
	}
	return kinds
}

// queues reports whether an acquire of the plan may ask in turn: a lock promises no order
// to others.
func (p *Plan) queues() bool {
	inTurn := func(s workloads.Step) bool { return s.Do == history.Acquire && !s.Unfair }
	return len(p.Scripts) == 0 || slices.ContainsFunc(p.Scripts, func(s workloads.Script) bool { return slices.ContainsFunc(s.Steps, inTurn) })
}

// Version is the version of lockcheck in histories.
const Version = "0.1.0"

// Write writes the plan as schedule.json.
func (p *Plan) Write(w io.Writer) error {
	p.Format = planFormat
	head := *p
	head.Choices, head.Faults = nil, append([]faults.Injection{}, p.Faults...)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(head); err != nil {
		return err
	}
	if len(p.Choices) > 0 {
		// There are thousands, so each has its own line.
		b.Truncate(b.Len() - len("\n}\n"))
		b.WriteString(",\n \"choices\": [")
		for i, c := range p.Choices {
			line, err := json.Marshal(c)
			if err != nil {
				return err
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n  ")
			b.Write(line)
		}
		b.WriteString("\n ]\n}\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// shape returns the times of a random run.
func (p *Plan) shape() workloads.Shape {
	if p.Shape == (workloads.Shape{}) {
		return workloads.Usual(p.Lease)
	}
	return p.Shape
}

// SectionsOf returns how many critical sections client i goes through in a random run.
func (p *Plan) SectionsOf(i int) int {
	if p.Sections != nil {
		return p.Sections[i]
	}
	return p.Acquires
}

// workloadFits returns an error if the workload does not fit the plan or its lock.
func (p *Plan) workloadFits(lock *catalogue.Lock) error {
	w, ok := workloads.Find(p.Workload)
	switch {
	case !ok:
		return fmt.Errorf("workload %q: it can be %s", p.Workload, strings.Join(workloads.Names(), ", "))
	case p.Workload == "":
		return nil
	case p.Scripts != nil:
		return fmt.Errorf("workload %q: the plan already has scripts for its clients", p.Workload)
	}
	return lock.Takes(w)
}

// ErrNoPlan reports that a file is not a plan.
var ErrNoPlan = errors.New("not a schedule of lockcheck")

// ReadPlan reads a plan that Write wrote, and validates it.
func ReadPlan(r io.Reader) (*Plan, error) { return ReadPlanOf(r, nil) }

// ReadPlanOf reads the plan of a run of this lock, which may be missing in the catalogue;
// nil: it is there.
func ReadPlanOf(r io.Reader, lock *catalogue.Lock) (*Plan, error) {
	p := Plan{lock: lock}
	data, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > mostBytes {
		return nil, fmt.Errorf("%w: it is larger than %d MiB", ErrNoPlan, mostBytes>>20)
	}
	if err := json.Unmarshal(data, &struct {
		Format *int `json:"lockcheck_schedule"`
	}{&p.Format}); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoPlan, err)
	}
	if p.Format == 0 {
		return nil, ErrNoPlan
	}
	if p.Format < 1 || p.Format > planFormat {
		return nil, fmt.Errorf("a schedule of format %d, and this lockcheck knows formats from 1 to %d", p.Format, planFormat)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, err
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	return &p, nil
}

// The valid leases. Below, the latencies of sim (up to 5 ms) and timeouts of T/4 leave
// no time to acquire and work; above, times overflow.
const (
	MinLease = 200 * time.Millisecond
	MaxLease = 10 * time.Minute
)

// LeaseFits returns an error if t cannot be a lease.
func LeaseFits(t time.Duration) error {
	switch {
	case t < MinLease:
		return fmt.Errorf("it has to be %v or more: a message takes up to 5 ms, and the timeout of a request is a quarter of the lease", MinLease)
	case t > MaxLease:
		return fmt.Errorf("it can be %.0fm at most: beyond, times overflow", MaxLease.Minutes())
	case t%time.Millisecond != 0:
		return errors.New("it has to be whole milliseconds: servers count leases in them")
	}
	return nil
}

// validate returns an error if a plan is inconsistent. A person may have edited it.
func (p *Plan) validate() error {
	if err := cmp.Or(p.Server.Validate(), p.checkSize()); err != nil {
		return err
	}
	cfg, err := p.Config()
	if err != nil {
		return err
	}
	layout := catalogue.NewLayout(&cfg.Lock, p.Server, p.Options)
	if err := p.strategyFits(); err != nil {
		return err
	}
	if err := p.workloadFits(&cfg.Lock); err != nil {
		return err
	}
	switch {
	case p.Lease < MinLease || p.Lease > MaxLease || p.Lease%time.Millisecond != 0:
		return fmt.Errorf("lease_ns %d: it has to be whole milliseconds, from %v to %v", p.Lease, MinLease, MaxLease)
	case p.Worker != nil && (len(p.Worker) == 0 || p.Worker[0] == ""):
		return errors.New("worker: it has no command")
	case p.Worker == nil && p.Store != "":
		return fmt.Errorf("store %q: only a worker has a store", p.Store)
	case p.Worker != nil && p.On == "sim":
		return errors.New("worker: a program of its own has no virtual time, and does not run on sim")
	case p.Shrunk != nil && !slices.Contains(checker.Properties[:], p.Shrunk.For):
		return fmt.Errorf("shrunk for %q: there is no such property", p.Shrunk.For)
	case len(p.Clients) == 0:
		return errors.New("clients: at least 1 is required")
	case p.Scripts == nil && p.Sections == nil && p.Acquires < 1:
		return errors.New("acquires has to be at least 1 without sections or scripts")
	case p.Sections != nil && (len(p.Sections) != len(p.Clients) || slices.Min(p.Sections) < 1):
		return fmt.Errorf("sections: each of %d clients needs one number, at least 1", len(p.Clients))
	case p.Scripts != nil && len(p.Scripts) != len(p.Clients):
		return fmt.Errorf("there are %d scripts for %d clients", len(p.Scripts), len(p.Clients))
	case p.Shape.Think < 0 || p.Shape.Hold < 0 || p.Shape.Latency < 0 || max(p.Shape.Think, p.Shape.Hold, p.Shape.Latency) > 10*p.Lease:
		return fmt.Errorf("shape: its times go from 0 to ten leases of %v", p.Lease)
	case !slices.Contains([]history.Fencing{history.FencingOff, history.FencingAll, history.FencingWrites}, p.Fencing):
		return fmt.Errorf("fencing %q: it can be all or writes", p.Fencing)
	}
	for i, c := range p.Clients {
		if c == "" || c == history.Resource || c == history.Nemesis || slices.Contains(layout.Servers(), c) || c == catalogue.TokensName || strings.ContainsAny(c, " \t\n") || slices.Contains(p.Clients[:i], c) {
			return fmt.Errorf("clients: %q cannot be a client's name, or is there twice", c)
		}
	}
	for i, s := range p.Scripts {
		if s.Client != p.Clients[i] {
			return fmt.Errorf("script %d is of %q, and client %d is %q", i+1, s.Client, i+1, p.Clients[i])
		}
		if err := s.Validate(); err != nil {
			return err
		}
	}
	for _, in := range p.Faults {
		if err := in.Validate(p.Clients, layout.Stores(), layout.Sentinels); err != nil {
			return err
		}
		if in.Point != nil && in.Point.Command != "" && !env.IsVirtual(p.On) {
			return fmt.Errorf("%s: a point at a command is possible in virtual time only", in.Fault)
		}
	}
	return nil
}
