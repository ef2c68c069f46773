package main

import (
	"regexp"
	"strings"
	"testing"
)

// The commands of docs/shards.md print the output that the page shows.
func TestThePageOnShardsIsNotStale(t *testing.T) {
	carryOut, printed := shell(t, t.TempDir()), ""
	for _, b := range fences(readPage(t, "shards.md"), "sh", "text") {
		if b.language == "sh" {
			printed = carryOut(b.text)
		} else if !strings.Contains(untimed(printed), untimed(b.text)) {
			t.Errorf("it is not printed:\n%s\nbut:\n%s", b.text, printed)
		}
	}
}

// untimed returns a text without durations.
func untimed(text string) string {
	return regexp.MustCompile(`in \d+\.\d s`).ReplaceAllString(text, "in")
}
