package suiterun

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/suite"
	"github.com/lockcheck/lockcheck/workloads"
)

// cellSettings returns a digest of the settings that the runs of a cell have in common:
// the entry, the kinds of faults and the environment, without the name, the promises
// and the number of runs. Defaults are left out: writing one down, or a new key in a
// later version, does not change the digest.
func cellSettings(at batch.Description, e *suite.Entry, s explore.Settings) string {
	usual := explore.Settings{Clients: explore.AnyClients, Acquires: explore.AnyAcquires, Count: explore.AnyCount}
	if e.Place() != "sim" {
		usual.Usual(0)
		s.Usual(0)
	}
	is := map[string]any{
		"lock": e.Lock, "worker": s.Worker, "store": otherThan(catalogue.WorkerStores()[0], e.Store), "on": e.Place(),
		"options": s.Options.String(), "fencing": s.Fencing, "strategy": s.Strategy, "depth": s.Depth,
		"clients": otherThan(usual.Clients, s.Clients), "acquires": otherThan(usual.Acquires, s.Acquires),
		"lease": otherThan(usualLease(at, e, &s), time.Duration(e.Lease)),
	}
	if len(s.Kinds) > 0 {
		is["faults"] = sortedNames(s.Kinds, func(f faults.Fault) string { return f.Name })
		is["faults-per-run"] = otherThan(usual.Count, s.Count)
		is["mix"] = s.Mixed && len(s.Kinds) > 1
	}
	if does := sortedNames(s.Workloads, func(w workloads.Workload) string { return w.Name }); !slices.Equal(does, []string{workloads.AsUsual}) {
		is["workloads"] = does
	}
	maps.DeleteFunc(is, func(_ string, value any) bool { return reflect.ValueOf(value).IsZero() })
	text, _ := json.Marshal([]any{is, at.Surroundings()}) // marshalling these types cannot fail
	return rundir.Digest(text)
}

// usualLease returns the lease of a cell whose entry sets none. 0 means that the
// environment decides it in each run.
func usualLease(at batch.Description, e *suite.Entry, s *explore.Settings) time.Duration {
	lock, _ := e.Tested()
	usual := at.Lease(catalogue.NewLayout(&lock, catalogue.Server{}, s.Options))
	for i, f := range s.Kinds {
		var server catalogue.Server
		if f.Need == faults.NeedReplicas {
			server.Replicas = 1
		}
		t := at.Lease(catalogue.NewLayout(&lock, server, s.Options))
		if i > 0 && t != usual {
			return 0
		}
		usual = t
	}
	return usual
}

// otherThan returns value, or the zero value if it is the default.
func otherThan[T comparable](usual, value T) (other T) {
	if value != usual {
		other = value
	}
	return other
}

func sortedNames[T any](list []T, name func(T) string) (names []string) {
	for _, it := range list {
		names = append(names, name(it))
	}
	slices.Sort(names)
	return names
}

// noteParts notes in the head of a suite what its cells depend on beside the file: the
// kept counterexamples and the environments.
func (run *Run) noteParts(h *results.Head, kept []*keptCell, cells []*suiteCell) {
	var past []any
	for _, k := range kept {
		past = append(past, k.cell.Name, k.text)
		maps.Copy(h.Settings, run.Unopened(k.plan.On).Surroundings())
	}
	if past != nil {
		text, _ := json.Marshal(past) // marshalling these types cannot fail
		h.Settings[results.RegressionsSetting] = rundir.Digest(text)
	}
	for _, c := range cells {
		maps.Copy(h.Settings, run.Unopened(c.settings.On).Surroundings())
	}
}
