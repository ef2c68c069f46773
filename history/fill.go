package history

import (
	"fmt"
	"strconv"
	"time"
)

// filler supplies what a recorder left out; Reader says by which rules.
type filler struct {
	index   int // of the entry before
	time    time.Duration
	started bool
	procs   table[procState]
	retired map[string]*procState // by client: the process that ended with info, until another goes on
	fresh   int                   // the largest grant so far
	ours    grantIndex            // grants that we numbered: the index of their acquire's ok
}

// procState is what is known of a client's process.
type procState struct {
	client string
	open   struct { // its invoke without a completion; F is "" when there is none
		f, lock string
		grant   int
	}
	grants map[string][]int // held, by lock; the innermost last
}

func (f *filler) entry(e *Entry, given Given) error {
	if !given.Index {
		e.Index = 1
		if f.started {
			e.Index = f.index + 1
		}
	}
	if !given.Time {
		e.Time = f.time
	}
	f.index, f.time, f.started = e.Index, e.Time, true
	if !e.Process.Client() {
		return nil
	}
	p := f.process(e)
	switch e.Type {
	case Invoke:
		p.invoke(e)
	case Event:
		if e.Grant == 0 && e.F != Queued && e.F != Late {
			e.Grant = p.innermost(e.Lock)
		}
	default:
		return f.complete(p, e)
	}
	return nil
}

func (f *filler) process(e *Entry) *procState {
	p := f.procs.at(e.Process.N)
	if p == nil {
		p = &procState{client: e.Client}
		if p.client == "" {
			p.client = strconv.Itoa(e.Process.N)
		}
		f.procs.set(e.Process.N, p)
		if before := f.retired[p.client]; before != nil { // the client goes on under a new number
			p.grants, before.grants = before.grants, nil
			delete(f.retired, p.client)
		}
	}
	if e.Client == "" {
		e.Client = p.client
	}
	return p
}

func (p *procState) invoke(e *Entry) {
	if e.F != Acquire && e.F != Try {
		if e.Grant == 0 {
			e.Grant = p.innermost(e.Lock)
		}
		if e.F == Release {
			p.drop(e.Lock, e.Grant)
		}
	}
	p.open.f, p.open.lock, p.open.grant = e.F, e.Lock, e.Grant
}

func (f *filler) complete(p *procState, e *Entry) error {
	if p.open.f == e.F {
		if e.Lock == "" {
			e.Lock = p.open.lock
		}
		if e.Grant == 0 {
			e.Grant = p.open.grant
		}
	}
	p.open.f = ""
	if e.Type == Info {
		if f.retired == nil {
			f.retired = map[string]*procState{}
		}
		f.retired[p.client] = p
	}
	if e.Type != OK || (e.F != Acquire && e.F != Try) {
		return nil
	}
	if e.Grant == 0 {
		f.fresh++
		e.Grant = f.fresh
		f.ours.add(e.Grant, e.Index)
	} else if by, ok := f.ours.index(e.Grant); ok {
		return fmt.Errorf("grant %d is what the acquire at index %d got, which named none: name all grants or none", e.Grant, by)
	}
	f.fresh = max(f.fresh, e.Grant)
	if p.grants == nil {
		p.grants = map[string][]int{}
	}
	p.grants[e.Lock] = append(p.grants[e.Lock], e.Grant)
	return nil
}

// innermost is the grant of lock that the process got last and still has; 0: none.
func (p *procState) innermost(lock string) int {
	if list := p.grants[lock]; len(list) > 0 {
		return list[len(list)-1]
	}
	return 0
}

// maxIdle is for how many locks a process keeps a list that may be empty: those
// that it takes again and again.
const maxIdle = 64

// drop forgets grant n, which is most likely one of lock.
func (p *procState) drop(lock string, n int) {
	if n == 0 || p.remove(lock, n) {
		return
	}
	for lock := range p.grants {
		if p.remove(lock, n) {
			return
		}
	}
}

func (p *procState) remove(lock string, n int) bool {
	list := p.grants[lock]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == n {
			if p.grants[lock] = append(list[:i], list[i+1:]...); len(list) == 1 && len(p.grants) > maxIdle {
				delete(p.grants, lock)
			}
			return true
		}
	}
	return false
}
