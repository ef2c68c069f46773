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
	if len(os.Args) > 1 && os.Args[1] == abandonArgument {
		abandon()
	}
	if len(os.Args) > 1 && os.Args[1] == callerArgument {
		bringCaller(os.Args[2])
	}
	if len(os.Args) > 1 && os.Args[1] == anybodyArgument {
		bringAnybody()
	}
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, worker.Catalogue); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
