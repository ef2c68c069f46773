package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// sharded runs a command in parts, each with a directory of its own below dir. Part i
// must end with the i-th of the codes.
func sharded(t *testing.T, dir, args string, codes ...int) {
	t.Helper()
	for i, code := range codes {
		r := lockcheck(t, append(strings.Fields(args), "--shard", fmt.Sprintf("%d/%d", i+1, len(codes)), "--out", filepath.Join(dir, fmt.Sprint(i+1)))...)
		if r.code != code {
			t.Fatalf("shard %d: exit code %d, want %d\n%s%s", i+1, r.code, code, r.stdout, r.stderr)
		}
		if len(codes) > 1 && !strings.Contains(r.stdout, fmt.Sprintf("Shard    %d of %d", i+1, len(codes))) {
			t.Errorf("it is not said that this is a part:\n%s", r.stdout)
		}
	}
}

// essence returns a document without its machine-dependent parts: durations,
// directories and shards.
func essence(t *testing.T, text string) string {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var strip func(any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"seconds", "file", "shrunk", "replay", "shards"} {
				delete(v, name)
			}
			for _, of := range v {
				strip(of)
			}
		case []any:
			for _, of := range v {
				strip(of)
			}
		}
	}
	strip(doc)
	out, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// timeless returns a text without durations and line breaks, and with one name for all
// dirs.
func timeless(text string, dirs ...string) string {
	for _, dir := range dirs {
		text = strings.ReplaceAll(text, dir, "OUT")
	}
	text = strings.Join(strings.Fields(text), " ")
	text, _, _ = strings.Cut(text, " Joined ")
	text = strings.ReplaceAll(text, `\ `, "")
	return regexp.MustCompile(`,? (in )?\d+\.\d s\b`).ReplaceAllString(text, "")
}

