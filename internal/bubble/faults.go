package bubble

import (
	"fmt"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// Applies returns an error that says why a fault does not apply to a user's lock in a
// bubble, or nil if it does.
func Applies(lock *catalogue.Lock, f faults.Fault) error {
	has := []faults.Need{faults.NeedServers, faults.NeedStop, faults.NeedClock, faults.NeedRate, faults.NeedMemory, faults.NeedValues}
	if lock.Store == catalogue.StoreZooKeeper {
		has = append(has, faults.NeedSessions)
	}
	if lock.Replicas > 0 || lock.Store == catalogue.StoreZooKeeper {
		has = append(has, faults.NeedReplicas)
	}
	switch {
	case f.On == faults.OnClient && (f.Clock || f.Rate):
		return fmt.Errorf("%s changes the clock of a client, and all clients of a Go test have one clock", f.Name)
	case f.Name == "hang" || f.Name == "poweroff":
		return fmt.Errorf("%s needs a process of its own for each client: -lockcheck.on=docker", f.Name)
	}
	if err := lock.Applies(f, catalogue.Server{}); err != nil {
		return err
	}
	return f.Available(has)
}
