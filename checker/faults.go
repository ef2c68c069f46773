package checker

import (
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// target is what a kind of fault acts on.
type target uint8

const (
	onClient target = iota
	onServer
	onLink
)

// kinds are the faults that the checker knows by name. The last one stands for
// all others.
var kinds = [...]struct {
	name        string
	on          target
	stopsClient bool // while it lasts the client's caller gets no further
	ends        bool // the client never executes anything again
	excuses     bool // while it lasts a hand-over may take as long as it wants
}{
	{name: "pause", on: onClient, stopsClient: true, excuses: true},
	{name: "kill", on: onClient, ends: true},
	{name: "poweroff", on: onClient, ends: true},
	{name: "hang", on: onClient, stopsClient: true, excuses: true},
	{name: "skew", on: onClient},
	{name: "jump", on: onClient},
	{name: "rate", on: onClient},
	{name: "session-expiry", on: onClient},
	{name: "server-pause", on: onServer, excuses: true},
	{name: "restart", on: onServer, excuses: true},
	{name: "restart-lost", on: onServer, excuses: true},
	{name: "failover", on: onServer, excuses: true},
	{name: "server-skew", on: onServer},
	{name: "server-jump", on: onServer},
	{name: "server-rate", on: onServer},
	{name: "evict", on: onServer},
	{name: "partition", on: onLink, excuses: true},
	{name: "partition-oneway", on: onLink, excuses: true},
	{name: "partition-servers", on: onServer, excuses: true},
	{name: "delay", on: onLink, excuses: true},
	{name: "drop-reply", on: onLink},
	{name: "kill-connection", on: onLink},
	{name: history.Stall, on: onServer, excuses: true},
	{name: "other", on: onServer},
}

// kind indexes kinds.
type kind uint8

const (
	pause       kind = 0
	kill        kind = 1
	poweroff    kind = 2
	hang        kind = 3
	skew        kind = 4
	jump        kind = 5
	rate        kind = 6
	serverPause kind = 8
	restart     kind = 9
	restartLost kind = 10
	failover    kind = 11
	serverSkew  kind = 12
	serverJump  kind = 13
	serverRate  kind = 14
	dropReply   kind = 20
	stall       kind = 22 // of the machine: no fault that anybody injected
	otherKind   kind = kind(len(kinds)) - 1
)

func kindOf(name string) kind {
	for k := range otherKind {
		if kinds[k].name == name {
			return k
		}
	}
	return otherKind
}

// fault is one use of a fault.
type fault struct {
	kind       kind
	ended      bool
	promoted   bool // a replica has taken the place of the server that it acts on
	id         int
	start, end int32 // positions; without an end line, the size of the history
	struck     int32 // position from which on it had its effect: earlier than start for who died in a pause
	from, to   time.Duration
	hits       history.Opt
}

// nemesis takes in a line of the nemesis.
func (t *timeline) nemesis(pos int32, e *history.Entry) {
	switch {
	case e.F == history.Ended:
		return
	case e.F == history.Exit:
		t.exit(pos, e.On)
		return
	case e.F == history.Stall:
		t.stalled(pos, e)
		return
	}
	if name, ends := strings.CutSuffix(e.F, history.EndSuffix); ends {
		t.endFault(name, pos, e)
		return
	}
	f := fault{kind: kindOf(e.F), id: e.ID, start: pos, end: t.size(), struck: pos, from: e.Time, to: t.end}
	if kinds[f.kind].ends {
		t.die(&f)
	}
	t.faults = append(t.faults, f)
}

// stalled takes in that the machine stood still up to now. Its place among the
// faults is that of its beginning.
func (t *timeline) stalled(pos int32, e *history.Entry) {
	f := fault{kind: stall, ended: true, start: pos, end: pos, struck: pos, from: e.Time - e.Amount, to: e.Time}
	i := len(t.faults)
	for i > 0 && t.faults[i-1].from > f.from {
		i--
	}
	t.faults = slices.Insert(t.faults, i, f)
}

// endFault ends the last fault of that name with the id of e.
func (t *timeline) endFault(name string, pos int32, e *history.Entry) {
	for i := len(t.faults) - 1; i >= 0; i-- {
		if f := &t.faults[i]; f.id == e.ID && !f.ended && t.entries[f.start].F == name {
			f.ended, f.end, f.to, f.hits = true, pos, e.Time, e.Hits
			return
		}
	}
}

// promotion takes in that a replica has become the master in place of another.
// A failover lasts until that has come, even if the old master is back before.
func (t *timeline) promotion(pos int32, e *history.Entry) {
	t.promotions = append(t.promotions, pos)
	for i := len(t.faults) - 1; i >= 0; i-- {
		f := &t.faults[i]
		k := &kinds[f.kind]
		if f.kind == stall || k.on != onServer || !k.excuses || !slices.Contains(t.entries[f.start].On, e.Text) {
			continue
		}
		if f.kind == failover && f.ended && !f.promoted {
			f.end, f.to = pos, e.Time
		}
		f.promoted = true
		return
	}
}

// die ends what the clients of f held and waited for. A client that was paused
// when it died did nothing since the pause began.
func (t *timeline) die(f *fault) {
	for _, name := range t.entries[f.start].On {
		c := t.names.find(name)
		if c == none {
			continue
		}
		pos := f.start
		for i := range t.faults {
			if p := &t.faults[i]; p.kind == pause && !p.ended && t.on(p, c) {
				pos = min(pos, p.start)
			}
		}
		t.endHolds(c, pos)
		t.endWaits(c, f.start)
		t.endPlaces(c, pos)
		t.clients[c].dead, t.clients[c].died = true, pos
		f.struck = min(f.struck, pos)
	}
}

// exit ends what clients held and waited for that died without a fault. Nobody
// knows when exactly, so what they held is certain up to their last signs of life.
func (t *timeline) exit(pos int32, clients []string) {
	for _, name := range clients {
		c := t.names.find(name)
		if c == none || t.clients[c].dead {
			continue
		}
		t.endHolds(c, t.clients[c].last)
		t.endWaits(c, pos)
		t.endPlaces(c, t.clients[c].last)
		t.clients[c].dead, t.clients[c].died = true, t.clients[c].last
	}
}

// on tells whether f acts on a client.
func (t *timeline) on(f *fault, client int32) bool {
	for _, name := range t.entries[f.start].On {
		if name == t.names.list[client] {
			return true
		}
	}
	return false
}
