package terminal

import (
	"fmt"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/names"
)

// secondWords describes the verdicts of Porcupine, the second judge. It returns "" if
// Porcupine judged nothing.
func secondWords(s checker.Second) string {
	if s.Total() == 0 {
		return ""
	}
	return fmt.Sprintf("Porcupine judged %s, too: %s agreed, %s undecided, %s disagreed",
		names.Count(s.Total(), "verdict"), names.Thousands(s.Agreed), names.Thousands(s.Undecided), names.Thousands(s.Disagreed))
}

// Judges prints the verdicts of Porcupine.
func (t *Terminal) Judges(s checker.Second) {
	if words := secondWords(s); words != "" {
		t.Paragraph(9, "Judges   "+words)
	}
}

// SecondOf counts the opinions of Porcupine on verdicts.
func SecondOf(verdicts []checker.Verdict) (s checker.Second) {
	for _, v := range verdicts {
		s.Take(v.Porcupine)
	}
	return s
}

// Disputed returns the exit code for the verdicts on a file: a disagreement of the two
// judges is never a success, whatever was promised. It prints a message for each.
func (t *Terminal) Disputed(file string, verdicts []checker.Verdict, code int) int {
	for _, v := range verdicts {
		if v.Porcupine == checker.Disagreed {
			t.Say("lockcheck: %s: %s: %s. This is a bug in lockcheck: please report it, with the file\n", file, v.Property, v.Reason)
			code = exit.Worse(code, exit.Unproven)
		}
	}
	return code
}
