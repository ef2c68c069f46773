package models

import (
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// Options are how to read a history, and the limits of judging it. The zero value
// makes no assumptions and has no limits.
type Options struct {
	// StrictTry treats a refused try as evidence that another client held.
	StrictTry bool
	// Released treats a failed release as one that found the hold gone: its process
	// no longer holds. Otherwise a failed release had no effect.
	Released bool

	Timeout time.Duration // for all searches of Porcupine; 0: no limit
	Memory  int64         // bytes that the program may use while Porcupine searches; 0: no limit
	Whole   bool          // do not cut Porcupine's searches in time
}

// A Judge reads a history, entry by entry, and judges it by a model. It keeps about
// 50 bytes for each operation, and the entries of a short history.
//
// It does not use checker.Timeline, which needs all entries at once and decides which
// hold a line is about. Histories of other tools leave that open: here an operation
// may mean one of several holds, and a hold begins and ends somewhere in a range of
// positions.
type Judge struct {
	model Model
	opts  Options

	size  int32           // number of entries so far
	times []time.Duration // by position; only of a model with leases
	lines lines

	procs   []proc
	clients []client
	procOf  map[int]int32
	nameOf  map[string]int32 // client
	lockOf  map[string]int32
	locks   []lock
	pauses  history.Pauses

	hands     []hand
	readings  map[int32]*reading // of holds that may be shorter than they seem
	certain   []*object          // the locks with holds in their shortest forms; made when needed
	kept      []numbered         // entries of a short history
	room      int                // how many entries may be kept
	choices   *choices           // the present reading is one of them; or nil
	handOf    map[uint64]int32   // client and lock
	grants    grants
	holds     []hold
	kills     history.Kills
	ceased    map[int32]int32 // of a mutex without owners: where a loss or a death may have ended a hold
	losses    []loss          // of a reentrant lock: losses of its entry in the store
	deadlines []deadline
	resources bool // the guarded resource wrote lines of its own
	saw       seen
}

// seen is the kinds of operations in a history, whatever the model uses of them.
type seen struct{ acquires, accesses, cas, shared, tokens bool }

// lock is the operations on one lock name, or on its resource.
type lock struct {
	name     string
	granted  int     // number of operations that the model judges and that were ok
	doubt    string  // the first operation that may be about several grants, or ""
	unclear  []int32 // clients with operations of uncertain meaning
	strays   []stray
	refused  []refusal
	events   []event
	accesses []access // of clients
	effects  []access // of the resource itself
}

// loss may end all holds of a process on a lock at once, from pos on. least is the
// position for the shortest forms of the holds, told that at which it was reported. token
// is the entry's, or 0.
type loss struct {
	proc, pos, least, told int32
	token                  uint64
}

// New returns a judge that has read no entries.
func New(m Model, o Options) *Judge {
	return &Judge{model: m, opts: o, room: smallEnough, procOf: map[int]int32{}, nameOf: map[string]int32{}, lockOf: map[string]int32{}, handOf: map[uint64]int32{}, ceased: map[int32]int32{}}
}

// Add processes the next entry. line is its line in the file, from 1. The entries
// have to be consistent (history.Check).
func (j *Judge) Add(e *history.Entry, line int) {
	pos := j.size
	j.keep(e, line)
	j.size++
	j.lines.add(pos, line)
	if j.model.rule.leases {
		j.times = append(j.times, e.Time)
	}
	switch {
	case e.Process.Client():
		j.client(pos, e)
	case e.Process.Name == history.Nemesis:
		j.nemesis(pos, e)
	case e.Process.Name == history.Resource && j.model.kind == register:
		j.effect(pos, e)
	}
}

// Verdict is the result of judging a history by a model.
type Verdict struct {
	Outcome    checker.Outcome // Valid, Violated or Unknown
	Reason     string          // of Unknown, with the part that was decided
	Limited    bool            // of Unknown: a limit of the Options was reached
	Hint       string          // another thing to try, or ""
	Operations int             // number of judged operations
	Witness    *Witness        // of Violated: of the first of Locks
	Locks      []string        // the violated locks

	picture *picture
}

// Witness is the evidence of a violation: facts that are all needed, and that no
// choice for the other operations explains.
type Witness struct {
	Sentence string // one English sentence that names lines
	Lines    []int  // in the file, from 1, in order
}

// lines finds the line of an entry. Most entries have a line of their own, so only
// changes of the difference are stored.
type lines struct {
	breaks []lineBreak
}

// lineBreak says that from an entry on, the line is larger than the position by more.
type lineBreak struct{ pos, more int32 }

func (l *lines) add(pos int32, line int) {
	more := int32(line) - pos
	if n := len(l.breaks); n == 0 || l.breaks[n-1].more != more {
		l.breaks = append(l.breaks, lineBreak{pos, more})
	}
}

// of returns the line of the entry at pos.
func (l *lines) of(pos int32) int {
	low, high := 0, len(l.breaks)
	for high-low > 1 {
		if mid := (low + high) / 2; l.breaks[mid].pos <= pos {
			low = mid
		} else {
			high = mid
		}
	}
	if low == len(l.breaks) {
		return 0
	}
	return int(pos + l.breaks[low].more)
}
