package main

import (
	"cmp"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
)

// runExhaustive searches all possible orders of each lock, under one kind of fault
// after the other. A limit that a flag sets is for all searches together.
func (a *app) runExhaustive(p *batch.Runner, ids []string, s explore.Settings, pr checker.Promise, f runFlags, doc *results.Document) error {
	var end time.Time
	if s.For > 0 {
		end = time.Now().Add(s.For)
	}
	options := s.Options
	ids, err := ask.SearchableLocks(a.Say, ids)
	if err != nil {
		return err
	}
	if s.Kinds, err = ask.SearchableFaults(a.Say, s.Kinds); err != nil {
		return err
	}
	if ids, err = ask.Fitting(a.Say, ids, func(id string) error {
		_, err := ask.ApplicableWorkloads(a.Say, id, s.Workloads, f.Workloads)
		return err
	}); err != nil {
		return err
	}
	kinds := s.Kinds
	return a.runEach(p, ids, doc, func(id string) error {
		s.Lock, s.Options, s.Kinds = id, ask.Fenced(id, options, s.Fencing), kinds
		return a.exhaustLock(p, s, pr, doc, end)
	})
}

// exhaustLock searches all possible orders of one lock.
func (a *app) exhaustLock(p *batch.Runner, s explore.Settings, pr checker.Promise, doc *results.Document, end time.Time) error {
	var told *harness.Judged
	var cells []results.Cell
	var failed error
	for _, kind := range s.Kinds {
		if s.Kinds = []faults.Fault{kind}; kind.Name == "" {
			s.Kinds = nil
		}
		if name := batch.SearchName(&s, kind.Name); !s.Shard.Has(name, s.Seed) {
			cells = append(cells, batch.SearchElsewhere(&s, kind.Name, pr))
			continue
		}
		cell, shortest, err := p.Exhaust(s, pr, end, a.SearchProgress(s.Lock, kind.Name))
		a.ClearProgress()
		if err == nil || outdir.Unkept(err) {
			cells, told = append(cells, cell), cmp.Or(told, shortest)
		}
		if failed = err; failed != nil || p.Interrupted() {
			break
		}
	}
	doc.Cells = append(doc.Cells, cells...)
	if a.JSON || failed != nil && !outdir.Unkept(failed) {
		return failed
	}
	if told != nil {
		if err := a.Shortest(told, pr); err != nil {
			return err
		}
	}
	a.Searches(cells, doc.Shards)
	return failed
}
