package bubble

import (
	"context"
	"net"
	"runtime"
	"runtime/debug"
	"sync"
)

// Tune sets up the process for many runs, and returns a function that undoes it. Client
// libraries leave much behind in each run, so garbage is collected less often. And the
// goroutines that start after the next collection get stacks of 8 KiB.
//
// A goroutine that asks a server needs 4 KiB in go-redis alone. If it starts with less, it
// copies its stack at the deepest call, which takes a fifth of the time of a run. The runtime
// starts goroutines with the average of the stacks that the last collection has seen. The
// goroutines of Tune raise that average, and with their size it cannot become 16 KiB.
//
// Package net makes a channel for all the process when it first looks up a name. It would
// belong to a bubble, and the runtime ends the process when another bubble uses it.
func Tune() (restore func()) {
	(&net.Resolver{PreferGo: true}).LookupHost(context.Background(), "localhost") // as in a bubble, with any result
	percent := debug.SetGCPercent(400)
	restored := make(chan struct{})
	var begun sync.WaitGroup
	for range 64 { // more than half of the goroutines in a run
		begun.Add(1)
		go waitDeep(&begun, restored)
	}
	begun.Wait()
	return func() {
		close(restored)
		debug.SetGCPercent(percent)
	}
}

// waitDeep waits for the end of until on a stack of which it uses 6.5 KiB.
func waitDeep(begun *sync.WaitGroup, until <-chan struct{}) {
	var depth [6500]byte
	begun.Done()
	<-until
	runtime.KeepAlive(&depth)
}
