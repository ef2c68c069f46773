package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/workloads"
)

// Cell is one lock in one column of the table: a batch of runs with an expectation.
type Cell struct {
	Settings        // Runs is the upper limit
	Fault    string // or catalogue.NoFault, or a workload, whose runs have no fault
	Expect   catalogue.Expectation
	// Least is the minimum number of runs, even if all codes are found earlier: the
	// properties that must hold are tested as often as in a cell without expected
	// violations.
	Least int
}

// leastShare: a flawed variant whose expectation is that of the sound lock gets this
// share of the runs, because the sound lock was tested fully.
const leastShare = 4

// NewCell returns a lock under a fault, with the settings that all cells share. A lock
// outside the catalogue must satisfy the expectation of the lock called like.
func NewCell(shared Settings, lock catalogue.Lock, like, fault string, calibration *catalogue.Calibration) (*Cell, error) {
	c := &Cell{Settings: shared, Fault: fault}
	c.Lock = lock.ID
	if lock.ID != like {
		c.Use = &lock
	}
	if f, ok := faults.Find(fault); ok {
		c.Kinds = []faults.Fault{f}
	} else if w, ok := workloads.Find(fault); ok {
		c.Workloads = []workloads.Workload{w}
	}
	var err error
	if c.Expect, err = catalogue.Expect(like, fault); err != nil {
		return nil, err
	}
	if c.Inherited() {
		c.Runs = max(1, c.Runs/leastShare)
	}
	c.Least = c.Runs
	if !c.Expect.Holds() {
		if budget := calibration.Budget(c.Expect.Of, fault, c.Expect.Must); budget > 0 {
			c.Runs = max(budget, c.Least)
		}
	}
	return c, nil
}

// Inherited reports whether the expectation is that of another lock.
func (c *Cell) Inherited() bool {
	lock, ok := catalogue.FindLock(c.Lock)
	return ok && lock.Like == c.Expect.Of
}

// Shown reports whether the runs show all codes that they must show.
func (c *Cell) Shown(r *Result) bool { return len(c.missing(r)) == 0 }

// missing returns the codes that the runs must show and do not.
func (c *Cell) missing(r *Result) (list []catalogue.Code) {
	for _, code := range c.Expect.Must {
		if !r.Found(code) {
			list = append(list, code)
		}
	}
	return list
}

// Found reports whether the runs show a code. Without reported leases, exclusion alone
// counts for an overlap.
func (r *Result) Found(code catalogue.Code) bool {
	for _, p := range code.Properties() {
		out := r.Outcome(p)
		if out != checker.Violated && (p != checker.LeaseExclusion || out != checker.NA) {
			return false
		}
	}
	return code != catalogue.Safe
}

// Only returns r with only the violations that run was the first to show.
func (r *Result) Only(run int) *Result {
	o := NewResult()
	o.Runs = r.Runs
	for p, t := range r.Outcomes {
		if t.Count[checker.Violated] > 0 && t.First[checker.Violated] == run {
			o.Outcomes[p].Count[checker.Violated], o.Outcomes[p].First[checker.Violated] = t.Count[checker.Violated], run
		}
	}
	return o
}

// Standing is the result of a cell.
type Standing uint8

const (
	AsExpected Standing = iota + 1
	Unexpected          // an unexpected violation was found
	Missing             // an expected violation was not found
	Unproven            // the runs prove nothing
	NotShown            // as Missing, but the time was limited
)

func (s Standing) String() string {
	return [...]string{"?", "as-expected", "unexpected", "missing", "unproven", "not-shown"}[s]
}

// Judgement compares a cell's runs with its expectation.
type Judgement struct {
	Standing   Standing
	Unexpected []checker.Property
	Missing    []catalogue.Code
	Reason     string // empty for AsExpected
	Cut        bool   // unproven because it was interrupted
}

