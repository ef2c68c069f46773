package bench

import (
	"fmt"
	"strings"
)

// Table is the table of a comparison for terminals and pages: blocks of rows with the
// same columns.
type Table struct {
	Of      string // meaning of the columns: clients
	Columns []string
	Blocks  []Block
}

// Block has the rows of one measure.
type Block struct {
	Name, About string
	Rows        []Row
}

// Row has the figures of one side or lock.
type Row struct {
	Name  string
	Cells []string // in the order of Table.Columns
}

// markdown returns the table for a page.
func (t *Table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |\n|---|%s\n", t.Of, strings.Join(t.Columns, " | "), strings.Repeat("--:|", len(t.Columns)))
	for _, m := range t.Blocks {
		fmt.Fprintf(&b, "| **%s** (%s) |%s\n", m.Name, m.About, strings.Repeat(" |", len(t.Columns)))
		for _, r := range m.Rows {
			fmt.Fprintf(&b, "| %s | %s |\n", r.Name, strings.Join(r.Cells, " | "))
		}
	}
	return b.String()
}

// section is the part of a page that was measured in one environment: between its
// marks, or at the end of a page without marks. An empty page gets a title.
type section struct {
	title, name, on string // Contention, contention, sim
	picture         string
	caption         string
	table           Table
	conditions      string
}

func (s *section) in(page string) string {
	begin, end := fmt.Sprintf("<!-- %s on %s -->\n", s.name, s.on), "<!-- end -->\n"
	head, rest, begins := strings.Cut(page, begin)
	_, tail, ends := strings.Cut(rest, end)
	switch {
	case page == "":
		head = "# " + s.title + "\n\n"
	case !begins || !ends:
		head, tail = page+"\n", ""
	}
	body := fmt.Sprintf("\n![%s](%s)\n\n%s\n%s\n\n", s.caption, s.picture, s.table.markdown(), s.conditions)
	return head + begin + body + end + tail
}
