package terminal

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/names"
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

func (t *Terminal) Sign(out checker.Outcome) string {
	s := signs[out]
	return t.Coloured(s.sign, s.colour)
}

// Coloured returns a sign in a colour, if the output has colours.
func (t *Terminal) Coloured(sign, colour string) string {
	if !t.Color {
		return sign
	}
	return "\x1b[" + colour + "m" + sign + "\x1b[0m"
}

// Heading prints a title with a rule to the right of it.
func (t *Terminal) Heading(title string) {
	t.Printf("── %s %s\n\n", title, strings.Repeat("─", max(2, layout.Columns-4-utf8.RuneCountInString(title))))
}

// Paragraph prints text in lines of at most 80 columns. All lines but the first are
// indented.
func (t *Terminal) Paragraph(indent int, text string) {
	t.Printf("%s\n", layout.Wrap(indent, text))
}

// Story prints the story of a run.
func (t *Terminal) Story(h *history.History, verdicts []checker.Verdict, pr checker.Promise) error {
	if t.JSON || t.Quiet {
		return nil
	}
	o := report.Options{Color: t.Color}
	o.Promise = pr
	if err := report.Story(t.Stdout, h, verdicts, o); err != nil {
		return err
	}
	t.Printf("\n")
	return nil
}

// Run prints the story of a run. pr is the promise; nil means the properties that
// the run's case is about, or all.
func (t *Terminal) Run(j *harness.Judged, pr checker.Promise) error {
	if t.JSON || t.Quiet {
		return nil
	}
	if err := report.Story(t.Stdout, j.History, j.Verdicts, t.about(j, pr)); err != nil {
		return err
	}
	t.Printf("\n")
	return nil
}

// about returns how the story of a run that promises pr is told here.
func (t *Terminal) about(j *harness.Judged, pr checker.Promise) report.Options {
	o := rundir.StoryAbout(j, pr)
	o.Color = t.Color
	return o
}

// Compare prints the stories of runs, with all pictures on one time axis.
func (t *Terminal) Compare(sides ...rundir.Side) error {
	var list []report.Side
	for _, s := range sides {
		told := s.Told()
		told.Color = t.Color
		list = append(list, told)
	}
	if err := report.Compare(t.Stdout, list...); err != nil {
		return err
	}
	t.Printf("\n")
	return nil
}

// Step prints the verdict on a run, and walks through its story as keys from in say. pr
// is as for Run, and ctx ends the walk.
func (t *Terminal) Step(ctx context.Context, in io.Reader, name string, j *harness.Judged, pr checker.Promise) error {
	begin, steps := report.Steps(j.History, j.Verdicts, t.about(j, pr))
	io.WriteString(t.Stdout, begin+"\n")
	var screens []Screen
	for i, text := range steps {
		screens = append(screens, Screen{fmt.Sprintf("%s: step %d of %d", name, i+1, len(steps)), text})
	}
	return t.Walk(ctx, in, screens)
}

// VerdictTable prints the verdict on each property.
func (t *Terminal) VerdictTable(verdicts []checker.Verdict, pr checker.Promise) {
	if t.JSON {
		return
	}
	report.Verdicts(t.Stdout, verdicts, pr.Covers, report.Options{Color: t.Color})
	t.Printf("\n")
	if words := secondWords(SecondOf(verdicts)); words != "" {
		t.Paragraph(0, words+".")
		t.Printf("\n")
	}
}

// VerdictLine prints the verdicts on one file in a line, the worst first.
func (t *Terminal) VerdictLine(file string, verdicts []checker.Verdict, pr checker.Promise) {
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
			t.Paragraph(2, t.Sign(out)+" "+file+": "+words+out.String())
			return
		}
	}
	t.Paragraph(2, t.Sign(checker.Unknown)+" "+file+": nothing to judge")
}

// Row prints a name, and its description in a second column.
func (t *Terminal) Row(width int, name, text string) {
	t.Paragraph(width+2, name+strings.Repeat(" ", width+2-len(name))+text)
}

// Items prints a list with as many items in a line as fit.
func (t *Terminal) Items(list []string) {
	line := ""
	for _, item := range list {
		if line != "" && layout.Width(line+" · "+item) > layout.Columns-2 {
			t.Printf("  %s\n", line)
			line = ""
		}
		line = strings.TrimPrefix(line+" · "+item, " · ")
	}
	if line != "" {
		t.Printf("  %s\n", line)
	}
}

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