// Judge compares. whole: the cell has all its runs.
func (c *Cell) Judge(r *Result, whole bool) Judgement {
	var j Judgement
	var unknown []string
	for _, p := range checker.Properties {
		switch r.Outcome(p) {
		case checker.Violated:
			if !slices.Contains(c.Expect.May, p) {
				j.Unexpected = append(j.Unexpected, p)
			}
		case checker.Unknown:
			unknown = append(unknown, fmt.Sprintf("%s is unknown: %s", p, r.Outcomes[p].Reasons[checker.Unknown]))
		}
	}
	j.Missing = c.missing(r)
	vacuous := r.Vacuous()
	switch {
	case len(j.Unexpected) > 0:
		j.Standing, j.Reason = Unexpected, names.Join(j.Unexpected, ", ")+" violated, which is not expected"
	case !whole:
		j.Standing, j.Reason, j.Cut = Unproven, "interrupted after "+names.Count(r.Runs, "run"), true
	case vacuous != "":
		j.Standing, j.Reason = Unproven, vacuous
	case len(unknown) > 0:
		j.Standing, j.Reason = Unproven, strings.Join(unknown, "; ")
	case len(j.Missing) > 0 && c.For > 0:
		j.Standing, j.Reason = NotShown, names.Join(j.Missing, ", ")+" not shown in "+names.Count(r.Runs, "run")
	case len(j.Missing) > 0:
		j.Standing, j.Reason = Missing, names.Join(j.Missing, ", ")+" not found in "+names.Count(r.Runs, "run")
	default:
		j.Standing = AsExpected
	}
	return j
}

// portion is how many runs are handed out at a time. A cell may end after each portion,
// so its number of runs does not depend on the number of jobs.
const portion = 25

// Far is the progress of a matrix.
type Far struct {
	Cells, CellsDone int
	Runs             int // done
	Left             int // an estimate
}

// Matrix executes the runs of all cells in virtual time, and returns their results in
// the order of the cells. It ends early, with partial results, when ctx ends; whole
// reports of each cell whether it has all its runs. progress may be nil.
func Matrix(ctx context.Context, sim env.Simulator, cells []*Cell, jobs int, progress func(Far)) (results []*Result, whole []bool, err error) {
	m := &matrix{progress: progress}
	for _, c := range cells {
		m.tracks = append(m.tracks, &track{cell: c, total: NewResult(), waiting: map[int]*Result{}})
	}
	var group sync.WaitGroup
	for range Workers(jobs) {
		group.Go(func() { m.work(ctx, newBuffer(sim)) })
	}
	group.Wait()
	for _, t := range m.tracks {
		results, whole = append(results, t.total), append(whole, t.done)
	}
	return results, whole, m.err
}

// matrix hands out portions of runs.
type matrix struct {
	mu       sync.Mutex
	tracks   []*track
	runs     int
	err      error
	progress func(Far)
}

// track is the progress of one cell.
type track struct {
	cell    *Cell
	total   *Result         // of all runs before merged
	taken   int             // the first run that no worker has taken
	merged  int             // the first run that is not in total
	waiting map[int]*Result // portions after merged, by their first run
	done    bool
}

// required returns how many runs the cell needs, whatever they show.
func (t *track) required() int { return min(t.cell.Least, t.cell.Runs) }

func (m *matrix) work(ctx context.Context, buffer *buffer) {
	defer buffer.Close()
	for {
		t, from, to := m.take(ctx)
		if t == nil {
			return
		}
		part := NewResult()
		var err error
		for i := from; i < to && err == nil && ctx.Err() == nil; i++ {
			err = part.run(&t.cell.Settings, i, buffer)
		}
		m.give(t, from, part, err)
	}
}

// take returns the next portion: of a cell's required runs first, then of its others.
func (m *matrix) take(ctx context.Context) (t *track, from, to int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil || m.err != nil {
		return nil, 0, 0
	}
	for _, limit := range []func(*track) int{(*track).required, func(t *track) int { return t.cell.Runs }} {
		for _, t := range m.tracks {
			if most := limit(t); !t.done && t.taken < most {
				from = t.taken
				t.taken = min(from+portion, most)
				return t, from, t.taken
			}
		}
	}
	return nil, 0, 0
}

// give merges a portion. Portions count in their order. Those after the end of their
// cell do not count, nor those after one that was cut short.
func (m *matrix) give(t *track, from int, part *Result, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil && m.err == nil {
		m.err = err
	}
	m.runs += part.Runs
	t.waiting[from] = part
	for next := t.waiting[t.merged]; next != nil && !t.done; next = t.waiting[t.merged] {
		delete(t.waiting, t.merged)
		t.total.Add(next)
		t.merged += next.Runs
		t.done = t.merged >= t.cell.Runs || t.merged >= t.cell.Least && t.cell.Shown(t.total)
	}
	if m.progress != nil {
		m.progress(m.far())
	}
}

func (m *matrix) far() Far {
	f := Far{Cells: len(m.tracks), Runs: m.runs}
	for _, t := range m.tracks {
		if t.done {
			f.CellsDone++
		} else {
			f.Left += max(0, t.required()-t.merged)
		}
	}
	return f
}
