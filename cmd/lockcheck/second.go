package main

import (
	"fmt"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/results"
)

// secondWords describes the verdicts of Porcupine, the second judge. It returns "" if
// Porcupine judged nothing.
func secondWords(s checker.Second) string {
	if s.Total() == 0 {
		return ""
	}
	return fmt.Sprintf("Porcupine judged %s, too: %s agreed, %s undecided, %s disagreed",
		plural(s.Total(), "verdict"), thousands(s.Agreed), thousands(s.Undecided), thousands(s.Disagreed))
}

// second prints the verdicts of Porcupine.
func (a *app) second(s checker.Second) {
	if words := secondWords(s); words != "" {
		a.paragraph(9, "Judges   "+words)
	}
}

// secondOf counts the opinions of Porcupine on verdicts.
func secondOf(verdicts []checker.Verdict) (s checker.Second) {
	for _, v := range verdicts {
		s.Take(v.Porcupine)
	}
	return s
}

// disputed returns the exit code for the verdicts on a file: a disagreement of the two
// judges is never a success, whatever was promised. It prints a message for each.
func (a *app) disputed(file string, verdicts []checker.Verdict, code int) int {
	for _, v := range verdicts {
		if v.Porcupine == checker.Disagreed {
			a.say("lockcheck: %s: %s: %s. This is a bug in lockcheck: please report it, with the file\n", file, v.Property, v.Reason)
			code = exit.Worse(code, exit.Unproven)
		}
	}
	return code
}

// disputes prints the cells on which the two judges disagree.
func (a *app) disputes(d *results.Document) {
	for i := range d.Cells {
		c := &d.Cells[i]
		n := c.Second().Disagreed
		if n == 0 {
			continue
		}
		words := ""
		for _, p := range c.Properties {
			if t, ok := p.Runs[checker.Unknown.String()]; ok {
				words += fmt.Sprintf("; %s with seed %d: %s", p.Property, t.Seed, t.Reason)
			}
		}
		a.say("lockcheck: %s: %s: please report it%s\n", c.Name, results.Disputed(n), words)
	}
}
