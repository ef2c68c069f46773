package bubble

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/userlock"
)

// Limits of a run in seconds of real time. A process that gets no time itself does not count
// them.
const (
	stillTicks = 10               // in which nothing moves
	slowTicks  = 5                // in each of which virtual time moves by less than slow
	slow       = 10 * time.Second // most runs take milliseconds, for minutes of virtual time
)

// watch ends the process when code in the bubble never waits, or waits for something
// outside of the bubble: time stands still then, and nothing else could end the run. Or the
// code wakes up so often that time hardly moves.
func (w *World) watch() (stop func()) {
	ended := make(chan struct{})
	go func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		var still, slowly int
		beats, moved := w.beats.Load(), w.moved.Load()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
			}
			lastBeats, lastMoved := beats, moved
			beats, moved = w.beats.Load(), w.moved.Load()
			switch {
			case beats == lastBeats:
				still++
			case moved-lastMoved < int64(slow):
				still = 0
				slowly++
			default:
				still, slowly = 0, 0
			}
			switch {
			case still > stillTicks:
				w.giveUp(fmt.Sprintf("nothing has moved for %d s. The code of a client never waits, or it waits for something that is not in the bubble: a connection that was not made with the dialer of Env, a process, a file. A mutex that is locked during a network call is such a thing, too, and so is a channel that was made outside of the factory", stillTicks))
			case slowly >= slowTicks:
				w.giveUp(fmt.Sprintf("for %d s virtual time has moved by less than %v a second: a goroutine sleeps for a tiny time again and again, or the code of a client computes for long or waits for something that is not in the bubble", slowTicks, slow))
			}
		}
	}()
	return func() { close(ended) }
}

// giveUp ends the process, and shows where goroutines are that can go on. One that sleeps
// for a tiny time sleeps in most moments, so that it takes some looks. On a busy machine it
// may sleep in all of them. Then sleeping goroutines are shown, too, or else all goroutines.
func (w *World) giveUp(why string) {
	canGoOn := func(head string) bool { return !strings.Contains(head, "durable") }
	ready := ""
	for look := 0; look < 1000 && ready == ""; look++ {
		ready = stacks(canGoOn)
		runtime.Gosched()
	}
	if ready == "" {
		ready = stacks(func(head string) bool { return canGoOn(head) || strings.Contains(head, "[sleep") })
	}
	if ready == "" {
		ready = leaked()
	}
	fmt.Fprintf(os.Stderr, "\nlockcheck: %s, seed %d: %s. It is here:\n\n%s", w.cfg.Lock.ID, w.seed, why, ready)
	os.Exit(2)
}

// leaked returns the stacks of goroutines that are still in a bubble.
func leaked() string { return stacks(func(string) bool { return true }) }

// stacks returns the stacks of the goroutines in bubbles, of the user's code, for whose
// first lines some returns true.
func stacks(some func(head string) bool) string {
	buf := make([]byte, 1<<20)
	var list []string
	for _, s := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		head, _, _ := strings.Cut(s, "\n")
		if strings.Contains(head, "synctest bubble") && some(head) && !strings.Contains(s, "bubble.(*World).Wait") && !strings.Contains(s, "synctest.Run(") && !strings.Contains(head, "coroutine") {
			list = append(list, userlock.OwnFrames(s))
		}
	}
	const most = 3
	if n := len(list) - most; n > 0 {
		list = append(list[:most], fmt.Sprintf("and %d more\n", n))
	}
	return strings.Join(list, "\n")
}
