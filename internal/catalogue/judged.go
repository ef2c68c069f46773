package catalogue

import (
	"errors"
	"fmt"

	"github.com/lockcheck/lockcheck/checker"
)

// Judged returns an error if a property is never judged for a lock in an environment,
// whatever its runs show. The error says why, and what to promise instead. A lock
// that is not in the table is a user's own. tokens reports whether grants have
// tokens, by the lock's options or because fencing was requested.
func Judged(id string, p checker.Property, place string, tokens bool) error {
	lock, known := FindLock(id)
	leased := lock.Lease == LeaseFixed || lock.Lease == LeaseRenewed
	ofServers := p == checker.Ownership || p == checker.Answers // judged by the servers' lines
	switch {
	case !known: // a worker may declare its entries
		return nil
	case p == checker.Fencing && !tokens:
		return errors.New("fencing is judged by tokens, and none are drawn: turn fencing on")
	case p == checker.Fairness && !lock.Order:
		return fmt.Errorf("fairness is of locks that promise order, and %s promises none: leave it out, or promise liveness", id)
	case p == checker.LeaseExclusion && !leased:
		return fmt.Errorf("lease-exclusion is of grants that say how long they last, and those of %s do not: promise exclusion instead", id)
	case ofServers && lock.Hidden() && place == "docker":
		return fmt.Errorf("%s is judged by what becomes of entries, and on docker no server shows those of %s: leave it out, or run it in sim", p, id)
	}
	return nil
}
