package explore

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// caught is the first of many random runs that violates a property; nil: none does.
func violation(tb testing.TB, s *Settings, p checker.Property) *harness.Judged {
	tb.Helper()
	r, err := Random(context.Background(), sim.Simulator, s, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return firstOf(tb, s, r, p)
}

// firstOf is the first run of a batch that violates a property; nil: none does.
func firstOf(tb testing.TB, s *Settings, r *Result, p checker.Property) *harness.Judged {
	tb.Helper()
	if r.Outcome(p) != checker.Violated {
		return nil
	}
	j, _, err := harness.Simulate(sim.Simulator, s.Plan(r.Outcomes[p].First[checker.Violated]))
	if err != nil {
		tb.Fatal(err)
	}
	return j
}

// enough is how many runs show what there is to shrink. Shrinking has no
// goroutines, so the race detector need not see all of it.
func enough() int {
	if !alltests.Wanted() {
		return 250
	}
	return 1000
}

// underFault are runs with default settings under one kind of fault.
func underFault(lock, fault string, seed uint64) *Settings {
	s := anything(lock, seed)
	f, _ := faults.Find(fault)
	s.Kinds, s.Runs = []faults.Fault{f}, enough()
	return s
}

func shrunk(tb testing.TB, j *harness.Judged, p checker.Property) *harness.Plan {
	tb.Helper()
	short, err := Shrink(context.Background(), sim.Simulator, j, p, ShrinkBudget)
	if err != nil {
		tb.Fatal(err)
	}
	return short
}

// scheduleOf is schedule.json.
func scheduleOf(tb testing.TB, p *harness.Plan) string {
	tb.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// What shrinking finds by itself is no longer than what people have written
// down: for every documented failure that random runs find under its fault.
func TestWhatIsShrunkIsNoLongerThanTheCatalogue(t *testing.T) {
	t.Parallel()
	documented, covered := map[string]bool{}, map[string]bool{}
	for i, c := range catalogue.Cases {
		if c.Kind != catalogue.Violation || !alltests.Wanted() && i%24 != 0 {
			continue
		}
		documented[c.Setup.Lock] = true
		for _, schedule := range c.Schedules {
			s := anything(c.Setup.Lock, 1)
			s.Options, s.Server, s.Fencing, s.Runs = c.Setup.Options, c.Setup.Server, c.Setup.Fencing, enough()
			s.Kinds = kinds(schedule.Faults)
			acquires := 0
			for _, script := range schedule.Scripts {
				for _, step := range script.Steps {
					if step.Do == history.Acquire {
						acquires++
					}
				}
			}
			r, err := Random(t.Context(), sim.Simulator, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range schedule.Must {
				j := firstOf(t, s, r, p)
				if j == nil {
					continue
				}
				covered[c.Setup.Lock] = true
				if e, err := catalogue.Expect(c.Setup.Lock, catalogue.NoFault); err != nil || !e.Holds() {
					continue // it needs no fault, and long runs of it break in many ways
				}
				short := shrunk(t, j, p)
				to, sections := short.Shrunk.To, total(short)
				t.Logf("%s, %s: %+v to %+v in %d replays; a person tells it with %d clients, %d faults, %d acquisitions", c.ID, p,
					short.Shrunk.From, to, short.Shrunk.Replays, len(schedule.Scripts), len(schedule.Faults), acquires)
				if to.Clients > len(schedule.Scripts) || to.Faults > len(schedule.Faults) || max(to.Acquisitions, sections) > acquires || short.Shrunk.Stopped != "" {
					t.Errorf("%s, %s: shrunk to %+v, %d critical sections (%s)", c.ID, p, to, sections, short.Shrunk.Stopped)
				}
			}
		}
	}
	if !alltests.Wanted() {
		return
	}
	for _, l := range catalogue.Locks {
		// What a case does to several nodes, to a watchdog or to a flawed variant
		// takes several kinds of faults, or one that stays; and a lock that is but
		// the remedy of others has no case of its own.
		if SearchableLock(&l) == nil && l.Like == "" && documented[l.ID] && !covered[l.ID] {
			t.Errorf("nothing about %s was found and shrunk", l.ID)
		}
	}
}

// What is left is a schedule like any other: through a file it gives the same
// run, which violates the same property, with no choice to spare or missing.
// And it is the same each time.
func TestWhatIsShrunkReplaysFromItsFile(t *testing.T) {
	for i, f := range []struct {
		lock, fault string
		property    checker.Property
	}{
		{"redis-set-lua", "server-jump", checker.Exclusion},
		{"redis-setnx", "kill", checker.Liveness},
		{"redis-setnx-expire", "drop-reply", checker.Handover},
		{"redis-set-del", "pause", checker.LeaseExclusion},
		{"redis-set-get-del", "partition", checker.Ownership},
	} {
		if i > 1 && !alltests.Wanted() {
			break
		}
		j := violation(t, underFault(f.lock, f.fault, 7), f.property)
		if j == nil {
			t.Fatalf("%+v: no run violates it", f)
		}
		before := scheduleOf(t, j.Plan)
		short := shrunk(t, j, f.property)
		if scheduleOf(t, j.Plan) != before {
			t.Errorf("%+v: the original was changed", f)
		}
		file := scheduleOf(t, short)
		if again := scheduleOf(t, shrunk(t, j, f.property)); again != file {
			t.Errorf("%+v: shrunk twice, to different schedules:\n%s\n%s", f, file, again)
		}
		plan, err := harness.ReadPlan(bytes.NewBufferString(file))
		if err != nil {
			t.Fatal(err)
		}
		replayed, fit, err := harness.Simulate(sim.Simulator, plan)
		if err != nil {
			t.Fatal(err)
		}
		if replayed.Outcome(f.property) != checker.Violated || fit != (harness.Replay{}) {
			t.Errorf("%+v: from its file it is %s (%+v)", f, replayed.Outcome(f.property), fit)
		}
		if scheduleOf(t, plan) != file {
			t.Errorf("%+v: the replay made other choices", f)
		}
		if short.Shrunk.For != f.property || !slices.Equal(short.Promises, []string{string(f.property)}) || short.Seed != j.Plan.Seed {
			t.Errorf("%+v: shrunk for %+v, promises %q, seed %d", f, short.Shrunk, short.Promises, short.Seed)
		}
	}
}

// Where small worlds show nothing the record itself is shrunk. That ends at
// something longer, and still at something that one can read.
func TestARecordIsShrunk(t *testing.T) {
	for i, f := range []struct {
		lock, fault string
		property    checker.Property
	}{
		{"redis-setnx", "kill", checker.Liveness},
		{"redis-set-del", "pause", checker.Ownership},
		{"redis-set-get-del", "partition", checker.Ownership},
		{"redis-set-lua", "pause", checker.Exclusion},
	} {
		if i > 1 && !alltests.Wanted() {
			break
		}
		settings := underFault(f.lock, f.fault, 7)
		settings.Clients, settings.Acquires = Exactly(5), Exactly(20)
		j := violation(t, settings, f.property)
		s := &shrinker{buffer: harness.NewBuffer(sim.Simulator), ctx: t.Context(), property: f.property, budget: 5 * ShrinkBudget}
		defer s.buffer.Close()
		before := newCandidate(clone(j.Plan), j.History, j.Verdicts)
		after := s.shrink(before)
		t.Logf("%s, %s: %+v to %+v in %d replays", f.lock, f.property, before.size(), after.size(), s.replays)
		if after.measure[clients] > 3 || after.measure[grants] > 6 || after.measure[operations] > 40 {
			t.Errorf("%s, %s: shrunk from %+v to %+v only", f.lock, f.property, before.size(), after.size())
		}
		if _, ok := s.replay(clone(after.plan)); !ok {
			t.Errorf("%s, %s: what is left does not violate it", f.lock, f.property)
		}
	}
}

// An end before the end leaves what there is, and says so. One that the budget
// brings about is always the same.
func TestShrinkingStops(t *testing.T) {
	const p = checker.Exclusion
	settings := underFault("redis-set-lua", "pause", 1)
	settings.Clients, settings.Acquires = Exactly(5), Exactly(20)
	j := violation(t, settings, p)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	short, err := Shrink(ctx, sim.Simulator, j, p, ShrinkBudget)
	if err != nil || short.Shrunk.Stopped != harness.StoppedInterrupt || short.Shrunk.To != short.Shrunk.From {
		t.Errorf("interrupted at once: %v, %+v", err, short.Shrunk)
	}
	over, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	if short, err = Shrink(over, sim.Simulator, j, p, ShrinkBudget); err != nil || short.Shrunk.Stopped != harness.StoppedTime {
		t.Errorf("without time: %v, %+v", err, short.Shrunk)
	}
	const some = ShrinkBudget / 200
	part, err := Shrink(t.Context(), sim.Simulator, j, p, some)
	if err != nil || part.Shrunk.Stopped != harness.StoppedBudget || part.Shrunk.To == part.Shrunk.From {
		t.Errorf("a part of the budget: %v, %+v", err, part.Shrunk)
	}
	again, err := Shrink(t.Context(), sim.Simulator, j, p, some)
	if err != nil || scheduleOf(t, part) != scheduleOf(t, again) {
		t.Error("one budget gave two results", err)
	}
	replayed, _, err := harness.Simulate(sim.Simulator, part)
	if err != nil || replayed.Outcome(p) != checker.Violated {
		t.Error("what there was until then violates nothing", err)
	}
}

// A run without a record is searched again in small worlds.
func TestARunWithoutChoicesIsShrunk(t *testing.T) {
	j := violation(t, underFault("redis-set-lua", "pause", 3), checker.Resource)
	want := shrunk(t, j, checker.Resource).Shrunk.To
	j.Plan.Choices = nil
	if got := shrunk(t, j, checker.Resource).Shrunk.To; got != want {
		t.Errorf("without its choices it shrinks to %+v, with them to %+v", got, want)
	}
}

func TestWhatCannotBeShrunk(t *testing.T) {
	j := violation(t, underFault("redis-set-lua", "pause", 1), checker.Exclusion)
	if _, err := Shrink(t.Context(), sim.Simulator, j, checker.Ownership, ShrinkBudget); !errors.Is(err, ErrNothingToShrink) {
		t.Error(err)
	}
	c := catalogue.Cases[0]
	plan, _, _ := harness.CasePlans(c, c.Schedules[0], "sim", 10*time.Second)
	scripted, _, err := harness.Simulate(sim.Simulator, plan)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Shrink(t.Context(), sim.Simulator, scripted, c.Schedules[0].Must[0], ShrinkBudget); err == nil {
		t.Error("scripts are shrunk")
	}
	real := *j.Plan
	real.On = "docker"
	if _, err := Shrink(t.Context(), sim.Simulator, &harness.Judged{Plan: &real, Verdicts: j.Verdicts}, checker.Exclusion, ShrinkBudget); err == nil {
		t.Error("a run on docker is shrunk")
	}
}

// Leaving out critical sections leaves the others, with their choices under
// the names that they then have. What stays at its time is asked for as before;
// else it moves up.
func TestWithoutSections(t *testing.T) {
	s := underFault("redis-set-lua", "pause", 1)
	s.Kinds, s.Clients, s.Acquires = nil, Exactly(1), Exactly(4)
	j, _, err := harness.Simulate(sim.Simulator, s.Plan(0))
	if err != nil {
		t.Fatal(err)
	}
	c := newCandidate(clone(j.Plan), j.History, j.Verdicts)
	was := c.began["c1"]
	if len(was) != 4 {
		t.Fatalf("sections: %v", was)
	}
	for _, stay := range []bool{false, true} {
		p := withoutSections(c, map[nth]bool{{"c1", 2}: true, {"c1", 3}: true}, stay)
		again, fit, err := harness.Simulate(sim.Simulator, p)
		if err != nil || fit != (harness.Replay{}) || !slices.Equal(p.Sections, []int{2}) {
			t.Errorf("stay %v: %+v, %v, %v", stay, fit, err, p.Sections)
		}
		now := courseOf(again.History).began["c1"]
		if len(now) != 2 || now[0] != was[0] || (now[1] == was[3]) != stay || now[1] > was[3] {
			t.Errorf("stay %v: sections begin at %v, and at %v before", stay, now, was)
		}
	}
}

// BenchmarkShrink is how long it takes, on one core, to shrink what random
// runs find first. It has to take less than 2 s.
func BenchmarkShrink(b *testing.B) {
	for _, f := range flaws {
		b.Run(f.lock+"/"+string(f.property), func(b *testing.B) {
			j := violation(b, anything(f.lock, 1), f.property)
			for b.Loop() {
				start := time.Now()
				short := shrunk(b, j, f.property)
				if took := time.Since(start); took > 2*time.Second {
					b.Errorf("%+v to %+v took %v", short.Shrunk.From, short.Shrunk.To, took)
				}
				b.ReportMetric(float64(short.Shrunk.Replays), "replays")
				b.ReportMetric(float64(short.Shrunk.From.Operations), "operations-before")
				b.ReportMetric(float64(short.Shrunk.To.Operations), "operations-after")
			}
		})
	}
}
