//go:build !linux

package worker

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// ownGroup does nothing: a worker ends with its input.
func ownGroup(*exec.Cmd) {}

func (p *Process) reap(cmd *exec.Cmd) error {
	err := cmd.Wait()
	p.stopping.Lock()
	defer p.stopping.Unlock()
	p.reaped = true
	return err
}

// killGroup kills the worker's process if it still exists.
func killGroup(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil
	}
	defer p.Release()
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill worker %d: %w", pid, err)
	}
	return nil
}

func stopGroup(int) error     { return unsupported("stopping a worker") }
func continueGroup(int) error { return unsupported("continuing a worker") }

// Starved returns 0: unknown.
func (p *Process) Starved() time.Duration { return 0 }

func unsupported(what string) error {
	return fmt.Errorf("%s on %s: %w", what, runtime.GOOS, errors.ErrUnsupported)
}
