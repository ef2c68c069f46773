package checker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// kinds are the faults that the checker knows by name. The last one stands for all
// others.
var kinds = append(faults.All(), faults.InHistory(history.Stall), faults.InHistory("other"))

// kind indexes kinds.
type kind uint8

const (
	stall     kind = kind(faults.Count) + iota // of the machine: no fault that anybody injected
	otherKind                                  // on servers, for all that is known of it
)

func kindOf(name string) kind {
	for k := range otherKind {
		if kinds[k].Name == name {
			return k
		}
	}
	return otherKind
}

// ends reports whether its client never executes anything again.
func (k kind) ends() bool { return kinds[k].Ends }

func (k kind) onServers() bool {
	return kinds[k].On == faults.OnServer || kinds[k].On == faults.OnServers
}

// excuses reports whether a hand-over may take as long as it wants while k lasts.
func (k kind) excuses() bool { return kinds[k].Stops && !kinds[k].Once }

// stopsClient reports whether the client's caller gets no further while k lasts.
func (k kind) stopsClient() bool { return kinds[k].On == faults.OnClient && k.excuses() }

// idles reports whether a client that holds when k strikes may never give the lock back.
func (k kind) idles() bool {
	return k.stopsClient() || kinds[k].On == faults.OnClient && (kinds[k].Clock || kinds[k].Rate)
}

// fault is one use of a fault.
type fault struct {
	kind       kind
	ended      bool
	promoted   bool // a replica has taken the place of the server that it acts on
	id         int
	start, end int32 // positions: where it began to start and had certainly ended; without an end line, the size of the history
	struck     int32 // position from which on it had its effect: earlier than start for who died in a pause
	sure       int32 // position at which it certainly had its effect: start, if no line says more
	heals      int32 // position from which on it may be over: end, if no line says more
	from, to   time.Duration
	hits       history.Opt
	met        hit // what it found, once that is known
}

// nemesis takes in a line of the nemesis.
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
	t.faults = append(t.faults, f)
	t.file(int32(len(t.faults)) - 1)
}

// fewFaults is how many are searched one by one.
const fewFaults = 32

// file puts a fault under its id, once there are many.
func (t *timeline) file(id int32) {
	if len(t.faults) <= fewFaults {
		return
	}
	if t.byID == nil {
		t.byID, t.byServer = map[int][]int32{}, map[string]int32{}
		for i := range id {
			t.file(i)
		}
	}
	f := &t.faults[id]
	t.byID[f.id] = append(t.byID[f.id], id)
	if f.stopsServer() {
		for _, name := range t.entry(f.start).On {
			t.byServer[name] = id
		}
	}
}

// stopsServer reports whether a replica may be promoted because of f.
func (f *fault) stopsServer() bool {
	return f.kind.onServers() && f.kind.excuses()
}

// numbered calls yield for each fault so far with that id, the last one first, until yield
// returns false.
func (t *timeline) numbered(id int, yield func(f *fault) bool) {
	if t.byID != nil {
		for _, i := range slices.Backward(t.byID[id]) {
			if !yield(&t.faults[i]) {
				return
			}
		}
		return
	}
	for i := range slices.Backward(t.faults) {
		if f := &t.faults[i]; f.id == id && !yield(f) {
			return
		}
	}
}

// pausedSince is where the first pause of a client began that lasts at pos, or pos. A
// pause may turn out only later to have lasted, so all lines are read once somebody is
// killed.
func (t *timeline) pausedSince(name string, pos int32) int32 {
	if t.pauses == nil {
		t.pauses = new(history.Pauses)
		for i, e := range t.entries.each {
			if e.Process.Name == history.Nemesis {
				t.pauses.Add(i, e)
			}
		}
	}
	return int32(t.pauses.Since(name, int(pos)))
}

// stalled takes in that the machine stood still up to now.
func (t *timeline) stalled(pos int32, e *history.Entry) {
	f := fault{kind: stall, ended: true, start: pos, end: pos, struck: pos, sure: pos, heals: pos, from: e.Time - e.Amount, to: e.Time}
	t.stalls = append(t.stalls, f)
}

// settleStalls gives stalls their places among the faults: those of their beginnings.
func (t *timeline) settleStalls() {
	if len(t.stalls) == 0 {
		return
	}
	t.faults = append(t.faults, t.stalls...)
	slices.SortFunc(t.faults, func(a, b fault) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.start, b.start)) })
}

// endFault ends the last fault of that name with the id of e.
func (t *timeline) endFault(name string, pos int32, e *history.Entry) {
	t.numbered(e.ID, func(f *fault) bool {
		if f.ended || t.entry(f.start).F != name {
			return true
		}
		f.ended, f.end, f.heals, f.to, f.hits = true, pos, pos, e.Time, e.Hits
		return false
	})
}

// certain takes in that what a line announced has happened: name is the line's.
// It reports whether there is such a line.
//
// A disturbed time runs from the first line of the start to the last one of the
// end, since nobody knows when in between the effect came.
func (t *timeline) certain(name string, pos int32, e *history.Entry) bool {
	name, ends := strings.CutSuffix(name, history.EndSuffix)
	found := false
	t.numbered(e.ID, func(f *fault) bool {
		switch {
		case t.entry(f.start).F != name || ends && !f.ended:
			return true
		case ends:
			f.end, f.to, f.hits = pos, e.Time, e.Hits
		default:
			f.sure = min(pos, f.heals)
		}
		found = true
		return false
	})
	return found
}

// promotion takes in that a replica has become the master in place of another.
// A failover lasts until that has come, even if the old master is back before.
func (t *timeline) promotion(pos int32, e *history.Entry) {
	t.promotions = append(t.promotions, pos)
	if t.byServer != nil {
		if i, ok := t.byServer[e.Text]; ok {
			t.faults[i].promote(pos, e)
		}
		return
	}
	for i := range slices.Backward(t.faults) {
		if f := &t.faults[i]; f.stopsServer() && slices.Contains(t.entry(f.start).On, e.Text) {
			f.promote(pos, e)
			return
		}
	}
}

// promote takes in that e, at pos, came of f.
func (f *fault) promote(pos int32, e *history.Entry) {
	if kinds[f.kind].Name == "failover" && f.ended && !f.promoted {
		f.end, f.to = pos, e.Time
	}
	f.promoted = true
}

// die ends what the clients of f held and waited for. A client that was paused
// when it died did nothing since the pause began.
func (t *timeline) die(f *fault) {
	for _, name := range t.entry(f.start).On {
		c := t.names.find(name)
		if c == none {
			continue
		}
		pos := t.pausedSince(name, f.start)
		t.endHolds(c, f.start, pos)
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
		t.endHolds(c, pos, t.clients[c].last)
		t.endWaits(c, pos)
		t.endPlaces(c, t.clients[c].last)
		t.clients[c].dead, t.clients[c].died = true, t.clients[c].last
	}
}
