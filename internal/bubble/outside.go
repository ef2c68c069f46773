package bubble

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/lockcheck/lockcheck/internal/userlock"
)

// outside counts what this process has done that no bubble knows of: only Linux tells of all
// of it.
type outside struct {
	dials    int // TCP connections that it has tried to make with package net, since Seedable
	lookups  int // questions about names that no file of this machine has, since Seedable
	sockets  int // that are open
	children int // page faults of processes that it has started and that have ended; each has some
}

// lookOutside returns what there is now.
func lookOutside() (o outside) {
	s := []metrics.Sample{{Name: "/godebug/non-default-behavior/multipathtcp:events"}}
	if metrics.Read(s); s[0].Value.Kind() == metrics.KindUint64 {
		o.dials = int(s[0].Value.Uint64())
	}
	o.lookups = int(lookups.Load())
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

// lookups counts the questions about names that were to be sent while noLookups was in force.
var lookups atomic.Int64

// noLookups makes package net ask no server for names, which would take real time. It returns
// a function that ends this.
func noLookups() (restore func()) {
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		lookups.Add(1)
		return nil, errors.New("in virtual time no server answers for names")
	}}
	return func() { net.DefaultResolver = before }
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
	case after.lookups > before.lookups:
		what = "looked up the name of a host: in virtual time nobody answers. Connect to the addresses of Env"
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
