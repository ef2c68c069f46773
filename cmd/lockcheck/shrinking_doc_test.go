package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/explore"
)

// The commands in docs/shrinking.md work with the built binary, and print the output
// that the page shows.
func TestTheDocumentOnShrinkingIsNotStale(t *testing.T) {
	text, dir := readPage(t, "shrinking.md"), t.TempDir()
	carryOut := shell(t, dir)
	var printed []string // output of each block
	for _, b := range fences(text, "sh") {
		printed = append(printed, carryOut(b.text))
	}
	if len(printed) != 3 {
		t.Fatalf("%d blocks of commands", len(printed))
	}
	story, err := os.ReadFile(filepath.Join(dir, "lockcheck-out/redis-set-get-del-pause-44/shrunk-ownership", storyFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{string(story), printed[2]} {
		var indented []string
		for line := range strings.Lines(what) {
			indented = append(indented, strings.TrimRight("    "+line, " \n"))
		}
		if !strings.Contains(text, strings.Join(indented, "\n")) {
			t.Errorf("it does not show what is printed:\n%s", what)
		}
	}
	if !strings.Contains(text, fmt.Sprintf("budget** is %d million", explore.ShrinkBudget/1_000_000)) {
		t.Errorf("the budget is %d million events", explore.ShrinkBudget/1_000_000)
	}
}
