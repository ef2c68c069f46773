package models

import (
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

	Timeout time.Duration // for all searches of Porcupine; 0: no limit
	Memory  int64         // bytes that the program may use while Porcupine searches; 0: no limit
	Whole   bool          // do not cut what Porcupine searches in time
}

// A Judge takes in a history, entry by entry, and judges it by a model. It
// keeps about 50 bytes of an operation, and the entries of a short history.
//
// It has a reading of its own, and not a checker.Timeline, which needs all entries at
// once and settles which hold a line is about. Other people's histories leave that
// open: here an operation may mean one of several holds, which began and ended at
// some time in a range of positions.
type Judge struct {
	model Model
	opts  Options

	size  int32           // entries so far
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
	readings  map[int32]*reading // of holds that may be less than they seem
	certain   []*object          // the locks as no reading holds less; made when they are needed
	kept      []numbered         // of a short history
	room      int                // how many entries may be kept
	choices   *choices           // what is taken in is one reading of it; or nil
	handOf    map[uint64]int32   // client and lock
	grants    grants
	holds     []hold
	ceased    map[int32]int32 // of a mutex without owners: where a loss or a death may have ended a hold
	losses    []loss          // of a lock that can be taken again: of its entry in the store
	deadlines []deadline
	resources bool // the guarded resource wrote lines of its own
	saw       seen
}

// seen is what operations a history has, whatever the model makes of them.
type seen struct{ acquires, accesses, cas, shared, tokens bool }

// lock is what one lock name, or what it guards, has seen.
type lock struct {
	name     string
	granted  int     // what the model judges, and was ok
	doubt    string  // which operation may be about several grants, or ""
	unclear  []int32 // clients of which it is open what they mean
	strays   []stray
	refused  []refusal
	events   []event
	accesses []access // of clients
	effects  []access // of the resource itself
}

// loss may end from pos on all that a process held of a lock, at once.
// least is where, whatever the operations of its client mean.
type loss struct{ proc, pos, least int32 }

// New is a judge that has seen nothing yet.
func New(m Model, o Options) *Judge {
	return &Judge{model: m, opts: o, room: smallEnough, procOf: map[int]int32{}, nameOf: map[string]int32{}, lockOf: map[string]int32{}, handOf: map[uint64]int32{}, ceased: map[int32]int32{}}
}

// Add takes in the next entry, which stands in the line of that number (from 1)
// of its file. The entries have to make sense together (history.Check).
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

// Verdict of a model.
type Verdict struct {
	Outcome    checker.Outcome // Valid, Violated or Unknown
	Reason     string          // of Unknown, with the part that was decided
	Limited    bool            // of Unknown: a limit of the Options was reached
	Hint       string          // what else to try, or ""
	Operations int             // that were judged
	Witness    *Witness        // of Violated: of the first of Locks
	Locks      []string        // that are violated

	picture *picture
}

// Witness is what convicts: facts none of which can be left out, and which no
// choice for the other operations explains.
type Witness struct {
	Sentence string // one English sentence that names lines
	Lines    []int  // in the file, from 1, in order
}

// lines finds the line of an entry. Mostly each entry has one of its own, so
// only where that changes is written down.
type lines struct {
	breaks []lineBreak
}

// lineBreak says that from an entry on the line is by so much larger than the
// position.
type lineBreak struct{ pos, more int32 }

func (l *lines) add(pos int32, line int) {
	more := int32(line) - pos
	if n := len(l.breaks); n == 0 || l.breaks[n-1].more != more {
		l.breaks = append(l.breaks, lineBreak{pos, more})
	}
}

// of is the line of the entry at pos.
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
