package models

import (
	"cmp"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
)

// oracle judges a history by trying everything: which operations without an answer
// happened, in which order, and which grant of its client a release without a name
// means. It shares no code with the judges, nor with their way of gathering
// operations.
type oracle struct {
	deeds []deed
	rule  rule
	any   bool // a release frees the lock, whichever client holds
	limit int
	seen  map[past]bool
}

// deed is an operation, or the end of a hold without an operation.
type deed struct {
	what      deedKind
	call, ret int
	optional  bool
	client    string
	proc      int
	of        int    // the acquire that it names, or none
	lost      uint64 // of a loss, or a release that may have found none: the holds that rest on one entry
	early     int    // of an end: the loss that it is part of if its grant rests on that entry, plus one; or 0
	over      bool   // of a release: it happened, or may have
	end       bool   // it is a loss, a death, or a release that found no hold
	shared    bool
	token     uint64
}

type deedKind uint8

const (
	toAcquire deedKind = iota
	toRelease
	toExtend
	toLose
	toBeRefused
	toDoNothing
)

// past is the deeds that have happened: bits number deeds.
type past struct {
	done, held    uint64
	released      uint64 // holds released by an ok
	perhaps       uint64 // holds that a deed without an answer may have released
	nest, highest uint64
}

// means reports whether d may be about acquire k: the one that it names, or one of
// its client that had been invoked.
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

// explains reports whether there is an order from w on.
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

// late reports whether the entry that acquire i used was lost before.
func (o *oracle) late(w past, i int) bool {
	for k, d := range o.deeds {
		if d.what == toLose && d.lost&bit(i) != 0 && w.done&bit(k) != 0 {
			return true
		}
	}
	return false
}

// after returns the states that deed i can lead to from w.
func (o *oracle) after(w past, i int) (list []past) {
	d := o.deeds[i]
	if o.any && d.what == toRelease {
		return o.frees(w, i)
	}
	if o.any && d.what == toExtend {
		return []past{w}
	}
	switch d.what {
	case toAcquire:
		if !o.admits(w, d.proc, d.shared) || o.late(w, i) {
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
				gone := bit(k)
				for n, x := range o.deeds { // one that found an entry gone is about all that rests on it
					if d.lost&bit(n) != 0 && x.proc == a.proc {
						gone |= w.held & bit(n)
					}
				}
				next.held &^= gone
				next.perhaps |= gone
			case w.held&bit(k) != 0:
				next.held &^= bit(k)
				next.released |= bit(k)
			case !d.optional && w.perhaps&bit(k) != 0 && w.released&bit(k) == 0:
				next.released |= bit(k) // an unanswered deed did it; this confirms it
			default:
				continue
			}
			if next.held == 0 {
				next.nest = 0
			}
			list = append(list, next)
		}
		return list
	case toLose:
		if w.held&d.lost == 0 {
			return nil
		}
		w.perhaps |= w.held & d.lost
		if w.held &^= d.lost; w.held == 0 {
			w.nest = 0
		}
		return []past{w}
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

// frees returns the states after a release of a lock without owners.
func (o *oracle) frees(w past, i int) (list []past) {
	d, next := o.deeds[i], w
	next.held = 0
	switch {
	case d.end && d.of == int(none):
		return nil
	case d.optional && w.held != 0 && (!d.end || d.call > o.deeds[d.of].ret || w.held == bit(d.of)):
		next.perhaps |= bit(i)
		return []past{next}
	case d.optional:
		return nil
	case w.held != 0:
		list = append(list, next)
	}
	for k, x := range o.deeds {
		same := d.of == x.of
		if d.of == int(none) || x.of == int(none) {
			same = d.client == x.client
		}
		if next := w; same && w.perhaps&bit(k) != 0 { // another deed did it; this confirms it
			next.perhaps &^= bit(k)
			list = append(list, next)
		}
	}
	return list
}

// chaos makes random, messy histories: clients with several processes, missing
// answers, releases that another process of the client repeats, deaths, losses, late
// renewals; and the deeds in them.
type chaos struct {
	*rand.Rand
	model Model
	opts  Options
	named bool

	h       []history.Entry
	deeds   []deed
	procs   []*chaotic
	count   int
	grant   int
	token   uint64
	got     []possession
	retired map[string]int   // by client: a process that ended with info and has no successor
	alive   map[string]int   // position after a client's last sign of life, or where it was killed
	seq     history.Sequence // names the grants of a history without names, as a reader does
	names   map[int]int      // those grants, and the deeds that got them
}

type chaotic struct {
	client string
	n      int
	owner  int // the process that it replaced after an info, or itself; 0: not used yet
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
	if !c.named {
		_ = c.seq.Fill(&e, history.Given{Index: true, Time: true})
	}
	c.h = append(c.h, e)
	if e.Client != "" && e.Type != history.Invoke && e.Type != history.Info {
		c.alive[e.Client] = len(c.h)
	}
	return len(c.h) - 1
}

// meant returns the deed that got the grant that an entry of process p names, or else the
// last grant that p has, or none. A loss without a grant is about all that p has.
func (c *chaos) meant(pos int, p *chaotic) int {
	if k, ok := c.names[c.h[pos].Grant]; ok {
		return k
	}
	if c.h[pos].F != history.Lost {
		for k := len(c.deeds) - 1; k >= 0; k-- {
			if d := c.deeds[k]; d.what == toAcquire && d.proc == p.owner && c.holds(k) {
				return k
			}
		}
	}
	return int(none)
}

// die ends the holds that a client may have: at pos if it was killed, at its last
// sign of life if it died without a fault.
func (c *chaos) die(client string, pos int, killed bool) {
	if killed {
		c.alive[client] = max(c.alive[client], pos)
	} else {
		pos = c.alive[client]
	}
	lost := func(k int) bool { // with its entry, or before
		return slices.ContainsFunc(c.deeds, func(d deed) bool { return d.lost&bit(k) != 0 && d.what == toLose && d.call <= pos })
	}
	for k, d := range c.deeds {
		if d.what != toAcquire || d.client != client || lost(k) {
			continue
		}
		if rests := c.rests(pos, d.proc); c.model.rule.reentrant && rests&bit(k) != 0 {
			c.deeds = append(c.deeds, deed{what: toLose, call: pos, ret: 1 << 29, optional: true, of: int(none), lost: rests})
		} else {
			c.end(pos, k)
		}
	}
}

// fault adds a fault on a client.
func (c *chaos) fault(p *chaotic) {
	f := []string{"kill", "poweroff", history.Exit}[c.Intn(3)]
	pos := c.add(history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: f, On: []string{p.client}})
	c.die(p.client, pos, f != history.Exit)
}

