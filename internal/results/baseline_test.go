package results

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/explore"
)

// cells returns a document with a cell for each word, named after the outcome of
// exclusion in its runs.
func cells(words ...string) *Document {
	d := &Document{Head: Head{Schema: Schema}}
	for i, w := range words {
		c := Cell{Name: fmt.Sprint("cell ", i+1), Lock: "a", Runs: 10, Seed: 1, Reached: map[string]int{"grants": 10}}
		c.Hazards = map[string]map[checker.Property]int{checker.NoFault: {checker.Exclusion: 10}}
		runs := map[string]Tally{w: {Count: 10, Seed: 1}}
		if w == "nothing" {
			runs, c.Runs, c.Cut = nil, 0, "time was over"
		}
		c.Properties = []PropertyResult{{Property: checker.Exclusion, Runs: runs}}
		if w == "violated" {
			c.Properties[0].Counterexample = &Counterexample{Seed: 1, File: "history.jsonl"}
		}
		d.Cells = append(d.Cells, c)
	}
	d.Decide()
	return d
}

func TestABaselineTellsKnownFromNewFromGone(t *testing.T) {
	past := cells("violated", "valid", "violated", "violated", "violated")
	now := cells("violated", "violated", "valid", "unknown", "nothing")
	names := func(list []Violation) (names []string) {
		for _, v := range list {
			names = append(names, v.Cell)
		}
		return names
	}
	for range 2 { // comparing again changes nothing
		now.Against("baseline.json", past)
		now.Decide()
		b := now.Baseline
		for _, tt := range []struct {
			what string
			list []Violation
			want []string
		}{{"known", b.Known, []string{"cell 1"}}, {"new", b.New, []string{"cell 2"}}, {"gone", b.Gone, []string{"cell 3"}}, {"unseen", b.Unseen, []string{"cell 4", "cell 5"}}} {
			if got := names(tt.list); !slices.Equal(got, tt.want) {
				t.Errorf("%s: %v, want %v", tt.what, got, tt.want)
			}
		}
		if now.Verdict != Violated || now.ExitCode != 1 || now.Cells[0].Verdict != Known || now.Cells[1].Verdict != Violated {
			t.Errorf("%+v", now)
		}
	}
	if why := now.Cells[4].Reason; why != "time was over" {
		t.Errorf("a cell without a run says %q", why)
	}
}

// A violation that is not found is gone only if it was searched for: in the same cell,
// for the same promise, and in as many runs.
func TestWhatWasNotLookedForIsNotGone(t *testing.T) {
	fewer := cells("violated")
	fewer.Cells[0].Runs *= 2
	another := cells("valid")
	another.Cells[0].Name = "another"
	dropped := cells("valid")
	dropped.Cells[0].Promises = checker.Promise{checker.Fencing}
	dropped.Decide()
	for what, tt := range map[string]struct{ past, now *Document }{
		"fewer runs":        {fewer, cells("valid")},
		"no such cell":      {cells("violated"), another},
		"no such promise":   {cells("violated"), dropped},
		"no cells whatever": {cells("violated"), &Document{}},
	} {
		tt.now.Against("baseline.json", tt.past)
		if b := tt.now.Baseline; len(b.Gone) != 0 || len(b.Unseen) != 1 || b.Unseen[0].Cell != "cell 1" {
			t.Errorf("%s: %+v", what, b)
		}
	}
}

func TestWhatIsKnownFailsNothing(t *testing.T) {
	now := cells("violated", "valid")
	now.Against("baseline.json", cells("violated"))
	now.Decide()
	if now.Verdict != Held || now.ExitCode != 0 || !now.Violations[0].Known {
		t.Errorf("%+v", now)
	}
	now.Against("another.json", cells("valid"))
	now.Decide()
	if now.Verdict != Violated || now.ExitCode != 1 || now.Violations[0].Known {
		t.Errorf("%+v", now)
	}
}

