package summary

import (
	"fmt"
	"path/filepath"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
)

// Baseline prints the known, the new and the vanished violations.
func (to *Printer) Baseline(d *results.Document) {
	if d.Baseline == nil {
		return
	}
	to.Printf("Compared with %s\n", d.Baseline.File)
	none := true
	for _, l := range []struct {
		word string
		list []results.Violation
	}{{"known", d.Baseline.Known}, {"new", d.Baseline.New}, {"gone", d.Baseline.Gone}, {"unseen", d.Baseline.Unseen}} {
		for _, v := range l.list {
			none = false
			line := fmt.Sprintf("  %-7s%s: %s", l.word, v.Cell, v.Property)
			switch l.word {
			case "new":
				line += anew(v.Mechanisms)
			case "gone":
				line += ": it holds now; a new baseline leaves it out"
			case "unseen":
				line += ": " + unseen(d, v)
			}
			to.Paragraph(9, line)
		}
	}
	if none {
		to.Printf("  no violation, then or now\n")
	}
	to.Printf("\n")
}

// anew names the mechanisms by which a violation of the baseline is new.
func anew(list []results.Mechanism) string {
	if len(list) == 0 {
		return ""
	}
	words := make([]string, len(list))
	for i, m := range list {
		words[i] = fmt.Sprintf("%s (first with seed %d)", m.Name, m.Seed)
	}
	return ", now also by " + names.Join(words, ", ")
}

// unseen explains why this result says nothing about a violation of the baseline.
func unseen(d *results.Document, v results.Violation) string {
	c := d.Cell(v.Cell)
	if c == nil {
		return "there is no such cell any more"
	}
	switch p := c.Property(v.Property); {
	case c.Lock != v.Lock || c.Settings != v.Settings:
		return "its cell has another lock or other settings now"
	case p == nil || !p.Promised:
		return "it is not promised any more"
	case c.Runs < v.Among:
		of := "run"
		if c.Bound != nil {
			of = "schedule"
		}
		return fmt.Sprintf("not found in %s; then it was broken in %s of %s", names.Count(c.Runs, of), names.Thousands(v.Runs), names.Thousands(v.Among))
	}
	return "its cell came to no answer"
}

// Merged prints the joined result like the command that produced its shards.
func (to *Printer) Merged(doc *results.Document) error {
	switch {
	case to.JSON:
		return nil
	case doc.Command == "suite":
		return to.Suite(doc, nil)
	}
	for i := 0; i < len(doc.Cells); {
		c := &doc.Cells[i]
		n := i + 1
		for doc.Settings["strategy"] == ask.Exhaustive && n < len(doc.Cells) && doc.Cells[n].Lock == c.Lock {
			n++ // all searches of a lock are printed together
		}
		group := doc.Cells[i:n]
		if err := to.tellCells(group); err != nil {
			return err
		}
		if doc.Settings["strategy"] == ask.Exhaustive {
			to.Searches(group, doc.Shards)
		} else {
			to.Cell(c, doc.Shards, keptOf(c))
		}
		i = n
	}
	to.Baseline(doc)
	return nil
}

// keptOf returns the directories of a cell's counterexamples by seed.
func keptOf(c *results.Cell) map[uint64]string {
	kept := map[uint64]string{}
	for _, p := range c.Properties {
		if p.Counterexample != nil && p.Replay != "" {
			kept[p.Seed] = filepath.Dir(p.File)
		}
	}
	return kept
}

// Joined prints which shards were joined, and which are missing.
func (to *Printer) Joined(s *results.Shards) {
	if s == nil {
		return
	}
	to.Paragraph(9, fmt.Sprintf("Joined   %s of %d", names.Numbered("shard", s.Have), s.Of))
	if s.Cut != nil {
		to.Paragraph(9, fmt.Sprintf("Cut      %s: ended before all was done; do that again, and merge again", names.Numbered("shard", s.Cut)))
	}
	if s.Missing != nil {
		to.Paragraph(9, fmt.Sprintf("Missing  %s: nothing is known of these runs; do what is missing, and merge again", names.Numbered("shard", s.Missing)))
	}
}

// Shard prints that a shard is only a part of the exploration.
func (to *Printer) Shard(s *results.Shards) {
	if s.Unjoined() {
		to.Paragraph(9, fmt.Sprintf("Shard    %d of %d: it says nothing of the others; lockcheck merge joins them", s.Have[0], s.Of))
	}
}

// shardWords names the shards of the runs, for a heading.
func shardWords(s *results.Shards) string {
	switch {
	case s == nil || len(s.Have) == s.Of:
		return ""
	case len(s.Have) == 1:
		return fmt.Sprintf(", shard %d/%d", s.Have[0], s.Of)
	}
	return fmt.Sprintf(", %s of %d", names.Numbered("shard", s.Have), s.Of)
}
