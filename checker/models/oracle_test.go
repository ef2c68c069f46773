package models

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// The oracle judges a history by trying everything: which operations without
// an answer happened, in which order, and which grant of its client a release
// means that names none. It shares no line with the judges, nor with how they
// gather operations.
type oracle struct {
	deeds []deed
	rule  rule
	limit int
	seen  map[past]bool
}

// deed is an operation, or the end of a hold for which there is none.
type deed struct {
	what      deedKind
	call, ret int
	optional  bool
	client    string
	proc      int
	of        int // the acquire that it names; none: it names none
	shared    bool
	token     uint64
}

type deedKind uint8

const (
	toAcquire deedKind = iota
	toRelease
	toExtend
	toBeRefused
	toDoNothing
)

// past is what has happened: bits number deeds.
type past struct {
	done, held    uint64
	released      uint64 // by an ok
	perhaps       uint64 // by what had no answer
	nest, highest uint64
}

// means tells whether d may be about acquire k: one that it names, or one of its
// client that had been invoked.
func (d *deed) means(k int, a deed) bool {
	return d.of == k || d.of == int(none) && a.client == d.client && a.call < d.call
}

func bit(i int) uint64 { return 1 << i }

func (o *oracle) admits(w past, proc int, shared bool) bool {
	n := 0
	for i, d := range o.deeds {
		if w.held&bit(i) == 0 {
			continue
		}
		n++
		switch {
		case o.rule.permits:
		case o.rule.shared && d.shared && shared:
		case o.rule.reentrant && d.proc == proc:
		default:
			return false
		}
	}
	return o.limit == 0 || n < o.limit
}

// explains tells whether there is an order from w on.
func (o *oracle) explains(w past) bool {
	if o.seen[w] {
		return false
	}
	o.seen[w] = true
	deadline, over := 1<<30, true
	for i, d := range o.deeds {
		if w.done&bit(i) == 0 && !d.optional {
			deadline, over = min(deadline, d.ret), false
		}
	}
	if over {
		return true
	}
	for i, d := range o.deeds {
		if w.done&bit(i) != 0 || d.call > deadline || d.what == toDoNothing {
			continue
		}
		for _, next := range o.after(w, i) {
			next.done |= bit(i)
			if o.explains(next) {
				return true
			}
		}
	}
	return false
}

// after is what deed i can make of w.
func (o *oracle) after(w past, i int) (list []past) {
	d := o.deeds[i]
	switch d.what {
	case toAcquire:
		if !o.admits(w, d.proc, d.shared) {
			return nil
		}
		if o.rule.tokens && d.token != 0 {
			switch {
			case w.held != 0 && w.nest != 0:
				if d.token != w.nest {
					return nil
				}
			case d.token <= w.highest:
				return nil
			default:
				w.nest, w.highest = d.token, d.token
			}
		}
		w.held |= bit(i)
		return []past{w}
	case toRelease:
		for k, a := range o.deeds {
			if a.what != toAcquire || !d.means(k, a) {
				continue
			}
			next := w
			switch {
			case w.held&bit(k) != 0 && d.optional:
				next.held &^= bit(k)
				next.perhaps |= bit(k)
			case w.held&bit(k) != 0:
				next.held &^= bit(k)
				next.released |= bit(k)
			case !d.optional && w.perhaps&bit(k) != 0 && w.released&bit(k) == 0:
				next.released |= bit(k) // what had no answer did it, and this one says so
			default:
				continue
			}
			if next.held == 0 {
				next.nest = 0
			}
			list = append(list, next)
		}
		return list
	case toExtend:
		for k, a := range o.deeds {
			if w.held&bit(k) != 0 && d.means(k, a) {
				return []past{w}
			}
		}
	case toBeRefused:
		if !o.admits(w, d.proc, d.shared) {
			return []past{w}
		}
	}
	return nil
}

