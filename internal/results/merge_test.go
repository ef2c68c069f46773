package results

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/rapidtest"
)

// run is the data that a result has about one run of a batch.
type run struct {
	plan     *harness.Plan
	verdicts []checker.Verdict
	reached  checker.Counts
	hazards  checker.HazardSet
	took     time.Duration
}

// everyHazard is the HazardSet of one kind of fault with all hazards reached.
const everyHazard = 1<<len(checker.Properties) - 1

func drawRun(t *rapid.T, i int) run {
	r := run{plan: &harness.Plan{Acquires: 2, Clients: []string{"c1", "c2"}}, took: time.Duration(rapid.IntRange(0, 1e9).Draw(t, "took"))}
	if kind := rapid.SampledFrom([]string{"", "pause", "kill"}).Draw(t, "fault"); kind != "" {
		r.plan.Faults = []faults.Injection{{Fault: kind}}
		r.reached[checker.FaultTouched] = rapid.IntRange(0, 2).Draw(t, "touched")
	}
	r.reached[checker.Grants] = rapid.IntRange(0, 3).Draw(t, "grants")
	for i := range r.hazards {
		r.hazards[i] = uint16(rapid.IntRange(0, everyHazard).Draw(t, "hazards"))
	}
	for _, p := range checker.Properties {
		v := checker.Verdict{Property: p, Outcome: rapid.SampledFrom(checker.Outcomes[:]).Draw(t, "outcome")}
		if v.Outcome == checker.Unknown || v.Outcome == checker.NA {
			v.Reason = fmt.Sprintf("reason of run %d", i)
		}
		r.verdicts = append(r.verdicts, v)
	}
	return r
}

// batch returns a cell with some of the runs, by number.
func batch(runs []run, mine []int) Cell { return batchFrom(100, runs, mine) }

func batchFrom(seed uint64, runs []run, mine []int) Cell {
	r := explore.NewResult()
	for _, i := range mine {
		r.Count(i, runs[i].plan, runs[i].verdicts, runs[i].reached, &runs[i].hazards)
		r.Took += runs[i].took
	}
	c := Cell{Name: "cell", Lock: "lock", On: "sim", Seed: seed}
	c.Take(r)
	for i := range c.Properties {
		p := &c.Properties[i]
		if t, ok := p.Runs[checker.Violated.String()]; ok {
			p.Counterexample = &Counterexample{Seed: t.Seed, File: fmt.Sprintf("%d/history.jsonl", t.Seed)}
		}
	}
	return c
}

func sum(cells ...Cell) Cell {
	total := *copied(&cells[0])
	for i := range cells[1:] {
		total.add(copied(&cells[i+1]))
	}
	return total
}

// However runs are split into parts, and in whatever order the parts are added, the
// cell equals that of one batch.
func TestPartsOfACellAddUpToIt(t *testing.T) {
	rapidtest.Check(t, func(t *rapid.T) {
		var runs []run
		parts := make([][]int, 3)
		all := []int{}
		for i := range rapid.IntRange(0, 8).Draw(t, "runs") {
			runs = append(runs, drawRun(t, i))
			n := rapid.IntRange(0, 2).Draw(t, "shard")
			parts[n], all = append(parts[n], i), append(all, i)
		}
		seed := rapid.SampledFrom([]uint64{100, math.MaxUint64 - 3}).Draw(t, "seed") // seeds wrap around to 0
		a, b, c := batchFrom(seed, runs, parts[0]), batchFrom(seed, runs, parts[1]), batchFrom(seed, runs, parts[2])
		want := text(batchFrom(seed, runs, all))
		for name, got := range map[string]Cell{
			"in order": sum(a, b, c), "backwards": sum(c, b, a), "in pairs": sum(a, sum(b, c)), "otherwise": sum(sum(b, a), c),
		} {
			if text(got) != want {
				t.Fatalf("%s:\n%s\nas one batch:\n%s", name, text(got), want)
			}
		}
	})
}

