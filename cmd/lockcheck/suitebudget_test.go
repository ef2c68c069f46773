package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/suite"
)

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
	gone[0].trouble = exit.Errorf(unavailable, "the engine is gone")
	absent := cells(10, 10)
	absent[0].absent = exit.Errorf(usage, "it does not apply")
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
		{"and no more", broken, []int{10, 300}, true, 1},
		{"a place that failed has no more", gone, []int{0, 5}, false, 1},
		{"what does not apply has none", absent, []int{0, 10}, true, 1},
	} {
		if got := next(tt.cells, tt.did, tt.more); got != tt.want {
			t.Errorf("%s: cell %d, want %d", tt.what, got, tt.want)
		}
	}
}

func TestTimeThatIsLeftIsUsed(t *testing.T) {
	t.Chdir(t.TempDir())
	start := time.Now()
	_, doc := suiteRun(t, new(engine), quick, "--runs", "3", "--for", "1500ms")
	least := doc.Cells[0].Runs
	for _, c := range doc.Cells {
		least = min(least, c.Runs)
	}
	if took := time.Since(start); least <= 3 || took > 30*time.Second {
		t.Errorf("%d runs at least, after %v", least, took)
	}
	for _, c := range doc.Cells {
		if c.Runs > least+2*suiteChunk {
			t.Errorf("%s has %d runs, another %d", c.Name, c.Runs, least)
		}
	}
}

func TestACellWithoutTimeProvesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	e := &engine{breaks: func(int) error { time.Sleep(20 * time.Millisecond); return nil }}
	var text strings.Builder
	text.WriteString("locks:\n")
	for i := range 5 {
		fmt.Fprintf(&text, "  - {name: n%d, lock: redis-set-lua, on: docker, faults: none}\n", i)
	}
	r, doc := suiteRun(t, e, text.String(), "--for", "10ms")
	r.wants(t, unproven, "n4 on docker: none  0 runs  proves nothing: time was over", "Exit     2: inconclusive: n")
	last := doc.Cells[len(doc.Cells)-1]
	if last.Runs != 0 || last.Verdict != results.Inconclusive || last.Cut != batch.TimeOver {
		t.Errorf("%+v", last)
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
				a := newApp(strings.NewReader(""), io.Discard, io.Discard)
				p := a.simulated(t)
				c := &suiteCell{settings: explore.Settings{Lock: "redis-set-lua", Seed: 1, Runs: runs, Shard: shard}, runner: p, result: explore.NewResult()}
				p.Fill(&c.settings)
				c.settings.Usual(p.BaseLease())
				change(p, func(p *changed) {
					batch := p.batch
					p.batch = func(s *explore.Settings, progress func(int)) (*explore.Result, error) {
						if s.For = 0; s.Runs == runs {
							s.For = tt.limit
						}
						return batch(s, progress)
					}
				})
				err := a.spend(t.Context(), []*suiteCell{c}, budget{end: time.Now().Add(time.Hour)})
				if err != nil || c.cut != tt.want {
					t.Errorf("%d of %d runs, shard %v: %q, %v", c.result.Runs, runs, shard, c.cut, err)
				}
			}
		}
	}
}

// A large number of runs does not stop the limit from ending a suite.
func TestTimeEndsAnyNumberOfRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	many := strings.Fields("run redis-set-lua --fault none --runs 1000000000 --for 500ms --shard 1/2 --out run")
	start := time.Now()
	lockcheck(t, many...).wants(t, held, "time was over")
	suiteRun(t, new(engine), strings.Replace(quick, "runs: 40", "runs: 1000000000", 1), "--for", "500ms", "--shard", "1/2")
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Violations are minimised in the time that is left, or for a moment. Here no time is
// left, because the other lock uses all of it.
func TestShrinkingIsWithinTheTime(t *testing.T) {
	t.Chdir(t.TempDir())
	s, err := suite.Parse([]byte("lockcheck: 1\nlocks:\n  - {lock: redis-set-del, faults: none, workloads: finally, promises: ownership}\n  - {lock: redis-set-lua, faults: none}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		shrinking time.Duration
		want      bool
	}{{time.Nanosecond, false}, {time.Minute, true}} {
		a, cmd := newApp(strings.NewReader(""), io.Discard, io.Discard), new(cobra.Command)
		a.out.Path = t.TempDir()
		cmd.SetContext(t.Context())
		cells, err := a.suiteCells(cmd, s, suiteFlags{given: func(string) bool { return false }})
		if err != nil {
			t.Fatal(err)
		}
		b := budget{end: time.Now().Add(200 * time.Millisecond), more: true, shrinking: tt.shrinking}
		done, err := a.exploreSuite(cmd, nil, cells, explore.Shard{}, b)
		if err != nil {
			t.Fatal(err)
		}
		p := done[0].Property(checker.Ownership)
		if p.Counterexample == nil || (p.Shrunk != "") != tt.want {
			t.Errorf("with %v: %+v", tt.shrinking, p)
		}
	}
}
