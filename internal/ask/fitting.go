package ask

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// Fitting returns the locks that support the flags. It prints which of several locks do
// not, and returns an error if no lock is left.
func Fitting(say sayer, ids []string, fits func(id string) error) (some []string, err error) {
	var skipped []string
	for _, id := range ids {
		if why := fits(id); why != nil {
			err = cmp.Or(err, why)
			skipped = append(skipped, fmt.Sprintf("lockcheck: %s is skipped: %v\n", id, why))
			continue
		}
		some = append(some, id)
	}
	if some == nil {
		return nil, err
	}
	for _, words := range skipped {
		say("%s", words)
	}
	return some, nil
}

// Lock returns the lock with this id, or that of the worker.
func (f *Batch) Lock(id string) catalogue.Lock {
	if f.Worker == "" {
		lock, _ := catalogue.FindLock(id)
		return lock
	}
	lock, _ := catalogue.WorkerLock(id, cmp.Or(f.Environment.Servers.Store(), f.Store))
	return lock
}

// LockKind returns the kind of a lock, which says what it can keep; nil if a promise was
// named, or the search is for proofs: then everything counts.
func (f *Batch) LockKind(lock *catalogue.Lock) (*catalogue.LockKind, error) {
	if len(f.Promises) > 0 || f.Strategy == Exhaustive {
		return nil, nil
	}
	kind := lock.Kind()
	if f.Worker == "" {
		return &kind, nil
	}
	among := lock.Kinds()
	if f.Kind == "" {
		kind = catalogue.OfAny(among)
		return &kind, nil
	}
	var known []string
	for _, k := range among {
		if known = append(known, k.Name); k.Name == f.Kind {
			return &k, nil
		}
	}
	return nil, exit.Errorf(exit.Usage, "--kind %q: a lock on these servers can be %s", f.Kind, strings.Join(known, ", "))
}

// Locks returns the locks to run: those of the arguments, or the worker's.
func (f *Batch) Locks(args []string, s explore.Settings) ([]string, error) {
	switch {
	case f.Worker != "" && len(args) > 0:
		return nil, exit.Errorf(exit.Usage, "--worker brings its own lock: leave out %s", strings.Join(args, " "))
	case f.Worker != "" && f.Environment.On == "sim":
		return nil, exit.Errorf(exit.Usage, "--worker runs with --on docker or --on external only: a program of its own has no virtual time")
	case f.Worker != "":
		return []string{"worker"}, nil
	case len(args) == 0:
		return nil, exit.Errorf(exit.Usage, "run needs a LOCK, for example: lockcheck run redis-set-lua --fault pause")
	}
	ids, err := Match("lock", args, names.Locks())
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		options := Fenced(id, s.Options, s.Fencing)
		if err := Fits(id, options); err != nil {
			return nil, err
		}
		if lock, _ := catalogue.FindLock(id); f.Environment.On == suite.External {
			if err := f.Environment.Servers.Serve(&lock, options); err != nil {
				return nil, exit.Errorf(exit.Usage, "%w", err)
			}
		}
	}
	return ids, nil
}