// However a command is split into shards, the merged result equals that of one machine:
// document, text, exit code and files.
func TestShardsComeToTheSameAsOneMachine(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		code       int
		shards     []int // their exit codes
	}{
		{"random", "run redis-set-lua redis-set-del --fault pause,kill --no-shrink --runs 60", violated, []int{violated, violated, violated, violated}},
		{"held", "run redis-set-lua --fault none --runs 30", held, []int{held, held, held}},
		{"pct", "run redis-set-get-del --strategy pct --fault pause --no-shrink --runs 40", violated, []int{violated, violated, violated}},
		{"exhaustive", "run redis-set-lua redis-setnx --strategy exhaustive --fault pause,kill", violated, []int{held, violated, held, held}},
		{"matrix", "matrix redis-set-del redis-set-lua --fault none,pause --runs 40", held, []int{held, held, held}},
		{"one shard", "run redis-set-lua --fault pause --runs 20 --no-shrink", violated, []int{violated}},
		{"shrunk", "run redis-set-lua --fault pause --runs 20 --promise exclusion", violated, []int{violated, violated}},
		{"more shards than runs", "run redis-set-lua --fault none --runs 2", held, []int{held, held, held, held, held}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, one, out := t.TempDir(), t.TempDir(), t.TempDir()
			whole := append(strings.Fields(tt.args), "--seed", "1", "--out", one)
			if strings.Contains(tt.args, ask.Exhaustive) {
				whole = append(strings.Fields(tt.args), "--out", one)
			}
			want := lockcheck(t, whole...)
			want.wants(t, tt.code)
			sharded(t, dir, tt.args, tt.shards...)
			got := lockcheck(t, "merge", dir, "--out", out)
			got.wants(t, tt.code)
			if a, b := timeless(got.stdout, out), timeless(want.stdout, one); a != b {
				t.Errorf("merged:\n%s\nalone:\n%s", a, b)
			}
			document := lockcheck(t, append(whole, "--json")...).stdout
			for _, from := range []string{dir, out} {
				merged := lockcheck(t, "merge", from, "--json")
				merged.wants(t, tt.code)
				if a, b := essence(t, merged.stdout), essence(t, document); a != b && !settingsDiffer(t, a, b) {
					t.Errorf("merged from %s:\n%s\nalone:\n%s", from, a, b)
				}
			}
			files := filesNamed(t, out)
			if tt.code == violated && files == nil {
				t.Error("it names no counterexample")
			}
			for _, file := range files {
				if _, err := os.Stat(file); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// settingsDiffer reports whether two documents differ only in a seed that was typed for
// one of them.
func settingsDiffer(t *testing.T, a, b string) bool {
	t.Helper()
	var docs [2]map[string]any
	for i, text := range []string{a, b} {
		if err := json.Unmarshal([]byte(text), &docs[i]); err != nil {
			t.Fatal(err)
		}
		delete(docs[i]["settings"].(map[string]any), "seed")
	}
	one, _ := json.Marshal(docs[0])
	two, _ := json.Marshal(docs[1])
	return bytes.Equal(one, two)
}

// filesNamed returns the files that the result in a directory names.
func filesNamed(t *testing.T, dir string) (files []string) {
	t.Helper()
	d, err := results.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for x := range d.Counterexamples {
		files = append(files, x.File, x.Schedule())
	}
	return files
}

// A shard that was killed and run again changes nothing, and a missing shard is named.
// This test uses the built command.
func TestAShardThatIsKilledIsMissingAndRunAgainChangesNothing(t *testing.T) {
	binary, dir := built(t), t.TempDir()
	t.Chdir(dir)
	command := func(args string) *exec.Cmd { return exec.Command(binary, strings.Fields(args)...) }
	run := func(code int, args string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		c := command(args)
		c.Stdout, c.Stderr = &stdout, &stderr
		c.Run()
		if got := c.ProcessState.ExitCode(); got != code {
			t.Fatalf("%s: exit code %d, want %d\n%s%s", args, got, code, &stdout, &stderr)
		}
		return stdout.String()
	}
	const what = "run redis-set-lua redis-set-del --fault pause,partition --runs 100 --no-shrink "
	for i := 1; i <= 4; i++ {
		run(violated, fmt.Sprintf(what+"--shard %d/4 --out s/%d", i, i))
	}
	want := run(violated, "merge s --json")

	// The third shard runs again and is killed half way.
	if err := os.RemoveAll("s/3"); err != nil {
		t.Fatal(err)
	}
	again := command(strings.Replace(what, "100", "40000000", 1) + "--shard 3/4 --out s/3")
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	if err := again.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	again.Wait()
	if words := run(violated, "merge s"); !strings.Contains(words, "Missing  shard 3:") || !strings.Contains(words, "Joined   shards 1, 2, 4 of 4") {
		t.Errorf("the missing shard is not named:\n%s", words)
	}
	var d results.Document
	if err := json.Unmarshal([]byte(run(violated, "merge s --json")), &d); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(d.Shards.Missing, d.Shards.Have) != "[3] [1 2 4]" {
		t.Errorf("%+v", d.Shards)
	}
	run(violated, what+"--shard 3/4 --out s/3")
	if got := run(violated, "merge s --json"); essence(t, got) != essence(t, want) {
		t.Errorf("%s\nbefore:\n%s", got, want)
	}

	// Merging twice changes nothing, and neither does merging a merged result again.
	first := run(violated, "merge s --out s/merged --json")
	for _, args := range []string{"merge s --out s/merged --json", "merge s/4 s/2 s s/1 --out s/merged --json", "merge s/merged --json"} {
		if got := run(violated, args); essence(t, got) != essence(t, first) {
			t.Errorf("%s:\n%s\nwant:\n%s", args, got, first)
		}
	}
}

// A property that holds in all shards is proven only if no shard is missing.
func TestWhatHoldsInSomeShardsIsNotProven(t *testing.T) {
	dir := t.TempDir()
	sharded(t, dir, "run redis-set-lua --fault none --runs 30", held, held, held)
	lockcheck(t, "merge", dir).wants(t, held, "Joined   shards 1, 2, 3 of 3")
	if err := os.Remove(filepath.Join(dir, "2", results.File)); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "merge", dir).wants(t, unproven, "Missing  shard 2")
	// A directory without a result is reported.
	lockcheck(t, "merge", filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "3")).
		wants(t, unproven, "no result.json in "+filepath.Join(dir, "2"), "Missing  shard 2")
}

// The finished runs of an interrupted shard count until it has run again.
func TestAShardThatWasInterruptedIsNamed(t *testing.T) {
	dir := t.TempDir()
	sharded(t, dir, "run redis-set-lua --fault none --runs 30", held, held)
	file := filepath.Join(dir, "2", results.File)
	d, err := results.Read(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	d.Shards.Cut = d.Shards.Have
	if err := results.Write(filepath.Dir(file), d); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "merge", dir).wants(t, unproven, "Cut      shard 2")
}

// Shards are also found through links, once each. CI often keeps results behind links,
// and links may form cycles.
func TestShardsAreFoundThroughLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	sharded(t, "s", "run redis-set-lua --fault none --runs 30", held, held, held)
	if err := os.MkdirAll("linked/deep", 0o777); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"linked/1": "../s/1", "linked/deep/2": "../../s/2", "linked/deep/3": "../../s/3",
		"linked/again": "../s/1", "linked/deep/up": "..", "linked/nowhere": "../s/4",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	lockcheck(t, "merge", "linked").wants(t, held, "Joined   shards 1, 2, 3 of 3")
}

