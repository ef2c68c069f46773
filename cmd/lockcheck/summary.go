package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/harness"
)

// summary prints what came of a batch. about is the property whose story was told; "": none.
func (a *app) summary(s *explore.Settings, r *explore.Result, pr promise, kept map[int]keptRun, short map[checker.Property]shrunkRun, about checker.Property, vacuous string) {
	on := s.On
	if s.Strategy != harness.Random {
		on += " by " + s.Strategy
	}
	a.printf("%s on %s: %s from seed %d, in %.1f s\n\n", s.Lock, on, plural(r.Runs, "run"), s.Seed, r.Took.Seconds())
	for _, prop := range checker.Properties {
		out, t := r.Outcome(prop), r.Outcomes[prop]
		words := ""
		switch out {
		case checker.Violated:
			words = fmt.Sprintf("in %s, first with seed %d", plural(t.Count[checker.Violated], "run"), s.Seed+uint64(t.First[checker.Violated]))
		case checker.Unknown, checker.NA:
			words = t.Reasons[out]
		}
		if !pr.covers(prop) {
			words = strings.TrimPrefix(words+", not promised", ", ")
		}
		a.paragraph(29, strings.TrimRight(fmt.Sprintf("%s %-16s %-9s %s", a.sign(out), prop, out, words), " "))
	}
	a.printf("\n")
	a.reached(reachedLines(s, r))
	if r.Empty > 0 {
		a.paragraph(9, fmt.Sprintf("         In %s nobody got the lock; they count for nothing.", plural(r.Empty, "run")))
	}
	if vacuous != "" {
		a.paragraph(2, "Proves nothing: "+vacuous+".")
	}
	runs := slices.Sorted(maps.Keys(kept))
	for i, run := range runs {
		if i == 4 && !a.verbose {
			a.printf("         … and %d more below %s\n", len(runs)-i, a.out)
			break
		}
		a.printf("Files    %s\n", kept[run].dir)
		if shows := shows(r, run); shows != "" {
			a.paragraph(9, "         the first run with "+shows)
		}
	}
	switch shrunk, ok := short[about]; {
	case ok:
		a.printf("Shrunk   %s\n", shrunk.dir)
		a.replayLine(shrunk.dir)
	case about != "":
		a.replayLine(kept[r.Outcomes[about].First[checker.Violated]].dir)
	case len(runs) > 0:
		a.replayLine(kept[runs[0]].dir)
	}
	a.printf("\n")
}

// shows says which properties a run was the first to violate, or left open.
func shows(r *explore.Result, run int) string {
	var parts []string
	for _, out := range []checker.Outcome{checker.Violated, checker.Unknown} {
		var names []string
		for _, prop := range checker.Properties {
			if t := r.Outcomes[prop]; t.Count[out] > 0 && t.First[out] == run {
				names = append(names, string(prop))
			}
		}
		if len(names) > 0 {
			parts = append(parts, strings.Join(names, ", ")+" "+out.String())
		}
	}
	return strings.Join(parts, " and ")
}
