package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/lockcheck/lockcheck/internal/judging"
)

// In a directory with a file called history, the other files are judged, too. Only
// files that are known to be something else, or nothing like a history, are passed
// over, and the latter are counted.
func TestWhatLiesBesideAHistoryIsJudged(t *testing.T) {
	var gzipped bytes.Buffer
	z := gzip.NewWriter(&gzipped)
	z.Write([]byte(both))
	z.Close()
	wide := "\xff\xfe"
	for _, c := range utf16.Encode([]rune(both)) {
		wide += string([]byte{byte(c), byte(c >> 8)})
	}
	const jepsen = "{:process 0, :type :invoke, :f :acquire, :index 0}\n{:process 0, :type :ok, :f :acquire, :index 1}\n{:process 1, :type :invoke, :f :acquire, :index 2}\n{:process 1, :type :ok, :f :acquire, :index 3}\n"
	for _, tt := range []struct {
		name, file, text string
		code             int
		passed           bool // and counted
	}{
		{"another history", "staging-run.jsonl", both, violated, false},
		{"one whose name says another format", "run.edn", both, violated, false},
		{"one of Jepsen's", "run-2.edn", jepsen, violated, false},
		{"one of ours", "ours.json", ours + both, violated, false},
		{"one that is gzipped", "x.jsonl.gz", gzipped.String(), violated, false},
		{"one that is gzipped and does not say so", "x.json", gzipped.String(), violated, false},
		{"one that is called as Jepsen's results", "results.edn", jepsen, violated, false},
		{"one that is called as ours", "result.json", both, violated, false},
		{"one that is called as a verdict", "verdict.json", both, violated, false},
		{"one that speaks of schedules", "x.json", both + `{"process":7,"type":"info","f":"lockcheck_schedule","text":"\"lockcheck_schedule\""}` + "\n", usage, false},
		{"a valid one", "x.jsonl", fine, held, false},
		{"an empty one", "x.jsonl", "", unproven, false},
		{"one that is damaged at its beginning", "x.jsonl", "~~" + both, usage, false},
		{"one in UTF-16", "x.jsonl", wide, usage, false},
		{"one that cannot be unzipped", "x.jsonl.gz", gzipped.String()[:12], usage, false},
		{"what Jepsen found", "results.edn", "{:perf {:valid? true}\n :final {:process 1, :type :invoke}\n :valid? false}\n", held, false},
		{"our result", "result.json", `{"schema":1,"command":"suite","cells":[]}`, held, false},
		{"another document of ours", "known.json", "{\n \"schema\": 1,\n \"cases\": []\n}\n", held, false},
		{"what wraps a history", "wrapped.json", `{"schema":2,"history":[` + strings.ReplaceAll(strings.TrimSpace(both), "\n", ",") + `]}`, usage, false},
		{"our gzipped schedule", "schedule.json.gz", gzipped.String()[:12], held, false},
		{"a schedule", "x.json", `{"lockcheck_schedule":1}`, held, false},
		{"a damaged one that is called as a verdict", "verdict.json", "~~" + both, usage, false},
		{"a verdict", "verdict.json", "{}", held, false},
		{"a diary", "diary.edn", "Dear diary,\ntoday I locked myself out.\n", held, true},
		{"settings", "settings.json", `{"nodes":["n1","n2"]}`, held, true},
		{"a list", "nodes.json", `["n1","n2"]`, held, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const counted = "1 file passed over: no history, and beside one\n"
			dir := writeAll(t, map[string]string{"history.jsonl": fine, "history.txt": "0 :invoke", "jepsen.log": "INFO", tt.file: tt.text, "b/history.jsonl": fine})
			file, args := filepath.Join(dir, tt.file), []string{"check", dir}
			r := lockcheck(t, args...)
			if has := strings.Contains(r.stdout, counted); r.code != tt.code || has != tt.passed {
				t.Errorf("exit code %d, want %d\n%s%s", r.code, tt.code, r.stdout, r.stderr)
			}
			var doc judging.Documents
			r = lockcheck(t, append(args, "--json")...)
			if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || r.code != tt.code || slices.Equal(doc.Passed, []string{file}) != tt.passed {
				t.Errorf("%v, exit code %d\n%s", err, r.code, r.stdout)
			}
		})
	}
}

// If one file is left to judge, and is explained in full, the others are still counted.
func TestWhatIsPassedOverIsCountedBesideASingleHistory(t *testing.T) {
	dir := writeAll(t, map[string]string{"history.jsonl": fine, "a.json": "1", "b.edn": "no"})
	const counted = "2 files passed over: no history, and beside one\n"
	lockcheck(t, "check", dir).wants(t, held, "✓ owner-mutex  valid", counted)
	lockcheck(t, "check", "-q", dir).wants(t, held, "✓ owner-mutex  valid", counted)
	lockcheck(t, "check", "-v", dir).wants(t, held, counted+"  "+filepath.Join(dir, "a.json")+"\n  "+filepath.Join(dir, "b.edn")+"\n")
	r := lockcheck(t, "check", "--json", dir)
	if doc := r.checked(t); !slices.Equal(doc.Passed, []string{filepath.Join(dir, "a.json"), filepath.Join(dir, "b.edn")}) {
		t.Errorf("%s", r.stdout)
	}
	// In other directories such files are unexpected, and an error.
	lockcheck(t, "check", writeAll(t, map[string]string{"x.jsonl": fine, "a.json": "1"})).wants(t, usage, "a.json:1: ")
}

// check judges the directory of a suite or a run without complaints.
func TestCheckJudgesWhatASuiteLeft(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("lockcheck.yaml", []byte(smallSuite), 0o666); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "suite")
	r := lockcheck(t, "check", "--promise", "ownership", "lockcheck-out")
	if r.code == usage || r.stderr != "" {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
