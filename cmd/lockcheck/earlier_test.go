package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/results"
)

// What a suite has left can serve as a baseline, whatever is run in between.
func TestARunLeavesTheResultOfASuite(t *testing.T) {
	t.Chdir(t.TempDir())
	suiteRun(t, new(engine), quick)
	lockcheck(t, strings.Fields("run redis-set-lua --fault none --runs 5")...).wants(t, held)
	there(t, filepath.Join("lockcheck-out", results.File), true)
}

// A shard that found something before its place failed is done again: what it
// found is merged, with its files, as often as that happens.
// A suite, too, whose place is gone, be it that of a counterexample of the past.
func TestASuiteWithoutItsPlaceLosesNoViolation(t *testing.T) {
	for _, past := range []bool{false, true} {
		t.Chdir(t.TempDir())
		file := "locks:\n  - {lock: redis-set-del, on: docker, faults: none, workloads: finally, promises: ownership, runs: 2}\n"
		if past {
			file = quick
			keptOnDocker(t, "ownership", "redis-set-del", "--fault", "none", "--workload", "finally", "--seed", "1")
		}
		shard := func(e *engine, code int) {
			r, _ := suiteRun(t, e, file, "--shard", "1/1")
			r.wants(t, code)
		}
		shard(new(engine), violated)
		shard(&engine{gone: fail(noPlace, "no engine answers")}, noPlace)
		doc, err := results.Read(filepath.Join("lockcheck-out", earlierDir))
		if err != nil || len(doc.Violations) == 0 {
			t.Errorf("past %v: %v: %+v", past, err, doc)
		}
		lockcheck(t, "merge", "lockcheck-out").wants(t, violated)
	}
}

func TestTryingAShardAgainLosesNoViolation(t *testing.T) {
	t.Chdir(t.TempDir())
	args := strings.Fields("run redis-set-del --workload finally --fault none --on docker --promise ownership --seed 1 --runs 3 --shard 1/1")
	again := func(e *engine, code int) { e.runs(t, args...).wants(t, code) }
	again(&engine{breaks: goneIn(2, 3)}, noPlace)
	again(&engine{breaks: goneIn(1)}, noPlace)
	for _, dir := range []string{"earlier", "earlier-2"} {
		again(&engine{breaks: goneIn(1, 2)}, noPlace) // nothing is found
		doc, err := results.Read(filepath.Join("lockcheck-out", dir))
		if err != nil || len(doc.Violations) == 0 {
			t.Fatalf("%s: %v: %+v", dir, err, doc)
		}
		there(t, doc.Violations[0].File, true)
		lockcheck(t, "merge", "lockcheck-out").wants(t, noPlace, "violated")
	}
}

// What a shard came to is not lost when it is begun again and killed, and goes when it
// is done again.
func TestAWholeShardIsNotLostByTryingAgain(t *testing.T) {
	binary := built(t)
	for _, args := range []string{
		"run redis-set-del --fault pause --promise ownership --no-shrink --runs 4000 --seed 1",
		"suite --runs 4000",
		"matrix redis-set-del redis-setnx --fault pause,kill --runs 4000",
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("lockcheck.yaml", []byte("lockcheck: 1\n"+ownerless), 0o666); err != nil {
			t.Fatal(err)
		}
		shard := func() *exec.Cmd {
			return exec.Command(binary, append(strings.Fields(args), "--shard", "1/1", "--out", "k")...)
		}
		merged := func() string {
			text, _ := exec.Command(binary, "merge", "k", "--json").Output()
			return essence(t, string(text))
		}
		shard().Run()
		want := merged()
		again := shard()
		if err := again.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- again.Wait() }()
		for begun, limit := false, time.After(time.Minute); !begun; begun = begun || !canRead(filepath.Join("k", results.File)) {
			select {
			case <-ended: // before we saw it begin, which is as well
				begun, ended = true, nil
			case <-limit:
				t.Fatalf("%s: the result of an earlier time is still there", args)
			case <-time.After(time.Millisecond):
			}
		}
		if again.Process.Kill(); ended != nil {
			<-ended
		}
		if got := merged(); got != want {
			t.Errorf("%s, killed:\n%s\nbefore:\n%s", args, got, want)
		}
		shard().Run()
		if got := merged(); got != want {
			t.Errorf("%s, done again:\n%s\nbefore:\n%s", args, got, want)
		}
		there(t, filepath.Join("k", earlierDir), false)
	}
}

