package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands in docs/ci.md work with the built binary, and print the output that the
// page shows.
func TestThePageOnBuildsIsNotStale(t *testing.T) {
	text, dir := readPage(t, "ci.md"), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lockcheck.yaml"), []byte(fences(text, "yaml")[0].text), 0o666); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(dir, "summary.md")
	carryOut := shell(t, dir, "GITHUB_STEP_SUMMARY="+page)
	printed := ""
	for _, b := range fences(text, "sh") {
		printed += carryOut(b.text)
	}
	summary, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shown := indented(text)
	if len(shown) != 2 {
		t.Fatalf("it shows %d outputs", len(shown))
	}
	for i, where := range []string{printed, string(summary)} {
		if !strings.Contains(where, shown[i]) {
			t.Errorf("what is printed:\n%s\nhas no\n%s", where, shown[i])
		}
	}
}

// indented returns the blocks of a page that show output, each unchanged.
func indented(page string) (blocks []string) {
	fenced := false
	last := -2 // line number of the previous line
	for i, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		text, ok := strings.CutPrefix(line, "    ")
		switch {
		case fenced:
		case ok && last == i-1:
			blocks[len(blocks)-1] += "\n" + text
			last = i
		case ok:
			blocks = append(blocks, text)
			last = i
		case line == "" && last == i-1:
			blocks[len(blocks)-1] += "\n"
			last = i
		}
	}
	for i := range blocks {
		blocks[i] = strings.TrimRight(blocks[i], "\n")
	}
	return blocks
}