func (c *chaos) process(client string) {
	c.count++
	c.procs = append(c.procs, &chaotic{client: client, n: c.count})
}

func (c *chaos) run() {
	c.alive, c.names, c.retired = map[string]int{}, map[int]int{}, map[string]int{}
	for i := range 2 + c.Intn(2) {
		c.process(fmt.Sprint("c", i))
		// Without names, the meaning of most operations is open if a client has two
		// processes.
		if c.Intn(4) == 0 && (c.named || c.Intn(16) == 0) {
			c.process(fmt.Sprint("c", i))
		}
	}
	left := 3 + c.Intn(6)
	for range 60 {
		p := c.procs[c.Intn(len(c.procs))]
		switch {
		case p.open != nil && c.Intn(2) == 0:
			c.answer(p)
		case c.Intn(50) == 0:
			c.fault(p)
		case p.open != nil && !c.named && c.Intn(20) == 0:
			e := history.Entry{Client: p.client, Process: history.Process{N: p.n}, Type: history.Event, F: history.Lost}
			pos := c.add(e)
			c.lost(p, c.meant(pos, p), pos)
		case p.open == nil && left > 0:
			left--
			c.ask(p)
		}
	}
}

// lost notes the holds that a process loses at pos: that of the named acquire. In a
// reentrant lock it loses all its holds if it has the named one. Without a name it
// loses all its holds; if it has none but those that it is releasing, it loses all of
// its client.
func (c *chaos) lost(p *chaotic, of, pos int) {
	holds := c.holds
	switch {
	case of == int(none):
		lets, asks := -1, -1
		if p.open != nil && p.open.F == history.Release {
			lets = c.deeds[p.deed].of
		} else if p.open != nil {
			asks = p.deed
		}
		found := false
		for k, d := range c.deeds {
			found = found || d.what == toAcquire && d.proc == p.owner && k != asks && k != lets && holds(k)
		}
		if found && c.model.rule.reentrant {
			c.entry(pos, p.owner)
			return
		}
		for k, d := range c.deeds {
			if d.what == toAcquire && d.client == p.client && k != asks && (!found || d.proc == p.owner) && !c.lostBefore(k) {
				c.vanish(pos, k)
			}
		}
	case c.model.rule.reentrant && holds(of):
		c.entry(pos, c.deeds[of].proc)
	case !c.lostBefore(of):
		c.vanish(pos, of)
	}
}

// vanish notes that a hold that its process may not have may end at pos. In a reentrant
// lock this may have been the entry of its acquires without an answer, too.
func (c *chaos) vanish(pos, k int) {
	c.end(pos, k)
	over := slices.ContainsFunc(c.deeds, func(d deed) bool { return d.of == k && d.what == toRelease && !d.optional })
	for n, d := range c.deeds {
		if c.model.rule.reentrant && !over && n != k && d.what == toAcquire && d.proc == c.deeds[k].proc && d.optional {
			c.end(pos, n)
		}
	}
}

