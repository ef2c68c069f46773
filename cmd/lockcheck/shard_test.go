package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/results"
)

func there(t *testing.T, file string, want bool) {
	t.Helper()
	if _, err := os.Stat(file); (err == nil) != want {
		t.Errorf("%s: it is there: %v, want %v", file, !want, want)
	}
}

// Older files must not pass as the outcome of this command: neither a result nor passed
// tests.
func TestNothingOfAnEarlierTimeIsLeft(t *testing.T) {
	t.Chdir(t.TempDir())
	const held1 = "run redis-set-lua --fault none --runs 5 --junit j.xml"
	file := filepath.Join("lockcheck-out", results.File)
	leave := func() {
		t.Helper()
		if err := os.RemoveAll("lockcheck-out"); err != nil {
			t.Fatal(err)
		}
		lockcheck(t, append(strings.Fields(held1), "--shard", "1/1")...).wants(t, held)
		there(t, file, true)
		there(t, "j.xml", true)
	}
	// A command that writes no result.json removes its own older one. The result of
	// another command stays: it may be a baseline.
	for args, want := range map[string]struct {
		code  int
		there bool
	}{
		"run redis-set-del --fault pause --seed 1 --runs 20 --no-shrink": {violated, false},
		"run redis-set-lua --strategy exhaustive --fault none":           {held, false},
		"matrix redis-set-lua --fault none --runs 5":                     {held, true},
	} {
		leave()
		lockcheck(t, strings.Fields(args)...).wants(t, want.code)
		there(t, file, want.there)
	}
	// There is no result either if the environment could not be set up.
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1") // no server answers there
	for args, stays := range map[string]bool{"run redis-set-lua --on docker --fault pause": false, "matrix redis-set-lua --on docker --fault pause": true} {
		leave()
		lockcheck(t, strings.Fields(args)...).wants(t, unavailable)
		there(t, file, stays)
	}
	// A command that could not begin leaves the older result, because nothing was done.
	// Its JUnit file is always new.
	for _, args := range []string{
		"run redis-set-lua --fault nothing --junit j.xml", "run redis-set-lua --fault none --runs 0 --junit j.xml",
		"run redis-set-lua --baseline no.json --junit j.xml", "suite --junit j.xml", "suite --junit j.xml --runs 0",
	} {
		leave()
		lockcheck(t, strings.Fields(args)...).wants(t, usage)
		there(t, file, true)
		there(t, "j.xml", false)
	}
	// A suite whose kept counterexamples cannot be read did nothing either.
	leave()
	for name, text := range map[string]string{"lockcheck.yaml": spreadSuite, "regressions/a/schedule.json": "{"} {
		write(t, name, text)
	}
	lockcheck(t, "suite", "--junit", "j.xml").wants(t, usage)
	there(t, file, true)
	there(t, "j.xml", false)
}

// spread runs commands that have shards, each begun in a new directory.
func spread(t *testing.T, do func(begun []string)) {
	t.Helper()
	for _, args := range []string{"run redis-set-lua --fault none --runs 5", "matrix redis-set-lua --fault none --runs 5", "suite --runs 5"} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("lockcheck.yaml", []byte(spreadSuite), 0o666); err != nil {
			t.Fatal(err)
		}
		do(strings.Fields(args))
	}
}

// All shards have the same default --out: the second shard does not overwrite the
// first.
func TestAShardTakesThePlaceOfNoOther(t *testing.T) {
	spread(t, func(begun []string) {
		shard := func(n string) result { return lockcheck(t, append(begun, "--shard", n)...) }
		first := shard("1/2")
		if first.code > violated {
			t.Fatalf("%s: exit code %d\n%s", begun, first.code, first.stderr)
		}
		for _, other := range []string{"2/2", "1/3"} {
			r := shard(other)
			r.wants(t, usage)
			if text := strings.Join(strings.Fields(r.stderr), " "); !strings.Contains(text, "--out lockcheck-out has the result of shard 1 of 2 already: name another directory for shard "+other) {
				t.Errorf("%s: %s", begun, text)
			}
		}
		there(t, filepath.Join("lockcheck-out", results.File), true)
		if other := lockcheck(t, append(begun, "--out", "other", "--shard", "1/2")...); other.code != first.code {
			t.Errorf("%s elsewhere: exit code %d, before %d\n%s", begun, other.code, first.code, other.stderr)
		}
	})
}

// A complete exploration, with --shard forgotten, overwrites neither a shard nor a
// merged result.
func TestTheWholeTakesThePlaceOfNoShard(t *testing.T) {
	spread(t, func(begun []string) {
		lockcheck(t, append(begun, "--shard", "1/2")...)
		lockcheck(t, begun...).wants(t, usage, "has the result of shard 1 of 2 already: name another directory")
		there(t, filepath.Join("lockcheck-out", results.File), true)
		lockcheck(t, append(begun, "--shard", "2/2", "--out", "other")...)
		lockcheck(t, "merge", "lockcheck-out", "other", "--out", "merged")
		lockcheck(t, append(begun, "--out", "merged")...).wants(t, usage, "has what 2 shards were merged to already: name another directory")
		there(t, filepath.Join("merged", results.File), true)
	})
}

