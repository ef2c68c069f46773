package history

import (
	"fmt"
	"strconv"
)

// filler supplies what a recorder left out; Reader says by which rules.
type filler struct {
	last    Entry // Index and Time of the entry before
	started bool
	procs   map[int]*procState
	retired map[string]*procState // by client: the process that ended with info, until another goes on
	fresh   int                   // the largest grant so far
	ours    map[int]int           // grants that we numbered, and the index of their acquire's ok
}

// procState is what is known of a client's process.
type procState struct {
	client string
	open   *Entry  // its invoke without a completion
	grants []grant // held, the innermost last
}

type grant struct {
	n    int
	lock string
}

func newFiller() filler {
	return filler{procs: map[int]*procState{}, retired: map[string]*procState{}, ours: map[int]int{}}
}

func (f *filler) entry(e *Entry, given given) error {
	if !given.index {
		e.Index = 1
		if f.started {
			e.Index = f.last.Index + 1
		}
	}
	if !given.time {
		e.Time = f.last.Time
	}
	f.last, f.started = Entry{Index: e.Index, Time: e.Time}, true
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
	p := f.procs[e.Process.N]
	if p == nil {
		p = &procState{client: e.Client}
		if p.client == "" {
			p.client = strconv.Itoa(e.Process.N)
		}
		f.procs[e.Process.N] = p
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
			p.drop(e.Grant)
		}
	}
	open := *e
	p.open = &open
}

func (f *filler) complete(p *procState, e *Entry) error {
	invoke := p.open
	p.open = nil
	if e.Type == Info {
		f.retired[p.client] = p
	}
	if invoke != nil && invoke.F == e.F {
		if e.Lock == "" {
			e.Lock = invoke.Lock
		}
		if e.Grant == 0 {
			e.Grant = invoke.Grant
		}
	}
	if e.Type != OK || (e.F != Acquire && e.F != Try) {
		return nil
	}
	if e.Grant == 0 {
		f.fresh++
		e.Grant = f.fresh
		f.ours[e.Grant] = e.Index
	} else if by, ok := f.ours[e.Grant]; ok {
		return fmt.Errorf("grant %d is what the acquire at index %d got, which named none: name all grants or none", e.Grant, by)
	}
	f.fresh = max(f.fresh, e.Grant)
	p.grants = append(p.grants, grant{e.Grant, e.Lock})
	return nil
}

// innermost is the grant of lock that the process got last and still has; 0: none.
func (p *procState) innermost(lock string) int {
	for i := len(p.grants) - 1; i >= 0; i-- {
		if p.grants[i].lock == lock {
			return p.grants[i].n
		}
	}
	return 0
}

func (p *procState) drop(n int) {
	for i, g := range p.grants {
		if g.n == n {
			p.grants = append(p.grants[:i], p.grants[i+1:]...)
			return
		}
	}
}
