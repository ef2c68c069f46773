package docker_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/lockcheck/lockcheck/internal/worker"
)

// TestMain makes this program a worker, like the command, or a run of its own for tests
// that kill one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case abandonArgument:
			abandon()
		case callerArgument:
			serve(newCaller(os.Args[2]))
		case anybodyArgument:
			serve(newAnybody)
		case "worker":
			serve(worker.Catalogue)
		}
	}
	os.Exit(m.Run())
}

// serve makes this program a worker to its end.
func serve(f worker.Factory) {
	if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, f); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
