package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const page = "../../docs/suite.md"

// The lists on the page are made from the keys.
func TestThePageHasEveryKey(t *testing.T) {
	var b strings.Builder
	b.WriteString("\nOf a suite:\n\n")
	entry := false
	for _, k := range Keys() {
		name, of := strings.CutPrefix(k.Name, "locks.")
		if of && !entry {
			b.WriteString("\nOf an entry of `locks`:\n\n")
		}
		entry = of
		b.WriteString(item(fmt.Sprintf("`%s` (%s): %s", name, k.Is, linked(k.About))))
	}
	b.WriteString("\n")
	head, lists, tail := parts(t)
	if *update {
		if err := os.WriteFile(page, []byte(head+b.String()+tail), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if lists != b.String() {
		t.Error("the keys in docs/suite.md are stale: go test ./internal/suite -update")
	}
	for i, line := range strings.Split(head+b.String()+tail, "\n") {
		if n := utf8.RuneCountInString(line); n > columns && !strings.HasPrefix(line, "    ") {
			t.Errorf("docs/suite.md:%d has %d columns", i+1, n)
		}
	}
}

// columns is the width of the page's lines.
const columns = 80

// item returns an item of a list, wrapped to the width of the page.
func item(text string) string {
	var b strings.Builder
	width := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
			b.WriteString("- ")
			width = 2
		case width+1+n > columns:
			b.WriteString("\n  ")
			width = 2
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += n
	}
	b.WriteByte('\n')
	return b.String()
}

// linked returns a text with links to pages, as seen from docs/.
func linked(text string) string {
	return regexp.MustCompile(`docs/([a-z]+\.md)`).ReplaceAllString(text, "[$1]($1)")
}

func parts(t *testing.T) (head, lists, tail string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- keys -->\n", "<!-- end -->\n"
	head, rest, begins := strings.Cut(string(text), begin)
	lists, tail, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no place for the keys", page)
	}
	return head + begin, lists, end + tail
}

// The files on the page are suites, and one of them has every key. The last one has the
// mistakes that the page shows.
func TestTheSuitesOfThePage(t *testing.T) {
	head, _, tail := parts(t)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```\n").FindAllStringSubmatch(head+tail, -1)
	if len(blocks) != 3 {
		t.Fatalf("%d files are on the page", len(blocks))
	}
	for _, b := range blocks[:2] {
		if _, err := Parse([]byte(b[1])); err != nil {
			t.Errorf("%s%v", b[1], err)
		}
	}
	external, err := os.ReadFile(filepath.Join(filepath.Dir(page), "external.md"))
	if err != nil {
		t.Fatal(err)
	}
	servers := regexp.MustCompile("(?s)```yaml\n(.*?)```\n").FindStringSubmatch(string(external))
	if len(servers) == 0 {
		t.Fatal("external.md has no file")
	}
	if _, err := Parse([]byte(servers[1])); err != nil {
		t.Errorf("external.md: %v", err)
	}
	for _, key := range slices.Concat(keyOrder(reflect.TypeFor[Suite]()), keyOrder(reflect.TypeFor[Entry]())) {
		if !regexp.MustCompile(`(?m)^[ -]*` + key + `:`).MatchString(blocks[1][1] + servers[1]) {
			t.Errorf("the whole file, and that of external.md, have no %s", key)
		}
	}
	_, err = Parse([]byte(blocks[2][1]))
	if err == nil {
		t.Fatal("the file with mistakes has none")
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		if !strings.Contains(tail, "\n    "+line+"\n") {
			t.Errorf("the page does not say %s", line)
		}
	}
}
