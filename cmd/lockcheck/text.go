package main

import (
	"strings"
	"unicode/utf8"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/report"
)

// signs are the signs of outcomes, with colours. The sign alone is enough; colour only
// helps.
var signs = map[checker.Outcome]struct{ sign, colour string }{
	checker.Valid:    {"✓", "32"},
	checker.Violated: {"✗", "31"},
	checker.Unknown:  {"?", "33"},
	checker.NA:       {"-", "2"},
}

func (a *app) sign(out checker.Outcome) string {
	s := signs[out]
	if !a.options().Color {
		return s.sign
	}
	return "\x1b[" + s.colour + "m" + s.sign + "\x1b[0m"
}

// heading prints a title with a rule to the right of it.
func (a *app) heading(title string) {
	a.printf("── %s %s\n\n", title, strings.Repeat("─", max(2, layout.Columns-4-utf8.RuneCountInString(title))))
}

// paragraph prints text in lines of at most 80 columns. All lines but the first are
// indented.
func (a *app) paragraph(indent int, text string) {
	a.printf("%s\n", layout.Wrap(indent, text))
}

// story prints the story of a run.
func (a *app) story(h *history.History, verdicts []checker.Verdict, pr checker.Promise) error {
	if a.json || a.quiet {
		return nil
	}
	o := a.options()
	o.Promise = pr
	if err := report.Story(a.stdout, h, verdicts, o); err != nil {
		return err
	}
	a.printf("\n")
	return nil
}

// tellRun prints the story of a run. pr is the promise; nil means the properties that
// the run's case is about, or all.
func (a *app) tellRun(j *harness.Judged, pr checker.Promise) error {
	if a.json || a.quiet {
		return nil
	}
	o := rundir.StoryOptions(j)
	o.Color = a.color
	if len(pr) > 0 {
		o.Promise = pr
	}
	if !pr.Covers(o.About) {
		o.About = ""
	}
	if err := report.Story(a.stdout, j.History, j.Verdicts, o); err != nil {
		return err
	}
	a.printf("\n")
	return nil
}

// verdictTable prints the verdict on each property.
func (a *app) verdictTable(verdicts []checker.Verdict, pr checker.Promise) {
	if a.json {
		return
	}
	report.Verdicts(a.stdout, verdicts, pr.Covers, a.options())
	a.printf("\n")
	if words := secondWords(secondOf(verdicts)); words != "" {
		a.paragraph(0, words+".")
		a.printf("\n")
	}
}

// verdictLine prints the verdicts on one file in a line, the worst first.
func (a *app) verdictLine(file string, verdicts []checker.Verdict, pr checker.Promise) {
	by := map[checker.Outcome][]string{}
	for _, v := range verdicts {
		if pr.Covers(v.Property) {
			by[v.Outcome] = append(by[v.Outcome], string(v.Property))
		}
	}
	for _, out := range checker.Outcomes {
		if len(by[out]) > 0 {
			words := ""
			if out != checker.Valid {
				words = strings.Join(by[out], ", ") + " "
			}
			a.paragraph(2, a.sign(out)+" "+file+": "+words+out.String())
			return
		}
	}
	a.paragraph(2, a.sign(checker.Unknown)+" "+file+": nothing to judge")
}
