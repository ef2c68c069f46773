// Package judging judges files of histories, whoever recorded them, and prints the
// verdicts: it finds the files below directories, reads each with little memory, and quotes
// the lines that prove a violation.
package judging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/checker/models"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/history/formats"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
	"github.com/lockcheck/lockcheck/report"
)

// Judge judges files.
type Judge struct {
	*terminal.Terminal
	Stdin io.Reader // the file called "-"
}

// Request holds how histories are judged, and what is written about them.
type Request struct {
	Model   *models.Model // nil: the promise of the file
	Promise checker.Promise
	Options models.Options
	Reading formats.Reading
	HTML    string // file for the picture; "": none
	To      string // print the history in this format, and judge nothing
	Chosen  bool   // a flag chose between several readings of the file
	Limits  string // says how far a judge may go
	alone   bool   // it is the only file, and is explained in full
}

// The possible readings of a release that failed.
const (
	NoEffect = "no-effect"
	Released = "released"
)

// The possible readings of an ok with the value false.
const (
	OKRefused = "refused"
	OKGranted = "granted"
)

// Files judges the histories that the arguments name, or prints one in another format.
func (j *Judge) Files(ctx context.Context, args []string, c Request) error {
	files, passed, err := histories(args)
	if err != nil {
		return err
	}
	c.alone = len(files) == 1
	switch {
	case c.To != "" && !c.alone:
		return exit.Errorf(exit.Usage, "--to takes one file, and there are %d", len(files))
	case c.To != "":
		return j.convert(ctx, files[0], c.To, c.Reading)
	case c.HTML != "" && !c.alone:
		return exit.Errorf(exit.Usage, "--html takes one file, and there are %d", len(files))
	case c.HTML != "":
		if err := rundir.CanWrite(c.HTML, rundir.Picture); err != nil {
			return exit.Errorf(exit.Usage, "cannot write --html %s: %w", c.HTML, err)
		}
		// A page is made from the whole history. With the command's limit the collector
		// would take most of the time of a long one.
		debug.SetMemoryLimit(2 << 30)
	}
	// A judge keeps the history that it has read: here memory is worth more than time.
	debug.SetGCPercent(100)
	return j.checkAll(ctx, files, passed, func(file string) (Document, int, error) {
		return j.check(ctx, file, c)
	})
}

// checkAll judges files. For several files it ends with a count by verdict. It always
// prints how many files were passed over.
func (j *Judge) checkAll(ctx context.Context, files, passed []string, check func(file string) (Document, int, error)) error {
	count := map[int]int{}
	done, limits := 0, ""
	err := Each(ctx, j.Terminal, files, passed, func(file string) (doc Document, code int, err error) {
		doc, code, err = check(file)
		if ctx.Err() != nil {
			return doc, code, err
		}
		done++
		limits = cmp.Or(limits, doc.limits)
		if err != nil {
			code = exit.Usage
		}
		count[code]++
		return doc, code, err
	})
	defer j.passedOver(passed)
	if len(files) == 1 {
		return err
	}
	var parts []string
	for _, c := range []struct {
		code int
		word string
	}{{exit.Violated, "violated"}, {exit.Unproven, "unknown"}, {exit.Held, "valid"}, {exit.Usage, "not read"}} {
		if count[c.code] > 0 {
			parts = append(parts, names.Thousands(count[c.code])+" "+c.word)
		}
	}
	head := names.Count(len(files), "file")
	if done < len(files) {
		head = fmt.Sprintf("%s of %s", names.Thousands(done), head)
	}
	j.Printf("%s\n", strings.TrimSuffix(head+": "+strings.Join(parts, ", "), ": "))
	if limits != "" && !j.Quiet {
		j.Paragraph(0, limits)
	}
	return err
}

// check judges one file.
func (j *Judge) check(ctx context.Context, file string, c Request) (doc Document, code int, err error) {
	src := j.source(file)
	in, err := src.take(ctx, c)
	if err != nil {
		return doc, 0, err
	}
	j.warn(in.warnings)
	switch {
	case in.idle() != "":
		j.Printf("%s %s: %s\n", j.Sign(checker.Unknown), src.title(), in.idle())
		doc, code = in.idleDocument(file), exit.Unproven
	case in.judge != nil:
		doc, code, err = j.checkModel(ctx, src, in, c)
	default:
		if c.Chosen && !j.Quiet {
			j.Say("lockcheck: %s is judged by properties: --strict-try and --failed-release change nothing; --model NAME holds it against a model\n", src.title())
		}
		doc, code, err = j.checkProperties(ctx, src, in, c)
	}
	for _, w := range in.warnings {
		doc.Warnings = append(doc.Warnings, w.String())
	}
	return doc, code, err
}

// warn prints the oddities of a file.
func (j *Judge) warn(warnings []history.Warning) {
	if j.Quiet {
		return
	}
	for _, w := range warnings {
		j.Say("lockcheck: %v\n", w)
	}
}

// judged is the outcome of judging a history by properties.
type judged struct {
	verdicts []checker.Verdict
	reached  checker.Counts
	limits   string // says how far the judge may go, if it ran out of time
}