// Who is killed while a result is set aside leaves it, with its runs, in one of the two
// places; what lies in the other is no hindrance the next time.
func TestWhatIsKilledWhileItIsSetAsideLosesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	args := strings.Fields("run redis-set-del --workload finally --fault none --on docker --promise ownership --seed 1 --runs 3 --shard 1/1")
	nowhere := func() { (&engine{breaks: goneIn(1, 2)}).runs(t, args...).wants(t, noPlace) }
	merged := func(state string) {
		r := lockcheck(t, "merge", "lockcheck-out")
		r.wants(t, noPlace, "VIOLATED ownership")
		if strings.Contains(r.stderr, "is not there") || strings.Contains(r.stderr, "cannot be told") {
			t.Errorf("%s: a counterexample is lost:\n%s", state, r.stderr)
		}
	}
	(&engine{breaks: goneIn(2, 3)}).runs(t, args...).wants(t, noPlace)
	merged("before")
	found, err := readResult("lockcheck-out")
	if err != nil || found.beside() == nil {
		t.Fatal(found, err)
	}
	for _, dir := range found.beside() { // and killed then
		if err := collectRun(dir, filepath.Join("lockcheck-out", earlierDir, filepath.Base(dir))); err != nil {
			t.Fatal(err)
		}
	}
	merged("its runs are in both places")
	nowhere()
	there(t, filepath.Join("lockcheck-out", earlierDir, results.File), true)
	there(t, filepath.Join("lockcheck-out", earlierDir+"-2"), false)
	merged("it is set aside")
	(&engine{}).runs(t, args...).wants(t, violated)
	there(t, filepath.Join("lockcheck-out", earlierDir), false)
}

// What was found and is not found again stays; so does what is not ours.
func TestAViolationThatIsNotFoundAgainStays(t *testing.T) {
	t.Chdir(t.TempDir())
	const what = "run redis-set-lua --no-shrink --fault "
	again := func(words ...string) {
		lockcheck(t, strings.Fields(what+"none --runs 5 --seed 1 --shard 1/1 --out s/1")...).wants(t, held, words...)
	}
	shard := filepath.Join("s", "1")
	earlier := filepath.Join(shard, earlierDir)
	again()
	again()
	there(t, earlier, false)
	fine, err := results.Read(shard)
	if err != nil {
		t.Fatal(err)
	}
	lockcheck(t, strings.Fields(what+"pause --seed 1 --runs 20 --shard 1/1 --out v")...).wants(t, violated)
	broken, err := results.Read("v")
	if err != nil {
		t.Fatal(err)
	}
	broken.Head = fine.Head
	broken.Decide()
	if err := results.Write(shard, broken); err != nil {
		t.Fatal(err)
	}
	again(earlier + " stays: it has a violation that was not found again")
	there(t, filepath.Join(earlier, results.File), true)
	lockcheck(t, "merge", "s").wants(t, usage, "both shard 1 of 1, and they differ")
	// What has nothing that the new one lacks goes, and nothing else.
	mine := filepath.Join(earlier, "mine.txt")
	if err := cmp.Or(os.WriteFile(mine, nil, 0o666), results.Write(earlier, fine)); err != nil {
		t.Fatal(err)
	}
	again()
	there(t, filepath.Join(earlier, results.File), false)
	there(t, earlier+"-2", false)
	there(t, mine, true)
	lockcheck(t, "merge", "s").wants(t, held)
}

// Of what was set aside only our own files go, and what a user has put beside them, or
// calls nearly alike, stays.
func TestWhatIsNotOursStays(t *testing.T) {
	t.Chdir(t.TempDir())
	shard := func(out string) {
		lockcheck(t, strings.Fields("run redis-set-lua --no-shrink --fault pause --seed 4 --runs 1 --shard 1/1 --out "+out)...).wants(t, violated)
	}
	shard("was")
	run := "redis-set-lua-pause-4"
	mine := []string{"e/earlier/" + run + "/NOTES.txt", "e/earlier-notes/result.json", "e/earlier-notes/" + run + "/" + historyFile, "kept/result.json"}
	for _, dir := range []string{"e/earlier", "e/earlier-notes", "kept"} {
		if err := os.CopyFS(dir, os.DirFS("was")); err != nil {
			t.Fatal(err)
		}
		if dir == "e/earlier" {
			write(t, mine[0], "mine")
		}
	}
	if err := os.Symlink("../kept", "e/earlier-7"); err != nil {
		t.Fatal(err)
	}
	shard("e")
	for _, file := range mine {
		there(t, file, true)
	}
	there(t, "e/earlier/result.json", false)
	there(t, "e/earlier/"+run+"/"+historyFile, false)
}

// What a shard has set aside and then done otherwise is left out, which is said.
func TestAnEarlierResultOfAnotherExplorationIsLeftOut(t *testing.T) {
	t.Chdir(t.TempDir())
	sharded(t, "was", "run redis-set-lua --fault none --runs 20", held, held)
	if err := os.CopyFS("s/1/earlier", os.DirFS("was/1")); err != nil {
		t.Fatal(err)
	}
	sharded(t, "s", "run redis-set-lua --fault none --runs 10", held, held)
	lockcheck(t, "merge", "s").wants(t, held, "s/1/earlier/result.json is left out, which s/1 has been done since: --runs is 10 in the one and 20 in the other")
}