// The easiest flaw of a lock would otherwise hide the next one.
func TestAMechanismThatTheBaselineDoesNotHaveIsNew(t *testing.T) {
	with := func(on string, names ...checker.Mechanism) *Document {
		d := cells("violated")
		d.Cells[0].On = on
		for i, n := range names {
			d.Cells[0].Properties[0].Mechanisms = append(d.Cells[0].Properties[0].Mechanisms, Mechanism{Name: n, Count: 1, Seed: uint64(i + 1)})
		}
		return d
	}
	const early, pause, evict = "exclusion:entry-expired-early:server-rate", "exclusion:entry-expired:pause", "exclusion:entry-lost:evict"
	leftOut := with("sim", early, evict)
	leftOut.Cells[0].Properties[0].Mechanisms[1].LeftOut = true
	for what, tt := range map[string]struct {
		past, now *Document
		verdict   Verdict
		anew      []Mechanism
	}{
		"the same ones":                   {with("sim", early, pause), with("sim", pause, early), Known, nil},
		"one that is new":                 {with("sim", early, pause), with("sim", pause, evict), Violated, []Mechanism{{Name: evict, Count: 1, Seed: 2}}},
		"fewer ones":                      {with("sim", early, pause), with("sim", pause), Known, nil},
		"a new one that is left out":      {with("sim", early), leftOut, Known, nil},
		"a baseline without mechanisms":   {with("sim"), with("sim", evict), Known, nil},
		"real servers, which vary":        {with("docker", early), with("docker", evict), Known, nil},
		"a property that nobody violated": {cells("valid"), with("sim", evict), Violated, nil},
	} {
		tt.now.Against("baseline.json", tt.past)
		tt.now.Decide()
		var anew []Mechanism
		for _, v := range tt.now.Baseline.New {
			anew = append(anew, v.Mechanisms...)
		}
		if b := tt.now.Baseline; len(b.Gone)+len(b.Unseen) > 0 {
			t.Errorf("%s: %+v", what, b)
		}
		if got := tt.now.Cells[0].Verdict; got != tt.verdict || !slices.Equal(anew, tt.anew) {
			t.Errorf("%s: %s, new are %v; want %s, %v", what, got, anew, tt.verdict, tt.anew)
		}
	}
}

// The first suite keeps its counterexample and becomes the baseline, so the next one
// replays a known violation. Another cell of the same lock, environment and fault may
// have other clients or options, and proves nothing about it.
func TestACounterexampleIsKnownThroughTheCellThatFoundIt(t *testing.T) {
	past := cells("violated", "valid")
	mended := cells("violated", "valid")
	mended.Cells[1].Name = "regressions/a-1"
	for _, tt := range []struct {
		of   string
		past *Document
		want Verdict
	}{
		{"cell 1", past, Known},
		{"cell 2", past, Violated},
		{"another", past, Violated},
		{"", past, Violated},
		{"cell 1", mended, Violated}, // the cell itself held
	} {
		now := cells("violated")
		c := &now.Cells[0]
		c.Name, c.Kept, c.Of = "regressions/a-1", true, tt.of
		now.Against("baseline.json", tt.past)
		now.Decide()
		if c.Verdict != tt.want || len(now.Baseline.Gone) > 0 {
			t.Errorf("of %q: %s, %+v", tt.of, c.Verdict, now.Baseline)
		}
	}
	// A violation that the cell does not find this time is not gone while its
	// counterexample is replayed. With this result as the baseline, it is known when
	// the cell finds it again.
	now := cells("valid", "violated")
	now.Cells[1].Name, now.Cells[1].Kept, now.Cells[1].Of = "regressions/a-1", true, "cell 1"
	now.Against("baseline.json", past)
	if b := now.Baseline; len(b.Known) != 1 || len(b.Gone)+len(b.Unseen)+len(b.New) != 0 {
		t.Errorf("%+v", b)
	}
	again := cells("violated")
	again.Against("baseline.json", now)
	if again.Cells[0].Verdict != Known {
		t.Error("what its counterexample broke is not known of the cell")
	}
	now, past = cells("violated"), cells("violated")
	for _, d := range []*Document{now, past} {
		d.Cells[0].Name, d.Cells[0].Kept = "regressions/a-1", true
	}
	now.Against("baseline.json", past)
	if now.Cells[0].Verdict != Known {
		t.Error("it is not known by its own name")
	}
}

func TestWhatIsInterruptedProvesNothing(t *testing.T) {
	for _, tt := range []struct {
		word string
		want Verdict
	}{{"valid", Inconclusive}, {"violated", Violated}} {
		d := cells(tt.word)
		d.Interrupted = true
		d.Decide()
		if d.Verdict != tt.want || d.ExitCode != 130 {
			t.Errorf("%s: %s, exit code %d", tt.word, d.Verdict, d.ExitCode)
		}
	}
}

// Violations that are not promised are never known, because a shard would not list
// them.
func TestWhatIsNotPromisedIsNotKnown(t *testing.T) {
	past, now := cells("violated"), cells("violated")
	now.Cells[0].Promises = checker.Promise{checker.Ownership}
	now.Decide()
	now.Against("baseline.json", past)
	if now.Cells[0].Properties[0].Known {
		t.Errorf("%+v", now.Cells[0])
	}
}

// A complete search counts even with fewer schedules than an earlier one.
func TestWhatACompleteSearchDoesNotFindIsGone(t *testing.T) {
	for _, complete := range []bool{true, false} {
		past, now := cells("violated"), cells("valid")
		past.Cells[0].Runs = 1000
		past.Decide()
		now.Cells[0].Bound = &explore.Bound{Complete: complete}
		now.Decide()
		now.Against("baseline.json", past)
		if gone := len(now.Baseline.Gone) == 1; gone != complete {
			t.Errorf("complete %v: %+v", complete, now.Baseline)
		}
	}
}