// A result may come from anybody: merge copies only files of runs below it.
func TestNothingElseIsCopiedThanRuns(t *testing.T) {
	for name, names := range map[string]string{
		"elsewhere":         "../secret/history.jsonl",
		"the result itself": "history.jsonl",
		"around it":         "../history.jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			lockcheck(t, "run", "redis-set-lua", "--fault", "pause", "--seed", "1", "--runs", "20", "--promise", "exclusion", "--no-shrink", "--shard", "1/1", "--out", "s").wants(t, violated)
			text, err := os.ReadFile("s/result.json")
			if err != nil {
				t.Fatal(err)
			}
			text = regexp.MustCompile(`"[^"]*/history\.jsonl"`).ReplaceAll(text, []byte(`"`+names+`"`))
			for file, text := range map[string]string{
				"s/result.json": string(text), "s/token": "t", "s/history.jsonl": "h", "secret/token": "t", "secret/history.jsonl": "h", "history.jsonl": "h",
			} {
				write(t, file, text)
			}
			r := lockcheck(t, "merge", "s", "--out", "merged")
			r.wants(t, violated)
			if !strings.Contains(r.stderr, "is below no result: its counterexample is named, and not kept") {
				t.Errorf("it is not said:\n%s", r.stderr)
			}
			if list, err := os.ReadDir("merged"); err != nil || len(list) != 1 || list[0].Name() != results.File {
				t.Errorf("merged has %v, %v", list, err)
			}
		})
	}
}

