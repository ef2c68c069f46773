package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/results"
)

// No output flag overwrites a file that lockcheck did not write, and the error comes
// before the first run.
func TestNoFileOfAnybodyIsReplaced(t *testing.T) {
	t.Chdir(t.TempDir())
	lockcheck(t, strings.Fields("run redis-set-lua --fault none --runs 5 --shard 1/1 --out s/1")...).wants(t, held)
	result, err := os.ReadFile("s/1/result.json")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"lockcheck.yaml":      spreadSuite,
		"h.jsonl":             ours + fine,
		"feed.xml":            `<?xml version="1.0"?><feed/>`,
		"s/1/result.json":     string(result),
		"mine/result.json":    `{"score": 3}`,
		"also/result.json":    "nothing of lockcheck",
		"page.html":           "<!doctype html><title>mine</title>",
		"empty.xml":           "",
		"catalogue/mine.json": "{}",
	}
	for name, text := range files {
		write(t, name, text)
	}
	if err := os.Symlink("lockcheck.yaml", "link.xml"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, words string }{
		{"suite --junit lockcheck.yaml", "cannot write --junit lockcheck.yaml: it is there, and no file of test results"},
		{"suite lockcheck.yaml --junit ./lockcheck.yaml", "it is there, and no file of test results"},
		{"suite --junit link.xml", "it is there, and no file of test results"},
		{"suite --junit feed.xml", "it is there, and no file of test results"},
		{"suite --junit empty.xml", "it is there, and no file of test results"},
		{"suite --junit /dev/null", "it is no file"},
		{"suite --junit lockcheck-out/result.json", "the result goes there"},
		{"run redis-set-lua --fault none --runs 5 --baseline s/1/result.json --junit s/1/result.json", "it is there, and no file of test results"},
		{"merge s --junit s/1/result.json", "it is there, and no file of test results"},
		{"merge s --out mine", "mine/result.json is there, and no result of lockcheck"},
		{"suite --out mine", "mine/result.json is there, and no result of lockcheck"},
		{"run redis-set-lua --fault none --runs 5 --out also", "also/result.json is there, and no result of lockcheck"},
		{"matrix redis-set-lua --fault none --runs 5 --out mine", "mine/result.json is there, and no result of lockcheck"},
		{"check h.jsonl --html h.jsonl", "cannot write --html h.jsonl: it is there, and no picture of lockcheck"},
		{"check h.jsonl --html page.html", "it is there, and no picture of lockcheck"},
	} {
		r := lockcheck(t, strings.Fields(tt.args)...)
		r.wants(t, usage)
		if text := strings.Join(strings.Fields(r.stderr), " "); !strings.Contains(text, tt.words) || r.stdout != "" {
			t.Errorf("%s: %s\n%s\nwant %s", tt.args, r.stdout, text, tt.words)
		}
	}
	for name, want := range files {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s: %v, %q", name, err, text)
		}
	}
	if _, err := os.Readlink("link.xml"); err != nil {
		t.Error(err)
	}
	there(t, filepath.Join("lockcheck-out", results.File), false)
}

// Files that lockcheck wrote are replaced.
func TestFilesOfAnEarlierTimeAreReplaced(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("bad.jsonl", []byte(both), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"1", "2"} {
		lockcheck(t, strings.Fields("run redis-set-lua --fault none --runs 5 --shard 1/1 --junit j.xml --out "+out)...).wants(t, held)
		lockcheck(t, strings.Fields("merge 1 --out m --junit j.xml")...).wants(t, held)
		lockcheck(t, strings.Fields("check bad.jsonl --html page.html")...).wants(t, violated, "Picture  page.html")
	}
}
