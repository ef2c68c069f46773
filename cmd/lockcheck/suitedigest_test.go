package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/cluster/docker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/results"
	"github.com/lockcheck/lockcheck/suite"
)

// A baseline knows an entry by what it says, not by its name alone.
func TestABaselineHidesNoOtherEntryOfThatName(t *testing.T) {
	const entry = "runs: 60\nlocks:\n  - {name: prod, lock: redis-set-del, faults: pause, promises: ownership}\n"
	for _, tt := range []struct {
		name, from, to string
		code           int
	}{
		{"the same", "", "", held},
		{"more runs", "runs: 60", "runs: 90", held},
		{"a promise more", "ownership}", "[ownership, liveness]}", held},
		{"another lock", "redis-set-del,", "redis-set-get-del, runs: 3000,", violated},
		{"clients", "faults:", "clients: 3, faults:", violated},
		{"a lease", "faults:", "lease: 5s, faults:", violated},
		{"options", "faults:", "options: token, faults:", violated},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			before, _ := suiteRun(t, new(engine), entry)
			before.wants(t, violated)
			if err := os.Rename(filepath.Join("lockcheck-out", results.File), "known.json"); err != nil {
				t.Fatal(err)
			}
			if tt.code == violated {
				if err := os.RemoveAll(regressionsDir); err != nil {
					t.Fatal(err)
				}
			}
			r, _ := suiteRun(t, new(engine), strings.Replace(entry, tt.from, tt.to, 1), "--baseline", "known.json")
			if r.wants(t, tt.code); tt.code == violated && !strings.Contains(strings.Join(strings.Fields(r.stdout), " "), "its cell has another lock or other settings now") {
				t.Errorf("it is not said why:\n%s", r.stdout)
			}
		})
	}
}

// All that an entry says is in the digest of its cells, but for what they are
// called, promise, and how often they are done; with real servers so is what they are.
func TestWhatACellIsKnownBy(t *testing.T) {
	pause, _ := faults.Find("pause")
	kill, _ := faults.Find("kill")
	usual := func() suite.Entry { return suite.Entry{Lock: "a", On: "docker"} }
	is := func(e suite.Entry) string { return cellSettings(&e, []faults.Fault{pause}) }
	for name, change := range map[string]func(*suite.Entry){
		"lock":     func(e *suite.Entry) { e.Lock = "b" },
		"worker":   func(e *suite.Entry) { e.Worker = "w" },
		"place":    func(e *suite.Entry) { e.On = "sim" },
		"count":    func(e *suite.Entry) { e.FaultsPerRun = 2 },
		"mix":      func(e *suite.Entry) { e.Mix = true },
		"workload": func(e *suite.Entry) { e.Workloads = []string{"finally"} },
		"options":  func(e *suite.Entry) { e.Options = []string{"token"} },
		"fencing":  func(e *suite.Entry) { e.Fencing = "all" },
		"strategy": func(e *suite.Entry) { e.Strategy = "pct" },
		"depth":    func(e *suite.Entry) { e.Depth = 2 },
		"lease":    func(e *suite.Entry) { e.Lease = 1 },
		"clients":  func(e *suite.Entry) { e.Clients = 2 },
		"acquires": func(e *suite.Entry) { e.Acquires = 2 },
	} {
		e := usual()
		if change(&e); is(e) == is(usual()) {
			t.Errorf("%s: it is the same cell", name)
		}
	}
	e := usual()
	e.Name, e.Promises, e.Runs, e.Line, e.Faults = "b", checker.Promise{checker.Fencing}, 7, 7, []string{"all"}
	if is(e) != is(usual()) {
		t.Error("it is another cell by its name")
	}
	e = usual()
	if cellSettings(&e, []faults.Fault{kill}) == is(usual()) {
		t.Error("it is the same cell under another fault")
	}
	before := is(usual())
	if t.Setenv(docker.MySQLEnv, "other:1"); is(usual()) == before {
		t.Error("it is the same cell with another server")
	}
}
