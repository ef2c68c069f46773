package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
)

// What a run of a case may take: leases and sessions that it waits for take the
// same time everywhere, and all else is counted in what a place of its store takes
// in the same run of this test, as a duration alone says as much about the machine.
//
// Where little else ran, a case of two or three runs took 2 to 7 s on one Redis
// server and 13 to 26 s where its master was replaced, 2 to 12 s on MySQL and 10
// to 23 s on ZooKeeper. The cases on Redis took 245 s in all in a slow hour, 2.2 s
// for each of 110 runs. Beside other work on two cores, where a place took 0.8 to
// 4.7 s on Redis, 1.4 to 5 s on MySQL and 5 to 13 s on ZooKeeper, a run took 1.6
// places on one Redis server, 5 to 9 where its master was replaced, and 1 to 3 on
// MySQL and ZooKeeper.
var (
	ofOneCase = allowance{waits: 8, places: 10} // it may have servers to replace, or wait for 3 T
	onAverage = allowance{waits: 2, places: 4}  // of all cases on a store
)

// allowance is what a run may take: seconds of waiting, and so many times what a
// place takes.
type allowance struct{ waits, places float64 }

// of is what some runs may take, in seconds, where a place takes as much.
func (a allowance) of(runs int, place float64) float64 {
	return float64(runs) * (a.waits + a.places*place)
}

// simplest is a lock of each store, on a place without replicas.
var simplest = map[catalogue.Store]string{
	catalogue.StoreRedis:     "redis-set-lua",
	catalogue.StoreZooKeeper: "zk-recipe",
	catalogue.StoreMySQL:     "mysql-get-lock",
}

// measure is what runs take, in seconds, in which next to nothing is done but to
// build a place and to remove it, some times for each store.
func measure(t *testing.T, lockcheck string, times int) map[catalogue.Store][]float64 {
	t.Helper()
	took := map[catalogue.Store][]float64{}
	for store, lock := range simplest {
		for range times {
			start := time.Now()
			command(t, lockcheck, "run", lock, "--on", "docker", "--fault", "none",
				"--clients", "1", "--acquires", "1", "--out", t.TempDir()).wants(t, held)
			took[store] = append(took[store], time.Since(start).Seconds())
		}
		t.Logf("a place of %s: %.1f s", store, took[store])
	}
	return took
}

func TestAllCasesAreReproducedOnDocker(t *testing.T) {
	lockcheck, out := binary(t), t.TempDir()
	place := measure(t, lockcheck, 1)
	r := command(t, lockcheck, "case", "--on", "docker", "--json", "--out", out)
	t.Logf("%s", r.stderr)
	var doc caseDocument
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Cases) != len(catalogue.Cases) {
		t.Errorf("%d cases", len(doc.Cases))
	}
	measured := measure(t, lockcheck, 2) // the engine may have become another
	for store := range place {
		place[store] = slices.Sorted(slices.Values(append(place[store], measured[store]...)))
	}
	runs := 0 // that the cases have
	runsOn, took := map[catalogue.Store]int{}, map[catalogue.Store]float64{}
	for _, c := range doc.Cases {
		t.Logf("%s: %.1f s, T = %d ms, tries: %d", c.ID, c.Seconds, c.LeaseMS, c.Tries)
		known, _ := catalogue.FindCase(c.ID)
		if known.NotOn["docker"] != "" {
			continue
		}
		if !c.Reproduced || c.Remedy != "valid" && c.Remedy != "none" {
			t.Errorf("%s: reproduced %v, remedy %s: %s", c.ID, c.Reproduced, c.Remedy, c.Reason)
		}
		has := 0 // runs
		for _, s := range known.Schedules {
			has++
			if len(s.Faults) > 0 {
				has++ // without them
			}
			if known.Remedy.None == "" {
				has++
			}
		}
		lock, _ := catalogue.FindLock(known.Setup.Lock)
		runs += has
		runsOn[lock.Store] += has
		took[lock.Store] += c.Seconds
		if limit := ofOneCase.of(has, place[lock.Store][1]); c.Tries == 1 && c.Seconds > limit {
			t.Errorf("%s took %.1f s, want %.1f s for %d runs at most", c.ID, c.Seconds, limit, has)
		}
	}
	for store, seconds := range took {
		each := place[store][1]
		t.Logf("%s: %.1f s for each of %d runs, where a place takes %.1f s", store, seconds/float64(runsOn[store]), runsOn[store], each)
		if limit := onAverage.of(runsOn[store], each); seconds > limit {
			t.Errorf("the cases on %s took %.0f s, want %.0f s at most", store, seconds, limit)
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
		if !slices.EqualFunc(then.Properties, now.Properties, func(a, b propertyVerdict) bool { return a.Outcome == b.Outcome }) {
			t.Errorf("%s: the run gave %v, check gives %v", file, then.Properties, now.Properties)
		}
	}
	if len(files) != runs {
		t.Errorf("%d histories were kept, want %d", len(files), runs)
	}
}
