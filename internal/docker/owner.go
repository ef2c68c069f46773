package docker

import (
	"fmt"
	"strconv"
	"strings"
)

// ownerLabel is on every container, and OwnerEnv in the environment of every worker:
// the lockcheck process that they belong to.
const (
	ownerLabel = "lockcheck.owner"
	OwnerEnv   = "LOCKCHECK_OWNER"
)

// owner identifies a process among all that ever had its number: by its start time, in
// ticks since the machine's start, by the machine's start, and by the name space of its
// number.
type owner struct {
	pid   int
	start uint64
	boot  string
	space string
}

func (o owner) String() string {
	return fmt.Sprintf("%d:%d:%s:%s", o.pid, o.start, o.boot, o.space)
}

func parseOwner(s string) (owner, error) {
	if f := strings.SplitN(s, ":", 4); len(f) == 4 {
		pid, err1 := strconv.Atoi(f[0])
		start, err2 := strconv.ParseUint(f[1], 10, 64)
		if err1 == nil && err2 == nil {
			return owner{pid, start, f[2], f[3]}, nil
		}
	}
	return owner{}, fmt.Errorf("no owner: %q", s)
}

// dead reports whether o has certainly ended. self is this process. Another name space
// is unknown, and so is another start of the machine: it may be another machine with
// the same engine. Then o counts as dead only if its container has stopped, because
// nothing of ours survives a restart of its machine.
func (o owner) dead(self owner, running bool) bool {
	switch {
	case o == self:
		return false
	case o.boot != self.boot || o.space != self.space:
		return !running
	}
	start, alive := startOf(o.pid)
	return !alive || start != o.start
}