// properties judges a history by properties, within the time that there is.
func (c Request) properties(ctx context.Context, in *taken) (judged, error) {
	head, reach := in.header(), func() checker.Counts { return checker.Reach(in.history) }
	judge := func(ctx context.Context) []checker.Verdict { return checker.JudgeWithin(ctx, in.history) }
	if l := in.log; l != nil {
		// While a log is judged, most of the memory would be garbage of the judges.
		defer debug.SetGCPercent(debug.SetGCPercent(20))
		reach = func() checker.Counts { return checker.ReachLog(l) }
		judge = func(ctx context.Context) []checker.Verdict { return checker.JudgeLog(ctx, l) }
	}
	if slices.Contains(c.Promise, checker.Fairness) {
		head.Order = true // no matter who recorded it: the flag states the order
	}
	return resultWithin(ctx, func() (out judged, err error) {
		judging, cancel := ctx, func() {}
		if c.Options.Timeout > 0 {
			judging, cancel = context.WithTimeout(ctx, c.Options.Timeout)
		}
		defer cancel()
		out.verdicts = judge(judging)
		for i := range out.verdicts {
			if v := &out.verdicts[i]; v.Reason == checker.OutOfTime {
				v.Reason, out.limits = models.OutOfTime(c.Options.Timeout), c.Limits
			}
		}
		if judging.Err() == nil {
			out.reached = reach()
		}
		return out, nil
	})
}

// checkProperties judges a history by properties.
func (j *Judge) checkProperties(ctx context.Context, src *source, in *taken, c Request) (doc Document, code int, err error) {
	out, err := c.properties(ctx, in)
	if err != nil {
		return doc, 0, err
	}
	pr := c.Promise
	if len(pr) == 0 {
		pr = ask.Recorded(j.Say, in.header().Promises, src.title())
	}
	code = j.Disputed(src.title(), out.verdicts, exit.Of(pr.Judge(outcomes(out.verdicts))))
	doc.Verdict = rundir.NewVerdict(out.verdicts, out.reached)
	doc.File, doc.Reason, doc.limits = src.name, ask.Unjudged(pr), out.limits
	for i, p := range doc.Properties {
		for _, n := range p.Entries {
			doc.Properties[i].Lines = append(doc.Properties[i].Lines, int(in.lines[n-1]))
		}
	}
	if !c.alone {
		j.VerdictLine(src.title(), out.verdicts, pr)
		return doc, code, nil
	}
	if err := j.explain(ctx, src, in, c, out, pr, doc.Properties); err != nil {
		return doc, 0, err
	}
	return doc, code, nil
}

// explain prints the verdicts on the only file in full: its story, the table, and the
// lines that prove violations.
func (j *Judge) explain(ctx context.Context, src *source, in *taken, c Request, out judged, pr checker.Promise, found []rundir.PropertyVerdict) error {
	if in.log == nil {
		if err := j.Story(in.history, out.verdicts, pr); err != nil {
			return err
		}
	} else if !j.JSON && !j.Quiet {
		j.Paragraph(0, report.TooLong(in.entries))
		j.Printf("\n")
	}
	j.VerdictTable(out.verdicts, pr)
	for _, p := range found {
		if p.Locks != nil && !j.JSON {
			j.Paragraph(2, p.Property+": "+violatedLocks(&p))
			j.Printf("\n")
		}
	}
	for _, p := range found {
		if p.Lines == nil || !pr.Covers(checker.Property(p.Property)) || j.JSON || j.Quiet {
			continue
		}
		j.Printf("%s\n\n", p.Property)
		if err := j.quote(ctx, src, in, p.Lines); err != nil {
			return err
		}
	}
	if c.HTML != "" {
		if err := j.picture(ctx, c.HTML, in.page(out.verdicts, pr, out.reached, rundir.Messages(src.title()))); err != nil {
			return err
		}
	}
	if !j.Quiet {
		if out.limits != "" {
			j.Paragraph(0, out.limits)
			j.Printf("\n")
		}
		j.Printf("File     %s\n", src.title())
	}
	return nil
}

func outcomes(verdicts []checker.Verdict) func(checker.Property) checker.Outcome {
	return func(p checker.Property) checker.Outcome {
		for _, v := range verdicts {
			if v.Property == p {
				return v.Outcome
			}
		}
		return checker.NA
	}
}

// Document is the --json document for one history.
type Document struct {
	rundir.Verdict

	limits string // of a judge that ran out of time or memory
}

// PrintVerdicts prints one document for all files that a command judged. For a single
// file that is the file's own document.
func PrintVerdicts(t *terminal.Terminal, several Documents) error {
	if len(several.Files) == 1 && !several.Interrupted {
		one := several.Files[0]
		one.Passed = several.Passed
		return t.PrintJSON(one)
	}
	several.Schema, several.Files = 1, append([]rundir.Verdict{}, several.Files...)
	return t.PrintJSON(several)
}

// Documents is the --json document for several histories, or none.
type Documents struct {
	Schema int              `json:"schema"` // version of this document
	Files  []rundir.Verdict `json:"files"`  // the verdict on each, in order

	Passed      []string `json:"passed_over,omitempty"` // of check, of directories: files that have the suffix of a history but are not histories
	Interrupted bool     `json:"interrupted,omitempty"` // an interrupt ended it: these are the results until then
	Left        int      `json:"not_begun,omitempty"`   // files or cases that were not begun, because of an interrupt
}

// Each calls do for each file. An error with one file does not stop the others; the
// worst exit code counts. passed are the files that were passed over.
func Each(ctx context.Context, t *terminal.Terminal, files, passed []string, do func(file string) (Document, int, error)) error {
	code := exit.Held
	several := Documents{Passed: passed}
	for i, file := range files {
		doc, c, err := do(file)
		if err != nil && errors.Is(err, ctx.Err()) {
			several.Interrupted, several.Left = true, len(files)-i-1
			break
		}
		if err != nil {
			c = t.Complain(err)
			doc.Schema, doc.File, doc.Error = 1, cmp.Or(doc.File, file), err.Error()
		}
		if doc.Properties == nil {
			doc.Properties = []rundir.PropertyVerdict{}
		}
		several.Files = append(several.Files, doc.Verdict)
		code = exit.Worse(code, c)
	}
	if t.JSON {
		if err := PrintVerdicts(t, several); err != nil {
			return err
		}
	}
	return exit.With(code)
}