// A cell is written and read without a loss, and returns the result that it took.
func TestACellKeepsAllOfItsResult(t *testing.T) {
	rapidtest.Check(t, func(t *rapid.T) {
		var runs []run
		var all []int
		for i := range rapid.IntRange(0, 5).Draw(t, "runs") {
			runs, all = append(runs, drawRun(t, i)), append(all, i)
		}
		c := batch(runs, all)
		read := *copied(&c)
		if text(read) != text(c) {
			t.Fatalf("written and read:\n%s\nbefore:\n%s", text(read), text(c))
		}
		again := read
		again.Take(read.Result())
		if text(again) != text(c) {
			t.Fatalf("taken again:\n%s\nbefore:\n%s", text(again), text(c))
		}
		if !reflect.DeepEqual(read.Result(), c.Result()) {
			t.Fatal("what was written and read is another result")
		}
	})
}

// shard returns the document of one of four shards. It has a cell of one run, and only
// the first shard has a violation.
func shard(n int) *Document {
	d := &Document{Head: Head{Schema: Schema, Command: "run", Version: "1", Settings: map[string]string{"seed": "1"}}, Seed: 1}
	d.Shards = Part(explore.Shard{N: n, Of: 4})
	r := heldRun()
	for i := range r.hazards {
		r.hazards[i] = everyHazard
	}
	runs := slices.Repeat([]run{r}, 4)
	d.Cells = []Cell{batch(runs, []int{n - 1})}
	d.Decide()
	return d
}

// heldRun returns a run in which a client got the lock, and every property held.
func heldRun() run {
	r := run{plan: &harness.Plan{Acquires: 1, Clients: []string{"c1"}}}
	r.reached[checker.Grants] = 1
	for _, p := range checker.Properties {
		r.verdicts = append(r.verdicts, checker.Verdict{Property: p, Outcome: checker.Valid})
	}
	return r
}

// documents returns the documents of the parts that Choose chose.
func documents(chosen []*Source) (list []*Document) {
	for _, c := range chosen {
		list = append(list, c.Document)
	}
	return list
}

// merged returns what the documents are merged to.
func merged(t *testing.T, docs ...*Document) *Document {
	t.Helper()
	chosen, shards, err := Choose(sources(docs...))
	if err != nil {
		t.Fatal(err)
	}
	return Merge(documents(chosen), shards)
}

func sources(docs ...*Document) (list []Source) {
	for i, d := range docs {
		list = append(list, Source{fmt.Sprint(i), d})
	}
	return list
}

