package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// in runs the command in an environment that the test has changed.
func in(t *testing.T, ctx context.Context, by func(*changed), args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := newApp(strings.NewReader(""), &stdout, &stderr)
	a.open = func(ctx context.Context, f ask.Environment) (*batch.Runner, error) {
		p, err := a.openEnvironment(ctx, f)
		if err == nil {
			change(p, by)
		}
		return p, err
	}
	code := a.execute(ctx, append(args, "--out", t.TempDir()))
	return result{code, stdout.String(), stderr.String()}
}

func TestAPanicIsABug(t *testing.T) {
	broken := func(p *changed) {
		p.batch = func(*explore.Settings, func(int)) (*explore.Result, error) { panic("no wheels") }
	}
	r := in(t, t.Context(), broken, "run", "redis-set-lua")
	r.wants(t, bug, "this is a bug of lockcheck: panic: no wheels; please report it with the command")
	if strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("more than a line:\n%s", r.stderr)
	}
	in(t, t.Context(), broken, "run", "redis-set-lua", "-v").wants(t, bug, "no wheels; please", "exit_test.go:")
}

func TestARunThatDoesNotRepeatIsABug(t *testing.T) {
	r := in(t, t.Context(), func(p *changed) {
		p.again = func(s *explore.Settings, run int) (*harness.Judged, error) {
			plan := s.Plan(run)
			plan.Faults = nil
			j, _, err := harness.Simulate(sim.Simulator, plan)
			return j, err
		}
	}, "run", "redis-set-lua", "--fault", "pause", "--seed", "1", "--runs", "50")
	r.wants(t, bug, " violated exclusion, and did not when it was repeated")
}

func TestAnInterruptedRunEndsWith130(t *testing.T) {
	interrupt := func(err error, args ...string) result {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		return in(t, ctx, func(p *changed) {
			batch := p.batch
			p.batch = func(s *explore.Settings, _ func(int)) (*explore.Result, error) {
				r, _ := batch(s, func(int) { cancel() })
				return r, err
			}
		}, args...)
	}
	args := []string{"run", "redis-set-lua", "--fault", "pause", "--seed", "1", "--runs", "1000000"}
	r := interrupt(nil, args...)
	r.wants(t, interrupted, "redis-set-lua on sim:", "lockcheck: interrupted; what there was until then is kept\n")
	if !strings.Contains(r.stdout, "VIOLATED") {
		t.Errorf("the runs until then are not told:\n%s", r.stdout)
	}
	r = interrupt(exit.Errorf(usage, "cannot write to --out: disk full"), args...)
	if want := "lockcheck: cannot write to --out: disk full\nlockcheck: interrupted; what there was until then is kept\n"; r.code != interrupted || r.stderr != want {
		t.Errorf("exit code %d, and\n%s", r.code, r.stderr)
	}
	if r = interrupt(context.Canceled, args...); r.code != interrupted || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("exit code %d, and\n%s", r.code, r.stderr)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r = in(t, ctx, nil, "list", "locks"); r.code != interrupted || r.stderr != "lockcheck: interrupted\n" {
		t.Errorf("exit code %d, and\n%s", r.code, r.stderr)
	}
}

func TestNoColorIsHonoured(t *testing.T) {
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, like a terminal
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	for _, tt := range []struct {
		noColor, term string
		want          bool
	}{{"", "xterm", true}, {"1", "xterm", false}, {"", "dumb", false}} {
		t.Setenv("NO_COLOR", tt.noColor)
		t.Setenv("TERM", tt.term)
		if a := newApp(nil, device, new(bytes.Buffer)); a.Color != tt.want {
			t.Errorf("NO_COLOR=%q TERM=%s: colour is %v", tt.noColor, tt.term, !tt.want)
		}
	}
	if newApp(nil, new(bytes.Buffer), new(bytes.Buffer)).Color {
		t.Error("colour in a file")
	}
}

// failing is a stdout that cannot be written to.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// A reader that goes away does not change the verdict either. Any other loss of output
// is reported, whatever the verdict.
func TestAReaderThatGoesAwayIsNoError(t *testing.T) {
	convicts := strings.Fields("run redis-set-del --fault pause --seed 1 --runs 20 --no-shrink")
	for _, tt := range []struct {
		err  error
		want int
	}{
		{&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, held},
		{errors.New("no space left on device"), usage},
	} {
		for _, args := range [][]string{{"list", "locks", "--json"}, {"case", "redis-get-del-race"}, {"help"}, convicts, append(convicts, "--json")} {
			var stderr bytes.Buffer
			code := execute(t.Context(), append(slices.Clone(args), "--out", t.TempDir()), nil, failing{tt.err}, &stderr)
			want := tt.want
			if args[0] == "run" && want == held {
				want = violated
			}
			said := strings.Contains(stderr.String(), "cannot write what was found: no space left")
			if code != want || said != (tt.want == usage) {
				t.Errorf("%q on %v: exit code %d\n%s", args, tt.err, code, &stderr)
			}
		}
	}
}
