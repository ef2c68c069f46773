package worker

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ownGroup makes the process the leader of its own group. When its parent ends, SIGKILL
// ends it even if it is stopped.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// reap waits for the process's end, kills the rest of its group, and waits for its end,
// too: a killed process may still write until the kernel has ended it. Wait comes last:
// after it the kernel may give the number to another group.
func (p *Process) reap(cmd *exec.Cmd) error {
	for unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	p.stopping.Lock()
	defer p.stopping.Unlock()
	killGroup(p.pid)
	waitForOthers(p.pid, endedStates, time.Now().Add(stopLimit))
	p.reaped = true
	return cmd.Wait()
}

// killGroup kills a group. A group that has ended is no error.
func killGroup(pid int) error {
	if err := unix.Kill(-pid, unix.SIGKILL); err != nil && err != unix.ESRCH {
		return fmt.Errorf("kill worker %d: %w", pid, err)
	}
	return nil
}

// stopLimit is how long a process may take to stop. More than a few milliseconds happen
// only in an uninterruptible system call.
const stopLimit = 5 * time.Second

// stopGroup stops a group. The kernel reports a process as stopped after its last
// thread, but only a child: the state of the leader's own children comes from /proc.
func stopGroup(pid int) error {
	if err := unix.Kill(-pid, unix.SIGSTOP); err != nil {
		if err == unix.ESRCH {
			return nil
		}
		return fmt.Errorf("stop worker %d: %w", pid, err)
	}
	limit := time.Now().Add(stopLimit)
	for !isStopped(pid) {
		if time.Now().After(limit) {
			return fmt.Errorf("worker %d still runs %v after SIGSTOP", pid, stopLimit)
		}
		time.Sleep(20 * time.Microsecond)
	}
	if err := waitForOthers(pid, stoppedStates+endedStates, limit); err != nil {
		return fmt.Errorf("stop worker %d: %w", pid, err)
	}
	return nil
}

// isStopped reports whether the kernel reports the process as stopped or ended. WNOWAIT
// keeps the report, so the next call gets the present state again.
func isStopped(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == unix.ECHILD || err == nil && info.Signo != 0
}

// The states of threads in /proc.
const (
	stoppedStates = "Tt"
	endedStates   = "ZXx"
)

// waitForOthers waits until all threads of a group, except those of its leader, are in
// one of these states. It returns an error after the limit.
func waitForOthers(group int, states string, limit time.Time) error {
	for {
		done, err := othersAre(group, states)
		if done || err != nil {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("a process of its group still runs %v after the signal", stopLimit)
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// othersAre reports whether they are in these states now.
func othersAre(group int, states string) (bool, error) {
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return false, err
	}
	for _, e := range processes {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == group {
			continue
		}
		if _, g, err := stat(filepath.Join("/proc", e.Name(), "stat")); err != nil || g != group {
			continue
		}
		threads, err := filepath.Glob(filepath.Join("/proc", e.Name(), "task", "*", "stat"))
		if err != nil {
			return false, err
		}
		for _, t := range threads {
			state, _, err := stat(t)
			if err == nil && !strings.ContainsRune(states, rune(state)) {
				return false, nil
			}
		}
	}
	return true, nil
}

// stat reads the state and the process group from a stat file of /proc. The name before
// them is in parentheses and may contain anything.
func stat(file string) (state byte, group int, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, err
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 3 || len(fields[0]) != 1 {
		return 0, 0, errors.New(file + ": unexpected format")
	}
	group, err = strconv.Atoi(string(fields[2]))
	return fields[0][0], group, err
}

// continueGroup continues a stopped group.
func continueGroup(pid int) error {
	if err := unix.Kill(-pid, unix.SIGCONT); err != nil && err != unix.ESRCH {
		return fmt.Errorf("continue worker %d: %w", pid, err)
	}
	return nil
}
