package history

import (
	"errors"
	"fmt"
	"time"
)

// Check checks that h could have been recorded. Its error names the first entry that
// cannot follow the entries before it, by its position, counted from 1, and its index.
// A history may end at any point.
func Check(h *History) error {
	var valid validity
	for i := range h.Entries {
		e := &h.Entries[i]
		if err := valid.add(e); err != nil {
			return fmt.Errorf("entry %d (index %d): %w", i+1, e.Index, err)
		}
	}
	return nil
}

// maxMS is the longest time in a header: a year. Three times as much still fits a
// time.Duration.
const maxMS = 365 * 24 * 60 * 60 * 1000

func (h *Header) check() error {
	switch {
	case h.Format != Format:
		return fmt.Errorf(`"lockcheck" is %d: this lockcheck reads format %d`, h.Format, Format)
	case h.LeaseMS < 0 || h.LeaseMS > maxMS:
		return fmt.Errorf(`"lease_ms" is %d: want milliseconds from 0 to %d`, h.LeaseMS, maxMS)
	case h.HandoverMS < 0 || h.HandoverMS > maxMS:
		return fmt.Errorf(`"handover_ms" is %d: want milliseconds from 0 to %d`, h.HandoverMS, maxMS)
	case h.Nodes < 0:
		return fmt.Errorf(`"nodes" is %d: want the number of servers that the lock asks`, h.Nodes)
	}
	return nil
}

// IsOperation reports whether f is an operation of clients.
func IsOperation(f string) bool {
	switch f {
	case Acquire, Try, Release, Extend, Read, Write, CAS:
		return true
	}
	return false
}

// isReport reports whether f is a report of clients between their operations.
func isReport(f string) bool {
	switch f {
	case Queued, Lost, Valid, Late, Started:
		return true
	}
	return false
}

// validity is what the entries so far allow.
type validity struct {
	started bool
	index   int
	time    time.Duration
	procs   table[session]
	invokes numbers // their indices
	// acquires has the indices of the invokes of each client's acquires and
	// tries.
	acquires map[string]*numbers
	grants   grantIndex // index of the acquire's ok with each grant
}

// session is the state of one client's process.
type session struct {
	client   string
	acquires *numbers // its client's acquires and tries: the indices of their invokes
	open     bool
	f        string // of the open operation
	index    int    // of its invoke
	retired  bool
}

func (v *validity) add(e *Entry) error {
	if e.Type.String() == "?" {
		return fmt.Errorf("unknown type %d", e.Type)
	}
	if e.Index < 0 {
		return fmt.Errorf("index %d: the lowest is 0", e.Index)
	}
	if v.started && e.Index <= v.index {
		return fmt.Errorf("index %d follows index %d: it must grow", e.Index, v.index)
	}
	if v.started && e.Time < v.time {
		return fmt.Errorf("time %d ns follows %d ns: it runs backwards", e.Time, v.time)
	}
	v.started, v.index, v.time = true, e.Index, e.Time
	if e.By.Set && !v.invokes.has(e.By.V) {
		return fmt.Errorf(`"by" is %d: no earlier invoke has that index`, e.By.V)
	}
	if e.Op.Set && !v.invokes.has(e.Op.V) {
		return fmt.Errorf(`"op" is %d: no earlier invoke has that index`, e.Op.V)
	}
	if !e.Process.Client() {
		if e.Type != Info && e.Type != Event {
			return fmt.Errorf("%s has type %s: a named process has only info and event", e.Process, e.Type)
		}
		return nil
	}
	return v.client(e)
}

func (v *validity) client(e *Entry) error {
	operation := IsOperation(e.F)
	switch {
	case !operation && !isReport(e.F):
		return fmt.Errorf(`"f" is %q: unknown for a client`, e.F)
	case operation && e.Type == Event:
		return fmt.Errorf("%s is an operation: its type is invoke, ok, fail or info", e.F)
	case !operation && e.Type != Event:
		return fmt.Errorf("%s is a report: its type is event", e.F)
	}
	p := v.procs.at(e.Process.N)
	if p == nil {
		p = &session{client: e.Client, acquires: v.acquiresOf(e.Client)}
		v.procs.set(e.Process.N, p)
	}
	if e.Client != p.client {
		return fmt.Errorf("process %s belonged to %s, now to %s", e.Process, p.client, e.Client)
	}
	switch e.Type {
	case Event:
		return p.checkReport(e)
	case Invoke:
		v.invokes.add(int64(e.Index))
		return p.invoke(e)
	default:
		if err := p.complete(e); err != nil {
			return err
		}
		if e.Type != OK || !acquires(e.F) {
			return nil
		}
		if err := p.checkStands(e); err != nil {
			return err
		}
		return v.grant(e)
	}
}

func (p *session) invoke(e *Entry) error {
	if p.retired {
		return fmt.Errorf("process %s retired: its last operation ended with info, and nothing may follow it", e.Process)
	}
	if p.open {
		return fmt.Errorf("process %s invokes %s while its %s at index %d is open", e.Process, e.F, p.f, p.index)
	}
	p.open, p.f, p.index = true, e.F, e.Index
	if acquires(e.F) {
		p.acquires.add(int64(e.Index))
	}
	return nil
}

func (p *session) complete(e *Entry) error {
	if !p.open {
		return fmt.Errorf("process %s completes %s without an invoke", e.Process, e.F)
	}
	if p.f != e.F {
		return fmt.Errorf("process %s completes %s, but it invoked %s at index %d", e.Process, e.F, p.f, p.index)
	}
	p.open = false
	p.retired = e.Type == Info
	return nil
}

// checkReport checks a report. A place in the queue must belong to an open acquire.
func (p *session) checkReport(e *Entry) error {
	asks := p.open && acquires(p.f)
	if e.F == Queued && e.Op.Set && (!asks || e.Op.V != int64(p.index)) {
		return fmt.Errorf(`"op" is %d: that is not the open acquire of process %s`, e.Op.V, e.Process)
	}
	return nil
}

// checkStands checks a grant on the entries of another acquire. That must be an
// earlier acquire of the same client.
func (p *session) checkStands(e *Entry) error {
	if e.Op.Set && !p.acquires.has(e.Op.V) {
		return fmt.Errorf(`"op" is %d: no earlier acquire of %s has that index`, e.Op.V, e.Client)
	}
	return nil
}

func (v *validity) acquiresOf(client string) *numbers {
	if v.acquires[client] == nil {
		if v.acquires == nil {
			v.acquires = map[string]*numbers{}
		}
		v.acquires[client] = new(numbers)
	}
	return v.acquires[client]
}

func acquires(f string) bool { return f == Acquire || f == Try }

func (v *validity) grant(e *Entry) error {
	if e.Grant < 0 {
		return errors.New("a grant is counted from 1")
	}
	if e.Grant == 0 {
		return nil
	}
	if before, used := v.grants.add(e.Grant, e.Index); used {
		return fmt.Errorf("grant %d is used twice: the acquire at index %d got it", e.Grant, before)
	}
	return nil
}
