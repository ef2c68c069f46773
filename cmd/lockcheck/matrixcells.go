package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/workloads"
)

// columns returns the faults to look at. They include "none", unless a flag takes it
// out, and with "none" the workloads that misuse the lock.
func (f *matrixFlags) columns() ([]string, error) {
	list := slices.Clone(f.faults)
	none := slices.ContainsFunc(list, func(name string) bool { return name == "all" || name == catalogue.NoFault }) ||
		len(list) > 0 && strings.HasPrefix(list[0], "-")
	if len(list) > 1 || len(list) == 1 && list[0] == "-none" {
		none = none && !slices.Contains(list, "-none")
		list = slices.DeleteFunc(list, func(name string) bool { return strings.TrimPrefix(name, "-") == catalogue.NoFault })
		if len(list) == 0 {
			list = []string{"all"}
		}
	}
	kinds, err := ask.Faults(list)
	if err != nil {
		return nil, err
	}
	var names []string
	if none {
		names = append(names, catalogue.NoFault)
		for _, w := range workloads.Misuses() {
			names = append(names, w.Name)
		}
	}
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names, nil
}

// cells returns the cells that the arguments and flags name. absent lists the pairs of
// a lock and a fault that have no cell in this environment.
func (a *app) cells(p *batch.Runner, args []string, f matrixFlags) (cells []*explore.Cell, absent []results.MatrixNoCell, err error) {
	ids, err := ask.Match("lock", args, names.Locks())
	if err != nil {
		return nil, nil, err
	}
	names, err := f.columns()
	if err != nil {
		return nil, nil, err
	}
	calibration, err := catalogue.Calibrated()
	if err != nil {
		return nil, nil, err
	}
	shared := explore.Settings{
		On: p.Name(), Lease: p.BaseLease(), Seed: f.seed, Runs: f.runs, Jobs: f.jobs,
		Clients: explore.AnyClients, Acquires: explore.AnyAcquires, Count: explore.AnyCount,
	}
	if p.Name() != "sim" {
		shared.Usual(p.BaseLease())
		shared.Count, shared.Busy = explore.Exactly(1), false // expectations are for single faults
		shared.Runs, shared.For = batch.Unlimited, f.limit
	}
	var kinds []faults.Fault
	for _, name := range names {
		if k, ok := faults.Find(name); ok {
			kinds = append(kinds, k)
		}
	}
	if kinds, err = ask.AvailableFaults(a.Say, p, kinds, true); err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		lock, _ := catalogue.FindLock(id)
		for _, name := range names {
			i := slices.IndexFunc(kinds, func(k faults.Fault) bool { return k.Name == name })
			if _, kind := faults.Find(name); kind && i < 0 || !kind && !slices.Contains(lock.Columns(), name) {
				continue
			}
			if i >= 0 {
				if reason := cmp.Or(lock.Applies(kinds[i], shared.Server), p.Strikes(&lock, kinds[i])); reason != nil {
					absent = append(absent, results.MatrixNoCell{Lock: id, Fault: name, Reason: reason.Error()})
					continue
				}
			}
			c, err := explore.NewCell(shared, lock, id, name, &calibration)
			if err != nil {
				return nil, nil, err
			}
			if f.holding && !c.Expect.HoldsSlowly() {
				continue
			}
			cells = append(cells, c)
		}
	}
	switch {
	case len(cells) > 0:
		return cells, absent, nil
	case f.holding:
		return nil, nil, exit.Errorf(exit.Usage, "none of these cells must hold: leave out --holding, or name other locks or faults")
	}
	return nil, nil, exit.Errorf(exit.Usage, "none of these faults applies: %s", absent[0].Reason)
}
