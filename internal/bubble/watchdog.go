package bubble

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/userlock"
)

// stillTicks is how many seconds, in real time, nothing may move in a run. A process that
// gets no time itself does not count them.
const stillTicks = 10

// watch ends the process when code in the bubble never waits, or waits for something
// outside of the bubble: time stands still then, and nothing else could end the run.
func (w *World) watch() (stop func()) {
	ended := make(chan struct{})
	go func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		last, still := w.beats.Load(), 0
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
			}
			if now := w.beats.Load(); now != last {
				last, still = now, 0
			} else if still++; still > stillTicks {
				fmt.Fprintf(os.Stderr, "\nlockcheck: %s, seed %d: nothing has moved for %d s. The code of a client never waits, or it waits for something that is not in the bubble: a connection that was not made with the dialer of Env, a process, a file. A mutex that is locked during a network call is such a thing, too: use a channel. It is here:\n\n%s",
					w.cfg.Lock.ID, w.seed, stillTicks, stacks(func(head string) bool { return !strings.Contains(head, "durable") }))
				os.Exit(2)
			}
		}
	}()
	return func() { close(ended) }
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
