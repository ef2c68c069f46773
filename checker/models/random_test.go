package models

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/history"
)

// world makes random histories of a model: clients that ask, and an object that
// serves them by its rules, at moments that no client sees. Some answers never come.
// In a world that lies, some answers are false.
type world struct {
	*rapid.T
	model Model
	opts  Options
	names bool // of locks: two names
	lies  bool
	named bool // grants are named
	again bool // values may be written twice
	infos int  // how many of a hundred answers never come

	h       []history.Entry
	now     int // seconds
	clients []*player
	process int
	grant   int
	written int64
	objects map[string]*truth
	zombies []*player // operations without an answer that may still happen
}

// truth is the state of an object.
type truth struct {
	held    []*granted
	queue   []*player
	tokens  uint64
	highest uint64
	value   int64
}

type granted struct {
	of    *player // the operation that got the lock
	owner int
	n     int
	token uint64
	lock  string
	until int
	read  bool
	over  bool // its release may have happened
}

// player is a client's process, and its open operation.
type player struct {
	name    string
	process int
	open    *history.Entry
	done    bool // it has taken effect
	refused bool // it conflicted with a holder at some moment
	result  *granted
	read    int64
	mine    []*granted
	dead    bool
}

func anyHistory(t *rapid.T, m Model, o Options) []history.Entry {
	w := &world{T: t, model: m, opts: o, objects: map[string]*truth{}}
	w.names = w.chance(15, "two locks")
	w.lies = w.chance(65, "lies")
	w.named = w.chance(50, "grants are named")
	w.again = w.chance(20, "values are written twice")
	w.infos = rapid.SampledFrom([]int{0, 0, 5, 15, 30}).Draw(t, "answers that never come")
	for i := range rapid.IntRange(2, 6).Draw(t, "clients") {
		w.process++
		w.clients = append(w.clients, &player{name: fmt.Sprintf("c%d", i+1), process: w.process})
	}
	operations := rapid.IntRange(1, 40).Draw(t, "operations")
	for range operations * 4 {
		w.now += rapid.IntRange(0, 2).Draw(t, "seconds")
		w.haunt()
		c := w.clients[rapid.IntRange(0, len(w.clients)-1).Draw(t, "client")]
		switch {
		case c.dead:
		case len(c.mine) > 0 && w.chance(4, "renews in the background"):
			w.renew(c)
		case c.open == nil && operations > 0:
			operations--
			w.invoke(c)
		case c.open == nil:
		case !c.done && w.chance(60, "has its turn"):
			w.effect(c)
		case c.done || w.chance(30, "gives up"):
			w.complete(c)
		}
	}
	return w.h
}

func (w *world) chance(percent int, what string) bool {
	return percents.Draw(w.T, what) >= 100-percent
}

// percents are all equally likely; an IntRange would prefer small ones.
var percents = rapid.SampledFrom(func() (list []int) {
	for i := range 100 {
		list = append(list, i)
	}
	return list
}())

func (w *world) add(e history.Entry) history.Entry {
	e.Index, e.Time = len(w.h)+1, time.Duration(w.now)*time.Second
	w.h = append(w.h, e)
	return e
}

func (w *world) object(name string) *truth {
	if w.objects[name] == nil {
		w.objects[name] = &truth{}
	}
	return w.objects[name]
}

// haunt makes an operation without an answer take effect.
func (w *world) haunt() {
	if len(w.zombies) > 0 && w.chance(10, "a late effect") {
		i := rapid.IntRange(0, len(w.zombies)-1).Draw(w.T, "which")
		if z := w.zombies[i]; !z.done {
			w.effect(z)
		}
		w.zombies = slices.Delete(w.zombies, i, i+1)
	}
}

func (w *world) invoke(c *player) {
	e := history.Entry{Client: c.name, Process: history.Process{N: c.process}, Type: history.Invoke}
	if w.names {
		e.Lock = rapid.SampledFrom([]string{"a", "b"}).Draw(w.T, "lock")
	}
	var g *granted
	if w.model.kind == register {
		w.access(&e)
	} else {
		g = w.lockOperation(c, &e)
	}
	if e.F == "" {
		return
	}
	e = w.add(e)
	c.open, c.done, c.refused, c.result = &e, false, false, g
}

