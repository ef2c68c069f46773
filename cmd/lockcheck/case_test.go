package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/cases"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/judging"
)

// interruptedCase runs case, and interrupts it in or after the n-th batch of runs. If
// within it, that batch fails; if after it, the batch is complete.
func interruptedCase(t *testing.T, n int, within bool, args ...string) result {
	ctx, cancel := context.WithCancel(t.Context())
	if n == 0 {
		cancel()
	}
	calls := 0
	return in(t, ctx, func(p *changed) {
		each, execute := p.each, p.execute
		count := func() error {
			if calls++; calls == n {
				cancel()
				if within {
					return ctx.Err()
				}
			}
			return nil
		}
		p.each = func(plans []*harness.Plan, names []string) ([]*harness.Judged, error) {
			done, err := each(plans, names)
			if cut := count(); cut != nil {
				return nil, cut
			}
			return done, err
		}
		p.execute = func(plan *harness.Plan, name string) (*harness.Judged, harness.Replay, error) {
			j, r, err := execute(plan, name)
			if cut := count(); cut != nil {
				return nil, r, cut
			}
			return j, r, err
		}
	}, append([]string{"case", "-q"}, args...)...)
}

// An interrupted command says that it was interrupted, and how much is missing.
func TestInterruptedCasesDoNotLookComplete(t *testing.T) {
	three := []string{"redis-get-del-race", "redis-del-unowned", "redis-expiry-while-holding"}
	for _, tt := range []struct {
		name         string
		n            int
		within       bool
		words        string
		cases, begun int
		cut          string
	}{
		{"before the first", 0, false, "No case was begun", 0, 0, ""},
		{"after the first", 1, false, "1 of 3 behaved as documented; 2 more were not begun", 1, 1, ""},
		{"after the second", 2, false, "2 of 3 behaved as documented; 1 more was not begun", 2, 2, ""},
		{"in the second", 2, true, " was cut short, and 1 more was not begun", 1, 2, "second"},
		{"in the third", 3, true, " was cut short", 2, 3, "third"},
	} {
		r := interruptedCase(t, tt.n, tt.within, three...)
		r.stdout = strings.ReplaceAll(r.stdout, "\n", " ")
		r.wants(t, interrupted, tt.words, "lockcheck: interrupted")
		var doc cases.Document
		r = interruptedCase(t, tt.n, tt.within, append(three, "--json")...)
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
			t.Fatal(err, r.stdout, r.stderr)
		}
		if !doc.Interrupted || len(doc.Cases) != tt.cases || doc.Left != 3-tt.begun || (doc.Cut != "") != (tt.cut != "") {
			t.Errorf("%s: %s", tt.name, r.stdout)
		}
		readJSONPage(t).section(t, "cases", tt.name, decoded(t, tt.name, r.stdout))
	}
	doc := lockcheck(t, append([]string{"case", "--json", "--out", t.TempDir()}, three...)...)
	if strings.Contains(doc.stdout, `"interrupted"`) || strings.Contains(doc.stdout, `"not_begun"`) {
		t.Errorf("nobody interrupted it:\n%s", doc.stdout)
	}
}

// The story of a case is about the failure that the case shows: on the terminal, in its
// file and in a replay. Without the fault those properties are not violated.
func TestACaseIsToldByWhatItShows(t *testing.T) {
	out := t.TempDir()
	for _, c := range catalogue.Cases {
		for _, s := range c.Schedules {
			if c.Kind == catalogue.Control || len(s.Must) == 0 {
				continue
			}
			name := harness.ScheduleName(c, s)
			if _, err := os.Stat(filepath.Join(out, name)); err != nil {
				lockcheck(t, "case", c.ID, "--out", out).wants(t, held, "VIOLATED "+string(s.Must[0]))
			}
			story, err := os.ReadFile(filepath.Join(out, name, storyFile))
			if want := "✗ VIOLATED " + string(s.Must[0]) + ": "; err != nil || !strings.HasPrefix(string(story), want) {
				t.Errorf("%s: want %q, %v:\n%s", name, want, err, story)
			}
		}
	}
	r := lockcheck(t, "replay", filepath.Join(out, "redis-del-unowned", scheduleFile), "--out", t.TempDir())
	r.wants(t, violated, "VIOLATED ownership: c1's release removed c2's entry")
}

// The same is true of cases with changes.
func TestInterruptedCasesThatAreChangedDoNotLookComplete(t *testing.T) {
	args := []string{"redis-get-del-race", "redis-del-unowned", "--lease", "2s"}
	interruptedCase(t, 1, false, args...).wants(t, interrupted, "1 more was not begun\n")
	var doc judging.Documents
	r := interruptedCase(t, 1, false, append(args, "--json")...)
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || !doc.Interrupted || doc.Left != 1 || len(doc.Files) != 1 {
		t.Errorf("%v\n%s", err, r.stdout)
	}
}
