package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The file patterns in the help examples match the files that a suite keeps, with one
// directory for each counterexample.
func TestExamplesFindWhatASuiteKeeps(t *testing.T) {
	t.Chdir(t.TempDir())
	pastRun(t, "regressions/my-lock-pause-ownership")
	pastRun(t, "lockcheck-out/my-lock-on-sim/my-lock-pause-4")
	found := 0
	for _, name := range []string{"replay", "check", "shrink"} {
		for line := range strings.Lines(lockcheck(t, name, "--help").stdout) {
			line, ok := strings.CutPrefix(strings.TrimSpace(line), "lockcheck ")
			if !ok || !strings.Contains(line, "regressions") && !strings.Contains(line, "*") && !strings.HasSuffix(line, " lockcheck-out") {
				continue
			}
			found++
			var args []string
			for _, word := range strings.Fields(line) {
				files, _ := filepath.Glob(word)
				if !strings.Contains(word, "*") {
					files = []string{word}
				}
				args = append(args, files...)
			}
			if r := lockcheck(t, append(args, "--out", "again")...); r.code == usage {
				t.Errorf("%s: %s", line, r.stderr)
			}
		}
	}
	if found < 2 {
		t.Errorf("%d examples are about them", found)
	}
}