// lostBefore reports whether the entry that acquire k rests on was lost.
func (c *chaos) lostBefore(k int) bool {
	return slices.ContainsFunc(c.deeds, func(d deed) bool { return d.lost&bit(k) != 0 })
}

// holds reports whether a process knows that it has the grant of acquire k.
func (c *chaos) holds(k int) bool {
	is := func(d deed) bool { return d.of == k && d.what == toExtend && !d.optional }
	sure := !c.deeds[k].optional || slices.ContainsFunc(c.deeds, is)
	is = func(d deed) bool { return d.of == k && d.over || d.lost&bit(k) != 0 }
	return sure && !slices.ContainsFunc(c.deeds, is)
}

// rests returns the holds of a process at pos.
func (c *chaos) rests(pos, proc int) (list uint64) {
	for k, d := range c.deeds {
		sure := d.ret
		for _, x := range c.deeds {
			if x.of == k && x.what == toExtend && !x.optional {
				sure = min(sure, x.ret)
			}
		}
		if d.what == toAcquire && d.proc == proc && sure <= pos && c.holds(k) {
			list |= bit(k)
		}
	}
	return list
}

// entry notes that all holds of a process may end at pos, at once, and so may its
// acquires without an answer.
func (c *chaos) entry(pos, proc int) {
	lost := c.rests(pos, proc)
	c.deeds = append(c.deeds, deed{what: toLose, call: pos, ret: 1 << 29, optional: true, of: int(none), lost: lost})
	c.unanswered(pos, proc, len(c.deeds)-1)
}

// unanswered notes that a process's acquires without an answer may end at pos, by a loss.
func (c *chaos) unanswered(pos, proc, loss int) {
	for k, d := range c.deeds {
		if d.what == toAcquire && d.proc == proc && d.optional && c.deeds[loss].lost&bit(k) == 0 {
			before := len(c.deeds)
			if c.end(pos, k); len(c.deeds) > before {
				c.deeds[before].early = loss + 1
			}
		}
	}
}

// rest adds acquire k, whose token is known now, to the loss of the entry with that
// token, if it may have been granted before that loss.
func (c *chaos) rest(k int) {
	for i := range c.deeds {
		d := &c.deeds[i]
		if d.of != k || d.early == 0 {
			continue
		}
		loss := &c.deeds[d.early-1]
		for n, a := range c.deeds {
			if loss.lost&bit(n) != 0 && a.token == c.deeds[k].token && a.token != 0 {
				loss.lost |= bit(k)
				d.what, d.over, d.end = toDoNothing, false, false
				return
			}
		}
	}
}

// end notes that a hold may end from pos on.
func (c *chaos) end(pos, k int) {
	for _, d := range c.deeds {
		if d.of == k && d.what == toRelease && (!d.optional || d.end && c.model.kind == anonymous) {
			return // it was over, or may have been
		}
	}
	c.deeds = append(c.deeds, deed{what: toRelease, call: pos, ret: 1 << 29, optional: true, client: c.deeds[k].client, of: k, over: true, end: true})
}

