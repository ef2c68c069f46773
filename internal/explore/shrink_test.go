package explore

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// violation returns the first of many random runs that violates a property; nil: none.
func violation(tb testing.TB, s *Settings, p checker.Property) *harness.Judged {
	tb.Helper()
	n := first(tb, s, p, s.Runs)
	if n == 0 {
		return nil
	}
	return simulate(tb, s.Plan(n-1))
}

// runsToShrink returns how many runs to shrink. Shrinking has no goroutines, so the race
// detector needs only a few.
func runsToShrink() int { return alltests.Budget(1000, 250) }

// underFault returns default settings with one kind of fault.
func underFault(lock, fault string, seed uint64) *Settings {
	s := anything(lock, seed)
	s.Kinds, s.Runs = kindsOf(fault), runsToShrink()
	return s
}

func shrinkRun(tb testing.TB, j *harness.Judged, p checker.Property) *harness.Plan {
	tb.Helper()
	short, err := Shrink(context.Background(), sim.Simulator, j, p, ShrinkBudget)
	must(tb, err)
	return short
}

// scheduleOf returns the text of schedule.json.
func scheduleOf(tb testing.TB, p *harness.Plan) string {
	tb.Helper()
	var b bytes.Buffer
	must(tb, p.Write(&b))
	return b.String()
}

// A shrunk run is no longer than the documented case, for every case that random runs
// find under its fault, if both fail in the same way.
func TestShrunkRunsAreNoLongerThanTheCatalogue(t *testing.T) {
	t.Parallel()
	documented, covered := map[string]bool{}, map[string]bool{}
	for i, c := range catalogue.Cases {
		if c.Kind != catalogue.Violation || !alltests.Wanted() && i%24 != 0 {
			continue
		}
		documented[c.Setup.Lock] = true
		for _, schedule := range c.Schedules {
			s := anything(c.Setup.Lock, 1)
			s.Options, s.Server, s.Fencing, s.Runs = c.Setup.Options, c.Setup.Server, c.Setup.Fencing, runsToShrink()
			s.Kinds = kinds(schedule.Faults)
			acquires := 0
			for _, script := range schedule.Scripts {
				for _, step := range script.Steps {
					if step.Do == history.Acquire {
						acquires++
					}
				}
			}
			flawed, _, _ := harness.CasePlans(c, schedule, "sim", s.Lease)
			story := simulate(t, flawed)
			for _, p := range schedule.Must {
				j := violation(t, s, p)
				if j == nil {
					continue
				}
				covered[c.Setup.Lock] = true
				if e, err := catalogue.Expect(c.Setup.Lock, catalogue.NoFault); err != nil || !e.Holds() {
					continue // it needs no fault, and its long runs break in many ways
				}
				if step(j, p) != step(story, p) {
					continue
				}
				short := shrinkRun(t, j, p)
				to, sections := short.Shrunk.To, total(short)
				t.Logf("%s, %s: %+v to %+v in %d replays; the case has %d clients, %d faults, %d acquisitions", c.ID, p,
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
		// Cases of several nodes, of a watchdog or of a flawed variant need several
		// kinds of faults, or one that stays. A lock that is only a remedy has no case.
		if SearchableLock(&l) == nil && l.Like == "" && documented[l.ID] && !covered[l.ID] {
			t.Errorf("nothing about %s was found and shrunk", l.ID)
		}
	}
}

// step returns the mechanism by which a run violates a property, without the fault.
func step(j *harness.Judged, p checker.Property) string {
	m := string(checker.MechanismOf(j.History, j.Verdict(p)))
	return m[:max(0, strings.LastIndexByte(m, ':'))]
}

// A shrunk schedule is like any other: through a file it gives the same run, which
// violates the same property, without missing or unused choices. It is the same each
// time.
func TestShrunkRunsReplayFromTheirFiles(t *testing.T) {
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
		short := shrinkRun(t, j, f.property)
		if scheduleOf(t, j.Plan) != before {
			t.Errorf("%+v: the original was changed", f)
		}
		file := scheduleOf(t, short)
		if again := scheduleOf(t, shrinkRun(t, j, f.property)); again != file {
			t.Errorf("%+v: shrunk twice, to different schedules:\n%s\n%s", f, file, again)
		}
		plan, err := harness.ReadPlan(bytes.NewBufferString(file))
		must(t, err)
		replayed, fit, err := harness.Simulate(sim.Simulator, plan)
		must(t, err)
		if replayed.Outcome(f.property) != checker.Violated || fit != (harness.Replay{}) {
			t.Errorf("%+v: replayed from its file it is %s (%+v)", f, replayed.Outcome(f.property), fit)
		}
		if scheduleOf(t, plan) != file {
			t.Errorf("%+v: the replay made other choices", f)
		}
		if short.Shrunk.For != f.property || !slices.Equal(short.Promises, []string{string(f.property)}) || short.Seed != j.Plan.Seed {
			t.Errorf("%+v: shrunk for %+v, promises %q, seed %d", f, short.Shrunk, short.Promises, short.Seed)
		}
	}
}

// Without a hit in small worlds the record itself is shrunk. The result is longer, but
// still readable.
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
		s := newShrinker(t.Context(), sim.Simulator, j, f.property, 5*ShrinkBudget)
		defer s.buffer.Close()
		before := newCandidate(clone(j.Plan), j.History, j.Verdicts)
		after := s.shrink(before)
		t.Logf("%s, %s: %+v to %+v in %d replays", f.lock, f.property, before.size(), after.size(), s.replays)
		if after.measure[clients] > 3 || after.measure[grants] > 6 || after.measure[operations] > 40 {
			t.Errorf("%s, %s: shrunk from %+v to %+v only", f.lock, f.property, before.size(), after.size())
		}
		if _, ok := s.replay(clone(after.plan)); !ok {
			t.Errorf("%s, %s: the shrunk run does not violate it", f.lock, f.property)
		}
	}
}

