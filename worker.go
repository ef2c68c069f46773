package lockcheck

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/lockcheck/lockcheck/internal/gotest"
)

// workerEnv makes a process one client of a test on real servers. Its value names a call
// of Test: see callOf.
const workerEnv = "LOCKCHECK_WORKER"

// protocol is the standard output of such a process, or of one that repeats a run.
var protocol = takeStdout()

// takeStdout keeps the standard output of a client's process to the worker protocol, and
// that of a repetition to its history: what other code prints goes to standard error. It
// runs before the code of the test.
func takeStdout() *os.File {
	if os.Getenv(workerEnv) == "" && os.Getenv(repeatEnv) == "" {
		return nil
	}
	out := os.Stdout
	os.Stdout = os.Stderr
	return out
}

// calls counts the calls of Test in each test that goes on.
var calls = struct {
	sync.Mutex
	of map[string]int
}{of: map[string]int{}}

// callOf names this call of Test, which is the same in another process.
func callOf(t *testing.T) string {
	calls.Lock()
	defer calls.Unlock()
	name := t.Name()
	calls.of[name]++
	if calls.of[name] == 1 {
		t.Cleanup(func() {
			calls.Lock()
			defer calls.Unlock()
			delete(calls.of, name)
		})
	}
	return fmt.Sprintf("%s#%d", name, calls.of[name])
}

// serves makes this process a client if it was started for that. Then it never returns,
// or returns true if the client is one of another call.
func serves(call string, factory func(*Env) (Lock, error)) bool {
	want := os.Getenv(workerEnv)
	if want != call {
		return want != ""
	}
	real, err := gotest.Registered()
	if err == nil {
		err = real.Serve(os.Stdin, protocol, userFactory(factory))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lockcheck:", err)
		os.Exit(1)
	}
	os.Exit(0)
	return true
}
