package docker

import (
	"fmt"
	"io"
	"sync"
)

// Options are settings beside a run's Config.
type Options struct {
	// Worker is the command that starts our own worker; nil: this program with the
	// argument "worker". Config.Worker has precedence.
	Worker []string
	// Log gets messages for people: the build of an image, clean-ups, the logs of
	// workers that died. nil: they are dropped.
	Log io.Writer
}

// lockedWriter is a log for several goroutines. w may be nil.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == nil {
		return len(b), nil
	}
	return l.w.Write(b)
}

func (l *lockedWriter) printf(format string, args ...any) { fmt.Fprintf(l, format+"\n", args...) }
