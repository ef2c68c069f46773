package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/cases"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/judging"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// Each case that can be shown on real servers is reproduced there. Most of the time
// nothing but a clock moves: a few groups of cases run side by side. A case that did not
// come about in five tries, in such company, runs once more alone.
func TestAllCasesAreReproducedOnDocker(t *testing.T) {
	dockertest.Require(t)
	var ids []string
	for _, c := range catalogue.Cases {
		if c.NotOn["docker"] == "" {
			ids = append(ids, c.ID)
		}
	}
	lockcheck := built(t)
	var mu sync.Mutex
	var missed []string
	t.Run("together", func(t *testing.T) {
		for group := range slices.Chunk(ids, 5) {
			t.Run(group[0], func(t *testing.T) {
				t.Parallel()
				now := reproduced(t, lockcheck, group)
				mu.Lock()
				defer mu.Unlock()
				missed = append(missed, now...)
			})
		}
	})
	for _, id := range missed {
		if left := reproduced(t, lockcheck, []string{id}); len(left) > 0 {
			t.Errorf("%s did not come about, alone", id)
		}
	}
}

// By default a case of each topology runs: one server, Sentinel with replicas, several
// masters, an ensemble, and a database with and without a replica.
func TestACaseOfEachTopologyOnDocker(t *testing.T) {
	t.Parallel()
	dockertest.Sample(t)
	if missed := reproduced(t, built(t), []string{
		"redis-del-unowned", "redis-sentinel-split-brain", "redlock-crash-no-persist",
		"zk-session-expiry-holder", "mysql-getlock-conn-loss", "mysql-getlock-failover",
	}); len(missed) > 0 {
		t.Errorf("did not come about: %q", missed)
	}
}

// reproduced runs cases on Docker, and returns those that did not come about in any of
// their tries. The others have to behave as documented, and check has to find in each
// history the same violations as the run.
func reproduced(t *testing.T, lockcheck string, ids []string) (missed []string) {
	t.Helper()
	out := t.TempDir()
	r := command(t, lockcheck, slices.Concat([]string{"case"}, ids, []string{"--on", "docker", "--json", "--out", out})...)
	t.Logf("%s", r.stderr)
	var doc cases.Document
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Cases) != len(ids) {
		t.Errorf("%d cases, want %d", len(doc.Cases), len(ids))
	}
	runs := 0 // in all cases
	for _, c := range doc.Cases {
		t.Logf("%s: %.1f s, T = %d ms, tries: %d", c.ID, c.Seconds, c.LeaseMS, c.Tries)
		switch {
		case c.AsDocumented():
		case c.Tries == batch.Tries: // nothing else is tried so often
			missed = append(missed, c.ID)
		default:
			t.Errorf("%s: reproduced %v, remedy %s: %s", c.ID, c.Reproduced, c.Remedy, c.Reason)
		}
		known, _ := catalogue.FindCase(c.ID)
		for _, s := range known.Schedules {
			runs++
			if len(s.Faults) > 0 {
				runs++ // without the faults
			}
			if known.Remedy.None == "" {
				runs++
			}
		}
	}
	if r.code != held && len(missed) == 0 && !t.Failed() {
		r.wants(t, held)
	}
	nothingLeft(t, lockcheck)

	files, _ := filepath.Glob(filepath.Join(out, "*", rundir.HistoryFile))
	if len(files) != runs {
		t.Errorf("%d histories were kept, want %d", len(files), runs)
	}
	var checked judging.Documents
	if err := json.Unmarshal([]byte(command(t, lockcheck, slices.Concat([]string{"check", "--json"}, files)...).stdout), &checked); err != nil {
		t.Fatal(err)
	}
	for _, now := range checked.Files {
		var then rundir.Verdict
		text, err := os.ReadFile(filepath.Join(filepath.Dir(now.File), rundir.VerdictFile))
		if err = cmp.Or(err, json.Unmarshal(text, &then)); err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(then.Properties, now.Properties, func(a, b rundir.PropertyVerdict) bool { return a.Outcome == b.Outcome }) {
			t.Errorf("%s: the run gave %v, check gives %v", now.File, then.Properties, now.Properties)
		}
	}
	return missed
}
