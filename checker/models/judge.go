package models

import (
	"context"
	"io"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// Options say how a history is read, and how long it may take. The zero value
// takes nothing for granted and has no limits.
type Options struct {
	// StrictTry takes a try that was refused for evidence that it was refused
	// because of somebody who held.
	StrictTry bool
	// Released takes a release that failed for one that found the hold gone:
	// its process holds no longer. Otherwise it had no effect.
	Released bool

	Timeout time.Duration // for Porcupine, in all; 0: no limit
	Memory  int64         // bytes that the program may use while Porcupine searches; 0: no limit
	Whole   bool          // do not cut what Porcupine searches in time
}

// A Judge takes in a history, entry by entry, and judges it by a model. It
// keeps of an operation about a hundred bytes.
type Judge struct {
	model Model
	opts  Options
}

// New is a judge that has seen nothing yet.
func New(m Model, o Options) *Judge { return &Judge{model: m, opts: o} }

// Add takes in the next entry, which stands in the line of that number (from 1)
// of its file. The entries have to make sense together (history.Check).
func (j *Judge) Add(e *history.Entry, line int) {}

// Verdict judges what was added. When ctx ends, or a limit of the Options is
// reached, what is not decided by then is Unknown.
func (j *Judge) Verdict(ctx context.Context) Verdict { return Verdict{} }

// Verdict of a model.
type Verdict struct {
	Outcome    checker.Outcome // Valid, Violated or Unknown
	Reason     string          // of Unknown, with the part that was decided
	Operations int             // that were judged
	Witness    *Witness        // of Violated
}

// Witness is what convicts: facts none of which can be left out, and which no
// choice for the other operations explains.
type Witness struct {
	Sentence string // one English sentence that names lines
	Lines    []int  // in the file, from 1, in order
}

// Picture writes Porcupine's picture, an HTML page, of the operations around
// the witness; of a history without one, of all operations if they are few.
// Its error is w's, or says why there is nothing to draw.
func (v *Verdict) Picture(w io.Writer) error { return nil }
