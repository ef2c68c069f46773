package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
)

// Verdicts writes the table of properties, each with its outcome and its explanation.
// promised reports whether a property had to hold. The error is w's.
func Verdicts(w io.Writer, verdicts []checker.Verdict, promised func(checker.Property) bool, o Options) error {
	p := &page{o: o}
	const indent = 32 // of the last column
	for i := range verdicts {
		v := &verdicts[i]
		mark := outcomes[min(int(v.Outcome), len(outcomes)-1)]
		about := v.Reason
		if v.Outcome == checker.Violated {
			about = sentence(v)
		}
		style := mark.style
		if !promised(v.Property) {
			style = plain
			about = strings.TrimSuffix("not promised; "+about, "; ")
		}
		p.beside(0, style, fmt.Sprintf("%s %-16s %-11s", mark.sign, v.Property, mark.word), indent, about)
	}
	return p.flush(w)
}

// outcomes are the words and styles of each checker.Outcome in the table.
var outcomes = [...]struct {
	sign, word string
	style      style
}{
	{"?", "not judged", warn},
	checker.Valid:    {"✓", "valid", good},
	checker.Violated: {"✗", "VIOLATED", bad},
	checker.Unknown:  {"?", "unknown", warn},
	checker.NA:       {"-", "n/a", dim},
}

// sentence returns a verdict's sentence, without its full stop.
func sentence(v *checker.Verdict) string {
	if v.Witness == nil || v.Witness.Sentence == "" {
		return "what follows convicts it"
	}
	return strings.TrimSuffix(v.Witness.Sentence, ".")
}
