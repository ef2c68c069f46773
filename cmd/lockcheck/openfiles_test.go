//go:build unix

package main

import (
	"os/exec"
	"strings"
	"testing"
)

// Go's runtime would end with exit code 2, which has another meaning here.
func TestTooFewFilesEndWithAMessage(t *testing.T) {
	path := built(t)
	for _, few := range []string{"4", "5", "7"} {
		cmd := exec.Command("sh", "-c", `ulimit -n `+few+`; exec "$0" version`, path)
		text, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != usage || !strings.Contains(string(text), "may open "+few+" files (ulimit -n)") {
			t.Errorf("%s files: exit code %d\n%s", few, code, text)
		}
	}
}
