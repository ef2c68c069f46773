package checker

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/rapidtest"
)

// TestTheVerdictsAreWhatTheDefinitionsSay compares the judge with simple, slow
// definitions: they check every pair of holds, and share no code with the judge.
func TestTheVerdictsAreWhatTheDefinitionsSay(t *testing.T) {
	t.Parallel()
	type tally struct{ valid, violated int }
	tallies := map[Property]*tally{Exclusion: {}, LeaseExclusion: {}, Ownership: {}, Fencing: {}, Answers: {}}
	histories := 0
	rapidtest.CheckN(t, 2500, func(rt *rapid.T) {
		h := anyHistory(rt)
		histories++
		d := define(h)
		for _, v := range Judge(h) {
			var broken bool
			switch v.Property {
			case Exclusion:
				broken = d.anyPair(d.overlap)
			case LeaseExclusion:
				broken = d.anyPair(d.bothBelieve)
			case Ownership:
				broken = d.trespass()
			case Answers:
				broken = d.lie(&h.Header)
			case Fencing:
				broken = d.anyPair(d.staleToken)
			default:
				continue
			}
			if broken == (v.Outcome == Violated) {
				switch v.Outcome {
				case Violated:
					tallies[v.Property].violated++
				case Valid:
					tallies[v.Property].valid++
				}
				continue
			}
			if v.Outcome == Valid || v.Outcome == Violated {
				var b strings.Builder
				_ = history.Encode(&b, h)
				rt.Fatalf("%s: the judge says %s (%v), the definition that it is violated: %v\n%s", v.Property, v.Outcome, v.Witness, broken, &b)
			}
		}
	})
	for p, n := range tallies {
		t.Logf("%s: %+v in %d histories", p, *n, histories)
		if n.valid*100 < histories || n.violated*100 < histories {
			t.Errorf("%s: %d valid and %d violated of %d histories say little", p, n.valid, n.violated, histories)
		}
	}
}

// defined is a history with its holds, as hold's comment defines them.
type defined struct {
	entries []history.Entry
	holds   []*definedHold
	kills   []definedKill
}

// definedKill is a kill at the line at, of a client that had done nothing since from.
type definedKill struct {
	client   string
	from, at int
}

type definedHold struct {
	client, lock       string
	grant              int
	invoke, begin, end int // positions
	stands             int // position of the invoke of the acquire whose entries it stands on
	released           int // position, or after everything
	ok                 bool
	token              uint64
	nest               *definedHold
	deadlines          []definedDeadline
}

type definedDeadline struct {
	pos   int
	until time.Duration
}

// define walks through the lines as a reader would. Each process of a client replaces
// the one before it.
func define(h *history.History) *defined {
	w := walk{
		defined: &defined{entries: h.Entries},
		invoked: map[int]int{}, unsure: map[int]*definedHold{}, alive: map[string]int{}, dead: map[string]int{},
	}
	for i := range h.Entries {
		switch e := &h.Entries[i]; {
		case e.Process.Name == history.Nemesis:
			w.fault(e, i)
		case e.Process.Client():
			w.client(e, i)
		}
	}
	return w.defined
}

// walk is the state of a reader.
type walk struct {
	*defined
	invoked map[int]int          // by process: its last invoke
	unsure  map[int]*definedHold // by grant: the possible hold of an acquire without an answer
	alive   map[string]int       // by client: its last sign of life
	dead    map[string]int       // by client: when it died
	pauses  []int                // pauses without an end
}

func (w *walk) fault(e *history.Entry, pos int) {
	client := e.On[0]
	switch e.F {
	case "pause":
		w.pauses = append(w.pauses, pos)
	case "pause-end":
		if n := len(w.pauses); n > 0 { // all have the same id
			w.pauses = w.pauses[:n-1]
		}
	case "kill":
		at := pos
		for _, p := range w.pauses {
			if w.entries[p].On[0] == client {
				pos = min(pos, p)
			}
		}
		w.kills = append(w.kills, definedKill{client, pos, at})
		w.die(client, pos)
	case "kill-done":
		for i := range w.kills {
			if k := &w.kills[i]; k.client == client && w.entries[k.at].F == "kill" {
				k.at = pos
			}
		}
	case history.Exit:
		w.exit(client)
	}
}

