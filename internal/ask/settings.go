package ask

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/suite"
	"github.com/lockcheck/lockcheck/workloads"
)

// Environment are the words that choose an environment.
type Environment struct {
	On      string
	Lease   time.Duration
	Servers *endpoints.Servers // of external; nil: only servers that lockcheck starts will do
	Given   func(flag string) bool
}

// CheckServers returns an error if the user's servers are wrong, or have no use in this
// environment.
func (e *Environment) CheckServers() error {
	switch given := e.Servers.Given(); {
	case e.On == suite.External && e.Servers == nil:
		return fmt.Errorf("--on %s is for run, replay and suite: the rest needs servers that lockcheck starts", suite.External)
	case e.On == suite.External:
		return e.Servers.Check()
	case given != nil:
		return fmt.Errorf("--%s is for --on %s", given[0], suite.External)
	}
	return nil
}

// Batch are the words that become explore.Settings: the flags of run, or an entry of a
// suite.
type Batch struct {
	Environment Environment
	Faults      []string
	Workloads   []string // workloads
	Count       int
	Mixed       bool
	Seed        uint64
	Runs        int
	Limit       time.Duration
	Clients     int
	Acquires    int
	Fencing     string
	Options     string
	Strategy    string
	Depth       int
	Worker      string
	Store       string // of the worker; "": redis
	Kind        string // of the worker's lock; "": any that its servers can have
	Jobs        int
	Promises    []string
	Shard       explore.Shard
}

// Settings turns the flags into the common settings of all runs. given reports whether
// a flag was set.
func (f *Batch) Settings(given func(flag string) bool) (s explore.Settings, pr checker.Promise, err error) {
	if err := f.validate(given); err != nil {
		return s, nil, err
	}
	kinds, err := Faults(f.Faults)
	if err != nil {
		return s, nil, err
	}
	does, err := Workloads(f.Workloads)
	if err != nil {
		return s, nil, err
	}
	if f.Mixed && slices.ContainsFunc(kinds, func(k faults.Fault) bool { return k.Name == "" }) {
		return s, nil, exit.Errorf(exit.Usage, "--mix lets faults of several kinds strike in one run: leave out none")
	}
	if pr, err = Promise(f.Promises); err != nil {
		return s, nil, err
	}
	s = explore.Settings{
		Clients: asked(f.Clients, explore.AnyClients), Acquires: asked(f.Acquires, explore.AnyAcquires),
		Fencing: history.Fencing(f.Fencing), Workloads: does,
		Kinds: kinds, Mixed: f.Mixed, Count: asked(f.Count, explore.AnyCount), Promises: pr.Strings(),
		Seed: f.Seed, Runs: f.Runs, For: f.Limit, Jobs: f.Jobs, Shard: f.Shard,
	}
	if err := f.strategic(given, &s); err != nil {
		return s, nil, err
	}
	if s.Options, err = Options(f.Options); err != nil {
		return s, nil, err
	}
	if !given("seed") {
		s.Seed = uint64(rand.Uint32())
		if f.Shard.Of > 0 {
			s.Seed = 1 // all machines need the same seed
		}
	}
	if s.For > 0 && s.Runs == 0 {
		s.Runs = batch.Unlimited
	}
	if f.Worker != "" {
		if s.Worker, err = suite.Command(f.Worker); err != nil {
			return s, nil, exit.Errorf(exit.Usage, "--worker: %w", err)
		}
		if err := Startable(s.Worker[0]); err != nil {
			return s, nil, exit.Errorf(exit.Usage, "--worker: %w", err)
		}
		s.Store = f.Store
	}
	if own := f.Environment.Servers; f.Environment.On == suite.External {
		if s.Server = own.Layout(); f.Worker != "" {
			s.Store = own.Store()
		}
		err = s.Server.Validate()
	}
	return s, pr, err
}

// Startable returns an error if a worker's program cannot be started. Without this
// check it would look as if the environment had failed.
func Startable(program string) error {
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("%s: %w", program, rundir.WithoutPath(errors.Unwrap(err)))
	}
	return nil
}

// asked returns the range of the value of a flag, or the default range if it is not
// set.
func asked(n int, otherwise explore.Range) explore.Range {
	if n > 0 {
		return explore.Exactly(n)
	}
	return otherwise
}

