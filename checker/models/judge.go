package models

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// A Judge reads a history, entry by entry, and judges it by a model. It keeps about
// 50 bytes for each operation, and the entries of a short history.
//
// It does not use checker.Timeline, which needs all entries at once and decides which
// hold a line is about. Histories of other tools leave that open: here an operation
// may mean one of several holds, and a hold begins and ends somewhere in a range of
// positions.
type Judge struct {
	account

	procOf map[int]int32
	nameOf map[string]int32 // client
	lockOf map[string]int32
	handOf map[uint64]int32 // client and lock
	hands  []hand
	grants grants
	pauses history.Pauses
	kills  history.Kills
	began  map[int32]int32    // by the position of a kill: the number of holds before it
	ceased map[int32][2]int32 // of a mutex without owners: where a loss or a death may have ended a hold first: up to the answer of its acquire, and after that

	kept    []numbered // entries of a short history
	room    int        // how many entries may be kept
	choices *choices   // the present reading is one of them; or nil
}

// Limits for asking Porcupine after the direct judge has decided. Searches are limited
// in steps, not time, so that their results are the same on any machine.
const (
	confirmSteps = 100_000                // for each search
	smallEnough  = 2000                   // operations of a lock that is searched as a whole
	windowSize   = 500                    // operations around a witness
	othersTime   = 2 * time.Second        // for all locks after the first violated one
	drawTime     = 200 * time.Millisecond // for the orders in a picture
	// Each operation without an answer may double the time of a search.
	fewUnanswered = 8
)

// New returns a judge that has read no entries.
func New(m Model, o Options) *Judge {
	return &Judge{account: account{model: m, opts: o}, room: smallEnough, procOf: map[int]int32{}, nameOf: map[string]int32{}, lockOf: map[string]int32{}, handOf: map[uint64]int32{}, ceased: map[int32][2]int32{}, began: map[int32]int32{}}
}

func (j *Judge) process(e *history.Entry) int32 {
	if p, ok := j.procOf[e.Process.N]; ok {
		return p
	}
	name := e.Client
	if name == "" {
		name = e.Process.String()
	}
	c, ok := j.nameOf[name]
	if !ok {
		c = int32(len(j.clients))
		j.clients = append(j.clients, client{name: name})
		j.nameOf[name] = c
	}
	p := int32(len(j.procs))
	j.procs = append(j.procs, proc{number: e.Process.N, client: c, first: p})
	if before := &j.clients[c].retired; *before != 0 {
		j.procs[p].first, *before = *before-1, 0
	}
	j.procOf[e.Process.N] = p
	return p
}

func (j *Judge) lock(name string) int32 {
	l, ok := j.lockOf[name]
	if !ok {
		l = int32(len(j.locks))
		j.locks = append(j.locks, lock{name: name})
		j.lockOf[name] = l
	}
	return l
}

// hand returns the hand of a client for a lock.
func (j *Judge) hand(c, l int32) *hand {
	key := uint64(c)<<32 | uint64(l)
	i, ok := j.handOf[key]
	if !ok {
		i = int32(len(j.hands))
		j.hands = append(j.hands, hand{client: c, lock: l})
		j.handOf[key] = i
		j.clients[c].hands = append(j.clients[c].hands, i)
	}
	return &j.hands[i]
}

// asking returns the other processes of a client with an open acquire of a lock.
func (j *Judge) asking(c, l, but int32) (list []int32) {
	for _, p := range j.clients[c].asking {
		if p != but && j.procs[p].lock == l {
			list = append(list, p)
		}
	}
	return list
}

// add notes a hold without an end.
func (j *Judge) add(h hold) int32 {
	h.end, h.gone, h.alone, h.floor, h.extended, h.owner = never, never, never, none, none, j.procs[h.proc].first
	id := int32(len(j.holds))
	if n := len(j.holds); n == cap(j.holds) { // append alone would copy long lists five times
		j.holds = slices.Grow(j.holds, n+64)
	}
	j.holds = append(j.holds, h)
	return id
}

// stray notes a stray operation, if the model cares who holds.
func (j *Judge) stray(s stray, l int32) {
	if j.model.kind == holding {
		j.locks[l].strays = append(j.locks[l].strays, s)
	}
}
