package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/explore"
)

// What docs/shrinking.md tells people to type works, with the built binary, and
// prints what it says.
func TestTheDocumentOnShrinkingIsNotStale(t *testing.T) {
	text, err := os.ReadFile("../../docs/shrinking.md")
	if err != nil {
		t.Fatal(err)
	}
	bin, dir := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "lockcheck"), ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var printed []string // by the last line of each block
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		command := exec.Command("sh", "-e", "-c", block[1])
		command.Dir = dir
		command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", block[1], err, out)
		}
		printed = append(printed, string(out))
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
		if !strings.Contains(string(text), strings.Join(indented, "\n")) {
			t.Errorf("it does not show what is printed:\n%s", what)
		}
	}
	if !strings.Contains(string(text), fmt.Sprintf("budget** is %d million", explore.ShrinkBudget/1_000_000)) {
		t.Errorf("the budget is %d million events", explore.ShrinkBudget/1_000_000)
	}
}
