package checker

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// nemesis processes a line of the nemesis.
func (t *timeline) nemesis(pos int32, e *history.Entry) {
	switch {
	case e.F == history.Ended, e.F == history.Budget:
		return
	case e.F == history.Exit:
		t.exit(pos, e.On)
		return
	case e.F == history.Stall:
		t.stalled(pos, e)
		return
	}
	if name, done := strings.CutSuffix(e.F, history.DoneSuffix); done && t.certain(name, pos, e) {
		return
	}
	if name, ends := strings.CutSuffix(e.F, history.EndSuffix); ends {
		t.endFault(name, pos, e)
		return
	}
	f := fault{kind: kindOf(e.F), id: e.ID, start: pos, end: t.size(), struck: pos, sure: pos, heals: t.size(), from: e.Time, to: t.end}
	if f.kind.ends() {
		t.die(&f)
	}
	id := int32(len(t.faults))
	f.before = t.faultOf.get(f.id)
	t.faultOf.put(f.id, id)
	if f.stopsServer() {
		if t.byServer == nil {
			t.byServer = map[string]int32{}
		}
		for _, name := range e.On {
			t.byServer[name] = id
		}
	}
	t.faults = append(t.faults, f)
}

// readAhead reads all lines, once.
func (t *timeline) readAhead() *ahead {
	if t.ahead != nil {
		return t.ahead
	}
	t.ahead = new(ahead)
	for i, e := range t.entries.each {
		if e.Process.Name == history.Nemesis {
			t.ahead.pauses.Add(i, e)
			t.ahead.kills.Add(i, e)
		}
	}
	return t.ahead
}

// posthumous reports whether a client may have been dead at pos already.
func (t *timeline) posthumous(client, pos int32) bool {
	return slices.ContainsFunc(t.deaths, func(d ending) bool {
		return d.client == client && d.from < pos && pos <= d.sure
	})
}

// stalled notes that the machine stood still up to now.
func (t *timeline) stalled(pos int32, e *history.Entry) {
	f := fault{kind: stall, ended: true, start: pos, end: pos, struck: pos, sure: pos, heals: pos, from: e.Time - e.Amount, to: e.Time}
	t.stalls = append(t.stalls, f)
}

// settleStalls sorts stalls into the list of faults, by their beginnings.
func (t *timeline) settleStalls() {
	if len(t.stalls) == 0 {
		return
	}
	t.faults = append(t.faults, t.stalls...)
	slices.SortFunc(t.faults, func(a, b fault) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.start, b.start)) })
}

// endFault ends the last fault of that name with the id of e.
func (t *timeline) endFault(name string, pos int32, e *history.Entry) {
	for i := t.faultOf.get(e.ID); i != none; i = t.faults[i].before {
		if f := &t.faults[i]; !f.ended && t.entry(f.start).F == name {
			f.ended, f.end, f.heals, f.to, f.hits = true, pos, pos, e.Time, e.Hits
			return
		}
	}
}

// certain processes a line by which an announced effect has happened; name is the
// line's. It reports whether there is an announcement.
//
// A fault lasts from the first line of its start to the last line of its end, since
// the lines do not show when in between the effect came.
func (t *timeline) certain(name string, pos int32, e *history.Entry) bool {
	name, ends := strings.CutSuffix(name, history.EndSuffix)
	for i := t.faultOf.get(e.ID); i != none; i = t.faults[i].before {
		switch f := &t.faults[i]; {
		case t.entry(f.start).F != name || ends && !f.ended:
			continue
		case ends:
			f.end, f.to, f.hits = pos, e.Time, e.Hits
		default:
			f.sure = min(pos, f.heals)
		}
		return true
	}
	return false
}

// promotion notes that a replica replaced another server as the master. A failover
// lasts until the promotion, even if the old master is back earlier.
func (t *timeline) promotion(pos int32, e *history.Entry) {
	t.promotions = append(t.promotions, pos)
	if i, ok := t.byServer[e.Text]; ok {
		t.faults[i].promote(pos, e)
	}
}

// die ends the holds and waits of the clients of f. A client that was paused when it
// died did nothing since the pause began.
func (t *timeline) die(f *fault) {
	later := t.readAhead()
	sure := int32(later.kills.Sure(int(f.start)))
	for _, name := range t.entry(f.start).On {
		c := t.names.find(name)
		switch {
		case c == none && sure == f.start:
			continue
		case c == none: // its first lines may be of the life that ends
			c = t.clientNamed(name)
		}
		pos := int32(later.pauses.Since(name, int(f.start)))
		if !t.clients[c].dead { // the pause may have begun in an earlier life
			pos = max(pos, t.clients[c].died)
		}
		t.endHolds(ending{client: c, line: f.start, from: pos, sure: sure})
		t.endWaits(c, f.start)
		t.endPlaces(c, pos)
		if who := &t.clients[c]; who.dead { // and may have died before
			who.died, who.gone = min(who.died, pos), max(who.gone, sure)
		} else {
			who.dead, who.died, who.gone = true, pos, sure
		}
		f.struck = min(f.struck, pos)
	}
}

// exit ends the holds and waits of clients that died without a fault. The time of
// death is unknown, so their holds are certain up to their last signs of life, and those
// of an earlier life up to its end.
func (t *timeline) exit(pos int32, clients []string) {
	for _, name := range clients {
		c := t.names.find(name)
		if c == none || t.clients[c].dead {
			continue
		}
		last := max(t.clients[c].last, t.clients[c].died)
		t.endHolds(ending{client: c, line: pos, from: last, sure: pos, itself: true})
		t.endWaits(c, last)
		t.endPlaces(c, last)
		t.clients[c].dead, t.clients[c].died, t.clients[c].gone = true, last, pos
	}
}
