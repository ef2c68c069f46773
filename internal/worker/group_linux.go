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

// ownGroup makes the process the leader of a group of its own. SIGKILL when
// its parent ends also reaches a stopped process.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// reap waits for the process's end, kills the rest of its group, and waits until
// that has ended, too: a killed process may still write until the kernel has ended
// it. Wait comes last, because after it the number may be another group's.
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

// killGroup ends a group. A group that has ended is no error.
func killGroup(pid int) error {
	if err := unix.Kill(-pid, unix.SIGKILL); err != nil && err != unix.ESRCH {
		return fmt.Errorf("kill worker %d: %w", pid, err)
	}
	return nil
}

// stopLimit is how long a process may take to stand still. It takes longer
// than a few milliseconds only in a system call that cannot be interrupted.
const stopLimit = 5 * time.Second

// stopGroup stops a group. The kernel reports a process as stopped when the
// last of its threads has stopped. It reports only children: whether the
// leader's own children have stopped is read from /proc.
func stopGroup(pid int) error {
	if err := unix.Kill(-pid, unix.SIGSTOP); err != nil {
		if err == unix.ESRCH {
			return nil
		}
		return fmt.Errorf("stop worker %d: %w", pid, err)
	}
	limit := time.Now().Add(stopLimit)
	for !standsStill(pid) {
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

// standsStill tells whether the kernel reports the process as stopped, or as
// ended. WNOWAIT leaves the report there, so that it tells the present state.
func standsStill(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == unix.ECHILD || err == nil && info.Signo != 0
}

// The states of threads in /proc.
const (
	stoppedStates = "Tt"
	endedStates   = "ZXx"
)

// waitForOthers waits until every thread of a group's processes, but for its
// leader's, is in one of some states. After the limit it returns an error.
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

// othersAre reports whether they are.
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

// stat reads the state and the process group from a stat file of /proc. The
// name before them stands in parentheses and may contain anything.
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

// continueGroup lets a group go on.
func continueGroup(pid int) error {
	if err := unix.Kill(-pid, unix.SIGCONT); err != nil && err != unix.ESRCH {
		return fmt.Errorf("continue worker %d: %w", pid, err)
	}
	return nil
}
