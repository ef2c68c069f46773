package results

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
)

// A document says of shards which there are, and which are not.
func TestMissingAndCutShardsAreNamed(t *testing.T) {
	cut := shard(3)
	cut.Shards = Part(explore.Shard{N: 3, Of: 4})
	cut.Shards.Interrupt()
	parts := []*Document{shard(1), cut, shard(4)}
	chosen, shards, err := Choose(sources(parts...))
	if err != nil || len(chosen) != 3 {
		t.Fatal(chosen, err)
	}
	d := Merge(parts, shards)
	if d.Verdict != Inconclusive || d.ExitCode != 2 || !strings.Contains(d.Reason, "missing: shard 2 of 4") || !strings.Contains(d.Reason, "cut short: shard 3 of 4") {
		t.Errorf("%s, exit code %d: %s", d.Verdict, d.ExitCode, d.Reason)
	}
}

func TestWhichResultsCount(t *testing.T) {
	cut, other, later := shard(2), shard(2), shard(2)
	cut.Shards, cut.Cells[0].Runs = Part(explore.Shard{N: 2, Of: 4}), 0
	cut.Shards.Interrupt()
	other.Cells[0].Runs++
	later.Cells[0].Seconds, later.Seconds = 7, 7
	changed := func(f func(*Document)) *Document {
		d := shard(3)
		f(d)
		return d
	}
	first, shards, err := Choose(sources(shard(1), shard(2)))
	if err != nil || len(first) != 2 {
		t.Fatal(err)
	}
	merged := Merge([]*Document{shard(1), shard(2)}, shards)
	failed := shard(2)
	failed.Cells[0].Trouble, failed.Cells[0].Runs = "the place is not there", 0
	failed.Decide()
	// It found something before the place failed.
	found := func(prop checker.Property) *Document {
		d := shard(2)
		d.Cells[0].Trouble = "the place is not there any more"
		violate(d, prop)
		d.Decide()
		return d
	}
	both := found(checker.Ownership)
	violate(both, checker.Exclusion)
	both.Cells[0].Trouble = ""
	both.Decide()
	// The same violation, told in two ways.
	told := func(baseline, shrunk, sentence string) *Document {
		d := shard(2)
		p := violate(d, checker.Exclusion)
		p.Shrunk, p.Sentence = shrunk, sentence
		d.Baseline = newBaseline(baseline)
		d.Decide()
		return d
	}
	whole := shard(1)
	whole.Shards = nil
	more := func(d *Document) {
		d.Cells = append(d.Cells, *copied(&d.Cells[0]))
		d.Cells[1].Name = "more"
	}
	cutMore, stale := *copied(cut), *copied(merged)
	more(&cutMore)
	stale.Version = "0"
	broken := *copied(merged)
	violate(&broken, checker.Exclusion)
	broken.Decide()
	for _, tt := range []struct {
		name string
		docs []*Document
		want string // files, or what the error says
	}{
		{"one alone", []*Document{shard(2)}, "0"},
		{"in the order of the shards", []*Document{shard(3), shard(1)}, "1 0"},
		{"the same twice", []*Document{shard(2), shard(2)}, "0"},
		{"the same, in another time", []*Document{shard(2), later}, "0"},
		{"the same, shrunk only once", []*Document{told("known.json", "", "for 9 s"), told("./known.json", "shrunk/history.jsonl", "for 2 s")}, "0"},
		{"one cut and one whole", []*Document{cut, shard(2)}, "1"},
		{"one that the place failed, and one whole", []*Document{failed, shard(2)}, "1"},
		{"one that an error ended, and one whole", []*Document{changed(func(d *Document) { d.ExitCode = 4 }), shard(3)}, "1"},
		{"one whole and one cut", []*Document{shard(2), cut}, "0"},
		{"one with a violation, and one whole without", []*Document{found(checker.Exclusion), shard(2)}, "0"},
		{"one whole, and one with a violation", []*Document{shard(2), found(checker.Exclusion)}, "1"},
		{"one whole with all violations", []*Document{found(checker.Exclusion), both}, "1"},
		{"each with a violation of its own", []*Document{found(checker.Exclusion), found(checker.Ownership)}, "each has a violation that the other does not have"},
		{"two that differ", []*Document{shard(2), other}, "0/result.json and 1/result.json are both shard 2 of 4, and they differ"},
		{"merged, and the parts of it", []*Document{merged, shard(1), shard(2), shard(3)}, "1 2 3"},
		{"merged, and others", []*Document{shard(4), merged, shard(3)}, "1 2 0"},
		{"merged, and one part of it", []*Document{merged, shard(2)}, "leave out one of them"},
		{"merged and alone", []*Document{merged}, "0"},
		{"a whole one", []*Document{whole}, "0"},
		{"a whole one and a shard", []*Document{whole, shard(3)}, "the number of shards is 1 in the one and 4 in the other"},
		{"another version", []*Document{shard(1), changed(func(d *Document) { d.Version = "2" })}, "the version of lockcheck is 1 in the one and 2 in the other"},
		{"another revision", []*Document{shard(1), changed(func(d *Document) { d.Revision = "abc" })}, "what it was built from is unknown in the one and abc in the other"},
		{"another command", []*Document{shard(1), changed(func(d *Document) { d.Command = "suite" })}, "the command is run"},
		{"another seed", []*Document{shard(1), changed(func(d *Document) { d.Settings["seed"] = "2" })}, "--seed is 1 in the one and 2 in the other"},
		{"a flag more", []*Document{shard(1), changed(func(d *Document) { d.Settings["runs"] = "2" })}, "--runs is not set in the one and 2 in the other"},
		{"another seed of a cell", []*Document{shard(1), changed(func(d *Document) { d.Cells[0].Seed = 7 })}, `0/result.json (shard 1) and 1/result.json (shard 3) are not of one exploration: of the cell "cell" the first seed is "100" in the one and "7" in the other`},
		{"another lock of a cell", []*Document{shard(1), changed(func(d *Document) { d.Cells[0].Lock = "b" })}, `of the cell "cell" the lock is "lock" in the one and "b" in the other`},
		{"other promises of a cell", []*Document{shard(1), changed(func(d *Document) { d.Cells[0].Promises = checker.Promise{checker.Fencing} })}, `what is promised is "" in the one and "fencing" in the other`},
		{"other settings of a cell", []*Document{shard(1), changed(func(d *Document) { d.Cells[0].Settings = "sha256:1" })}, `the digest of its settings is "" in the one`},
		{"a cell that does not apply elsewhere", []*Document{shard(1), changed(func(d *Document) { d.Cells[0].Verdict, d.Cells[0].Reason = NotApplicable, "no libfaketime" })}, `of the cell "cell" whether it applies is "yes" in the one and "no: no libfaketime" in the other`},
		{"another cell", []*Document{shard(1), changed(func(d *Document) { d.Cells[0].Name = "b" })}, `only the former has the cell "b"`},
		{"a cell more", []*Document{shard(1), changed(more)}, `only the former has the cell "more"`},
		{"a cell more, and first", []*Document{changed(more), shard(1)}, `only the former has the cell "more"`},
		{"a cell more than the one that was cut", []*Document{changed(more), cut}, "1 0"},
		{"a cell more in the one that was cut", []*Document{&cutMore, shard(1)}, `only the former has the cell "more"`},
		{"merged before all was done anew, and differently", []*Document{&stale, shard(1), shard(2), shard(3), shard(4)}, "1 2 3 4"},
		{"merged, and some done anew, and differently", []*Document{&stale, shard(1), shard(3), shard(4)}, "the version of lockcheck is"},
		{"merged with a violation that its shards lack", []*Document{&broken, shard(1), shard(2)}, "0/result.json was merged from shards that are here, and has a violation that they do not have: exclusion in cell"},
		{"other locks", []*Document{changed(func(d *Document) { d.Settings["arguments"] = "a" }), changed(func(d *Document) { d.Settings["arguments"] = "b" })}, "what was named is a in the one and b in the other"},
	} {
		var got []string
		chosen, _, err := Choose(sources(tt.docs...))
		for _, c := range chosen {
			got = append(got, filepath.Dir(c.File))
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if words := strings.Join(got, " "); words != tt.want && (err == nil || !strings.Contains(words, tt.want)) {
			t.Errorf("%s: %s, want %s", tt.name, words, tt.want)
		}
	}
}

// What one machine came to before an error ended it proves nothing by the cells that it
// has, as what somebody ended does not.
func TestAWholeThatWasEndedIsNotWhole(t *testing.T) {
	for name, end := range map[string]func(*Document){
		"an error":        func(d *Document) { d.ExitCode = 4 },
		"a bug":           func(d *Document) { d.ExitCode = 5 },
		"somebody":        func(d *Document) { d.Interrupted, d.ExitCode = true, 130 },
		"no error at all": func(*Document) {},
	} {
		d := shard(1)
		d.Shards = nil
		d.Decide()
		if d.Verdict != Held {
			t.Fatal(d.Verdict)
		}
		end(d)
		ended := d.ExitCode != 0
		chosen, shards, err := Choose(sources(d))
		if err != nil || len(chosen) != 1 {
			t.Fatal(name, chosen, err)
		}
		m := Merge([]*Document{d}, shards)
		if (m.Verdict == Inconclusive) != ended || (shards == nil) == ended {
			t.Errorf("ended by %s: %s (%s), %+v", name, m.Verdict, m.Reason, shards)
		}
	}
}

// Which of three results of a shard count does not hang on how they are called.
func TestWhichResultsCountInAnyOrder(t *testing.T) {
	result := func(whole bool, runs int, props ...checker.Property) *Document {
		d := shard(2)
		d.Cells[0].Runs = runs
		for _, prop := range props {
			violate(d, prop)
		}
		if !whole {
			d.Shards.Interrupt()
		}
		d.Decide()
		return d
	}
	const x, o = checker.Exclusion, checker.Ownership
	for _, tt := range []struct {
		name string
		docs []*Document
		want string
	}{
		{"a whole one without, two with", []*Document{result(true, 60), result(false, 10, x), result(false, 20, x)}, "20 beside 60"},
		{"a whole one with both", []*Document{result(true, 60, x, o), result(false, 10, x), result(false, 20, o)}, "60"},
		{"a whole one without, and one with both", []*Document{result(true, 60), result(false, 10, x, o), result(false, 20, o)}, "10 beside 60"},
		{"none is whole, and one has both", []*Document{result(false, 30), result(false, 10, x, o), result(false, 20, o)}, "10"},
		{"none is whole, and none has both", []*Document{result(false, 30), result(false, 10, x), result(false, 20, o)}, "each has"},
		{"a whole one without, and none with both", []*Document{result(true, 60), result(false, 10, x), result(false, 20, o)}, "each has"},
	} {
		for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			chosen, shards, err := Choose(sources(tt.docs[order[0]], tt.docs[order[1]], tt.docs[order[2]]))
			got := fmt.Sprint(err)
			if err == nil {
				got = fmt.Sprint(chosen[0].Runs)
				if whole := chosen[0].Again; whole != nil {
					got += fmt.Sprintf(" beside %d", whole.Runs)
				}
				if cut := tt.docs[0].Shards.Cut; len(shards.Cut) != len(cut) {
					t.Errorf("%s, in the order %d: cut are %d", tt.name, order, shards.Cut)
				}
			}
			if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
				t.Errorf("%s, in the order %d: %s, want %s", tt.name, order, got, tt.want)
			}
		}
	}
}

