package report_test

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/report"
)

// Random runs of every lock under every fault have stories that fit the page.
func TestStoriesOfRandomRuns(t *testing.T) {
	t.Parallel()
	for _, lock := range catalogue.Locks {
		for _, f := range faults.All() {
			if lock.Applies(f, catalogue.Server{}) != nil {
				continue
			}
			layout := catalogue.NewLayout(&lock, catalogue.Server{}, catalogue.Options{})
			for seed := range uint64(3) {
				p := &harness.Plan{
					Lock: lock.ID, On: "sim", Seed: seed, Lease: 10 * time.Second,
					Clients: []string{"c1", "c2", "c3", "c4", "c5"}, Acquires: 10,
				}
				rng := rand.New(rand.NewPCG(seed, 1))
				p.Faults = faults.Random(faults.Scope{
					Kinds: []faults.Fault{f}, Count: 1 + int(seed)%2, Clients: p.Clients, Servers: layout.Masters(),
					Acquires: p.Acquires, Lease: p.Lease, Length: 15 * time.Second,
				}, rng.Int64N)
				j, _, err := harness.Simulate(sim.Simulator, p)
				if err != nil {
					t.Fatal(err)
				}
				for _, about := range append(j.Violated(), "") {
					told(t, j, report.Options{About: about}, lock.ID+", "+f.Name)
				}
			}
		}
	}
}

// A client that is let in by another one's death shows that death, also if the story is
// about the write that was lost.
func TestALostWriteHasItsCause(t *testing.T) {
	t.Parallel()
	lost := 0
	for seed := range uint64(1500) {
		p := &harness.Plan{
			Lock: "zk-predecessor", On: "sim", Seed: seed, Lease: 10 * time.Second,
			Clients: []string{"c1", "c2", "c3"}, Acquires: 4,
		}
		p.Faults = faults.Random(faults.Scope{
			Kinds: []faults.Fault{kindOf(t, "kill")}, Count: 1, Clients: p.Clients, Servers: []string{"zk-1", "zk-2", "zk-3"},
			Acquires: p.Acquires, Lease: p.Lease, Length: 15 * time.Second,
		}, rand.New(rand.NewPCG(seed, 1)).Int64N)
		j, _, err := harness.Simulate(sim.Simulator, p)
		if err != nil {
			t.Fatal(err)
		}
		if j.Outcome(checker.Resource) != checker.Violated {
			continue
		}
		lost++
		text := told(t, j, report.Options{About: checker.Resource}, p.Lock)
		flat := strings.Join(strings.Fields(text), " ")
		for _, want := range []string{" was killed", "its session was over"} {
			if !strings.Contains(flat, want) {
				t.Errorf("seed %d does not say %q:\n%s", seed, want, text)
			}
		}
	}
	if lost == 0 {
		t.Error("no write was lost")
	}
}

func kindOf(t *testing.T, name string) faults.Fault {
	t.Helper()
	f, ok := faults.Find(name)
	if !ok {
		t.Fatal(name)
	}
	return f
}

// The documented cases and their remedies have stories. A story of a violation is
// about a violation that the case must show.
func TestStoriesOfCases(t *testing.T) {
	t.Parallel()
	for _, c := range catalogue.Cases {
		for _, s := range c.Schedules {
			flawed, healthy, remedied := harness.CasePlans(c, s, "sim", 10*time.Second)
			for _, p := range []*harness.Plan{flawed, healthy, remedied} {
				if p == nil {
					continue
				}
				j, _, err := harness.Simulate(sim.Simulator, p)
				if err != nil {
					t.Fatal(err)
				}
				text := told(t, j, report.Options{}, c.ID)
				if p == flawed && c.Kind == catalogue.Violation && !strings.HasPrefix(text, "✗ VIOLATED ") {
					t.Errorf("%s:\n%s", c.ID, text)
				}
			}
		}
	}
}

// The lines of a story that list a moment, and the rows of the picture with the moments'
// numbers.
var (
	item    = regexp.MustCompile(`^  ([1-9])  +\d+\.\d+ m?s  \S`)
	numbers = regexp.MustCompile(`^(?: {15}|  not shown    )([ \d]*)\n$`)
)

// told returns a story. It checks that the story fits the page, that the picture has
// each number of the list once, and that a second
// story of the same run is identical.
func told(t *testing.T, j *harness.Judged, o report.Options, what string) string {
	t.Helper()
	var b, again bytes.Buffer
	if err := report.Story(&b, j.History, j.Verdicts, o); err != nil {
		t.Fatal(err)
	}
	if err := report.Story(&again, j.History, j.Verdicts, o); err != nil {
		t.Fatal(err)
	}
	if b.String() != again.String() {
		t.Errorf("%s: told differently:\n%s\n%s", what, b.String(), again.String())
	}
	if err := report.Verdicts(&b, j.Verdicts, func(p checker.Property) bool { return p != checker.Handover }, o); err != nil {
		t.Fatal(err)
	}
	listed, numbered := []string{}, ""
	for line := range strings.Lines(again.String()) {
		if m := item.FindStringSubmatch(line); m != nil {
			listed = append(listed, m[1])
		} else if m := numbers.FindStringSubmatch(line); m != nil {
			numbered += m[1]
		}
	}
	for _, n := range listed {
		if strings.Count(numbered, n) != 1 {
			t.Errorf("%s: the number %s is not once in the picture:\n%s", what, n, again.String())
		}
	}
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if len([]rune(line)) > 80 || strings.HasSuffix(line, " ") {
			t.Errorf("%s: a line that does not fit: %q", what, line)
		}
	}
	return again.String()
}
