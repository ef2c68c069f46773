package docs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

//go:generate go test . -run TestTheTutorial -update

const tutorial = "tutorial"

// conversation is a command of the tutorial and its output, after a comment that
// chooses paragraphs of the output.
var conversation = regexp.MustCompile("(?s)<!-- paragraphs ([0-9 -]+) -->\n```console\n\\$ (lockcheck [^\n]+)\n.*?```\n")

// TestTheTutorial runs the commands of all chapters, each in the simulator, and
// compares the outputs with the pages.
func TestTheTutorial(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	command := filepath.Join(dir, "lockcheck")
	if out, err := exec.Command("go", "build", "-o", command, "../cmd/lockcheck").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	chapters, err := filepath.Glob(filepath.Join(tutorial, "[0-9]-*.md"))
	if err != nil || len(chapters) != 6 {
		t.Fatalf("%d chapters, want 6 (%v)", len(chapters), err)
	}
	index, err := os.ReadFile(filepath.Join(tutorial, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range chapters {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		commands := 0
		want := conversation.ReplaceAllStringFunc(string(text), func(block string) string {
			commands++
			m := conversation.FindStringSubmatch(block)
			part, err := paragraphs(carryOut(t, dir, command, m[2]), m[1])
			if err != nil {
				t.Fatalf("%s: $ %s: %v", page, m[2], err)
			}
			return fmt.Sprintf("<!-- paragraphs %s -->\n```console\n$ %s\n%s\n```\n", m[1], m[2], part)
		})
		holdPage(t, page, want)
		if n := strings.Count(want, "$ lockcheck "); commands < 3 || n != commands {
			t.Errorf("%s has %d commands, of which %d can be run; want at least 3, and all", page, n, commands)
		}
		if lines := strings.Count(want, "\n"); lines > 140 {
			t.Errorf("%s has %d lines, want at most 140", page, lines)
		}
		if !strings.Contains(want, "<details><summary>Answer</summary>") {
			t.Errorf("%s has no answer", page)
		}
		if !strings.Contains(string(index), "("+filepath.Base(page)+")") {
			t.Errorf("the index does not link to %s", page)
		}
	}
}

// carryOut runs a command line in a directory and returns its output. A violation
// (exit code 1) is no error.
func carryOut(t *testing.T, dir, command, line string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, strings.Fields(line)[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if exit, ended := errors.AsType[*exec.ExitError](err); err != nil && (!ended || exit.ExitCode() != 1) {
		t.Fatalf("$ %s: %v\n%s", line, err, out)
	}
	return string(out)
}

// paragraphs returns the chosen paragraphs of an output: "3-5 10" are four of them. It
// puts a line with … for a gap, and returns an error if a paragraph is missing.
func paragraphs(out, chosen string) (string, error) {
	all := strings.Split(strings.Trim(out, "\n"), "\n\n")
	var parts []string
	for span := range strings.FieldsSeq(chosen) {
		var from, to int
		if n, _ := fmt.Sscanf(span, "%d-%d", &from, &to); n == 1 {
			to = from
		}
		if from < 1 || to < from || to > len(all) {
			return "", fmt.Errorf("no paragraphs %s in\n%s", span, out)
		}
		parts = append(parts, strings.Join(all[from-1:to], "\n\n"))
	}
	return strings.Join(parts, "\n\n…\n\n"), nil
}
