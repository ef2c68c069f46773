package judging

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/checker/models"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// How long a judge may take for its verdict.
const (
	lastWords  = 2 * time.Second        // after an interrupt
	lastMoment = 500 * time.Millisecond // after its timeout
)

// checkModel judges a history by a model.
func (j *Judge) checkModel(ctx context.Context, src *source, in *taken, c Request) (doc Document, code int, err error) {
	v, err := in.verdict(ctx)
	if err != nil {
		return doc, 0, err
	}
	name := in.model.String()
	p := rundir.PropertyVerdict{Property: name, Outcome: v.Outcome.String(), Reason: v.Reason}
	if v.Witness != nil {
		p.Sentence, p.Lines = strings.TrimRight(v.Witness.Sentence, "."), v.Witness.Lines
		if len(v.Locks) > 1 {
			p.Locks = v.Locks
		}
	}
	doc.Verdict = rundir.Verdict{
		Schema: 1, File: src.name, Model: name, Operations: v.Operations, Entries: in.entries,
		Properties: []rundir.PropertyVerdict{p},
	}
	code = exit.Of(v.Outcome)
	if v.Limited && ctx.Err() == nil {
		doc.limits = c.Limits
	}
	hint := v.Hint
	if !c.alone {
		j.modelLine(src.title(), v, p)
		doc.Note = hint
		return doc, code, nil
	}
	j.modelVerdict(v, p)
	if !j.JSON && !j.Quiet && p.Lines != nil {
		if err := j.quote(ctx, src, in, p.Lines); err != nil {
			return doc, 0, err
		}
	}
	if c.HTML != "" {
		if err := j.picture(ctx, c.HTML, v.Picture); err != nil {
			return doc, 0, err
		}
	}
	if v.Outcome == checker.Violated && in.failed > 0 && !j.Quiet {
		in.judge, v = nil, models.Verdict{} // frees their memory for the next judge
		if doc.Note, err = src.otherwise(ctx, c); err != nil {
			return doc, 0, err
		}
	}
	if j.Quiet {
		doc.Note = hint
		return doc, code, nil
	}
	for _, words := range []string{doc.Note, hint, doc.limits} {
		if words != "" {
			j.Paragraph(0, words)
			j.Printf("\n")
		}
	}
	doc.Note = cmp.Or(doc.Note, hint)
	words := fmt.Sprintf("Judged   %s, %s, by the model %s", names.Count(in.entries, "entry"), names.Count(doc.Operations, "operation"), name)
	j.Paragraph(9, words)
	j.Printf("File     %s\n", src.title())
	return doc, code, nil
}

// verdict returns the judge's verdict; after an interrupt, the verdict so far.
func (t *taken) verdict(ctx context.Context) (v models.Verdict, err error) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWords, cancel) })()
	if t.timeout > 0 {
		defer time.AfterFunc(t.timeout+lastMoment, cancel).Stop()
	}
	v, err = resultWithin(late, func() (models.Verdict, error) { return t.judge.Verdict(ctx), nil })
	if err != nil && ctx.Err() == nil && late.Err() != nil {
		v, err = models.Verdict{Outcome: checker.Unknown, Reason: models.OutOfTime(t.timeout), Limited: true}, nil
	}
	if err != nil {
		return models.Verdict{}, err
	}
	switch {
	case v.Outcome == checker.Violated:
	case t.succeeded == 0:
		v.Outcome, v.Reason = checker.Unknown, "no operation succeeded: nothing to judge"
	case t.incomplete != "" && v.Outcome == checker.Valid:
		v.Outcome, v.Reason = checker.Unknown, t.incomplete
	}
	return v, nil
}

// otherwise says what the verdict would be if failed releases were read the other way.
// It returns "" if the violation remains.
func (s *source) otherwise(ctx context.Context, c Request) (string, error) {
	c.Options.Released = !c.Options.Released
	in, err := s.take(ctx, c)
	if err != nil {
		return "", err
	}
	v, err := in.verdict(ctx)
	if err != nil {
		return "", err
	}
	reading := NoEffect
	if c.Options.Released {
		reading = Released
	}
	switch with := "With --failed-release=" + reading; v.Outcome {
	case checker.Valid:
		return with + " the same history is valid.", nil
	case checker.Unknown: // this may be an unfinished search
		return with + " no violation is found, but " + ended(terminal.Printable(v.Reason)), nil
	}
	return "", nil
}

// modelVerdict prints the verdict of a model.
func (j *Judge) modelVerdict(v models.Verdict, p rundir.PropertyVerdict) {
	about := p.Reason
	if v.Witness != nil {
		about = p.Sentence
	}
	head := fmt.Sprintf("%s %s  %s", j.Sign(v.Outcome), p.Property, v.Outcome)
	if about != "" {
		head += ": " + ended(terminal.Printable(about))
	}
	j.Paragraph(2, head)
	if p.Locks != nil {
		j.Paragraph(2, violatedLocks(&p))
	}
	if !j.Quiet {
		j.Printf("\n")
	}
}

// modelLine prints the verdict on one of several files in one line.
func (j *Judge) modelLine(file string, v models.Verdict, p rundir.PropertyVerdict) {
	line := fmt.Sprintf("%s %s: %s %s", j.Sign(v.Outcome), file, p.Property, v.Outcome)
	if about := cmp.Or(p.Sentence, p.Reason); about != "" {
		line += ": " + terminal.Printable(about)
	}
	if p.Locks != nil {
		line = ended(line) + " " + violatedLocks(&p)
	}
	if v.Outcome == checker.Unknown && v.Hint != "" {
		line = ended(line) + " " + v.Hint
	}
	j.Paragraph(2, line)
}

// violatedLocks names the locks that are violated.
func violatedLocks(p *rundir.PropertyVerdict) string {
	names := make([]string, len(p.Locks))
	for i, name := range p.Locks {
		names[i] = strconv.Quote(name)
	}
	return fmt.Sprintf("%d locks are violated: %s", len(names), ended(terminal.Printable(strings.Join(names, ", "))))
}

// ended returns a sentence with a full stop.
func ended(sentence string) string { return strings.TrimRight(sentence, ".") + "." }

// picture writes a page, whole or not at all. If there is nothing to draw, it prints a
// message and returns no error.
func (j *Judge) picture(ctx context.Context, file string, draw func(io.Writer) error) error {
	var page bytes.Buffer
	var nothing error
	err := within(ctx, func() error {
		nothing = draw(&page)
		return nil
	})
	if err != nil {
		return err
	}
	if nothing != nil {
		j.Say("lockcheck: no picture: %v\n", nothing)
		return nil
	}
	if err := rundir.WriteFile(file, page.Bytes()); err != nil {
		return exit.Errorf(exit.Usage, "cannot write --html %s: %w", file, rundir.WithoutPath(err))
	}
	if !j.Quiet {
		j.Printf("Picture  %s\n", file)
	}
	return nil
}

// ParseModel returns the model with a name, and with its number if it has one.
func ParseModel(text string) (*models.Model, error) {
	name, _, _ := strings.Cut(text, "=")
	var known []string
	for _, m := range models.All() {
		known = append(known, m.Name)
		if m.Name != name {
			continue
		}
		m, err := models.Parse(text)
		if err != nil {
			return nil, exit.Errorf(exit.Usage, "--model %s: %w", text, err)
		}
		return &m, nil
	}
	return nil, ask.Unknown("model", name, known)
}
