package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
)

// bounds prints the outcomes of the searches of one lock.
func (a *app) bounds(cells []results.Cell, shards *results.Shards) {
	lock, on, pr := cells[0].Lock, cells[0].On, cells[0].Promises
	searched := slices.DeleteFunc(slices.Clone(cells), func(c results.Cell) bool { return c.Bound == nil }) // without searches of other shards
	if len(searched) == 0 {
		a.Paragraph(2, fmt.Sprintf("%s on %s, exhaustively%s: no search falls to it", lock, on, shardWords(shards)))
		a.Printf("\n")
		return
	}
	first := &searched[0]
	most := "at most " + names.Count(first.Bound.Faults, "fault")
	if first.Faults == nil {
		most = "no fault"
	}
	a.Printf("%s on sim, exhaustively%s: %s × %d, %s\n\n", lock, shardWords(shards), names.Count(first.Bound.Clients, "client"), first.Bound.Acquires, most)
	a.Paragraph(9, "Bound    "+searched[len(searched)-1].Bound.Words())
	a.Printf("\n")
	code := exit.Held
	for i := range searched {
		c := &searched[i]
		a.bound(c)
		code = exit.Worse(code, exit.Of(pr.Judge(c.Result().Outcome)))
	}
	if code == exit.Unproven {
		a.Paragraph(2, "Proves nothing: "+results.Open(searched)+".")
	}
	var second checker.Second
	for i := range searched {
		second.Add(searched[i].Second())
	}
	a.Judges(second)
	a.boundFiles(searched)
	a.Printf("\n")
}

// boundFiles prints the directories of the counterexamples of searches, and for each
// promise the command that repeats the first one.
func (a *app) boundFiles(cells []results.Cell) {
	var kept []string
	again := ""
	for i := range cells {
		for _, p := range cells[i].Properties {
			if p.Counterexample == nil || p.Replay == "" {
				continue
			}
			dir := filepath.Dir(p.File)
			kept = append(kept, dir)
			if p.Promised {
				again = cmp.Or(again, dir)
			}
		}
	}
	for i, dir := range kept {
		if i == 8 && !a.Verbose {
			a.Printf("         … and %d more below %s\n", len(kept)-i, a.out.Path)
			break
		}
		a.Printf("Files    %s\n", dir)
	}
	if kept != nil {
		a.ReplayLine(cmp.Or(again, kept[0]))
	}
}