// Shrinking that ends early returns its partial result, and reports that. A budget
// always gives the same result.
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
		t.Error("the partial result violates nothing", err)
	}
}

// A run without a record is searched again in small worlds.
func TestARunWithoutChoicesIsShrunk(t *testing.T) {
	j := violation(t, underFault("redis-set-lua", "pause", 3), checker.Resource)
	want := shrinkRun(t, j, checker.Resource).Shrunk.To
	j.Plan.Choices = nil
	if got := shrinkRun(t, j, checker.Resource).Shrunk.To; got != want {
		t.Errorf("without its choices it shrinks to %+v, with them to %+v", got, want)
	}
}

func TestShrinkRejectsOtherRuns(t *testing.T) {
	j := violation(t, underFault("redis-set-lua", "pause", 1), checker.Exclusion)
	if _, err := Shrink(t.Context(), sim.Simulator, j, checker.Ownership, ShrinkBudget); !errors.Is(err, ErrNothingToShrink) {
		t.Error(err)
	}
	c := catalogue.Cases[0]
	plan, _, _ := harness.CasePlans(c, c.Schedules[0], "sim", 10*time.Second)
	scripted := simulate(t, plan)
	if _, err := Shrink(t.Context(), sim.Simulator, scripted, c.Schedules[0].Must[0], ShrinkBudget); err == nil {
		t.Error("scripts are shrunk")
	}
	real := *j.Plan
	real.On = "docker"
	if _, err := Shrink(t.Context(), sim.Simulator, &harness.Judged{Plan: &real, Verdicts: j.Verdicts}, checker.Exclusion, ShrinkBudget); err == nil {
		t.Error("a run on docker is shrunk")
	}
}

// Leaving out critical sections keeps the others, with their choices under new names.
// With stay, they keep their times; otherwise they move up.
func TestWithoutSections(t *testing.T) {
	s := underFault("redis-set-lua", "pause", 1)
	s.Kinds, s.Clients, s.Acquires = nil, Exactly(1), Exactly(4)
	j := simulate(t, s.Plan(0))
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

// BenchmarkShrink measures how long it takes, on one core, to shrink the first hits of
// random runs. It must take less than 2 s.
func BenchmarkShrink(b *testing.B) {
	for _, f := range flaws {
		b.Run(f.lock+"/"+string(f.property), func(b *testing.B) {
			j := violation(b, anything(f.lock, 1), f.property)
			for b.Loop() {
				start := time.Now()
				short := shrinkRun(b, j, f.property)
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

// A shrunk run violates the property in the same way as the long one: the same step, the
// same entry, the same fault. Shorter runs of these seeds violate it in another way.
func TestShrinkingKeepsTheMechanism(t *testing.T) {
	t.Parallel()
	for _, f := range []struct {
		lock string
		seed uint64
		want checker.Mechanism
	}{
		{"redis-set-del", 2, "resource:release-removed-others-entry:entry-lost"}, // not outsider-removed-entry
		{"redis-set-lua", 14, "exclusion:entry-lost-unheard:restart-lost"},       // not entry-lost
		{"zk-predecessor-recheck", 12, "handover:entry-of-dead-client:poweroff"}, // not without a fault
	} {
		j := simulate(t, anything(f.lock, f.seed).Plan(0))
		p := f.want.Property()
		if m := checker.MechanismOf(j.History, j.Verdict(p)); m != f.want {
			t.Errorf("%s, seed %d: %q, want %q", f.lock, f.seed, m, f.want)
		}
		short := simulate(t, shrinkRun(t, j, p))
		if m := checker.MechanismOf(short.History, short.Verdict(p)); m != f.want {
			t.Errorf("%s, seed %d: shrunk to %q, want %q", f.lock, f.seed, m, f.want)
		}
		t.Logf("%s, %s: %+v to %+v", f.lock, f.want, short.Plan.Shrunk.From, short.Plan.Shrunk.To)
	}
}
