package bubble

import (
	"os"
	"runtime/metrics"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/internal/userlock"
)

// outside counts what this process has done that no bubble knows of: only Linux tells of all
// of it.
type outside struct {
	dials    int // TCP connections that it has tried to make with package net, since Seedable
	sockets  int // that are open
	children int // page faults of processes that it has started and that have ended; each has some
}

// lookOutside returns what there is now.
func lookOutside() (o outside) {
	s := []metrics.Sample{{Name: "/godebug/non-default-behavior/multipathtcp:events"}}
	if metrics.Read(s); s[0].Value.Kind() == metrics.KindUint64 {
		o.dials = int(s[0].Value.Uint64())
	}
	files, _ := os.ReadDir("/proc/self/fd")
	for _, f := range files {
		if to, _ := os.Readlink("/proc/self/fd/" + f.Name()); strings.HasPrefix(to, "socket:") {
			o.sockets++
		}
	}
	stat, _ := os.ReadFile("/proc/self/stat")
	// The name of the process may have blanks. See proc_pid_stat(5): field 11 is cminflt.
	if fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])); len(fields) > 8 {
		o.children, _ = strconv.Atoi(fields[8])
	}
	return o
}

// strays counts runs in which something was done outside of the bubble. Goroutines that have
// nothing to do with the lock may do so, too, but hardly during two runs, which take
// milliseconds each.
type strays struct{ runs int }

// check returns an error if this run, as one before it, has left the bubble.
func (s *strays) check(before, after outside) error {
	var what string
	switch {
	case after.dials > before.dials:
		what = "tried to make a connection without the dialer of Env: in virtual time no other exist"
	case after.sockets > before.sockets:
		what = "opened a socket without the dialer of Env: in virtual time no other exist"
	case after.children > before.children:
		what = "started a process, for which virtual time does not wait"
	default:
		return nil
	}
	if s.runs++; s.runs < 2 {
		return nil
	}
	return &userlock.Misuse{Words: "the lock or its client library has " + what}
}