// exit notes that a client died. Unless a fault had killed it, the time of its death
// is unknown. -1 is before all lines.
func (w *walk) exit(client string) {
	if _, already := w.dead[client]; already {
		return
	}
	last, known := w.alive[client]
	if !known {
		last = -1
	}
	w.die(client, last)
}

func (w *walk) die(client string, pos int) {
	for _, x := range w.holds {
		if x.client == client {
			x.end = min(x.end, pos)
		}
	}
	for g, x := range w.unsure {
		if x.client == client {
			delete(w.unsure, g)
		}
	}
	w.dead[client] = pos
}

func (w *walk) client(e *history.Entry, pos int) {
	switch e.F + " " + e.Type.String() {
	case "acquire invoke":
		w.invoked[e.Process.N] = pos
	case "acquire ok":
		x := w.asked(e)
		if e.ValidUntil != 0 {
			x.deadlines = []definedDeadline{{pos, e.ValidUntil}}
		}
		w.begin(x, pos)
	case "acquire info":
		w.unsure[e.Grant] = w.asked(e)
	case "extend ok", "valid event":
		w.renew(e, pos)
	case "extend fail":
		if e.Error == history.ErrLost || e.Error == history.ErrNotHeld {
			w.lose(e, pos)
		}
	case "lost event":
		w.lose(e, pos)
	case "release invoke":
		delete(w.unsure, e.Grant)
		if x := w.find(e.Grant); x != nil {
			x.end, x.released = min(x.end, pos), min(x.released, pos)
		}
	}
	if e.Error == history.ErrCrashed {
		w.exit(e.Client)
	}
	if e.Type != history.Invoke && e.Type != history.Info {
		w.alive[e.Client] = pos
	}
}

// asked returns the hold that the completion of an acquire is about.
func (w *walk) asked(e *history.Entry) *definedHold {
	x := &definedHold{client: e.Client, lock: e.Lock, grant: e.Grant, invoke: w.invoked[e.Process.N]}
	x.stands = x.invoke
	if e.Type == history.OK {
		x.ok, x.token = true, e.Token
		if e.Op.Set {
			x.stands = w.at(e.Op)
		}
	}
	return x
}

func (w *walk) begin(x *definedHold, pos int) {
	never := len(w.entries)
	x.begin, x.end, x.released, x.nest = pos, never, never, x
	for _, outer := range w.holds {
		if outer.client == x.client && outer.lock == x.lock && outer.end == never {
			x.nest = outer.nest
		}
	}
	if died, is := w.dead[x.client]; is {
		x.end = died
	}
	w.holds = append(w.holds, x)
}

func (w *walk) renew(e *history.Entry, pos int) {
	if x := w.unsure[e.Grant]; x != nil {
		delete(w.unsure, e.Grant)
		w.begin(x, pos)
	}
	if x := w.find(e.Grant); x != nil && x.end == len(w.entries) && e.ValidUntil != 0 {
		x.deadlines = append(x.deadlines, definedDeadline{pos, e.ValidUntil})
	}
}

func (w *walk) lose(e *history.Entry, pos int) {
	delete(w.unsure, e.Grant)
	if x := w.find(e.Grant); x != nil && x.end == len(w.entries) {
		for _, other := range w.holds {
			if other.client == x.client && other.lock == x.lock {
				other.end = min(other.end, pos)
			}
		}
	}
}

func (d *defined) find(grant int) *definedHold {
	for _, x := range d.holds {
		if x.grant == grant {
			return x
		}
	}
	return nil
}

func (d *defined) anyPair(f func(a, b *definedHold) bool) bool {
	for _, a := range d.holds {
		for _, b := range d.holds {
			if a != b && a.lock == b.lock && f(a, b) {
				return true
			}
		}
	}
	return false
}

