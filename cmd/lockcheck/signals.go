package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/lockcheck/lockcheck/internal/exit"
)

// untilSignal returns a context that the first signal to end cancels, so that a run
// cleans up. A second signal ends the process at once.
func untilSignal() (ctx context.Context, stop func()) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	// A reader that has seen enough (| head) must not end a run half way with servers
	// still up. The output that it does not want is dropped.
	dropped := []os.Signal{syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		// A terminal that is closed sends the signal twice, itself and through its
		// shell. The second one does not ask for more haste.
		ends, dropped = append(ends, syscall.SIGHUP), append(dropped, syscall.SIGHUP)
	}
	ctx, stop = signal.NotifyContext(context.Background(), ends...)
	signal.Notify(make(chan os.Signal, 1), dropped...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// silence is how long an interrupted command may take to end before it prints a
// message. A second Ctrl-C does not come sooner.
const silence = 200 * time.Millisecond

// How long an end may take after the signal. No loop in lockcheck continues after a
// signal, but one step, such as judging a long history, may take longer than users
// wait. With real servers the end includes their clean-up.
const (
	endInSim    = 500 * time.Millisecond
	endOnDocker = 14 * time.Second
)

// endIfStuck ends the process if an interrupted command does not end in time. Its files
// are then as after kill -9.
func (a *app) endIfStuck(ctx context.Context) {
	if a.exit == nil {
		return
	}
	context.AfterFunc(ctx, func() {
		cmd := a.running.Load()
		if cmd != nil && cmd.Name() == workerName {
			return // the worker ends with the run that started it
		}
		if time.Sleep(endInSim); a.servers.Load() {
			time.Sleep(endOnDocker - endInSim)
		}
		words := "lockcheck: interrupted\n"
		if a.servers.Load() {
			words = "lockcheck: interrupted; the clean-up has not ended, and lockcheck clean removes what is left\n"
		}
		a.ClearProgress()
		a.Say("%s", words)
		a.exit(exit.Interrupted)
	})
}

// sayIfSlow says why an interrupted command has not ended yet, and what a second signal
// costs. Once ended has returned, it prints nothing more.
func (a *app) sayIfSlow(ctx context.Context) (ended func()) {
	if a.silence == 0 {
		return func() {}
	}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
		case <-over:
			return
		}
		select {
		case <-time.After(a.silence):
		case <-over:
			return
		}
		if cmd := a.running.Load(); cmd != nil && cmd.Annotations[keepsFiles] != "" && a.servers.Load() {
			a.ClearProgress()
			a.Say("lockcheck: cleaning up; a second Ctrl-C leaves the rest to lockcheck clean\n")
		}
	}()
	return func() {
		close(over)
		<-done
	}
}