func (w *world) access(e *history.Entry) {
	o := w.object(e.Lock)
	e.F = rapid.SampledFrom([]string{history.Read, history.Read, history.Write, history.CAS}).Draw(w.T, "f")
	if e.F == history.CAS && !w.model.rule.cas {
		e.F = history.Write
	}
	if e.F != history.Read {
		w.written++
		e.Value = history.Some(w.written)
		if w.again && w.chance(60, "again") {
			e.Value = history.Some(int64(rapid.IntRange(1, 3).Draw(w.T, "value")))
		}
	}
	if e.F == history.CAS {
		e.Was = history.Some(o.value)
		if w.chance(10, "misses") {
			e.Was = history.Some(int64(rapid.IntRange(0, int(w.written)).Draw(w.T, "from")))
		}
	}
	if w.model.rule.fenced {
		e.Token = uint64(e.Process.N)*3 + uint64(rapid.IntRange(0, 2).Draw(w.T, "token")) + uint64(len(w.h)/8)
		if w.chance(2, "no token") {
			e.Token = 0
		}
	}
}

func (w *world) lockOperation(c *player, e *history.Entry) *granted {
	if len(c.mine) > 0 && !w.chance(12, "acquires again") || w.model.kind == anonymous && w.chance(50, "releases") {
		what := rapid.SampledFrom([]string{history.Release, history.Release, history.Release, history.Release, history.Extend, history.Lost}).Draw(w.T, "f")
		if len(c.mine) == 0 {
			e.F = history.Release
			return nil
		}
		g := c.mine[len(c.mine)-1]
		e.F, e.Lock = what, g.lock
		if w.named {
			e.Grant = g.n
		}
		if what == history.Lost {
			if w.chance(60, "is not lost") {
				e.F = ""
				return nil
			}
			e.Type = history.Event
			g.over = true
			w.zombies = append(w.zombies, &player{name: c.name, open: &history.Entry{F: history.Release, Lock: g.lock}, result: g})
			w.add(*e)
			e.F = ""
		}
		if what != history.Extend {
			c.mine = slices.DeleteFunc(c.mine, func(x *granted) bool {
				return x == g || what == history.Lost && x.lock == g.lock
			})
		}
		return g
	}
	if w.lies && w.chance(4, "releases what it does not hold") {
		e.F = rapid.SampledFrom([]string{history.Release, history.Extend}).Draw(w.T, "f")
		return nil
	}
	e.F = rapid.SampledFrom([]string{history.Acquire, history.Acquire, history.Try}).Draw(w.T, "f")
	e.Shared = w.model.rule.shared && w.chance(60, "shared")
	return nil
}

// renew reports that a grant is valid until another time: a later one, or an earlier
// one if the client's clock runs at another rate from now on.
func (w *world) renew(c *player) {
	g := rapid.SampledFrom(c.mine).Draw(w.T, "which grant")
	until := w.now + rapid.SampledFrom([]int{6, 6, 2, 0}).Draw(w.T, "valid for")
	if slices.Contains(w.object(g.lock).held, g) && (!w.model.rule.leases || g.until > w.now) {
		g.until = until
	} else if !w.lies {
		return
	}
	e := history.Entry{
		Client: c.name, Process: history.Process{N: c.process}, Type: history.Event, F: history.Valid,
		Lock: g.lock, ValidUntil: time.Duration(until) * time.Second,
	}
	if w.named {
		e.Grant = g.n
	}
	w.add(e)
}

// admits reports whether the object may be granted.
func (w *world) admits(o *truth, c *player) bool {
	r := w.model.rule
	if r.leases {
		o.held = slices.DeleteFunc(o.held, func(g *granted) bool { return g.until <= w.now })
	}
	for _, g := range o.held {
		switch {
		case r.permits:
		case r.reentrant && g.owner == c.process:
		case r.shared && g.read && c.open.Shared:
		default:
			return false
		}
	}
	return w.model.N == 0 || len(o.held) < w.model.N
}

