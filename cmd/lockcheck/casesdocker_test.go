package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

func TestAllCasesAreReproducedOnDocker(t *testing.T) {
	lockcheck, out := binary(t), t.TempDir()
	r := command(t, lockcheck, "case", "--on", "docker", "--json", "--out", out)
	t.Logf("%s", r.stderr)
	var doc caseDocument
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Cases) != len(catalogue.Cases) {
		t.Errorf("%d cases", len(doc.Cases))
	}
	runs := 0 // that the cases have
	for _, c := range doc.Cases {
		t.Logf("%s: %.1f s, T = %d ms, tries: %d", c.ID, c.Seconds, c.LeaseMS, c.Tries)
		known, _ := catalogue.FindCase(c.ID)
		if known.NotOn["docker"] != "" {
			continue
		}
		if !c.Reproduced || c.Remedy != "valid" && c.Remedy != "none" {
			t.Errorf("%s: reproduced %v, remedy %s: %s", c.ID, c.Reproduced, c.Remedy, c.Reason)
		}
		for _, s := range known.Schedules {
			runs++
			if len(s.Faults) > 0 {
				runs++ // without them
			}
			if known.Remedy.None == "" {
				runs++
			}
		}
	}
	if r.code != held && !t.Failed() {
		r.wants(t, held)
	}
	nothingLeft(t, lockcheck)

	// A fresh process that sees nothing but the file says the same.
	files, _ := filepath.Glob(filepath.Join(out, "*", historyFile))
	for _, file := range files {
		stored, err := os.ReadFile(filepath.Join(filepath.Dir(file), verdictFile))
		if err != nil {
			t.Fatal(err)
		}
		var then, now verdictDocument
		if err := json.Unmarshal(stored, &then); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(command(t, lockcheck, "check", "--json", file).stdout), &now); err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(then.Properties, now.Properties, func(a, b rundir.PropertyVerdict) bool { return a.Outcome == b.Outcome }) {
			t.Errorf("%s: the run gave %v, check gives %v", file, then.Properties, now.Properties)
		}
	}
	if len(files) != runs {
		t.Errorf("%d histories were kept, want %d", len(files), runs)
	}
}
