package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// A baseline recognises an entry by its settings, not by its name alone.
func TestABaselineHidesNoOtherEntryOfThatName(t *testing.T) {
	const entry = "runs: 60\nlocks:\n  - {name: prod, lock: redis-set-del, faults: pause, promises: ownership}\n"
	for _, tt := range []struct {
		name, from, to string
		code           int
	}{
		{"the same", "", "", held},
		{"more runs", "runs: 60", "runs: 90", held},
		{"a promise more", "ownership}", "[ownership, liveness]}", held},
		{"what is usual written out", "faults:", "on: sim, lease: 10s, strategy: random, workloads: usual, faults:", held},
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

// known returns the digest of the last cell of an entry.
func known(t *testing.T, entry string) string {
	t.Helper()
	s, err := suite.Parse([]byte("lockcheck: 1\nlocks: [{" + entry + "}]"))
	if err != nil {
		t.Fatalf("%s: %v", entry, err)
	}
	flags, cells, err := suiteFlags{given: func(string) bool { return false }}.entry(s, &s.Locks[0])
	if err != nil {
		t.Fatalf("%s: %v", entry, err)
	}
	var c suiteCell
	if err := newApp(nil, io.Discard, io.Discard).describe(&c, &s.Locks[0], flags, cells[len(cells)-1]); err != nil {
		t.Fatalf("%s: %v", entry, err)
	}
	return c.settings.CellSettings
}

// The digest of a cell covers the whole entry, except for names, promises and the
// number of runs.
func TestWhatACellIsKnownBy(t *testing.T) {
	const (
		sim    = "lock: redis-set-lua, faults: pause"
		mixed  = "lock: redis-set-lua, mix: true, faults: [pause, kill]"
		real   = "lock: redis-set-lua, on: docker, faults: pause"
		worker = "worker: true it is, faults: pause"
	)
	for _, tt := range []struct {
		usual   string
		SameDir []string // other ways to write the same
		other   []string
	}{
		{sim, []string{
			sim + ", name: mine, promises: ownership, runs: 7",
			sim + ", on: sim", sim + ", strategy: random", sim + ", mix: false", sim + ", workloads: usual", sim + ", workloads: [usual]",
			sim + ", lease: 10s", sim + ", lease: 10000ms",
		}, []string{
			"lock: redis-set-del, faults: pause", "lock: redis-set-lua, faults: kill", "lock: redis-set-lua, faults: none", real, worker, mixed,
			sim + ", faults-per-run: 1", sim + ", faults-per-run: 2", sim + ", workloads: give-up", sim + ", workloads: [usual, give-up]",
			sim + ", options: token", sim + ", fencing: all", sim + ", fencing: writes", sim + ", strategy: pct",
			sim + ", lease: 5s", sim + ", lease: 1s", sim + ", clients: 2", sim + ", clients: 5", sim + ", acquires: 20",
		}},
		{sim + ", options: [spin, token]", []string{sim + ", options: [token, spin]"}, []string{sim + ", options: spin"}},
		{sim + ", fencing: all", []string{sim + ", fencing: all, options: token"}, []string{sim + ", fencing: all, options: token=own"}},
		{sim + ", workloads: [usual, give-up]", []string{sim + ", workloads: [give-up, usual]"}, nil},
		{sim + ", strategy: pct", nil, []string{sim + ", strategy: pct, depth: 1"}},
		{mixed, []string{"lock: redis-set-lua, mix: true, faults: [kill, pause]"}, []string{
			"lock: redis-set-lua, mix: true, faults: [kill, pause, delay]", mixed + ", faults-per-run: 2",
		}},
		{"lock: redis-set-lua, faults: none", []string{"lock: redis-set-lua, faults: [none]"}, []string{sim}},
		{real, []string{
			real + ", clients: 5", real + ", acquires: 20", real + ", lease: 1s",
		}, []string{real + ", clients: 4", real + ", acquires: 1", real + ", faults-per-run: 1", real + ", faults-per-run: 2", real + ", lease: 10s", real + ", lease: 4s"}},
		{
			"lock: redis-set-lua, on: docker, faults: failover",
			[]string{"lock: redis-set-lua, on: docker, faults: failover, lease: 4s"},
			[]string{"lock: redis-set-lua, on: docker, faults: failover, lease: 1s"},
		},
		{
			"lock: redis-set-lua, on: docker, mix: true, faults: [failover, pause]", nil, // each run has its own lease
			[]string{
				"lock: redis-set-lua, on: docker, mix: true, faults: [failover, pause], lease: 1s",
				"lock: redis-set-lua, on: docker, mix: true, faults: [failover, pause], lease: 4s",
			},
		},
		{
			worker,
			[]string{worker + ", on: docker", worker + ", name: mine", "worker: \"true  'it' is\", faults: pause", worker + ", lease: 1s"},
			[]string{"worker: true it was, faults: pause", worker + ", clients: 2"},
		},
	} {
		is := known(t, tt.usual)
		for _, same := range tt.SameDir {
			if known(t, same) != is {
				t.Errorf("%s: it is another cell than %s", same, tt.usual)
			}
		}
		for _, other := range tt.other {
			if known(t, other) == is {
				t.Errorf("%s: it is the same cell as %s", other, tt.usual)
			}
		}
	}
	// With real servers the digest also covers their images.
	before := known(t, real)
	if t.Setenv(docker.MySQLEnv, "other:1"); known(t, real) == before {
		t.Error("it is the same cell with another server")
	}
}

// The digest of a cell with nothing but a lock and a fault covers only these: a new key
// in a later version does not turn known violations into new ones.
func TestADigestHasWhatIsSaidOnly(t *testing.T) {
	if got, want := known(t, "lock: redis-set-lua, faults: pause"), rundir.Digest([]byte(`[{"faults":["pause"],"lock":"redis-set-lua","on":"sim"},null]`)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