// chaos makes histories of which nobody would be proud: clients with several
// processes, answers that never come, releases that are repeated by others of
// the client, deaths, losses, late renewals; and the deeds in them.
type chaos struct {
	*rand.Rand
	model Model
	opts  Options
	named bool

	h     []history.Entry
	deeds []deed
	procs []*chaotic
	count int
	grant int
	token uint64
	got   []possession
}

type chaotic struct {
	client string
	n      int
	open   *history.Entry
	deed   int
	of     int
}

type possession struct {
	client  string
	acquire int
	grant   int
}

func (c *chaos) add(e history.Entry) int {
	e.Index = len(c.h) + 1
	c.h = append(c.h, e)
	return len(c.h) - 1
}

func (c *chaos) process(client string) {
	c.count++
	c.procs = append(c.procs, &chaotic{client: client, n: c.count})
}

func (c *chaos) run() {
	for i := range 2 + c.Intn(2) {
		c.process(fmt.Sprint("c", i))
		// Without names a release is about what its process got last: two
		// processes at a time would not know of each other.
		if c.Intn(4) == 0 && c.named {
			c.process(fmt.Sprint("c", i))
		}
	}
	left := 3 + c.Intn(6)
	for range 60 {
		p := c.procs[c.Intn(len(c.procs))]
		switch {
		case p.open != nil && c.Intn(2) == 0:
			c.answer(p)
		case p.open == nil && c.named && c.Intn(50) == 0:
			pos := c.add(history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: "kill", On: []string{p.client}})
			c.ends(pos, func(d deed) bool { return d.client == p.client })
		case p.open == nil && left > 0:
			left--
			c.ask(p)
		}
	}
}

// ends notes that holds may end from pos on.
func (c *chaos) ends(pos int, of func(deed) bool) {
	for k, d := range c.deeds {
		if d.what == toAcquire && of(d) {
			c.deeds = append(c.deeds, deed{what: toRelease, call: pos, ret: 1 << 29, optional: true, client: d.client, of: k})
		}
	}
}

func (c *chaos) ask(p *chaotic) {
	e := history.Entry{Client: p.client, Process: history.Process{N: p.n}, Type: history.Invoke}
	var mine []possession
	for _, x := range c.got {
		if x.client == p.client {
			mine = append(mine, x)
		}
	}
	d := deed{call: len(c.h), ret: 1 << 29, optional: true, client: p.client, proc: p.n, of: int(none)}
	if len(mine) > 0 && c.Intn(3) > 0 {
		x := mine[len(mine)-1-c.Intn(min(2, len(mine)))]
		if c.named {
			e.Grant, d.of = x.grant, x.acquire
		}
		switch c.Intn(9) {
		case 0:
			if c.named {
				e.Type, e.F = history.Event, history.Lost
				lost := c.deeds[x.acquire]
				c.ends(c.add(e), func(d deed) bool { return d == lost || d.proc == lost.proc && !d.optional })
			}
			return
		case 1:
			if c.named {
				e.Type, e.F = history.Event, history.Valid
				pos := c.add(e)
				a := &c.deeds[x.acquire]
				a.optional, a.ret = false, min(a.ret, pos)
			}
			return
		case 2:
			e.F, d.what = history.Extend, toExtend
		default:
			e.F, d.what = history.Release, toRelease
		}
	} else {
		e.F, e.Shared = []string{history.Acquire, history.Try}[c.Intn(2)], c.model.rule.shared && c.Intn(2) == 0
		d.what, d.shared = toAcquire, e.Shared
	}
	open := c.h[c.add(e)]
	p.open, p.deed = &open, len(c.deeds)
	if d.what == toExtend { // without an answer it says nothing
		p.of, d.of, d.what = d.of, int(none), toDoNothing
	}
	c.deeds = append(c.deeds, d)
}