// exclude reports whether two holds exclude each other: not those of one client, and
// not those of two readers.
func (d *defined) exclude(a, b *definedHold) bool {
	return a.client != b.client && !(d.entries[a.invoke].Shared && d.entries[b.invoke].Shared)
}

// overlap reports whether b began while a was open.
func (d *defined) overlap(a, b *definedHold) bool {
	return d.exclude(a, b) && a.begin < b.begin && b.begin < a.end && b.begin <= b.end
}

// bothBelieve reports whether at some line the deadlines of both were ahead.
func (d *defined) bothBelieve(a, b *definedHold) bool {
	for pos := range d.entries {
		if d.exclude(a, b) && d.believes(a, pos) && d.believes(b, pos) {
			return true
		}
	}
	return false
}

// believes reports whether the deadline of x was ahead at pos. The last line of a
// dead client may be the one that gives the deadline.
func (d *defined) believes(x *definedHold, pos int) bool {
	var last definedDeadline
	for _, known := range x.deadlines {
		if known.pos <= pos {
			last = known
		}
	}
	return x.begin <= pos && (pos < x.end || pos == x.end && pos == last.pos) && last.until > d.entries[pos].Time
}

// staleToken reports whether b asked after a had its token and got no larger one, or
// both got the same token without one resting on the other.
func (d *defined) staleToken(a, b *definedHold) bool {
	if a.token == 0 || b.token == 0 || (a.token == b.token && a.nest == b.nest) {
		return false
	}
	return a.token == b.token || (a.begin < b.invoke && a.token > b.token)
}

// trespass reports whether a command acted on a protected entry of another grant.
func (d *defined) trespass() bool {
	for pos := range d.entries {
		act := &d.entries[pos]
		if act.F != history.Remove && act.F != history.Takeover && act.F != history.Shorten {
			continue
		}
		by, made := d.at(act.By), d.at(act.Op)
		for _, x := range d.holds {
			hit := d.made(x, made) || x.stands != x.invoke && x.begin < pos && d.asked(made) == x.stands
			if x.ok && hit && by != x.invoke && !d.own(x, by) && d.protected(x, pos) && !d.grantedAnew(x, pos) {
				return true
			}
		}
	}
	return false
}

// grantedAnew reports whether the server granted the acquire again between pos and
// its ok.
func (d *defined) grantedAnew(x *definedHold, pos int) bool {
	for later := pos + 1; later < x.begin; later++ {
		e := &d.entries[later]
		anew := e.F == history.Granted && d.at(e.Op) == x.invoke ||
			(e.F == history.Takeover || e.F == history.Prolong) && d.at(e.By) == x.invoke
		if anew && e.Process == d.entries[pos].Process && e.Key == d.entries[pos].Key {
			return true
		}
	}
	return false
}

// made reports whether the line at pos is about an entry of the grant: one that its
// acquire made, or an extend of it.
func (d *defined) made(x *definedHold, pos int) bool {
	e := &d.entries[pos]
	return x.invoke == pos || e.F == history.Extend && e.Grant == x.grant
}

// own reports whether an operation is for a grant on the same entries, for one nested
// in it, or by the client whose entry the grant uses.
func (d *defined) own(x *definedHold, by int) bool {
	e := &d.entries[by]
	for _, y := range d.holds {
		if y.stands == x.stands && (y.invoke == by || e.F != history.Acquire && e.Grant == y.grant) {
			return true
		}
	}
	return (e.Client == x.client && x.begin <= by && by < x.end) || x.stands != x.invoke && e.Client == x.client
}

func (d *defined) protected(x *definedHold, pos int) bool {
	var until time.Duration
	for i, known := range x.deadlines {
		if i == 0 || known.pos <= pos {
			until = known.until
		}
	}
	return pos < x.released && (until == 0 || d.entries[pos].Time < until)
}
