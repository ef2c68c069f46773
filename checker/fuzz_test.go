package checker

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockcheck/lockcheck/history"
)

// FuzzJudge judges any entries, also those that history.Check rejects: both judges
// run without a panic, and a second run gives the same verdicts.
func FuzzJudge(f *testing.F) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		f.Fatalf("there are no histories to begin with: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := history.NewReader(bytes.NewReader(data), "fuzz")
		if err != nil {
			return
		}
		h := &history.History{Header: r.Header()}
		for e, err := r.Next(); err == nil; e, err = r.Next() {
			h.Entries = append(h.Entries, e)
		}
		verdicts, _, _ := new(Examiner).Examine(h)
		for i, v := range JudgeBoth(h) {
			if again := verdicts[i]; v.Outcome == 0 || (v.Outcome != Unknown && v.Outcome != again.Outcome) {
				t.Errorf("%s is %s with Porcupine, and %s without", v.Property, v.Outcome, again.Outcome)
			}
		}
	})
}
