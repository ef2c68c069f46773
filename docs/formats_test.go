package docs

import (
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history/formats"
)

// TestTheHistoryInEDNIsReadAsThePageSays reads and judges the EDN history of record.md.
func TestTheHistoryInEDNIsReadAsThePageSays(t *testing.T) {
	t.Parallel()
	h, lines, warnings, err := formats.Decode(strings.NewReader(snippet(t, "record.md", "edn")), "record.md")
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if len(h.Entries) != 7 || lines[6] != 7 {
		t.Fatalf("%d entries, on the lines %v", len(h.Entries), lines)
	}
	if e := h.Entries[3]; e.Client != "c2" || e.Lock != "a" || e.Error != "already-held" {
		t.Errorf("line 4 says %+v", e)
	}
	if e := h.Entries[4]; len(e.On) != 1 || e.On[0] != "n1" {
		t.Errorf("line 5 says %+v", e)
	}
	for _, v := range checker.JudgeBoth(h) {
		if v.Property == checker.Exclusion && v.Outcome != checker.Valid {
			t.Errorf("exclusion is %s: %s", v.Outcome, v.Reason)
		}
	}
}