func (c *chaos) ask(p *chaotic) {
	if p.owner == 0 {
		p.owner = cmp.Or(c.retired[p.client], p.n)
		delete(c.retired, p.client)
	}
	e := history.Entry{Client: p.client, Process: history.Process{N: p.n}, Type: history.Invoke}
	var mine []possession
	for _, x := range c.got {
		if x.client == p.client {
			mine = append(mine, x)
		}
	}
	d := deed{call: len(c.h), ret: 1 << 29, optional: true, client: p.client, proc: p.owner, of: int(none)}
	if len(mine) > 0 && c.Intn(3) > 0 {
		x := mine[len(mine)-1-c.Intn(min(2, len(mine)))]
		if c.named {
			e.Grant, d.of = x.grant, x.acquire
		}
		switch c.Intn(9) {
		case 0:
			e.Type, e.F = history.Event, history.Lost
			pos := c.add(e)
			if !c.named {
				d.of = c.meant(pos, p)
			}
			c.lost(p, d.of, pos)
			return
		case 1:
			if c.named {
				e.Type, e.F = history.Event, history.Valid
				pos := c.add(e)
				if a := &c.deeds[x.acquire]; c.model.kind != anonymous {
					a.optional, a.ret = false, min(a.ret, pos)
				}
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
	pos := c.add(e)
	open := c.h[pos]
	p.open, p.deed = &open, len(c.deeds)
	if !c.named {
		d.of = c.meant(pos, p)
	}
	if d.what == toExtend { // without an answer it has no effect
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
		*d = deed{what: toBeRefused, call: d.call, ret: pos, proc: p.owner, shared: d.shared}
	case e.Type == history.Fail && !(e.F == history.Release && c.opts.Released):
		d.what = toDoNothing
	}
	if e.F == history.Extend && e.Type == history.OK {
		d.what, d.of = toExtend, p.of
	} else if e.F == history.Extend {
		if e.Error = "unavailable"; e.Type == history.Fail && c.Intn(2) == 0 {
			e.Error = []string{history.ErrLost, history.ErrNotHeld}[c.Intn(2)]
			c.lost(p, p.of, pos)
		}
	}
	if fails := e.F == history.Release && e.Type == history.Fail && c.opts.Released; fails && c.model.rule.reentrant && d.of != int(none) && c.holds(d.of) {
		proc := c.deeds[d.of].proc
		*d = deed{what: toLose, call: d.call, ret: d.ret, optional: true, of: int(none), lost: c.rests(pos, proc)}
		c.unanswered(d.call, proc, p.deed)
	} else if fails && d.of != int(none) && c.lostBefore(d.of) {
		for k := range c.deeds {
			if x := &c.deeds[k]; x.lost&bit(d.of) != 0 {
				x.call = min(x.call, d.call)
			}
		}
		d.what = toDoNothing
	} else if e.F == history.Release && (e.Type != history.Fail || c.opts.Released) {
		d.over, d.end = true, e.Type == history.Fail
		if d.end && d.of == int(none) && c.model.rule.reentrant {
			for k, x := range c.deeds {
				if x.what == toAcquire && x.client == d.client {
					d.lost |= bit(k)
				}
			}
		}
		for k := range c.deeds {
			switch x := &c.deeds[k]; {
			case c.model.kind != anonymous || !d.end || k == p.deed || x.of != d.of || x.what != toRelease:
			case x.end: // one of the two
				x.call, d.what = min(x.call, d.call), toDoNothing
			case !x.optional: // it was over
				d.what = toDoNothing
			}
		}
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
			c.rest(p.deed)
		}
	}
	if e.Type == history.Info && c.Intn(4) == 0 {
		e.Error = history.ErrCrashed
	}
	if n := c.h[c.add(e)].Grant; n != 0 && e.Type == history.OK && (e.F == history.Acquire || e.F == history.Try) {
		c.names[n] = p.deed
	}
	if e.Error == history.ErrCrashed {
		c.die(e.Client, 0, false)
	}
	if e.Type == history.Info {
		c.procs = slices.DeleteFunc(c.procs, func(x *chaotic) bool { return x == p })
		c.retired[p.client] = p.owner
		c.process(p.client)
	}
}

// The oracle agrees with the judges on chaos, unless they do not know: for a history
// without a grant, and for one in a thousand because it does not show which grant an
// operation is about.
func TestTheOracleAgrees(t *testing.T) {
	t.Parallel()
	histories := alltests.Budget(1000, 100)
	for _, name := range []string{"owner-mutex", "mutex", "fenced-mutex", "reentrant-mutex", "reentrant-mutex=2", "reentrant-fenced-mutex", "reentrant-fenced-mutex=2", "rw-mutex", "semaphore=2"} {
		for _, opts := range []Options{{}, {Released: true}, {StrictTry: true}} {
			for _, named := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s %+v named=%v", name, opts, named), func(t *testing.T) {
					t.Parallel()
					consult(t, parsed(t, name), opts, named, histories)
				})
			}
		}
	}
}

func consult(t *testing.T, m Model, opts Options, named bool, histories int) {
	var valid, violated, unknown, doubts int
	for seed := range histories {
		c := &chaos{Rand: rand.New(rand.NewSource(int64(seed))), model: m, opts: opts, named: named}
		if c.run(); len(c.deeds) > 40 {
			continue
		}
		if err := history.Check(&history.History{Entries: c.h}); err != nil {
			t.Fatal(err)
		}
		v := fed(m, opts, c.h).Verdict(t.Context())
		explained := (&oracle{deeds: c.deeds, rule: m.rule, any: m.kind == anonymous, limit: m.N, seen: map[past]bool{}}).explains(past{})
		switch {
		case v.Outcome == checker.Unknown && !strings.HasPrefix(v.Reason, "the judges disagree"):
			unknown++
			if strings.HasPrefix(v.Reason, "it is not certain") {
				doubts++
			}
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
	t.Logf("%d valid, %d violated, %d unknown, %d of them because a grant has no name", valid, violated, unknown, doubts)
	if doubts*1000 > histories {
		t.Errorf("of %d histories %d are unknown because a grant has no name", histories, doubts)
	}
	if valid*10 < histories || violated*100 < histories {
		t.Errorf("%d valid, %d violated of %d say little", valid, violated, histories)
	}
}