// Other files in the directory of a run are not copied. If the minimised run is
// missing, its original run counts.
func TestAShrunkRunThatIsNotThereLeavesTheWholeOne(t *testing.T) {
	t.Chdir(t.TempDir())
	lockcheck(t, strings.Fields("run redis-set-lua --fault pause --seed 1 --runs 20 --promise exclusion --shard 1/1 --out s")...).wants(t, violated)
	shrunk, err := filepath.Glob("s/*/shrunk-*")
	if err != nil || shrunk == nil {
		t.Fatal(shrunk, err)
	}
	for _, dir := range shrunk {
		if err := cmp.Or(os.RemoveAll(dir), os.WriteFile(filepath.Join(filepath.Dir(dir), "token"), nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	r := lockcheck(t, "merge", "s", "--out", "merged", "--json")
	r.wants(t, violated)
	if words := " is not there: the run that it was shrunk from counts\n"; strings.Count(r.stderr, words) != len(shrunk) {
		t.Errorf("of %d that are not there it is said:\n%s", len(shrunk), r.stderr)
	}
	files := filesNamed(t, "merged")
	for _, file := range files {
		if !rundir.Exists(file) {
			t.Errorf("%s is not there", file)
		}
		if rundir.Exists(filepath.Join(filepath.Dir(file), "token")) {
			t.Error("what is beside the files of a run was copied, too")
		}
	}
	if files == nil || strings.Contains(r.stdout, "shrunk-") {
		t.Errorf("%v\n%s", files, r.stdout)
	}
	lockcheck(t, "merge", "s").wants(t, violated, "Again    ", "VIOLATED exclusion")
}

// If only the minimised run is left, it is kept and explained.
func TestAShrunkRunOutlivesTheOneItWasMadeOf(t *testing.T) {
	t.Chdir(t.TempDir())
	lockcheck(t, strings.Fields("run redis-set-lua --fault pause --seed 1 --runs 20 --promise exclusion --shard 1/1 --out s")...).wants(t, violated)
	shrunk, err := filepath.Glob("s/*/shrunk-*")
	if err != nil || shrunk == nil {
		t.Fatal(shrunk, err)
	}
	for _, dir := range shrunk {
		for _, file := range rundir.Files {
			if err := os.RemoveAll(filepath.Join(filepath.Dir(dir), file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := lockcheck(t, "merge", "s", "--out", "merged")
	r.wants(t, violated, "VIOLATED exclusion", "Shrunk   merged/")
	for _, dir := range shrunk {
		if says := filepath.Dir(dir) + " is not there: its counterexample is named, and not kept\n"; strings.Count(r.stderr, says) != 1 {
			t.Errorf("of %s it is said:\n%s", filepath.Dir(dir), r.stderr)
		}
		if kept := strings.Replace(dir, "s", "merged", 1); !rundir.Exists(filepath.Join(kept, scheduleFile)) {
			t.Errorf("%s is not kept", kept)
		}
	}
}

// Results that are no set of shards are rejected, with the names of their files.
func TestWhatCannotBeMerged(t *testing.T) {
	dir := t.TempDir()
	sharded(t, filepath.Join(dir, "a"), "run redis-set-lua --fault none --runs 10", held, held)
	sharded(t, filepath.Join(dir, "b"), "run redis-set-lua --fault none --runs 12", held, held)
	sharded(t, filepath.Join(dir, "c"), "matrix redis-set-lua --fault none --runs 12", held, held)
	write := func(name, text string) string {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(at, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, results.File), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return at
	}
	empty := filepath.Join(dir, "empty")
	if err := os.MkdirAll(empty, 0o777); err != nil {
		t.Fatal(err)
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "merge needs a DIR"},
		{[]string{empty}, "there is nothing to merge"},
		{[]string{at("nowhere")}, "no directory"},
		{[]string{at("a", "1", results.File)}, "is no directory"},
		{[]string{at("a", "1"), at("b", "2")}, "--runs is 10 in the one and 12 in the other"},
		{[]string{at("a", "1"), at("c", "2")}, "the command is run in the one and matrix in the other"},
		{[]string{write("broken", `{"schema":1,"comm`)}, "is no result of lockcheck"},
		{[]string{write("other", `{"name":"x"}`)}, "is no result of lockcheck"},
		{[]string{write("later", `{"schema":99,"command":"run","version":"9","cells":[]}`)}, "was written by a later lockcheck"},
		{[]string{write("shards", `{"schema":1,"command":"run","verdict":"held","shards":{"of":4,"have":[7]},"cells":[]}`)}, "shards.have has 7"},
		{[]string{write("outcome", `{"schema":1,"command":"matrix","verdict":"held","settings":{},"cells":[{"outcome":"fine"}]}`)}, `cells[0].outcome is "fine": it has to be unexpected,`},
		{[]string{write("numbers", `{"schema":1,"command":"matrix","verdict":"held","settings":{},"cells":[{"outcome":"missing","runs":-1}]}`)}, "cells[0].runs is -1"},
		{[]string{at("a"), "--out", at("a", "1")}, "holds shard 1 of 2 itself"},
		{[]string{at("a"), "--markdown"}, "--markdown is for shards of matrix"},
	} {
		r := lockcheck(t, append([]string{"merge"}, tt.args...)...)
		r.wants(t, usage)
		if text := strings.Join(strings.Fields(r.stderr), " "); !strings.Contains(text, tt.want) {
			t.Errorf("%v: %s, want %s", tt.args, text, tt.want)
		}
	}
}

// A directory of results can be moved to another machine; merged files go to --out.
func TestResultsAreCarriedElsewhere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	sharded(t, "here", "run redis-set-lua --fault pause --runs 60 --no-shrink", violated, violated)
	if err := os.Rename("here", "there"); err != nil {
		t.Fatal(err)
	}
	r := lockcheck(t, "merge", "there", "--json")
	r.wants(t, violated)
	var d results.Document
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatal(err)
	}
	for x := range d.Counterexamples {
		if _, err := os.Stat(x.File); err != nil || !strings.Contains(x.Replay, filepath.Join("there", "")) {
			t.Errorf("%+v: %v", x, err)
		}
	}
	// A violation counts even without its files.
	err := filepath.WalkDir("there", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && e.Name() != results.File {
			return os.Remove(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "merge", "there", "--out", "merged").wants(t, violated, "cannot be told")
}

func TestWhichShardThisIsHasToMakeSense(t *testing.T) {
	for shard, want := range map[string]string{
		"5/4": "the shards of 4 are 1/4 to 4/4", "0/4": "the shards of 4", "2": "as 2/4", "1/0": "at least 1 shard", "1/10001": "at most 10000 shards", "a/b": "as 2/4",
	} {
		lockcheck(t, "run", "redis-set-lua", "--shard", shard).wants(t, usage, want)
		lockcheck(t, "matrix", "--shard", shard).wants(t, usage, want)
	}
}
