package docker

import (
	"fmt"
	"strconv"
	"strings"
)

// ownerLabel is on every container, and OwnerEnv in the environment of every
// worker: which process of lockcheck they belong to.
const (
	ownerLabel = "lockcheck.owner"
	OwnerEnv   = "LOCKCHECK_OWNER"
)

// owner is a process, told from every other one that ever had its number: by
// when it started, in ticks since the machine did, by the start of the
// machine, and by the name space that the number belongs to.
type owner struct {
	pid   int
	start uint64
	boot  string
	space string
}

func (o owner) String() string {
	return fmt.Sprintf("%d:%d:%s:%s", o.pid, o.start, o.boot, o.space)
}

func parseOwner(s string) (o owner, err error) {
	f := strings.SplitN(s, ":", 4)
	if len(f) != 4 {
		return o, fmt.Errorf("no owner: %q", s)
	}
	if o.pid, err = strconv.Atoi(f[0]); err != nil {
		return o, fmt.Errorf("no owner: %q", s)
	}
	if o.start, err = strconv.ParseUint(f[1], 10, 64); err != nil {
		return o, fmt.Errorf("no owner: %q", s)
	}
	o.boot, o.space = f[2], f[3]
	return o, nil
}

// dead tells whether o has certainly ended. self is this process. Of another
// name space nothing is known; nor of another start of the machine, because
// that may be another machine at the same engine, unless what o left has
// stopped running: nothing of ours survives its machine's restart.
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
