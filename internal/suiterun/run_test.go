package suiterun

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/environments"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/suite"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// newSession returns a run of a suite in the simulator.
func newRun(t *testing.T) *Run {
	term, out := terminal.New(io.Discard, io.Discard), &outdir.Dir{Path: t.TempDir()}
	opener := &environments.Opener{Out: out, Log: io.Discard, Say: term.Say}
	return &Run{
		Terminal: term, Out: out, Flags: Flags{Given: func(string) bool { return false }},
		Open: func(ctx context.Context, e ask.Environment) (*batch.Runner, error) {
			return opener.Open(ctx, e.On, e.Lease)
		},
		Unopened: func(on string) *batch.Runner { return opener.Unopened(on, 0) },
	}
}

// cellsOf returns the cells of a suite.
func cellsOf(t *testing.T, run *Run, text string) []*suiteCell {
	t.Helper()
	s, err := suite.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := run.suiteCells(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// limited is an environment in which time ends the last batch of a cell.
type limited struct {
	batch.Environment
	runs  int
	limit time.Duration
}

func (l limited) Batch(r *batch.Runner, s *explore.Settings, progress func(int)) (*explore.Result, error) {
	if s.For = 0; s.Runs == l.runs {
		s.For = l.limit
	}
	return l.Environment.Batch(r, s, progress)
}

func TestTheCellThatHasLeastOfItsRunsGoesOn(t *testing.T) {
	cells := func(runs ...int) (list []*suiteCell) {
		for _, n := range runs {
			list = append(list, &suiteCell{settings: explore.Settings{Runs: n}, result: explore.NewResult()})
		}
		return list
	}
	broken := cells(10, 10)
	broken[0].result.Outcomes[checker.Exclusion].Count[checker.Violated] = 1
	gone := cells(10, 10)
	gone[0].trouble = exit.Errorf(exit.Unavailable, "the engine is gone")
	absent := cells(10, 10)
	absent[0].absent = exit.Errorf(exit.Usage, "it does not apply")
	for _, tt := range []struct {
		what  string
		cells []*suiteCell
		did   []int
		more  bool
		want  int
	}{
		{"the first, to begin with", cells(10, 10), []int{0, 0}, false, 0},
		{"the one with fewer", cells(10, 10), []int{4, 2}, false, 1},
		{"the smaller share, not the smaller number", cells(1000, 4), []int{256, 2}, false, 0},
		{"one that has all is done", cells(10, 1000), []int{10, 999}, false, 1},
		{"all are done", cells(10, 10), []int{10, 10}, false, -1},
		{"time is left: the one that ran least", cells(10, 1000), []int{266, 1000}, true, 0},
		{"what is broken has its runs", broken, []int{5, 6}, true, 0},
		{"what is broken has its full number", broken, []int{10, 300}, true, 1},
		{"an environment that failed has no further runs", gone, []int{0, 5}, false, 1},
		{"what does not apply has none", absent, []int{0, 10}, true, 1},
	} {
		if got := next(tt.cells, tt.did, tt.more); got != tt.want {
			t.Errorf("%s: cell %d, want %d", tt.what, got, tt.want)
		}
	}
}

// A shard is complete when its own runs are done, however few.
func TestAShardIsHeldToItsOwnShare(t *testing.T) {
	for _, runs := range []int{4, 400} {
		for _, shard := range []explore.Shard{{}, {N: 1, Of: 4}} {
			for _, tt := range []struct {
				limit time.Duration // of the last batch
				want  string
			}{{0, ""}, {1, batch.TimeOver}} {
				run := newRun(t)
				p := run.Unopened("sim")
				p.Ctx = t.Context()
				c := &suiteCell{settings: explore.Settings{Lock: "redis-set-lua", Seed: 1, Runs: runs, Shard: shard}, runner: p, result: explore.NewResult()}
				p.Fill(&c.settings)
				c.settings.Usual(p.BaseLease())
				p.Environment = limited{p.Environment, runs, tt.limit}
				err := run.spend(t.Context(), []*suiteCell{c}, budget{end: time.Now().Add(time.Hour)})
				if err != nil || c.cut != tt.want {
					t.Errorf("%d of %d runs, shard %v: %q, %v", c.result.Runs, runs, shard, c.cut, err)
				}
			}
		}
	}
}

// Violations are minimised in the time that is left, or for a moment. Here no time is
// left, because the other lock uses all of it.
func TestShrinkingIsWithinTheTime(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct {
		shrinking time.Duration
		want      bool
	}{{time.Nanosecond, false}, {time.Minute, true}} {
		run := newRun(t)
		cells := cellsOf(t, run, "lockcheck: 1\nlocks:\n  - {lock: redis-set-del, faults: none, workloads: finally, promises: ownership}\n  - {lock: redis-set-lua, faults: none}\n")
		b := budget{end: time.Now().Add(200 * time.Millisecond), more: true, shrinking: tt.shrinking}
		done, err := run.exploreSuite(t.Context(), nil, cells, b)
		if err != nil {
			t.Fatal(err)
		}
		p := done[0].Property(checker.Ownership)
		if p.Counterexample == nil || (p.Shrunk != "") != tt.want {
			t.Errorf("with %v: %+v", tt.shrinking, p)
		}
	}
}

// known returns the digest of the last cell of an entry.
func known(t *testing.T, entry string) string {
	t.Helper()
	s, err := suite.Parse([]byte("lockcheck: 1\nlocks: [{" + entry + "}]"))
	if err != nil {
		t.Fatalf("%s: %v", entry, err)
	}
	flags, cells, err := newRun(t).entry(s, &s.Locks[0])
	if err != nil {
		t.Fatalf("%s: %v", entry, err)
	}
	var c suiteCell
	if err := newRun(t).describe(&c, &s.Locks[0], flags, cells[len(cells)-1]); err != nil {
		t.Fatalf("%s: %v", entry, err)
	}
	return c.settings.CellSettings
}

// The digest of a cell covers the whole entry, except for names, promises and the
// number of runs.
func TestWhatACellIsKnownBy(t *testing.T) {
	const (
		sim    = "lock: redis-set-lua, faults: pause"
		mixed  = "lock: redis-set-lua, mix: true, faults: [pause, kill]"
		real   = "lock: redis-set-lua, on: docker, faults: pause"
		worker = "worker: true it is, faults: pause"
	)
	for _, tt := range []struct {
		usual string
		same  []string // other ways to write the same
		other []string
	}{
		{sim, []string{
			sim + ", name: mine, promises: ownership, runs: 7",
			sim + ", on: sim", sim + ", strategy: random", sim + ", mix: false", sim + ", workloads: usual", sim + ", workloads: [usual]",
			sim + ", lease: 10s", sim + ", lease: 10000ms",
		}, []string{
			"lock: redis-set-del, faults: pause", "lock: redis-set-lua, faults: kill", "lock: redis-set-lua, faults: none", real, worker, mixed,
			sim + ", faults-per-run: 1", sim + ", faults-per-run: 2", sim + ", workloads: give-up", sim + ", workloads: [usual, give-up]",
			sim + ", options: token", sim + ", fencing: all", sim + ", fencing: writes", sim + ", strategy: pct",
			sim + ", lease: 5s", sim + ", lease: 1s", sim + ", clients: 2", sim + ", clients: 5", sim + ", acquires: 20",
		}},
		{sim + ", options: [spin, token]", []string{sim + ", options: [token, spin]"}, []string{sim + ", options: spin"}},
		{sim + ", fencing: all", []string{sim + ", fencing: all, options: token"}, []string{sim + ", fencing: all, options: token=own"}},
		{sim + ", workloads: [usual, give-up]", []string{sim + ", workloads: [give-up, usual]"}, nil},
		{sim + ", strategy: pct", nil, []string{sim + ", strategy: pct, depth: 1"}},
		{mixed, []string{"lock: redis-set-lua, mix: true, faults: [kill, pause]"}, []string{
			"lock: redis-set-lua, mix: true, faults: [kill, pause, delay]", mixed + ", faults-per-run: 2",
		}},
		{"lock: redis-set-lua, faults: none", []string{"lock: redis-set-lua, faults: [none]"}, []string{sim}},
		{real, []string{
			real + ", clients: 5", real + ", acquires: 20", real + ", lease: 1s",
		}, []string{real + ", clients: 4", real + ", acquires: 1", real + ", faults-per-run: 1", real + ", faults-per-run: 2", real + ", lease: 10s", real + ", lease: 4s"}},
		{
			"lock: redis-set-lua, on: docker, faults: failover",
			[]string{"lock: redis-set-lua, on: docker, faults: failover, lease: 4s"},
			[]string{"lock: redis-set-lua, on: docker, faults: failover, lease: 1s"},
		},
		{
			"lock: redis-set-lua, on: docker, mix: true, faults: [failover, pause]", nil, // each run has its own lease
			[]string{
				"lock: redis-set-lua, on: docker, mix: true, faults: [failover, pause], lease: 1s",
				"lock: redis-set-lua, on: docker, mix: true, faults: [failover, pause], lease: 4s",
			},
		},
		{
			worker,
			[]string{worker + ", on: docker", worker + ", name: mine", "worker: \"true  'it' is\", faults: pause", worker + ", lease: 1s"},
			[]string{"worker: true it was, faults: pause", worker + ", clients: 2"},
		},
	} {
		is := known(t, tt.usual)
		for _, same := range tt.same {
			if known(t, same) != is {
				t.Errorf("%s: it is another cell than %s", same, tt.usual)
			}
		}
		for _, other := range tt.other {
			if known(t, other) == is {
				t.Errorf("%s: it is the same cell as %s", other, tt.usual)
			}
		}
	}
	// With real servers the digest also covers their images.
	before := known(t, real)
	if t.Setenv(docker.MySQLEnv, "other:1"); known(t, real) == before {
		t.Error("it is the same cell with another server")
	}
}

// The digest of a cell with nothing but a lock and a fault covers only these: a new key
// in a later version does not turn known violations into new ones.
func TestADigestHasWhatIsSaidOnly(t *testing.T) {
	if got, want := known(t, "lock: redis-set-lua, faults: pause"), rundir.Digest([]byte(`[{"faults":["pause"],"lock":"redis-set-lua","on":"sim"},null]`)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTwoKeptFilesAreTwoCells(t *testing.T) {
	for _, tt := range []struct{ at, want []string }{
		{[]string{"x/schedule.json", "y.json"}, []string{"regressions/x", "regressions/y"}},
		{[]string{"x/schedule.json", "x.json"}, []string{"regressions/x/schedule.json", "regressions/x.json"}},
		{[]string{"x/schedule.json", "x.json", "x.json.json"}, []string{"regressions/x/schedule.json", "regressions/x.json", "regressions/x.json.json"}},
		{[]string{"schedule.json"}, []string{"regressions/schedule"}},
	} {
		var files []string
		for _, file := range tt.at {
			files = append(files, filepath.Join(defaultDir, filepath.FromSlash(file)))
		}
		got := keptNames("./"+defaultDir, files)
		for i := range got {
			got[i] = filepath.ToSlash(got[i])
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q are called %q, want %q", tt.at, got, tt.want)
		}
	}
}

// A run that time ended before it was minimised fully differs next time, so the
// original run is kept.
func TestWhatWasNotShrunkToItsEndIsKeptAsItWasFound(t *testing.T) {
	t.Chdir(t.TempDir())
	run := newRun(t)
	cells := cellsOf(t, run, "lockcheck: 1\nlocks: [{lock: redis-set-del, faults: none, workloads: finally, promises: ownership, runs: 5}]")
	doc := new(results.Document)
	var err error
	if doc.Cells, err = run.exploreSuite(t.Context(), nil, cells, newBudget(time.Now(), 0, run.Flags)); err != nil {
		t.Fatal(err)
	}
	doc.Decide()
	shrunk := doc.Cells[0].Property(checker.Ownership).Shrunk
	for _, stopped := range []string{"", harness.StoppedTime} {
		plan, err := rundir.ReadPlan(shrunk)
		if err != nil {
			t.Fatal(err)
		}
		plan.Shrunk.Stopped = stopped
		var text bytes.Buffer
		if err := errors.Join(plan.Write(&text), os.WriteFile(rundir.ScheduleOf(shrunk), text.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
		kept, err := run.keepCounterexamples(doc, "kept"+stopped, nil)
		if err != nil || len(kept) != 1 || strings.HasSuffix(kept[0], "-ownership") != (stopped == "") {
			t.Errorf("%q: kept: %q, %v", stopped, kept, err)
		}
	}
}