// A merged result overwrites neither the result of another command nor that of a
// complete exploration.
func TestWhatIsMergedTakesThePlaceOfNothingElse(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("lockcheck.yaml", []byte(spreadSuite), 0o666); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "suite", "--runs", "5", "--out", "whole")
	sharded(t, "r", "run redis-set-lua --fault none --runs 10", held, held)
	for _, n := range []string{"1", "2"} {
		lockcheck(t, "suite", "--runs", "5", "--shard", n+"/2", "--out", filepath.Join("s", n))
	}
	for _, shards := range []string{"r", "s"} {
		lockcheck(t, "merge", shards, "--out", "whole").wants(t, usage, "has the result of lockcheck suite already: name another directory")
		first := lockcheck(t, "merge", shards, "--out", "merged-"+shards)
		if again := lockcheck(t, "merge", shards, "--out", "merged-"+shards); again.code != first.code || first.code > unproven {
			t.Errorf("%s: exit code %d, again %d\n%s", shards, first.code, again.code, again.stderr)
		}
	}
	// It does not overwrite the result of another exploration on one machine, but it
	// may replace its own.
	lockcheck(t, "suite", "--runs", "5", "--seed", "99", "--out", "other")
	lockcheck(t, "merge", "whole", "--out", "other").wants(t, usage, "has the result of lockcheck suite already: name another directory")
	if d, err := results.Read("other"); err != nil || d.Seed != 99 {
		t.Error(d, err)
	}
	lockcheck(t, "merge", "other", "--out", "other").wants(t, violated)
}

// Cells that an error ended prove nothing, however often they are merged.
func TestWhatAnErrorEndedIsNotHeldWhenItIsMerged(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("lockcheck.yaml", []byte("lockcheck: 1\nruns: 100\nlocks:\n  - lock: redis-set-lua\n    faults: [partition]\n    promises: [exclusion, liveness]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("lockcheck-out", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("lockcheck-out/redis-set-lua-on-sim", nil, 0o666); err != nil { // a file in the place of the directory for its runs
		t.Fatal(err)
	}
	lockcheck(t, "suite").wants(t, usage)
	lockcheck(t, "merge", "lockcheck-out", "--out", "merged").wants(t, unproven, "Cut      shard 1: ended before all was done")
	lockcheck(t, "merge", "merged").wants(t, unproven)
}

// A symbolic link is another name of the same directory.
func TestWhatIsMergedTakesThePlaceOfNoShard(t *testing.T) {
	t.Chdir(t.TempDir())
	sharded(t, "s", "run redis-set-lua --fault none --runs 10", held, held)
	if err := os.Symlink(filepath.Join("s", "1"), "link"); err != nil {
		t.Fatal(err)
	}
	r := lockcheck(t, "merge", "s", "--out", "link")
	r.wants(t, usage)
	if !strings.Contains(strings.Join(strings.Fields(r.stderr), " "), "--out link holds shard 1 of 2 itself") {
		t.Error(r.stderr)
	}
}

// The fault may hit nobody in the only run of a shard. That is for the merged result to
// judge: all shards together equal one machine.
func TestAShardThatShowsNothingLeavesItToTheOthers(t *testing.T) {
	t.Chdir(t.TempDir())
	const what = "run redis-setnx --fault kill --acquires 1 --runs 24 --promise ownership"
	sharded(t, "s", what, held, held, held, held, held, held, held)
	d, err := results.Read(filepath.Join("s", "7"))
	if err != nil {
		t.Fatal(err)
	}
	if c := d.Cells[0]; d.Verdict != results.Elsewhere || c.Verdict != results.Elsewhere || c.Runs == 0 || !strings.Contains(c.Reason, "kill had no effect") {
		t.Errorf("%s, %d runs: %s: %s", d.Verdict, c.Runs, c.Verdict, c.Reason)
	}
	lockcheck(t, strings.Fields(what+" --seed 1")...).wants(t, held)
	lockcheck(t, "merge", "s").wants(t, held)
	// The same run as a complete exploration proves nothing.
	lockcheck(t, strings.Fields("run redis-setnx --fault kill --acquires 1 --runs 1 --promise ownership --seed "+strconv.FormatUint(d.Cells[0].Property(checker.Ownership).Runs["valid"].Seed, 10))...).wants(t, unproven, "kill had no effect")
}

// A result is never taken for another kind of file, whatever its name, and only the
// next result replaces it.
func TestAResultIsNoOtherFile(t *testing.T) {
	t.Chdir(t.TempDir())
	own := filepath.Join("lockcheck-out", results.File)
	_, doc := suiteRun(t, new(engine), quick)
	if doc == nil {
		t.Fatal("there is no result")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{own, filepath.Join(here, own)} {
		lockcheck(t, "suite", "--junit", file).wants(t, usage, "the result goes there")
		lockcheck(t, "suite", "--baseline", file).wants(t, usage, "copy it, and name the copy")
		lockcheck(t, "merge", "lockcheck-out", "--out", "lockcheck-out", "--baseline", file).wants(t, usage, "copy it, and name the copy")
	}
	const later = `{"schema": 2, "command": "suite"}`
	if err := os.WriteFile(own, []byte(later), 0o666); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "suite").wants(t, usage, "was written by a later lockcheck")
	if text, err := os.ReadFile(own); err != nil || string(text) != later {
		t.Errorf("%v: %s", err, text)
	}
}
