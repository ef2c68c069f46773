package suiterun

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/names"
)

// suiteCeiling is the default limit of a suite, so that a suite in CI ends by itself.
const suiteCeiling = 30 * time.Minute

// leastShrinking is the least time for minimising violations, even if time is over.
const leastShrinking = 5 * time.Second

// suiteChunk is how many runs a cell does at a time in sim, which takes a moment. In
// real time it does one.
const suiteChunk = 256

// budget is the time that a suite has.
type budget struct {
	end  time.Time
	more bool // a limit was set: use the rest of it for more runs
	// shrinking is how long violations are minimised even if no time is left: a story
	// that is too long to read is of no use.
	shrinking time.Duration
}

func newBudget(start time.Time, limit time.Duration, f Flags) budget {
	if f.Given("for") {
		limit = f.Limit
	}
	if limit > 0 {
		return budget{start.Add(limit), true, leastShrinking}
	}
	return budget{start.Add(suiteCeiling), false, leastShrinking}
}

func (b budget) left() time.Duration { return time.Until(b.end) }

// spend does the runs of cells in small portions. It ends when no cell has anything
// left to do, when time is over, or at an error.
func (run *Run) spend(ctx context.Context, cells []*suiteCell, b budget) (failed error) {
	did := make([]int, len(cells)) // number of runs of each cell, including those of other shards
	for ctx.Err() == nil && b.left() > 0 && failed == nil {
		i := next(cells, did, b.more)
		if i < 0 {
			break
		}
		c := cells[i]
		run.ShowProgress(fmt.Sprintf("%s: %s; %d of %s done", c.name, names.Count(did[i], "run"), finished(cells, did), names.Count(len(cells), "cell")))
		r, to, err := c.runOn(did[i], b.left())
		if err != nil && exit.Code(err) != exit.Unavailable && !batch.Misspoken(err) {
			failed, err = err, nil
		}
		if r != nil {
			c.result.Add(r)
			c.result.Took += r.Took
			c.lacks = c.lacks || !r.Whole && c.settings.Any(did[i], min(to, c.settings.Runs))
		}
		if batch.Misspoken(err) {
			run.mistake(cells, c, err)
		} else if c.trouble = err; err != nil {
			run.ClearProgress()
			run.Complain(err)
		}
		did[i] = to
	}
	for i, c := range cells {
		if c.open() && (c.lacks || c.settings.Any(did[i], c.settings.Runs)) {
			switch c.cut = batch.TimeOver; {
			case ctx.Err() != nil:
				c.cut = "interrupted"
			case failed != nil:
				c.cut = batch.ErrorEnded
			}
		}
	}
	return failed
}

// mistake notes that the worker of a cell broke the protocol. The other cells of its
// entry would end in the same way and are ended, too; other entries continue.
func (run *Run) mistake(cells []*suiteCell, c *suiteCell, err error) {
	run.misspoke = cmp.Or(run.misspoke, err)
	for _, o := range cells {
		if o.line == c.line && o.open() {
			o.trouble = err
		}
	}
}

// open reports whether a cell can have runs.
func (c *suiteCell) open() bool { return c.absent == nil && c.trouble == nil && !c.elsewhere }

// runOn does the next runs of a cell. to is the first run after them.
func (c *suiteCell) runOn(from int, left time.Duration) (r *explore.Result, to int, err error) {
	s := c.settings
	chunk := suiteChunk
	if s.On != "sim" {
		chunk = 1
	}
	s.From, s.For = from, left
	s.Runs = from + chunk
	switch {
	case from < c.settings.Runs:
		s.Runs = min(s.Runs, c.settings.Runs)
	case c.runsOn(from):
		s.Runs = min(s.Runs, from+c.settings.Runs) // no further than necessary
	}
	r, err = c.runner.Batch(&s, nil)
	return r, s.Runs, err
}

// A cell whose promises were kept by runs that could not have broken them continues. It
// ends at untestedShare times its runs, or at the number below for its environment if
// that is more.
const untestedShare = 4

var untestedRuns = map[string]int{"sim": batch.UsualRuns["sim"], "docker": 8, "external": 8}

// runsOn reports whether a cell that has done all its runs needs more of them to test
// its promises. The promises of shards are tested together or not at all.
func (c *suiteCell) runsOn(did int) bool {
	most := max(untestedShare*c.settings.Runs, untestedRuns[c.settings.On])
	return c.settings.Shard.Of <= 1 && did < most && !c.broken() &&
		slices.ContainsFunc(c.result.Untested(), func(p explore.Pair) bool { return c.promise.Covers(p.Property) })
}

// next returns the cell that continues: the one that has done the smallest share of its
// runs. After that, it is the cell with the fewest runs among those with untested
// promises; then, if more is set, among those with unbroken promises. It returns -1 if
// nothing is left to do.
func next(cells []*suiteCell, did []int, more bool) int {
	least := func(among func(i int) bool, before func(i, j int) bool) int {
		best := -1
		for i, c := range cells {
			if c.open() && among(i) && (best < 0 || before(i, best)) {
				best = i
			}
		}
		return best
	}
	i := least(func(i int) bool { return did[i] < cells[i].settings.Runs }, func(i, j int) bool {
		return did[i]*cells[j].settings.Runs < did[j]*cells[i].settings.Runs
	})
	if i >= 0 {
		return i
	}
	byRuns := func(i, j int) bool { return did[i] < did[j] }
	if i = least(func(i int) bool { return cells[i].runsOn(did[i]) }, byRuns); i >= 0 || !more {
		return i
	}
	return least(func(i int) bool { return !cells[i].broken() }, byRuns)
}

// finished counts the cells that have done all their runs.
func finished(cells []*suiteCell, did []int) int {
	n := 0
	for i, c := range cells {
		if !c.open() || did[i] >= c.settings.Runs {
			n++
		}
	}
	return n
}