// If the few runs of a shard reached nothing, the merged result decides. Open or
// incomplete cells remain open. The document of a complete exploration is not affected.
func TestAFewRunsThatReachedNothingAreForTheOthersToMakeUp(t *testing.T) {
	na := func(d *Document) {
		p := d.Cells[0].Property(checker.Fencing)
		p.Runs = map[string]Tally{checker.NA.String(): {Count: 1, Seed: 101, Reason: "no token"}}
		d.Cells[0].Promises = checker.Promise{checker.Exclusion, checker.Fencing}
	}
	open := func(d *Document) {
		p := d.Cells[0].Property(checker.Exclusion)
		p.Runs = map[string]Tally{checker.Unknown.String(): {Count: 1, Seed: 101, Reason: "too long"}}
	}
	vacuous := func(d *Document) { d.Cells[0].Reached = map[string]int{} }
	all := func(list ...func(*Document)) func(*Document) {
		return func(d *Document) {
			for _, f := range list {
				f(d)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*Document)
		want   Verdict
		reason string
	}{
		{"nobody got the lock", vacuous, Elsewhere, "no client ever got the lock"},
		{"what is named did not apply", na, Elsewhere, "fencing is n/a (no token)"},
		{"both", all(vacuous, na), Elsewhere, "no client ever got the lock"},
		{"a promise is open", open, Inconclusive, "exclusion is unknown (too long)"},
		{"open, and nobody got the lock", all(open, vacuous), Inconclusive, "no client ever got the lock"},
		{"open, and what is named did not apply", all(open, na), Inconclusive, "fencing is n/a (no token)"},
		{"a promise of a later lockcheck", func(d *Document) { d.Cells[0].Promises = checker.Promise{"politeness"} }, Inconclusive, "politeness"},
		{"a counterexample of the past", all(vacuous, func(d *Document) { d.Cells[0].Kept = true }), Inconclusive, "no client ever got the lock"},
		{"the environment failed", all(vacuous, func(d *Document) { d.Cells[0].Trouble = "gone" }), Unavailable, "gone"},
		{"interrupted", all(vacuous, func(d *Document) { d.Shards.Cut = d.Shards.Have }), Inconclusive, "no client ever got the lock"},
		{"violated", all(vacuous, func(d *Document) { violate(d, checker.Exclusion) }), Violated, ""},
		{"not sharded", all(vacuous, func(d *Document) { d.Shards = nil }), Inconclusive, "no client ever got the lock"},
	} {
		d := shard(2)
		tt.change(d)
		d.Decide()
		if c := &d.Cells[0]; c.Verdict != tt.want || !strings.Contains(c.Reason, tt.reason) || d.Verdict != tt.want || d.ExitCode != tt.want.ExitCode() {
			t.Errorf("%s: the cell is %s: %s; the whole %s, exit code %d; want %s: %s", tt.name, c.Verdict, c.Reason, d.Verdict, d.ExitCode, tt.want, tt.reason)
		}
	}
	few := shard(2)
	vacuous(few)
	few.Decide()
	parts := []*Document{shard(1), few, shard(3), shard(4)}
	if d := merged(t, parts...); d.Verdict != Held || d.Cells[0].Verdict != Held {
		t.Errorf("together %s: %s", d.Verdict, d.Reason)
	}
	for _, p := range parts {
		vacuous(p)
	}
	if d := merged(t, parts...); d.Verdict != Inconclusive || d.Cells[0].Verdict != Inconclusive {
		t.Errorf("nobody got the lock in any of them, and together %s: %s", d.Verdict, d.Reason)
	}
}

// Merging a merged result changes nothing.
func TestMergingIsDoneOnce(t *testing.T) {
	once := merged(t, shard(1), shard(2), shard(3), shard(4))
	if twice := merged(t, once); text(twice) != text(once) {
		t.Errorf("%s\nonce:\n%s", text(twice), text(once))
	}
	if once.Verdict != Held || once.Runs != 4 {
		t.Errorf("%s", text(once))
	}
}

// A violation that is known in one shard is known in all. A violation that is gone in
// one shard and found in another is not gone.
func TestBaselinesOfShardsAreJoined(t *testing.T) {
	a, b := shard(1), shard(2)
	p := violate(a, checker.Exclusion)
	p.Known = true
	v := a.Cells[0].violation(p)
	gone := Violation{Cell: "cell", Lock: "lock", Property: checker.Fencing}
	a.Baseline = &Baseline{File: "known.json", Known: []Violation{v}, Gone: []Violation{gone}}
	b.Baseline = &Baseline{File: "known.json", Gone: []Violation{v, gone}}
	for _, parts := range [][]*Document{{a, b}, {b, a}} {
		d := Merge(parts, &Shards{Of: 2, Have: []int{1, 2}})
		if d.Verdict != Held || len(d.Baseline.Known) != 1 || len(d.Baseline.New) != 0 || len(d.Baseline.Gone) != 1 || d.Baseline.Gone[0].Property != checker.Fencing {
			t.Errorf("%s", text(d))
		}
	}
	// It is new if a shard found it by another mechanism.
	other := Mechanism{Name: "exclusion:entry-lost:evict", Count: 1, Seed: 2}
	violate(b, checker.Exclusion).Mechanisms = []Mechanism{other}
	v.Mechanisms = []Mechanism{other}
	b.Baseline = &Baseline{File: "known.json", New: []Violation{v}, Gone: []Violation{gone}}
	for _, parts := range [][]*Document{{a, b}, {b, a}} {
		d := Merge(parts, &Shards{Of: 2, Have: []int{1, 2}})
		if d.Verdict != Violated || len(d.Baseline.Known) != 0 || len(d.Baseline.New) != 1 || !slices.Equal(d.Baseline.New[0].Mechanisms, v.Mechanisms) {
			t.Errorf("%s", text(d))
		}
	}
}

func text(of any) string {
	s, err := json.MarshalIndent(of, "", " ")
	if err != nil {
		panic(err)
	}
	return string(s)
}
