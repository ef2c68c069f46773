package results

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/explore"
)

// A document lists the shards that it has, and those that are missing.
func TestMissingAndCutShardsAreNamed(t *testing.T) {
	cut := shard(3)
	cut.Shards = Part(explore.Shard{N: 3, Of: 4})
	cut.Shards.Interrupt()
	d := merged(t, shard(1), cut, shard(4))
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
	merged := merged(t, shard(1), shard(2))
	more12 := Merge([]*Document{shard(1), shard(2), shard(3)}, &Shards{Of: 4, Have: []int{1, 2, 3}, Missing: []int{4}})
	other34 := Merge([]*Document{shard(3), shard(4)}, &Shards{Of: 4, Have: []int{3, 4}, Missing: []int{1, 2}})
	failed := shard(2)
	failed.Cells[0].Trouble, failed.Cells[0].Runs = "the place is not there", 0
	failed.Decide()
	ended := shard(2)
	ended.Shards.Interrupt()
	// The same violation with different details.
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
	for _, tt := range []struct {
		name string
		docs []*Document
		want string // files, or words of the error
	}{
		{"one alone", []*Document{shard(2)}, "0"},
		{"in the order of the shards", []*Document{shard(3), shard(1)}, "1 0"},
		{"the same twice", []*Document{shard(2), shard(2)}, "0"},
		{"the same, in another time", []*Document{shard(2), later}, "0"},
		{"the same, shrunk only once", []*Document{told("known.json", "", "for 9 s"), told("./known.json", "shrunk/history.jsonl", "for 2 s")}, "0"},
		{"one cut and one whole", []*Document{cut, shard(2)}, "0/result.json and 1/result.json are both shard 2 of 4, and they differ"},
		{"one that the environment failed, and one whole", []*Document{failed, shard(2)}, "and they differ"},
		{"one that was ended, and one whole with the same cells", []*Document{ended, shard(2)}, "and they differ"},
		{"one that an error ended, and one whole", []*Document{changed(func(d *Document) { d.ExitCode = 4 }), shard(3)}, "and they differ"},
		{"one cut, twice", []*Document{cut, copied(cut)}, "0"},
		{"two that differ", []*Document{shard(2), other}, "0/result.json and 1/result.json are both shard 2 of 4, and they differ"},
		{"merged, and the parts of it", []*Document{merged, shard(1), shard(2), shard(3)}, "1 2 3"},
		{"merged, and others", []*Document{shard(4), merged, shard(3)}, "2 0"},
		{"merged, and one part of it", []*Document{merged, shard(2)}, "1"},
		{"merged and alone", []*Document{merged}, "0"},
		{"merged and alone, twice", []*Document{merged, copied(merged)}, "0"},
		{"merged, and a part of it with more", []*Document{merged, more12}, "0/result.json and 1/result.json are both shard 1 of 4, and they differ"},
		{"merged, and other shards merged", []*Document{other34, merged}, "1 0"},
		{"a whole one", []*Document{whole}, "0"},
		{"a whole one and a shard", []*Document{whole, shard(3)}, "the number of shards is 1 in the one and 4 in the other"},
		{"another version", []*Document{shard(1), changed(func(d *Document) { d.Version = "2" })}, "the version of lockcheck is 1 in the one and 2 in the other"},
		{"another revision", []*Document{shard(1), changed(func(d *Document) { d.Revision = "abc" })}, "the source of the build is unknown in the one and abc in the other"},
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
		{"merged of another version, and a shard", []*Document{&stale, shard(1)}, "1"},
		{"other locks", []*Document{changed(func(d *Document) { d.Settings["arguments"] = "a" }), changed(func(d *Document) { d.Settings["arguments"] = "b" })}, "what was named is a in the one and b in the other"},
	} {
		var got []string
		chosen, _, err := Choose(sources(tt.docs...))
		for _, c := range chosen {
			got = append(got, c.Dir)
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if words := strings.Join(got, " "); words != tt.want && (err == nil || !strings.Contains(words, tt.want)) {
			t.Errorf("%s: %s, want %s", tt.name, words, tt.want)
		}
	}
}

// The cells of a complete exploration that an error ended prove nothing, as after an
// interrupt.
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

// violate makes one run of the document's cell violate a property.
func violate(d *Document, prop checker.Property) *PropertyResult {
	p := d.Cells[0].Property(prop)
	p.Runs = map[string]Tally{checker.Violated.String(): {Count: 1, Seed: d.Cells[0].Seed}}
	p.Counterexample = &Counterexample{Seed: d.Cells[0].Seed, File: "history.jsonl"}
	return p
}

// A shard that runs again has the violations of both tries, but not the trouble of the
// earlier one.
func TestADocumentTakesTheViolationsOfAnEarlierTry(t *testing.T) {
	try := func(runs int, props ...checker.Property) *Document {
		d := shard(2)
		d.Cells[0].Runs = runs
		for _, prop := range props {
			violate(d, prop)
		}
		d.Decide()
		return d
	}
	const x, o = checker.Exclusion, checker.Ownership
	elsewhere := try(10, x)
	elsewhere.Cells[0].Name = "other"
	unpromised := try(10, x)
	unpromised.Cells[0].Promises = checker.Promise{o}
	unpromised.Decide()
	for _, tt := range []struct {
		name         string
		now, earlier *Document
		taken        string // expected, with those of this try
		runs         int
	}{
		{"none in the earlier try", try(60, o), try(10), "[]", 60},
		{"the same in both", try(60, x), try(10, x), "[]", 60},
		{"one in the earlier try", try(60), try(10, x), "[exclusion in cell]", 60},
		{"one in each", try(60, o), try(10, x), "[exclusion in cell]", 60},
		{"one in each, of which the earlier did more", try(5, o), try(10, x), "[exclusion in cell]", 10},
		{"what is not promised", try(60), unpromised, "[]", 60},
		{"a cell that this try did not come to", try(60), elsewhere, "[exclusion in other]", 70},
	} {
		tt.earlier.Cells[0].Trouble, tt.earlier.Cells[0].Cut = "the place is not there any more", "time was over"
		own, before := len(tt.now.Violations), text(tt.earlier)
		taken := tt.now.TakeViolations(tt.earlier)
		tt.now.Decide()
		if fmt.Sprint(taken) != tt.taken || len(tt.now.Violations) != own+len(taken) || tt.now.Runs != tt.runs {
			t.Errorf("%s: %s is taken, of %d runs:\n%s", tt.name, taken, tt.now.Runs, text(tt.now))
		}
		for _, c := range tt.now.Cells {
			if c.Trouble+c.Cut != "" {
				t.Errorf("%s: %+v", tt.name, c)
			}
		}
		if text(tt.earlier) != before {
			t.Errorf("%s: the earlier one is changed", tt.name)
		}
	}
	// The trouble of this try is not hidden.
	now := try(5)
	now.Cells[0].Trouble = "the place is not there"
	now.TakeViolations(try(10, x))
	if now.Decide(); now.Verdict != Unavailable || !now.Partial() || len(now.Violations) != 1 {
		t.Error(text(now))
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
