package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// TestRecordedHistoriesAreJudgedAsThePageSays runs both programs of record.md.
func TestRecordedHistoriesAreJudgedAsThePageSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language, file string
		run            []string
		want           map[checker.Property]checker.Outcome
		witness        []int
	}{
		{
			language: "go", file: "record.go", run: []string{"go", "run", "record.go"},
			want: map[checker.Property]checker.Outcome{
				checker.Exclusion: checker.Violated, checker.Liveness: checker.Valid, checker.Handover: checker.Valid,
			},
			witness: []int{1, 3, 4},
		},
		{
			language: "python", file: "record.py", run: []string{"python3", "record.py"},
			want: map[checker.Property]checker.Outcome{
				checker.Exclusion: checker.Valid, checker.Fencing: checker.Valid, checker.Resource: checker.Valid,
				checker.Liveness: checker.Valid, checker.Handover: checker.Valid,
			},
		},
	} {
		t.Run(c.language, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.run[0]); err != nil {
				if os.Getenv("CI") != "" {
					t.Fatalf("%s is not installed, and nothing is skipped in CI", c.run[0])
				}
				t.Skipf("%s is not installed: its program in record.md was not run", c.run[0])
			}
			h := record(t, snippet(t, "record.md", c.language), c.file, c.run)
			for _, v := range checker.JudgeBoth(h) {
				want, named := c.want[v.Property]
				if !named {
					want = checker.NA
				}
				if v.Outcome != want {
					t.Errorf("%s is %s (%s), want %s", v.Property, v.Outcome, v.Reason, want)
				}
				if v.Witness != nil && !slices.Equal(v.Witness.Entries, c.witness) {
					t.Errorf("the witness is %v, want %v: %s", v.Witness.Entries, c.witness, v.Witness.Sentence)
				}
			}
		})
	}
}

// record runs a program and reads the history that it prints.
func record(t *testing.T, program, file string, run []string) *history.History {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), run[0], run[1:]...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	h, warnings, err := history.Decode(bytes.NewReader(out), file)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v %v\n%s", err, warnings, out)
	}
	return h
}

// snippet returns the only block of a page in a language.
func snippet(t *testing.T, page, language string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```"+language+"\n")
	code, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("%s has no block in %s", page, language)
	}
	return code
}
