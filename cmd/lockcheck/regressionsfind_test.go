package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/results"
)

func TestWhatIsKeptBehindALinkIsReplayed(t *testing.T) {
	for _, tt := range []struct {
		what  string
		links [][2]string // links to make, and their targets, below this directory
		past  string
		want  []string
	}{
		{"no link", nil, "regressions/a", []string{"regressions/a"}},
		{"the directory is one", [][2]string{{"regressions", "elsewhere"}}, "elsewhere/a", []string{"regressions/a"}},
		{"a directory below is one", [][2]string{{"regressions/b", "../elsewhere"}}, "elsewhere/a", []string{"regressions/b/a"}},
		{"a file is one", [][2]string{{"regressions/b.json", "../elsewhere/a/schedule.json"}}, "elsewhere/a", []string{"regressions/b"}},
		{"a volume of Kubernetes", [][2]string{{"regressions/..data", "..2026"}, {"regressions/b.json", "..data/a/schedule.json"}}, "regressions/..2026/a", []string{"regressions/b"}},
		{"they go round in circles", [][2]string{{"regressions/b", ".."}, {"elsewhere/c", "../regressions"}}, "elsewhere/a", []string{"regressions/b/elsewhere/a"}},
	} {
		t.Chdir(t.TempDir())
		args := []string{"--out", "out"}
		if strings.HasPrefix(tt.what, "they go") {
			args[1] = t.TempDir()
		}
		for _, l := range tt.links {
			for _, dir := range []string{filepath.Dir(l[0]), "elsewhere"} {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(filepath.FromSlash(l[1]), l[0]); err != nil {
				t.Fatal(err)
			}
		}
		pastRun(t, tt.past)
		r, _ := suiteRun(t, new(engine), quick, args...)
		r.wants(t, violated, "Past     1 counterexample replayed")
		doc, err := results.Read(args[1])
		if err != nil {
			t.Fatal(err)
		}
		if got := keptCells(doc); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}

func TestALinkThatLeadsNowhereIsNoReasonToPass(t *testing.T) {
	for _, link := range []string{"regressions", "regressions/a", "regressions/a.json"} {
		t.Chdir(t.TempDir())
		if err := os.MkdirAll(filepath.Dir(link), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("nowhere", link); err != nil {
			t.Fatal(err)
		}
		r, _ := suiteRun(t, new(engine), quick)
		r.wants(t, usage, "the counterexamples of the past: ", filepath.FromSlash(link))
	}
}

// A damaged counterexample must not let a suite pass either. Other files may lie beside
// it.
func TestADamagedCounterexampleIsNoReasonToPass(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("regressions", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		code int
	}{
		{"{\"lockcheck_schedule\": 1, \"lock\": \"redis-s", usage},
		{"{\"lockcheck_schedule\": 1}\n>>>>>>> theirs\n", usage},
		{"{\"lockcheck_schedule\": 1, \"lock\": \"redis-setnx\", \"on\": \"foo\", \"seed\": 1, \"lease_ns\": 10000000000, \"clients\": [\"c1\"], \"acquires\": 1}\n", usage},
		{"", usage},
		{"\n", usage},
		{"\x00\x00\x00", usage}, // a file after a power failure
		{"{ // compilerOptions", held},
		{"[1]", held},
	} {
		if err := os.WriteFile("regressions/a.json", []byte(tt.text), 0o666); err != nil {
			t.Fatal(err)
		}
		r, _ := suiteRun(t, new(engine), quick)
		r.wants(t, tt.code)
		if tt.code == usage && !strings.Contains(r.stderr, filepath.FromSlash("regressions/a.json")) {
			t.Errorf("%s: %s", tt.text, r.stderr)
		}
	}
}

// An incomplete counterexample must not let a suite pass. Other people's files in the
// directory are ignored.
func TestACounterexampleWithoutItsScheduleIsNoReasonToPass(t *testing.T) {
	for _, tt := range []struct {
		what string
		left []string // the files that are left of it
		code int
		says string
	}{
		{"as it was kept", []string{historyFile, scheduleFile, storyFile, verdictFile}, violated, "Past     1 counterexample replayed"},
		{"its schedule alone", []string{scheduleFile}, violated, "Past     1 counterexample replayed"},
		{"*.json was not committed", []string{historyFile, storyFile}, usage, ""},
		{"its history", []string{historyFile}, usage, ""},
		{"its story", []string{storyFile}, usage, ""},
		{"its verdict", []string{verdictFile}, usage, ""},
		{"nothing", nil, held, "no counterexample was there"},
	} {
		t.Chdir(t.TempDir())
		pastRun(t, "regressions/k")
		for _, name := range []string{historyFile, scheduleFile, storyFile, verdictFile} {
			if !slices.Contains(tt.left, name) {
				if err := os.Remove(filepath.Join(regressionsDir, "k", name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		says := tt.says
		if tt.code == usage {
			says = "the counterexamples of the past: " + filepath.FromSlash("regressions/k") + ": its schedule.json is missing: bring it back"
		}
		r, _ := suiteRun(t, new(engine), quick)
		if r.wants(t, tt.code, says); t.Failed() {
			t.Fatal(tt.what)
		}
	}

	t.Chdir(t.TempDir())
	pastRun(t, "regressions/k")
	for name, text := range map[string]string{
		"README.md": "", "notes.txt": "", "k/notes.json": "{}", "theirs/story.txt": "Once upon a time.\n", "theirs/verdict.json": "[1]",
		"theirs/history.jsonl": "{\"lockcheck\":1,\"lock\":\"recorded-elsewhere\"}\n",
	} {
		write(t, filepath.Join(regressionsDir, filepath.FromSlash(name)), text)
	}
	if err := os.Rename("regressions/k/schedule.json", "regressions/k/kept.json"); err != nil {
		t.Fatal(err)
	}
	r, _ := suiteRun(t, new(engine), quick)
	r.wants(t, violated, "Past     1 counterexample replayed")
}

func TestAScheduleThatIsADirectoryIsNoReasonToPass(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("regressions/k/schedule.json", 0o777); err != nil {
		t.Fatal(err)
	}
	r, _ := suiteRun(t, new(engine), quick)
	r.wants(t, usage, filepath.FromSlash("regressions/k/schedule.json")+": it is no file: bring it back, or delete it")
}

// Otherwise the next suite would replay what this one leaves.
func TestWhatIsKeptAndWhatRunsLeaveLieApart(t *testing.T) {
	t.Chdir(t.TempDir())
	for dir, link := range map[string]string{"behind": "lockcheck-out", "around": "."} {
		for _, dir := range []string{"kept", "lockcheck-out"} {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(link, dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ regressions, out string }{
		{".", "lockcheck-out"},
		{"lockcheck-out", "lockcheck-out"},
		{"./lockcheck-out/regressions", "lockcheck-out"},
		{"kept", "kept/out"},
		{"behind/kept", "lockcheck-out"},
		{"around", "lockcheck-out"},
		{"kept", "around/kept/deep/out"},
	} {
		r, _ := suiteRun(t, new(engine), "regressions: "+tt.regressions+"\n"+quick, "--out", tt.out)
		r.wants(t, usage, "are not apart", "--out "+tt.out)
	}
	r, _ := suiteRun(t, new(engine), "regressions: kept-not\n"+quick, "--out", "kept", "--runs", "5")
	r.wants(t, held, "Past     no counterexample was there to be replayed")
}
