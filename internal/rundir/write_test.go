package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A temporary that nobody will rename goes when its document is written again; one that
// somebody may be at stays, and so does whatever else is called like it.
func TestWhatAKilledProcessLeftOfAFileGoes(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		name  string
		since time.Duration
		stays bool
	}{
		{"result.json.1.tmp", time.Hour, false}, // 1: in a container it is every process's
		{"result.json.4194304.tmp", time.Hour, false},
		{"result.json.4194304.tmp", time.Minute, true},
		{"result.json.4194304.tmp", -time.Hour, true}, // of a clock that is ahead
		{"result.json.tmp", time.Hour, true},
		{"result.json.mine.tmp", time.Hour, true},
		{"result.json.12.tmp.old", time.Hour, true},
		{"my-result.json.12.tmp", time.Hour, true},
		{"history.jsonl.12.tmp", time.Hour, true},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, tt.name)
		if err := errors.Join(os.WriteFile(file, []byte("{"), 0o666), os.Chtimes(file, now, now.Add(-tt.since))); err != nil {
			t.Fatal(err)
		}
		if err := WriteJSON(filepath.Join(dir, "result.json"), struct{}{}); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(file); (err == nil) != tt.stays {
			t.Errorf("%s, %v old: %v", tt.name, tt.since, err)
		}
	}
}
