package models

import (
	"sort"
	"time"

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
}

// account is a history as operations on locks. The judges need nothing else of it.
type account struct {
	model Model
	opts  Options

	size  int32           // number of entries so far
	times []time.Duration // by position; only of a model with leases
	lines lines

	procs     []proc
	clients   []client
	locks     []lock
	holds     []hold
	readings  map[int32]*reading // of holds that may be shorter than they seem
	losses    []loss             // of a reentrant lock: losses of its entry in the store
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

// proc is a client's process, and its open operation.
type proc struct {
	number int
	client int32
	first  int32 // the process that it replaced after an info, or itself

	f      string // its open operation; "": none
	lock   int32
	call   int32
	queued int32
	hold   int32 // the hold that it acts on, or none
	means  meaning
	struck int32 // of an acquire: position at which its client died, or lost its hold, or none
	joint  int32 // of an acquire: the loss of an entry that may be about it: number plus one, or 0
	cloud  int32 // of an acquire: from where an operation that may mean it may have ended it, or never
	shared bool
	value  history.Opt
	was    history.Opt
	token  uint64
}

// client is the state of a client that stays when process numbers change.
type client struct {
	name   string
	asking []int32 // processes with an open acquire
	hands  []int32 // its hand for each lock
	// retired is the process that ended with info, until another replaces it, plus
	// one; or 0.
	retired int32
	// alive is the position after its last sign of life, which is neither an invoke
	// nor an info (the recorder writes those), or the position where it was killed.
	alive int32
	died  int32 // position of its last death
}

// lines finds the line of an entry. Most entries have a line of their own, so only
// changes of the difference are stored.
type lines []lineBreak

// lineBreak says that from an entry on, the line is larger than the position by more.
type lineBreak struct{ pos, more int32 }

func (l *lines) add(pos int32, line int) {
	more := int32(line) - pos
	if n := len(*l); n == 0 || (*l)[n-1].more != more {
		*l = append(*l, lineBreak{pos, more})
	}
}

// of returns the line of the entry at pos.
func (l lines) of(pos int32) int {
	k := sort.Search(len(l), func(k int) bool { return l[k].pos > pos })
	if k == 0 {
		return 0
	}
	return int(pos + l[k-1].more)
}