func (c *chaos) answer(p *chaotic) {
	e, pos := *p.open, len(c.h)
	p.open = nil
	switch k := c.Intn(10); {
	case k < 2:
		e.Type = history.Info
	case k < 4:
		e.Type = history.Fail
	default:
		e.Type = history.OK
	}
	d := &c.deeds[p.deed]
	switch {
	case e.Type == history.OK:
		d.optional, d.ret = false, min(d.ret, pos)
	case e.Type == history.Fail && e.F == history.Try && c.opts.StrictTry:
		*d = deed{what: toBeRefused, call: d.call, ret: pos, proc: p.n, shared: d.shared}
	case e.Type == history.Fail && !(e.F == history.Release && c.opts.Released):
		d.what = toDoNothing
	}
	if e.F == history.Extend && e.Type == history.OK {
		d.what, d.of = toExtend, p.of
	} else if e.F == history.Extend {
		e.Error = "unavailable"
	}
	if acquires := e.F == history.Acquire || e.F == history.Try; acquires && e.Type != history.Fail {
		c.grant++
		if c.named && (e.Type == history.OK || c.Intn(2) == 0) {
			e.Grant = c.grant
		}
		if e.Grant != 0 || !c.named {
			c.got = append(c.got, possession{p.client, p.deed, e.Grant})
		}
		if e.Type == history.OK && c.model.rule.tokens {
			c.token += uint64(c.Intn(10)+5) / 6
			if c.token > 0 && c.Intn(8) == 0 {
				c.token--
			}
			e.Token, d.token = c.token, c.token
		}
	}
	c.add(e)
	if e.Type == history.Info {
		c.procs = slices.DeleteFunc(c.procs, func(x *chaotic) bool { return x == p })
		c.process(p.client)
	}
}

// What the judges say of chaos, the oracle says, too; unless they say that they
// do not know. They may know nothing only where grants are not named, or where
// Porcupine would have to decide and is not asked.
func TestTheOracleAgrees(t *testing.T) {
	t.Parallel()
	histories := 3000
	if testing.Short() {
		histories = 100
	}
	for _, name := range []string{"owner-mutex", "fenced-mutex", "reentrant-mutex", "reentrant-mutex=2", "reentrant-fenced-mutex", "rw-mutex", "semaphore=2"} {
		for _, opts := range []Options{{}, {Released: true}, {StrictTry: true}} {
			for _, named := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s %+v named=%v", name, opts, named), func(t *testing.T) {
					t.Parallel()
					m, err := Parse(name)
					if err != nil {
						t.Fatal(err)
					}
					consult(t, m, opts, named, histories)
				})
			}
		}
	}
}

func consult(t *testing.T, m Model, opts Options, named bool, histories int) {
	var valid, violated, unknown int
	for seed := range histories {
		c := &chaos{Rand: rand.New(rand.NewSource(int64(seed))), model: m, opts: opts, named: named}
		if c.run(); len(c.deeds) > 40 {
			continue
		}
		if err := history.Check(&history.History{Entries: c.h}); err != nil {
			t.Fatal(err)
		}
		j := New(m, opts)
		for i := range c.h {
			j.Add(&c.h[i], i+1)
		}
		v := j.Verdict(context.Background())
		explained := (&oracle{deeds: c.deeds, rule: m.rule, limit: m.N, seen: map[past]bool{}}).explains(past{})
		switch {
		case v.Outcome == checker.Unknown && !strings.HasPrefix(v.Reason, "the judges disagree"):
			unknown++
		case v.Outcome == checker.Valid && explained:
			valid++
		case v.Outcome == checker.Violated && !explained:
			violated++
		default:
			said := v.Reason
			if v.Witness != nil {
				said = v.Witness.Sentence
			}
			t.Fatalf("seed %d: the judges say %s (%s), the oracle finds an order: %v\n%s", seed, v.Outcome, said, explained, shown(c.h))
		}
	}
	t.Logf("%d valid, %d violated, %d unknown", valid, violated, unknown)
	if valid*10 < histories || violated*100 < histories {
		t.Errorf("%d valid, %d violated of %d say little", valid, violated, histories)
	}
}
