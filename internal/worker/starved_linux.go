package worker

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Starved returns for how long the process, or one of its threads, has waited for a
// processor since the last call: the thread that has waited longest.
func (p *Process) Starved() (longest time.Duration) {
	p.act(func(pid int) error {
		waited := waitedFor(pid)
		for thread, now := range waited {
			longest = max(longest, now-p.waited[thread])
		}
		p.waited = waited
		return nil
	})
	return longest
}

// waitedFor returns for how long each thread of a process has waited for a processor so
// far: the second number in its schedstat (Documentation/scheduler/sched-stats.rst of the
// kernel).
func waitedFor(pid int) map[string]time.Duration {
	files, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "schedstat"))
	waited := make(map[string]time.Duration, len(files))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if fields := bytes.Fields(text); err == nil && len(fields) == 3 {
			ns, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			waited[f] = time.Duration(ns)
		}
	}
	return waited
}
