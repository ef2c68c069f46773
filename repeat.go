package lockcheck

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// repeatEnv makes a process write the history of one run to its standard output, instead
// of testing.
const repeatEnv = "LOCKCHECK_REPEAT"

// repeatLimit is how long such a process may take.
const repeatLimit = 5 * time.Minute

// repeat carries out a run twice more, in new processes, which find it by flags of go
// test. It returns an error if the run does not repeat: then it is no evidence.
func (x *suite) repeat(t *testing.T, j *harness.Judged, flags ...string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	want := lines(j.History)
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), repeatLimit)
		defer cancel()
		words := command(program, t.Name(), flags...)
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Env = append(os.Environ(), repeatEnv+"=1")
		var out, log bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &log
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("the run with seed %d cannot be repeated in a new process: %w\n%s", j.Plan.Seed, err, &log)
		}
		got := bytes.SplitAfter(out.Bytes(), []byte("\n"))
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || !bytes.Equal(want[i], got[i]) {
				return fmt.Errorf("the run with seed %d does not repeat, so it is no evidence: line %d of its history is different in a new process\n  here   %s  there  %s",
					j.Plan.Seed, i+1, at(want, i), at(got, i))
			}
		}
	}
	return nil
}

func at(lines [][]byte, i int) []byte {
	if i < len(lines) {
		return lines[i]
	}
	return []byte("(its end)\n")
}

// lines returns the lines of a history.
func lines(h *history.History) [][]byte {
	var b bytes.Buffer
	history.Encode(&b, h) // a buffer does not fail
	return bytes.SplitAfter(b.Bytes(), []byte("\n"))
}

// repeats writes the history of one run, if this process was started for that.
func (x *suite) repeats(t *testing.T, plan *harness.Plan) bool {
	t.Helper()
	if os.Getenv(repeatEnv) == "" {
		return false
	}
	j, _, err := harness.Simulate(bubble.Simulator(t, x.factory), plan)
	if err == nil {
		err = history.Encode(protocol, j.History)
	}
	if err != nil {
		t.Fatalf("lockcheck: %v", err)
	}
	return true
}
