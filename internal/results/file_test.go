package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
)

// convicted returns a document with one cell that violates exclusion.
func convicted(dir string) *Document {
	x := &Counterexample{Seed: 7, File: filepath.Join(dir, "a-pause-7", "history.jsonl"), Replay: "lockcheck replay " + dir}
	d := &Document{Head: Head{Schema: Schema, Command: "suite", Settings: map[string]string{}}, Cells: []Cell{{
		Name: "a on sim: pause", Lock: "a", On: "sim", Seed: 1, Runs: 10,
		Reached: map[string]int{"grants": 10},
		Properties: []PropertyResult{{
			Property: checker.Exclusion, Outcome: "violated", Promised: true,
			Runs: map[string]Tally{"violated": {Count: 1, Seed: 7}, "valid": {Count: 9, Seed: 1}}, Counterexample: x,
		}},
	}}}
	d.Decide()
	return d
}

func TestADirectoryOfResultsCanBeCarriedAway(t *testing.T) {
	here := t.TempDir()
	d := convicted(filepath.Join(here, "out"))
	if err := Write(filepath.Join(here, "out"), d); err != nil {
		t.Fatal(err)
	}
	if d.Violations[0].Replay == "" || !filepath.IsAbs(d.Cells[0].Properties[0].File) {
		t.Errorf("writing has changed what was written: %+v", d.Violations[0])
	}
	text, err := os.ReadFile(filepath.Join(here, "out", File))
	if err != nil || strings.Contains(string(text), here) || !strings.Contains(string(text), `"a-pause-7/history.jsonl"`) {
		t.Errorf("%v\n%s", err, text)
	}
	if err := os.Rename(filepath.Join(here, "out"), filepath.Join(here, "there")); err != nil {
		t.Fatal(err)
	}
	back, err := Read(filepath.Join(here, "there"))
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(here, "there", "a-pause-7", "history.jsonl")
	if v := back.Violations[0]; v.File != want || back.Cells[0].Properties[0].File != want || v.Schedule() != filepath.Join(filepath.Dir(want), "schedule.json") {
		t.Errorf("%+v", v)
	}
	if files, _ := os.ReadDir(filepath.Join(here, "there")); len(files) != 1 {
		t.Errorf("something else was left: %v", files)
	}
}

func TestWhatIsNoDocumentIsSaid(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ text, want string }{
		{"", "is no result of lockcheck"},
		{"[]", "is no result of lockcheck"},
		{"{}", "it has no cells"},
		{`{"schema":1,"files":[]}`, "it has no cells"},
		{`{"schema":2,"cells":[]}`, "later lockcheck (schema 2, and this one knows 1)"},
	} {
		path := filepath.Join(dir, File)
		if err := os.WriteFile(path, []byte(tt.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", tt.text, err)
		}
	}
	if _, err := Read(filepath.Join(dir, "nowhere")); err == nil || !strings.Contains(err.Error(), "no file") {
		t.Error(err)
	}
}
