package ci

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/lockcheck/lockcheck/internal/results"
)

// most is the largest number of annotations: GitHub shows ten errors of a step, which
// is more than people read.
const most = 5

// Annotations writes the problems as commands for GitHub's runner, the violations
// first. If there are too many, the last one counts the rest. It returns the errors of
// w.
func (r *Report) Annotations(w io.Writer) error {
	list := r.matters()
	for i := range list {
		m := &list[i]
		if left := len(list) - i; i == most-1 && left > 1 {
			return r.annotate(w, m, fmt.Sprintf("%d more, beginning with %s", left, m.title()), "They are in the summary of the job.")
		}
		if err := r.annotate(w, m, m.title(), m.body()); err != nil {
			return err
		}
	}
	return nil
}

// annotate writes one command. It points at the line of the lock's entry in the suite,
// if there is one.
func (r *Report) annotate(w io.Writer, m *matter, title, body string) error {
	level, where := "error", ""
	if m.verdict == results.Inconclusive {
		level = "warning"
	}
	if r.File != "" {
		where = ",file=" + property.Replace(r.File)
		if m.cell != nil && m.cell.Line > 0 {
			where += fmt.Sprintf(",line=%d", m.cell.Line)
		}
	}
	_, err := fmt.Fprintf(w, "::%s title=%s%s::%s\n", level, property.Replace(title), where, data.Replace(body))
	return err
}

// Mistake is the reason why a command has no result.
type Mistake struct {
	File         string // "": not in a file
	Line, Column int    // from 1; 0: unknown
	Words        string
}

// Complaints writes mistakes as commands for GitHub's runner. If there are too many,
// the last one counts the rest. It returns the errors of w.
func Complaints(w io.Writer, mistakes []Mistake) error {
	for i, m := range mistakes {
		where := ""
		if m.File != "" {
			where = fmt.Sprintf(",file=%s,line=%d,col=%d", property.Replace(m.File), m.Line, m.Column)
		}
		left := len(mistakes) - i
		if i == most-1 && left > 1 {
			m.Words = fmt.Sprintf("%s (and %d more)", m.Words, left-1)
		}
		if _, err := fmt.Fprintf(w, "::error title=lockcheck%s::%s\n", where, data.Replace(m.Words)); err != nil || i == most-1 {
			return err
		}
	}
	return nil
}

// body describes the problem, and how to see it again.
func (m *matter) body() string {
	if m.of == nil {
		return cmp.Or(m.words, string(m.verdict))
	}
	lines := []string{m.words, "In " + often(m.cell, m.of) + "."}
	return strings.Join(append(lines, again(m.of.Counterexample)...), "\n")
}

// again returns the ways to see a counterexample again, one a line, or nil if its files
// are missing.
func again(x *results.Counterexample) []string {
	if x == nil || x.Replay == "" {
		return nil
	}
	return []string{"Again: " + x.Replay, "File: " + cmp.Or(x.Shrunk, x.File)}
}

// The characters that GitHub's runner interprets in a message, and before it.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