// validate checks the values of the flags.
func (f *Batch) validate(given func(flag string) bool) error {
	for _, c := range []struct {
		flag, value string
		allowed     []string
	}{
		{"strategy", f.Strategy, Strategies},
		{"fencing", f.Fencing, []string{"", "all", "writes"}},
	} {
		if err := Choice(c.flag, c.value, c.allowed...); err != nil {
			return err
		}
	}
	if err := Numbers(given, Number("runs", f.Runs, harness.MostRuns), Number("jobs", f.Jobs, harness.MostJobs), Number("faults", f.Count, harness.MostFaults), Number("clients", f.Clients, harness.MostClients), Number("acquires", f.Acquires, harness.MostAcquires)); err != nil {
		return err
	}
	if err := f.Environment.CheckServers(); err != nil {
		return exit.Errorf(exit.Usage, "%w", err)
	}
	if given("jobs") && f.Jobs > 1 && f.Environment.On != "sim" {
		return exit.Errorf(exit.Usage, "--jobs %d: runs on %s go one after another, because runs side by side would disturb each other's time", f.Jobs, f.Environment.On)
	}
	if f.Limit <= 0 && given("for") {
		return exit.Errorf(exit.Usage, "--for %v: it has to be more than 0", f.Limit)
	}
	if len(strings.Fields(f.Worker)) == 0 && given("worker") {
		return exit.Errorf(exit.Usage, "--worker needs a command, for example: --worker 'python3 worker.py'")
	}
	if f.Store != "" {
		if err := Choice("store", f.Store, catalogue.WorkerStores()...); err != nil {
			return err
		}
	}
	if f.Store != "" && f.Environment.On == suite.External && f.Store != f.Environment.Servers.Store() {
		return exit.Errorf(exit.Usage, "--store %s: the addresses are of %s", f.Store, f.Environment.Servers.Store())
	}
	if f.Worker == "" && given("kind") {
		return exit.Errorf(exit.Usage, "--kind is of a --worker: the kind of a built-in lock is known")
	}
	if given("kind") && len(f.Promises) > 0 {
		return exit.Errorf(exit.Usage, "--kind says what has to hold where no --promise does: leave one of them out")
	}
	if f.Worker == "" && given("store") && !given("worker") {
		return exit.Errorf(exit.Usage, "--store is of a --worker: a built-in lock has its own servers")
	}
	return nil
}

// sayer prints a message.
type sayer = func(format string, args ...any)

// Fenced returns the options of a lock, with tokens if its accesses carry tokens.
func Fenced(id string, o catalogue.Options, f history.Fencing) catalogue.Options {
	if f == history.FencingOff {
		return o
	}
	lock, _ := catalogue.FindLock(id)
	return o.Fenced(&lock)
}

// Fits returns an error if a lock does not support the options.
func Fits(id string, options catalogue.Options) error {
	lock, _ := catalogue.FindLock(id)
	for o := range strings.SplitSeq(options.String(), ",") {
		if o == "" || slices.Contains(lock.Options, o) {
			continue
		}
		if near := names.Nearest(o, lock.Options); len(near) > 0 {
			return exit.Errorf(exit.Usage, "%s has no option %s; did you mean %s?", id, o, strings.Join(near, " or "))
		}
		var have []string
		for _, l := range catalogue.Locks {
			if slices.Contains(l.Options, o) {
				have = append(have, l.ID)
			}
		}
		return exit.Errorf(exit.Usage, "%s has no option %s; these have: %s", id, o, names.Some(have))
	}
	return nil
}

// AvailableFaults removes the faults that the environment does not offer. own reports
// whether its clients are a user's workers.
func AvailableFaults(say sayer, p batch.Description, kinds []faults.Fault, own bool) ([]faults.Fault, error) {
	return applying(say, kinds, "faults applies on "+p.Name(), func(k faults.Fault) error { return k.Available(batch.Offers(p.Name(), own)) }, nil)
}

// ApplicableFaults removes the faults that do not apply to a lock.
func ApplicableFaults(say sayer, p batch.Description, lock *catalogue.Lock, kinds []faults.Fault, asked []string) ([]faults.Fault, error) {
	return applying(say, kinds, "faults applies", func(k faults.Fault) error {
		// Random runs use the server set-up that a fault needs.
		return cmp.Or(lock.Applies(k, catalogue.Server{}), p.Strikes(lock, k))
	}, func(k faults.Fault) bool { return slices.Contains(asked, k.Name) })
}

// ApplicableWorkloads removes the workloads that do not fit a lock.
func ApplicableWorkloads(say sayer, id string, does []workloads.Workload, asked []string) ([]workloads.Workload, error) {
	lock, _ := catalogue.FindLock(id)
	return applying(say, does, "workloads applies", lock.Takes, func(w workloads.Workload) bool { return slices.Contains(asked, w.Name) })
}

// applying returns the items of a list that apply. It prints a message for each other item
// for which tells returns true; nil: for all. It returns an error if no item is left.
func applying[T any](say sayer, list []T, words string, applies func(T) error, tells func(T) bool) (some []T, err error) {
	var reasons []string
	for _, it := range list {
		if err := applies(it); err == nil {
			some = append(some, it)
		} else {
			reasons = append(reasons, err.Error())
			if tells == nil || tells(it) {
				say("lockcheck: skipped: %v\n", err)
			}
		}
	}
	if len(list) > 0 && len(some) == 0 {
		return nil, exit.Errorf(exit.Usage, "none of these %s: %s", words, strings.Join(reasons, "; "))
	}
	return some, nil
}