// violate makes a run of the document's cell one that violated a property.
func violate(d *Document, prop checker.Property) *PropertyResult {
	p := d.Cells[0].Property(prop)
	p.Runs = map[string]Tally{checker.Violated.String(): {Count: 1, Seed: d.Cells[0].Seed}}
	p.Counterexample = &Counterexample{Seed: d.Cells[0].Seed, File: "history.jsonl"}
	return p
}

// A violation is not lost because the place failed in the same shard, which was
// run again then: it counts, and that is said.
func TestAViolationIsNotDroppedForAWholeResult(t *testing.T) {
	failed := shard(2)
	failed.Cells[0].Trouble = "the place is not there any more"
	violate(failed, checker.Exclusion)
	failed.Decide()
	chosen, _, err := Choose(sources(shard(2), failed))
	if err != nil || len(chosen) != 1 {
		t.Fatal(chosen, err)
	}
	if want := "of shard 2 0/result.json counts, and beside it the violation of exclusion in cell, which only 1/result.json has"; filepath.ToSlash(chosen[0].Chosen) != want {
		t.Errorf("%q, want %q", chosen[0].Chosen, want)
	}
}

// A shard that was done again to its end has the violation of the time before, and
// nothing of what was the matter then.
func TestWhatWasBrokenBeforeIsTakenIntoTheWhole(t *testing.T) {
	before, whole := shard(2), shard(2)
	before.Cells[0].Trouble, before.Cells[0].Cut = "the place is not there any more", "time was over"
	violate(before, checker.Exclusion)
	before.Decide()
	chosen, shards, err := Choose(sources(whole, before))
	if err != nil || len(chosen) != 1 || chosen[0].Again == nil || len(shards.Cut) > 0 {
		t.Fatalf("%+v %+v %v", chosen, shards, err)
	}
	d := whole.Broke(before)
	if len(d.Cells) != 1 || d.Verdict != Violated || d.ExitCode != 1 || d.Cells[0].Trouble != "" || d.Cells[0].Cut != "" {
		t.Errorf("%+v", d)
	}
	if whole.Verdict == Violated {
		t.Error("the whole document was changed")
	}
	// What the baseline knew of it then it knows now.
	past := shard(2)
	violate(past, checker.Exclusion)
	past.Decide()
	for _, d := range []*Document{whole, before} {
		d.Against("known.json", past)
		d.Decide()
	}
	if d := Merge([]*Document{whole.Broke(before)}, nil); d.Verdict == Violated || len(d.Baseline.Known) != 1 || len(d.Baseline.New) != 0 {
		t.Errorf("%+v %+v", d, d.Baseline)
	}
}

func TestASuiteIsKnownByItsFileAndNotByHowThatIsCalled(t *testing.T) {
	here, there := shard(1), shard(2)
	for _, d := range []*Document{here, there} {
		d.Command, d.Settings["suite"] = "suite", "0123"
	}
	there.Settings["arguments"] = "./lockcheck.yaml"
	if _, _, err := Choose(sources(here, there)); err != nil {
		t.Error(err)
	}
}
