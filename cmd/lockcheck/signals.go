package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// untilSignal is a context that the first signal ends which asks the process to end:
// a run cleans up after itself then. A second one ends the process as if nobody
// listened.
func untilSignal() (ctx context.Context, stop func()) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	// A reader that has seen enough (| head) must not end a run in the middle,
	// with servers still up: what it does not want to see is dropped.
	dropped := []os.Signal{syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		// A terminal that is closed says so twice, by itself and through its shell:
		// that asks for no more haste than once.
		ends, dropped = append(ends, syscall.SIGHUP), append(dropped, syscall.SIGHUP)
	}
	ctx, stop = signal.NotifyContext(context.Background(), ends...)
	signal.Notify(make(chan os.Signal, 1), dropped...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// silence is how long a command that was interrupted may take to end without a
// word: nobody is in such a hurry that a second Ctrl-C comes sooner.
const silence = 200 * time.Millisecond

// How long an end may take, from the signal on. No loop of ours goes on after a signal,
// but one step of it, as the judging of a long history, may take longer than anybody
// waits. With real servers the end is their clean-up.
const (
	endInSim    = 500 * time.Millisecond
	endOnDocker = 14 * time.Second
)

// endIfStuck ends the process if a command that was interrupted does not end in time.
// What is written then is as after kill -9.
func (a *app) endIfStuck(ctx context.Context) {
	if a.exit == nil {
		return
	}
	context.AfterFunc(ctx, func() {
		cmd := a.running.Load()
		if cmd != nil && cmd.Name() == workerName {
			return // it ends with the run that has started it
		}
		if time.Sleep(endInSim); a.servers.Load() {
			time.Sleep(endOnDocker - endInSim)
		}
		words := "lockcheck: interrupted\n"
		if a.servers.Load() {
			words = "lockcheck: interrupted; the clean-up has not ended, and lockcheck clean removes what is left\n"
		}
		a.clearProgress()
		a.say("%s", words)
		a.exit(interrupted)
	})
}

// sayIfSlow says what a command does that was interrupted and has not ended yet, and
// what a second signal costs. Once ended has returned it says nothing more.
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
			a.clearProgress()
			a.say("lockcheck: cleaning up; a second Ctrl-C leaves the rest to lockcheck clean\n")
		}
	}()
	return func() {
		close(over)
		<-done
	}
}
