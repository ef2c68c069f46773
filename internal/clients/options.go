package clients

import (
	"io"
	"log"
)

// Options are settings beside a run's Config.
type Options struct {
	// Worker is the command that starts our own worker; nil: this program with the
	// argument "worker". Config.Worker has precedence.
	Worker []string
	// Env is added to the environment of workers.
	Env []string
	// Log gets messages for people: the build of an image, clean-ups, the logs of
	// workers that died. nil: they are dropped.
	Log io.Writer
}

// Logger returns Log, for several goroutines.
func (o Options) Logger() *log.Logger {
	if o.Log == nil {
		o.Log = io.Discard
	}
	return log.New(o.Log, "", 0)
}
