package docker

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// thisOwner returns the owner of this process.
func thisOwner() (owner, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return owner{}, err
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return owner{}, err
	}
	start, alive := startOf(os.Getpid())
	if !alive {
		return owner{}, errors.New("/proc does not show this process")
	}
	space = strings.Trim(strings.TrimPrefix(space, "pid:"), "[]")
	return owner{pid: os.Getpid(), start: start, boot: strings.TrimSpace(string(boot)), space: space}, nil
}

// startOf returns when a process started, in ticks since the machine's start: the 22nd
// field of its stat. A zombie is not alive.
func startOf(pid int) (start uint64, alive bool) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, false
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 || string(f[0]) == "Z" || string(f[0]) == "X" {
		return 0, false
	}
	start, err = strconv.ParseUint(string(f[19]), 10, 64)
	return start, err == nil
}

// cleanWorkers kills the workers whose owners are dead.
func cleanWorkers(self owner) (removed []string, err error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil {
			continue // it has ended, or belongs to another user
		}
		o, ok := ownerIn(env)
		if !ok || !o.dead(self, true) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			if err != unix.ESRCH {
				errs = append(errs, fmt.Errorf("kill worker %d: %w", pid, err))
			}
			continue
		}
		removed = append(removed, fmt.Sprintf("worker %d", pid))
	}
	return removed, errors.Join(errs...)
}

// ownerIn returns a worker's owner from its environment.
func ownerIn(env []byte) (owner, bool) {
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if s, ok := strings.CutPrefix(string(v), OwnerEnv+"="); ok {
			o, err := parseOwner(s)
			return o, err == nil
		}
	}
	return owner{}, false
}
