package suiterun

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// keptCell is a kept counterexample and the outcome of its replay.
type keptCell struct {
	file    string // its schedule
	text    []byte // the text of the file
	plan    *harness.Plan
	servers *endpoints.Servers // of external; nil: not needed
	promise checker.Promise
	name    string // its directory below --out
	cell    results.Cell
}

// replayKept replays the kept counterexamples of this shard. It stops when time is
// over, or at an error that ends the suite.
func (run *Run) replayKept(ctx context.Context, kept []*keptCell, b budget) (failed error) {
	for i, k := range kept {
		k.cell.Take(explore.NewResult())
		switch {
		case !run.Flags.Shard.Has(k.cell.Name, k.cell.Seed):
		case ctx.Err() != nil:
			k.cell.Cut = "interrupted"
		case b.left() <= 0:
			k.cell.Cut = batch.TimeOver
		case failed != nil:
			k.cell.Cut = batch.ErrorEnded
		default:
			run.ShowProgress(fmt.Sprintf("%s; %d of %s of the past done", k.cell.Name, i, names.Count(len(kept), "counterexample")))
			if err := run.replayOne(ctx, k); err != nil {
				failed, k.cell.Cut = fmt.Errorf("%s: %w", k.file, err), batch.ErrorEnded
			}
		}
	}
	return failed
}

// replayOne replays a kept counterexample. In real time no run is exactly like the one
// before, so a run that proves nothing is repeated. One violation is enough, even if
// the environment failed after it. Any other run that the environment failed is retried
// once.
func (run *Run) replayOne(ctx context.Context, k *keptCell) error {
	r := explore.NewResult()
	var judged *harness.Judged // nil: no run counts
	var dir string
	var broke error //  an error that does not come from the environment
	for try := 1; ; try++ {
		plan := *k.plan
		var j *harness.Judged
		var fit harness.Replay
		var at string
		p, err := run.Open(ctx, ask.Environment{On: plan.On, Lease: plan.Lease, Servers: k.servers})
		opened := err == nil
		if opened {
			k.cell.ReplayFlags = p.ReplayFlags(plan.Worker)
			j, fit, at, err = p.CarryOut(&plan, k.name)
		}
		shown := err != nil && (batch.Unclosed(err) || batch.Convicted(j))
		if shown {
			judged, dir = j, at
			r.Count(0, &plan, j.Verdicts, j.Reached, &j.Hazards)
		}
		over := ctx.Err() != nil
		switch {
		case err == nil && !over && k.open(j) && plan.On != "sim" && try < batch.Tries+r.Retried:
			continue
		case err == nil:
			judged, dir, k.cell.Unfit = j, at, fit.Unused+fit.Defaulted
			r.Count(0, &plan, j.Verdicts, j.Reached, &j.Hazards)
		case over:
			k.cell.Cut = "interrupted"
		case exit.Code(err) == exit.Unavailable && !shown && opened && r.Retried == 0:
			run.Say("lockcheck: %s is tried again, as the environment failed: %v\n", k.file, err)
			r.Retried++
			continue
		case exit.Code(err) == exit.Unavailable:
			k.cell.Trouble = err.Error()
		case batch.Misspoken(err):
			k.cell.Trouble, run.misspoke = err.Error(), cmp.Or(run.misspoke, err)
		default:
			broke = err
		}
		break
	}
	k.cell.Take(r)
	for i := range k.cell.Properties {
		p := &k.cell.Properties[i]
		if judged == nil || judged.Outcome(p.Property) != checker.Violated {
			continue
		}
		p.Counterexample = &results.Counterexample{Seed: k.plan.Seed, File: filepath.Join(dir, rundir.HistoryFile)}
		batch.Explain(p.Counterexample, judged, p.Property)
		if rundir.Exists(p.File) {
			p.Replay = terminal.Replay(k.file, k.cell.ReplayFlags...)
		}
	}
	return broke
}

// open reports whether a run neither breaks the promise nor shows that it is kept.
func (k *keptCell) open(j *harness.Judged) bool {
	out := k.promise.Judge(j.Outcome)
	return out == checker.Unknown || out == checker.Valid && batch.Idle(j) != ""
}
