package judging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/checker/models"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/history/formats"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/report"
)

// usualModel is the model for a history that says nothing about its run.
const usualModel = "owner-mutex"

// taken is the data read from a history: the whole history for judging properties, or
// only the state of the judge of a model.
type taken struct {
	format    string
	oneLine   bool // lines are positions among the entries, because all entries share one line
	bytes     int64
	entries   int
	succeeded int // successful operations
	failed    int // failed releases
	warnings  []history.Warning

	incomplete string // see checker.Incomplete

	model   *models.Model
	timeout time.Duration // limit of the judge; 0: none
	judge   *models.Judge // judge of the model; nil: properties are judged

	history *history.History
	log     *history.Log // replaces history if it has more than most entries
	most    int          // entries of which a story is told: in the text, or on the page
	lines   []int32      // of the entries

	reading formats.Reading
}

// header returns the header of a history that is judged by properties.
func (t *taken) header() *history.Header {
	if t.log != nil {
		return &t.log.Header
	}
	return &t.history.Header
}

// idle returns the reason why there is nothing to judge, or "".
func (t *taken) idle() string {
	switch {
	case t.bytes == 0:
		return "the file is empty: nothing to judge"
	case t.entries == 0:
		return "the history has no operations: nothing to judge"
	}
	return ""
}

// idleDocument returns that reason as a verdict.
func (t *taken) idleDocument(file string) Document {
	var doc Document
	if t.history != nil {
		doc.Verdict = rundir.NewVerdict(checker.Judge(t.history), checker.Counts{})
	} else {
		name := t.model.String()
		doc.Verdict = rundir.Verdict{Schema: 1, Model: name, Properties: []rundir.PropertyVerdict{{Property: name, Outcome: checker.Unknown.String(), Reason: t.idle()}}}
	}
	doc.File, doc.Reason = file, t.idle()
	return doc
}

// take reads a history for the judge that c asks for. When ctx ends it does not wait
// for more data from a pipe.
func (s *source) take(ctx context.Context, c Request) (*taken, error) {
	t := &taken{reading: c.Reading, timeout: c.Options.Timeout, most: report.StoryEntries}
	if c.HTML != "" {
		t.most = report.PageEntries
	}
	err := within(ctx, func() error {
		r, err := s.open(ctx)
		if err != nil {
			return err
		}
		defer r.Close()
		err = t.read(r, s.title(), c)
		if t.bytes = r.bytes; t.bytes == 0 && (err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
			return t.choose(history.Header{}, c)
		}
		return unreadable(err)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (t *taken) read(r io.Reader, name string, c Request) error {
	in, err := formats.NewReader(r, name, c.Reading)
	if err != nil {
		return err
	}
	t.format = in.Format()
	if err := t.choose(in.Header(), c); err != nil {
		return err
	}
	head := in.Header()
	var last history.Entry
	t.oneLine, err = eachEntry(in, func(e *history.Entry, line int) bool {
		t.entries++
		last = *e
		switch {
		case e.Process.Client() && e.Type == history.OK:
			t.succeeded++
		case e.Process.Client() && e.Type == history.Fail && e.F == history.Release:
			t.failed++
		}
		if t.judge != nil {
			t.judge.Add(e, line)
		} else {
			t.add(e)
			t.lines = append(t.lines, int32(line))
		}
		return true
	})
	t.incomplete, t.warnings = checker.Incomplete(&head, &last), in.Warnings()
	return err
}

// add keeps an entry. If the history is too long for a story, it keeps only a few bytes
// of each entry.
func (t *taken) add(e *history.Entry) {
	switch {
	case t.log != nil:
		t.log.Add(e)
	case len(t.history.Entries) < t.most:
		t.history.Add(*e)
	default:
		t.log = &history.Log{Header: t.history.Header}
		for i := range t.history.Entries {
			t.log.Add(&t.history.Entries[i])
		}
		t.log.Add(e)
		t.history = nil
	}
}

// choose decides how a history is judged: by a model, or by properties.
func (t *taken) choose(h history.Header, c Request) (err error) {
	t.model = c.Model
	if bare := h.Format == 0; t.model == nil && bare && len(c.Promise) == 0 {
		if t.model, err = ParseModel(usualModel); err != nil {
			return err
		}
	}
	if t.model != nil {
		t.judge = models.New(*t.model, c.Options)
	} else {
		t.history = &history.History{Header: h}
	}
	return nil
}

// fewEntries is how many entries are read to see whether all share one line.
const fewEntries = 50

// eachEntry calls f for each entry with its line, until f returns false. If all entries
// share one line, it passes their positions from 1 instead.
func eachEntry(in *formats.Reader, f func(e *history.Entry, line int) bool) (oneLine bool, err error) {
	var e history.Entry
	var first []history.Entry // those of the first line, and the one after it
	var lines []int
	for same := true; same && len(first) <= fewEntries; same = lines[len(lines)-1] == lines[0] {
		if e, err = in.Next(); err != nil {
			break
		}
		first, lines = append(first, e), append(lines, in.Line())
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	oneLine = len(first) > 1 && lines[len(lines)-1] == lines[0]
	for i, at := range lines {
		if oneLine {
			at = i + 1
		}
		if !f(&first[i], at) {
			return oneLine, nil
		}
	}
	for n := len(first) + 1; err == nil; n++ {
		if e, err = in.Next(); err != nil {
			break
		}
		at := in.Line()
		if oneLine {
			at = n
		}
		if !f(&e, at) {
			return oneLine, nil
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return oneLine, err
}

// page returns a function that writes the page of the history.
func (t *taken) page(verdicts []checker.Verdict, pr checker.Promise, reached checker.Counts, messages *history.Messages) func(io.Writer) error {
	return func(w io.Writer) error {
		if t.log != nil {
			return fmt.Errorf("%d entries are too many to draw", t.entries)
		}
		return report.Page(w, t.history, verdicts, report.PageOptions{Options: report.Options{Promise: pr}, Reached: reached, Messages: messages})
	}
}
