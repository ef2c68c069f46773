package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/cluster/docker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/harness"
	"github.com/lockcheck/lockcheck/history"
)

// openDocker makes p the place with real servers.
func (a *app) openDocker(p *place) error {
	if err := docker.Available(p.ctx); err != nil {
		return &exitError{code: noPlace, err: err}
	}
	if p.lease == 0 {
		p.lease = docker.Lease
	}
	p.runs = 1
	p.has = []faults.Need{faults.NeedClock}
	if runtime.GOOS == "linux" {
		p.has = append(p.has, faults.NeedStop)
	}
	p.execute = func(plan *harness.Plan, name string) (*harness.Judged, harness.Replay, error) {
		j, err := a.inDocker(p.ctx, plan, name)
		return j, harness.Replay{}, err
	}
	p.each = func(plans []*harness.Plan, names []string) ([]*harness.Judged, error) {
		judged, errs := make([]*harness.Judged, len(plans)), make([]error, len(plans))
		var group sync.WaitGroup
		for i, plan := range plans {
			group.Go(func() { judged[i], errs[i] = a.inDocker(p.ctx, plan, names[i]) })
		}
		group.Wait()
		return judged, errors.Join(errs...)
	}
	done := map[int]*harness.Judged{} // real time does not repeat: what was run is what is kept
	p.batch = func(s *explore.Settings, progress func(int)) (*explore.Result, error) {
		clear(done)
		start := time.Now()
		r := explore.NewResult()
		for i := 0; i < s.Runs && (s.For == 0 || time.Since(start) < s.For); i++ {
			plan := s.Plan(i)
			j, err := a.inDocker(p.ctx, plan, runName(plan))
			if j != nil {
				done[i] = j
				r.Count(i, plan, j.Verdicts, j.Reached)
			}
			if p.interrupted() {
				break
			}
			if err != nil {
				return r, err
			}
			if progress != nil {
				progress(i + 1)
			}
		}
		r.Took = time.Since(start)
		return r, nil
	}
	p.again = func(_ *explore.Settings, run int) (*harness.Judged, error) { return done[run], nil }
	return nil
}

// inDocker carries out one plan. Its history is on disk line by line while it
// runs, so that nothing is lost whatever happens.
func (a *app) inDocker(ctx context.Context, plan *harness.Plan, name string) (*harness.Judged, error) {
	dir := filepath.Join(a.out, name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fail(usage, "cannot write to --out: %v", err)
	}
	f, err := os.Create(filepath.Join(dir, historyFile))
	if err != nil {
		return nil, fail(usage, "cannot write to --out: %v", err)
	}
	defer f.Close()
	var lost error // what could not be written
	begin := func(h history.Header) func(*history.Entry) {
		w, err := history.NewWriter(f, h)
		lost = err
		return func(e *history.Entry) {
			if lost == nil {
				lost = w.Append(*e)
			}
		}
	}
	o := docker.Options{Log: a.stderr}
	j, err := harness.InDocker(ctx, plan, o, begin)
	switch {
	case err != nil && ctx.Err() == nil:
		return j, fail(noPlace, "%v", err)
	case err != nil:
		return j, err
	case lost != nil:
		return j, fail(usage, "cannot write to --out: %v", lost)
	}
	return j, nil
}
