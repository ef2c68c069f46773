package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	drawing   = regexp.MustCompile(`(?:src|href)="([^"]+)"`)
	heading   = regexp.MustCompile("^#+ +(.*)$")
	formatted = regexp.MustCompile("`|\\[([^]]*)\\]\\([^)]*\\)")
)

// pages returns the paths of all pages of the tree.
func pages(t *testing.T) (list []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || path != ".." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case filepath.Ext(path) == ".md":
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// prose returns the lines of a page without its blocks of code.
func prose(text string) (lines []string) {
	quoted := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			quoted = !quoted
		} else if !quoted && !strings.HasPrefix(line, "    ") {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return lines
}

// anchors returns the anchors of a page.
func anchors(text string) (list []string) {
	for _, line := range prose(text) {
		if h := heading.FindStringSubmatch(line); h != nil {
			list = append(list, anchor(formatted.ReplaceAllString(h[1], "$1")))
		}
	}
	return list
}

// TestLinksLeadSomewhere follows every link of every page to a file of the tree,
// and to a heading in it.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	list, followed := pages(t), 0
	for _, page := range list {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		body := strings.Join(prose(string(text)), "\n")
		for _, m := range append(link.FindAllStringSubmatch(body, -1), drawing.FindAllStringSubmatch(body, -1)...) {
			if strings.Contains(m[1], "://") {
				continue
			}
			followed++
			file, fragment, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s leads to %s: %v", page, m[1], err)
				continue
			}
			if fragment == "" {
				continue
			}
			if text, err := os.ReadFile(target); err != nil || !slices.Contains(anchors(string(text)), fragment) {
				t.Errorf("%s leads to %s, and %s has no such heading (%v)", page, m[1], target, err)
			}
		}
	}
	if len(list) < 10 || followed < 40 {
		t.Errorf("only %d links of %d pages were followed", followed, len(list))
	}
}

// TestAllPagesAreListed checks that the README lists all pages.
func TestAllPagesAreListed(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages(t) {
		if name, ok := strings.CutPrefix(filepath.ToSlash(page), "../docs/"); ok && !strings.Contains(string(readme), "(docs/"+name+")") {
			t.Errorf("the README does not link to docs/%s", name)
		}
	}
}
