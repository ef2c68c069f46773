package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/environments"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// engine is an environment like docker, but in virtual time. breaks returns the error
// of a call, counted from 1, that the environment fails.
type engine struct {
	mu     sync.Mutex // protects calls
	calls  int
	breaks func(call int) error
	gone   error // the environment cannot be opened
	ctx    context.Context
	seen   func(*harness.Plan) // called with each plan
}

// interruptedEngine returns an engine that interrupts its command during a run, counted
// from 1.
func interruptedEngine(t *testing.T, run int) *engine {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	e := &engine{ctx: ctx}
	e.seen = func(*harness.Plan) {
		if e.calls == run {
			cancel()
		}
	}
	return e
}

// runs runs the command with the engine as docker.
func (e *engine) runs(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := newApp(strings.NewReader(""), &stdout, &stderr)
	e.openedBy(a)
	code := a.execute(cmp.Or(e.ctx, t.Context()), args)
	return result{code, stdout.String(), stderr.String()}
}

// openedBy makes the engine the docker of an app.
func (e *engine) openedBy(a *app) {
	a.open = func(ctx context.Context, f ask.Environment) (*batch.Runner, error) {
		if f.On != "docker" {
			return a.openEnvironment(ctx, f)
		}
		return e.runner(ctx, a), e.gone
	}
}

// runner returns a runner of an app in the engine.
func (e *engine) runner(ctx context.Context, a *app) *batch.Runner {
	return &batch.Runner{Environment: &openEngine{Description: environments.Describe("docker"), engine: e, out: a.Out}, Ctx: ctx, Out: a.Out, Say: a.Say}
}

// openEngine is an engine that a command has opened.
type openEngine struct {
	batch.Description
	batch.RealTime
	engine *engine
	out    *outdir.Dir
}

func (o *openEngine) Lease(catalogue.Layout) time.Duration { return time.Second }

func (o *openEngine) Strikes(lock *catalogue.Lock, f faults.Fault) error {
	return lock.Strikes(f, "docker")
}

func (o *openEngine) Save(name string, j *harness.Judged) (string, error) { return o.out.Save(name, j) }

func (o *openEngine) Execute(_ context.Context, plan *harness.Plan, _ string) (*harness.Judged, harness.Replay, error) {
	e := o.engine
	e.mu.Lock()
	e.calls++
	call := e.calls
	e.mu.Unlock()
	if e.seen != nil {
		e.seen(plan)
	}
	other := *plan // a worker has no code here: one of our locks replaces its lock
	switch lock, known := catalogue.FindLock(plan.Lock); {
	case !known:
		other.Lock, other.Worker = "redis-set-del", nil
	case plan.Worker != nil:
		other.Use(&lock)
	}
	plan = &other
	j, fit, err := harness.Simulate(sim.Simulator, plan)
	if e.breaks != nil && err == nil {
		if err = e.breaks(call); err != nil {
			j = harness.JudgeEarly(plan, j.History, err)
		}
	}
	return j, fit, err
}

// goneIn fails in the given calls.
func goneIn(calls ...int) func(int) error {
	return func(call int) error {
		if slices.Contains(calls, call) {
			return exit.Errorf(unavailable, "the engine is gone")
		}
		return nil
	}
}

// unremoved fails after each run, when the run is complete.
func unremoved(int) error {
	return exit.Errorf(unavailable, "%w", &harness.CloseError{Err: errors.New("it does not go")})
}

// from fails in a call, and in all that follow.
func from(first int, err error) func(int) error {
	return func(call int) error {
		if call < first {
			return nil
		}
		return err
	}
}

// scripted is lockcheck as scripts call it. If the variable ENGINE is set, docker is an
// engine that does what the words of the variable say; the README of the scripts explains
// them. In the end the number of its runs is printed.
func scripted() {
	words := os.Getenv("ENGINE")
	if words == "" {
		main()
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &engine{ctx: ctx}
	for word := range strings.FieldsSeq(words) {
		name, of, _ := strings.Cut(word, "=")
		var numbers []int
		for text := range strings.SplitSeq(of, ",") {
			n, _ := strconv.Atoi(text)
			numbers = append(numbers, n)
		}
		switch name {
		case "on":
		case "fails":
			e.breaks = goneIn(numbers...)
		case "unremoved":
			e.breaks = unremoved
		case "gone":
			e.gone = exit.Errorf(unavailable, "no engine answers")
		case "interrupt":
			e.seen = func(*harness.Plan) {
				if e.calls == numbers[0] {
					cancel()
				}
			}
		case "breaks": // from a run on
			e.breaks = from(numbers[0], errors.New("the wheels came off"))
		case "full":
			e.breaks = from(numbers[0], exit.Errorf(usage, "cannot write to --out: no space left"))
		case "cut":
			e.breaks = func(call int) error {
				if call < numbers[0] {
					return nil
				}
				cancel()
				return ctx.Err()
			}
		case "restart":
			restart, err := false, exit.Errorf(unavailable, "the engine is gone")
			if of == "bug" {
				err = errors.New("the wheels came off")
			}
			e.seen = func(p *harness.Plan) { restart = len(p.Faults) > 0 && p.Faults[0].Fault == "restart" }
			e.breaks = func(int) error {
				if restart {
					return err
				}
				return nil
			}
		case "idle":
			e.seen = func(p *harness.Plan) {
				if p.Lease < time.Duration(numbers[0])*time.Second {
					p.Faults = nil
				}
			}
		case "flawed":
			e.seen = func(p *harness.Plan) { p.Lock = "redis-set-get-del" }
		case "slow":
			e.breaks = func(int) error { time.Sleep(20 * time.Millisecond); return nil }
		default:
			panic("unknown word in ENGINE: " + word)
		}
	}
	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	e.openedBy(a)
	code := a.execute(ctx, os.Args[1:])
	fmt.Fprintf(os.Stderr, "engine: %s\n", names.Count(e.calls, "run"))
	os.Exit(code)
}