// effect lets an open operation take effect if the object allows it.
func (w *world) effect(c *player) {
	e := c.open
	o := w.object(e.Lock)
	switch e.F {
	case history.Acquire, history.Try:
		if w.model.rule.fifo && e.F == history.Acquire && !slices.Contains(o.queue, c) && !c.dead {
			o.queue = append(o.queue, c)
			if w.chance(70, "knows its place") {
				w.add(history.Entry{Client: c.name, Process: history.Process{N: c.process}, Type: history.Event, F: history.Queued, Lock: e.Lock})
			}
			return
		}
		if !w.admits(o, c) || w.model.rule.fifo && len(o.queue) > 0 && o.queue[0] != c {
			c.refused = true
			return
		}
		if len(o.queue) > 0 {
			o.queue = o.queue[1:]
		}
		g := &granted{of: c, owner: c.process, lock: e.Lock, read: e.Shared, until: w.now + 6}
		if len(o.held) > 0 && w.model.rule.reentrant {
			g.token = o.held[0].token
		} else {
			o.tokens++
			g.token = o.tokens
		}
		o.held = append(o.held, g)
		c.result, c.done = g, true
	case history.Release:
		if w.model.kind == anonymous {
			if len(o.held) > 0 {
				o.held, c.done = nil, true
			}
			return
		}
		n := len(o.held)
		o.held = slices.DeleteFunc(o.held, func(g *granted) bool { return g == c.result })
		c.done = len(o.held) < n || c.result != nil && w.model.rule.leases
	case history.Extend:
		if i := slices.Index(o.held, c.result); i >= 0 {
			o.held[i].until = w.now + 6
			c.done = true
		}
	case history.Read, history.Write, history.CAS:
		if e.Token < o.highest && e.Token != 0 && w.model.rule.fenced {
			c.refused = true
			return
		}
		if e.F == history.CAS && e.Was.V != o.value {
			return
		}
		o.highest = max(o.highest, e.Token)
		if c.read = o.value; e.F != history.Read {
			o.value = e.Value.V
		}
		c.done = true
	}
}

func (w *world) complete(c *player) {
	e := *c.open
	o := w.object(e.Lock)
	e.Type = history.OK
	acquires := e.F == history.Acquire || e.F == history.Try
	lie := w.lies && w.chance(25, "lies now")
	switch {
	case w.chance(w.infos, "no answer"):
		e.Type = history.Info
	case !c.done && !lie:
		e.Type = history.Fail
		if e.F == history.Try && !c.refused {
			return // it is not refused yet
		}
		if e.F == history.Extend {
			e.Error = "unavailable"
		}
		if c.refused && w.model.kind == register {
			e.Error = history.ErrStaleToken
		}
	case w.chance(3, "fails although it happened"):
		if w.lies {
			e.Type = history.Fail
		}
	}
	if acquires && e.Type != history.OK {
		o.queue = slices.DeleteFunc(o.queue, func(p *player) bool { return p == c })
	}
	if e.F == history.Read && e.Type == history.OK {
		e.Value = history.Some(c.read)
		if lie {
			e.Value = history.Some(int64(rapid.IntRange(0, int(w.written)+1).Draw(w.T, "read")))
		}
		if w.chance(3, "does not say") {
			e.Value = history.Opt{}
		}
	}
	if e.F == history.Extend && e.Type == history.OK && c.done {
		e.ValidUntil = time.Duration(c.result.until) * time.Second
	}
	if acquires && e.Type != history.Fail {
		w.granted(c, &e, o, lie)
	} else if e.F == history.Release && e.Type == history.Fail && c.result != nil && !w.opts.Released {
		c.mine = append(c.mine, c.result) // it still has it
	}
	w.add(e)
	if e.Type == history.Info {
		w.process++
		z := *c
		if !z.done {
			w.zombies = append(w.zombies, &z)
		}
		c.process = w.process
		if c.result != nil && c.result.of == c {
			c.result.of = &z
		}
		if w.chance(30, "another client") {
			c.name, c.mine = fmt.Sprintf("c%d", w.process), nil
		}
	}
	c.open, c.result = nil, nil
	if w.chance(1, "dies") {
		w.add(history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: "kill", On: []string{c.name}})
		for _, g := range c.mine {
			w.zombies = append(w.zombies, &player{open: &history.Entry{F: history.Release, Lock: g.lock}, result: g})
		}
		c.dead, c.mine = true, nil
	}
}

// granted fills in the ok of an acquire.
func (w *world) granted(c *player, e *history.Entry, o *truth, lie bool) {
	g := c.result
	if g == nil {
		g = &granted{of: c, owner: c.process, lock: e.Lock, token: o.tokens + 1, until: w.now + 6}
	}
	w.grant++
	if g.n = w.grant; w.named {
		e.Grant = g.n
	}
	if e.Type == history.OK {
		if e.Token = g.token; lie && w.chance(50, "another token") {
			e.Token = uint64(rapid.IntRange(1, int(o.tokens)+2).Draw(w.T, "token"))
		}
		if w.chance(10, "no token") {
			e.Token = 0
		}
		if e.ValidUntil = time.Duration(g.until) * time.Second; w.chance(10, "no deadline") {
			e.ValidUntil = 0
		}
		c.mine = append(c.mine, g)
	} else if w.named && w.chance(40, "goes on with it") {
		c.mine = append(c.mine, g) // it may turn out to have it
	}
}
