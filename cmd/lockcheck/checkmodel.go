package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/checker/models"
)

// lastWords is how long a judge that was interrupted may take to say what it
// knows.
const lastWords = 2 * time.Second

// checkModel judges a history by a model.
func (a *app) checkModel(ctx context.Context, src *source, in *taken, c checking) (doc verdictDocument, code int, err error) {
	v, err := in.verdict(ctx)
	if err != nil {
		return doc, 0, err
	}
	name := in.model.String()
	p := propertyVerdict{Property: name, Outcome: v.Outcome.String(), Reason: v.Reason}
	if v.Witness != nil {
		p.Sentence, p.Lines = strings.TrimRight(v.Witness.Sentence, "."), v.Witness.Lines
	}
	doc = verdictDocument{
		Schema: 1, File: src.name, Model: name, Operations: v.Operations, Entries: in.entries,
		Properties: []propertyVerdict{p},
	}
	code = map[checker.Outcome]int{checker.Valid: held, checker.Violated: violated}[v.Outcome]
	if v.Outcome != checker.Valid && v.Outcome != checker.Violated {
		code = unproven
	}
	if !c.alone {
		a.modelLine(src.name, v, p)
		return doc, code, nil
	}
	a.modelVerdict(v, p)
	if !a.json && !a.quiet && p.Lines != nil {
		if err := a.quote(ctx, src, in, p.Lines); err != nil {
			return doc, 0, err
		}
	}
	if c.html != "" {
		if err := a.picture(ctx, c.html, v.Picture); err != nil {
			return doc, 0, err
		}
	}
	if v.Outcome == checker.Violated && in.failed > 0 && !a.quiet {
		in.judge, v = nil, models.Verdict{} // their memory serves the next
		if doc.Note, err = src.otherwise(ctx, c); err != nil {
			return doc, 0, err
		}
		if doc.Note != "" {
			a.paragraph(0, doc.Note)
			a.printf("\n")
		}
	}
	words := fmt.Sprintf("Judged   %s, %s, by the model %s", plural(in.entries, "entry"), plural(doc.Operations, "operation"), name)
	a.paragraph(9, words)
	a.printf("File     %s\n", src.name)
	return doc, code, nil
}

// verdict is the judge's. After an interrupt it is what the judge knew by then.
func (t *taken) verdict(ctx context.Context) (v models.Verdict, err error) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWords, cancel) })()
	err = within(late, func() error {
		v = t.judge.Verdict(ctx)
		return nil
	})
	if err != nil {
		return models.Verdict{}, err
	}
	if t.succeeded == 0 && v.Outcome != checker.Violated {
		v.Outcome, v.Reason = checker.Unknown, "no operation succeeded: nothing to judge"
	}
	return v, nil
}

// otherwise says whether the other reading of releases that failed makes a
// violated history valid, or nothing.
func (s *source) otherwise(ctx context.Context, c checking) (string, error) {
	c.options.Released = !c.options.Released
	in, err := s.take(ctx, c)
	if err != nil {
		return "", err
	}
	v, err := in.verdict(ctx)
	if err != nil || v.Outcome != checker.Valid {
		return "", err
	}
	reading := noEffect
	if c.options.Released {
		reading = released
	}
	return "With --failed-release=" + reading + " the same history is valid.", nil
}

// modelVerdict prints what was found.
func (a *app) modelVerdict(v models.Verdict, p propertyVerdict) {
	about := p.Reason
	if v.Witness != nil {
		about = p.Sentence
	}
	head := fmt.Sprintf("%s %s  %s", a.sign(v.Outcome), p.Property, v.Outcome)
	if about != "" {
		head += ": " + ended(printable(about))
	}
	a.paragraph(2, head)
	a.printf("\n")
}

// modelLine is the verdict on one file of several, in a line.
func (a *app) modelLine(file string, v models.Verdict, p propertyVerdict) {
	line := fmt.Sprintf("%s %s: %s", a.sign(v.Outcome), file, v.Outcome)
	if v.Outcome != checker.Valid {
		line += " " + p.Property
	}
	switch {
	case len(p.Lines) > 0:
		var numbers []string
		for _, n := range p.Lines {
			numbers = append(numbers, fmt.Sprint(n))
		}
		line += ": lines " + strings.Join(numbers, ", ")
	case p.Reason != "":
		line += ": " + printable(p.Reason)
	}
	a.paragraph(2, line)
}

// ended is a sentence with its full stop.
func ended(sentence string) string { return strings.TrimRight(sentence, ".") + "." }

// picture writes a page, whole or not at all. That there is nothing to draw is
// said, and no more.
func (a *app) picture(ctx context.Context, file string, draw func(io.Writer) error) error {
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
		a.say("lockcheck: no picture is written to %s: %v\n", file, nothing)
		return nil
	}
	if err := writeFile(file, page.Bytes()); err != nil {
		return fail(usage, "cannot write --html: %w", err)
	}
	a.printf("Picture  %s\n", file)
	return nil
}
