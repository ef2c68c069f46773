package checker

import (
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// at returns the position of the line with that index, or -1.
func (d *defined) at(index history.Opt) int {
	return slices.IndexFunc(d.entries, func(e history.Entry) bool { return index.Set && int64(e.Index) == index.V })
}

// invokeOf returns the position of the invoke that the line at pos completes.
func (d *defined) invokeOf(pos int) int {
	for i := pos - 1; ; i-- {
		if e := &d.entries[i]; e.Process == d.entries[pos].Process && e.Type == history.Invoke {
			return i
		}
	}
}

// answer returns the type of the completion of the operation that was invoked at pos,
// or 0 if there is no completion.
func (d *defined) answer(pos int) history.Type {
	for _, e := range d.entries[pos+1:] {
		if e.Process == d.entries[pos].Process && e.Type != history.Event {
			return e.Type
		}
	}
	return 0
}

// asked returns the acquire for which an operation makes entries: itself, or for an
// extend the acquire that its grant stands on, if that is known to exist. -1: no
// acquire.
func (d *defined) asked(pos int) int {
	if pos < 0 {
		return -1
	}
	switch e := &d.entries[pos]; e.F {
	case history.Acquire:
		return pos
	case history.Extend:
		if x := d.find(e.Grant); x != nil && (x.begin < pos || d.answer(pos) == history.OK) {
			return x.stands
		}
	}
	return -1
}

// definedStay is one entry in one store.
type definedStay struct {
	acquire  int // position of its invoke
	server   string
	from, to int
	how      string // from the line that ended it
}

// store is the entries in the stores, and the first server act for each operation.
type store struct {
	*defined
	stays  []*definedStay
	served map[int]int // by the position of an invoke
}

// stored reads the servers' lines.
func (d *defined) stored() *store {
	s := &store{d, nil, map[int]int{}}
	for pos := range d.entries {
		e := &d.entries[pos]
		if e.Process.Client() || e.Type != history.Event {
			continue
		}
		made, by := d.at(e.Op), d.at(e.By)
		switch e.F {
		case history.Granted:
			s.put(made, pos)
			s.serve(made, pos)
		case history.Takeover:
			s.leave(made, pos)
			if by != made {
				s.put(by, pos)
			}
			s.serve(by, pos)
		case history.Prolong:
			s.serve(by, pos)
		case history.Remove, history.Lose, history.Expire:
			s.leave(made, pos)
		}
	}
	return s
}

func (s *store) serve(op, pos int) {
	if _, already := s.served[op]; !already {
		s.served[op] = pos
	}
}

func (s *store) put(op, pos int) {
	if op = s.asked(op); op >= 0 && s.open(op, s.entries[pos].Process.Name) == nil {
		s.stays = append(s.stays, &definedStay{op, s.entries[pos].Process.Name, pos, len(s.entries), ""})
	}
}

// leave ends an entry. If the server has no such entry, the line is about an entry
// that another server made.
func (s *store) leave(op, pos int) {
	op = s.asked(op)
	x := s.open(op, s.entries[pos].Process.Name)
	if x == nil {
		x = s.open(op, "")
	}
	if x != nil {
		x.to, x.how = pos, s.entries[pos].F
	}
}

// open returns the latest present entry of an acquire, on that server if one is
// named.
func (s *store) open(op int, server string) *definedStay {
	for _, x := range slices.Backward(s.stays) {
		if x.acquire == op && x.to == len(s.entries) && (server == "" || x.server == server) {
			return x
		}
	}
	return nil
}

// lie reports whether an answer was untrue.
func (d *defined) lie(head *history.Header) bool {
	s, lease := d.stored(), head.Lease()
	for pos := range d.entries {
		var untrue bool
		switch e := &d.entries[pos]; e.F + " " + e.Type.String() {
		case "acquire fail":
			untrue = s.left(d.invokeOf(pos), pos)
		case "acquire ok":
			untrue = !s.granted(d.find(e.Grant))
		case "release ok":
			if x := d.find(e.Grant); x != nil && x.begin < d.invokeOf(pos) {
				untrue = s.allGiven(x.stands, pos) && (s.keeps(x.stands, pos, lease+lease/10) || s.outstays(x, pos))
			}
			untrue = untrue || head.ReleaseTells && s.tells(pos) && !s.removed(pos) && s.foundNothing(pos)
		case "release fail":
			untrue = head.ReleaseTells && s.tells(pos) && s.removed(pos)
		case "extend ok":
			if x := d.find(e.Grant); x != nil {
				untrue = d.wentToAnother(x, d.invokeOf(pos), lease)
			}
		case "valid event":
			x := d.find(e.Grant)
			if x != nil && lease > 0 && slices.ContainsFunc(x.deadlines, func(known definedDeadline) bool { return known.pos == pos }) {
				untrue = d.wentToAnother(x, d.left(x.begin, e.ValidUntil, lease), lease)
			}
		}
		if untrue && !slices.ContainsFunc(d.kills, func(k definedKill) bool {
			return k.client == d.entries[pos].Client && k.from < pos && pos < k.at
		}) {
			return true
		}
	}
	return false
}

// left reports whether an entry of an acquire was there at pos and no other grant
// stood on it.
func (s *store) left(op, pos int) bool {
	alone := !slices.ContainsFunc(s.holds, func(x *definedHold) bool { return x.invoke != op && x.stands == op && x.begin < pos })
	return alone && slices.ContainsFunc(s.stays, func(x *definedStay) bool { return x.acquire == op && x.from < pos && pos < x.to })
}

// granted reports whether a server had made the entry that x stands on, or x is
// nested in another hold.
func (s *store) granted(x *definedHold) bool {
	for _, op := range []int{x.invoke, x.stands} {
		if pos, served := s.served[op]; served && pos < x.begin {
			return true
		}
	}
	return x.nest != x || x.end < x.begin // killed before its answer
}

// allGiven reports whether all grants on an acquire's entries had been released by
// pos.
func (s *store) allGiven(op, pos int) bool {
	return !slices.ContainsFunc(s.holds, func(x *definedHold) bool { return x.stands == op && !s.gaveBack(x, pos) })
}

// outstays reports whether, on a majority of servers, the entry was there throughout
// the release that ended at pos, and then expired.
func (s *store) outstays(x *definedHold, pos int) bool {
	servers, there := map[string]bool{}, 0
	for _, y := range s.stays {
		if y.acquire != x.stands {
			continue
		}
		servers[y.server] = true
		if y.from > s.invokeOf(pos) || y.to < pos || y.to == len(s.entries) {
			continue
		}
		var until time.Duration
		for i, known := range x.deadlines {
			if i == 0 || known.pos <= y.to {
				until = known.until
			}
		}
		if y.how == history.Expire || y.how == history.Takeover && until != 0 && until <= s.entries[y.to].Time {
			there++
		}
	}
	return there > 0 && there >= len(servers)
}

// tells reports whether the answer to the release that ended at pos has to say whether there
// was something to release.
func (s *store) tells(pos int) bool {
	x, invoke := s.find(s.entries[pos].Grant), s.invokeOf(pos)
	if x == nil || x.released != invoke || x.end != invoke || s.disturbed(invoke, pos) {
		return false
	}
	return !slices.ContainsFunc(s.holds, func(y *definedHold) bool {
		return y != x && (y.nest == x.nest || y.stands == x.stands && (y.begin < pos || x.stands != x.invoke))
	})
}

// foundNothing reports whether all entries of the grant of the release that ended at pos had
// ended before it, and none came until it ended.
func (s *store) foundNothing(pos int) bool {
	x, invoke := s.find(s.entries[pos].Grant), s.invokeOf(pos)
	was := false
	for _, y := range s.stays {
		switch {
		case y.acquire != x.stands || y.from > pos:
		case y.to > invoke:
			return false
		default:
			was = true
		}
	}
	return was
}

// disturbed reports whether a fault that ends no client was in force between two lines.
func (d *defined) disturbed(from, to int) bool {
	for start, e := range d.entries[:to] {
		if e.Process.Name != history.Nemesis || strings.HasSuffix(e.F, history.EndSuffix) || e.F == "kill" || e.F == history.Exit || e.F == history.Ended {
			continue
		}
		end := slices.IndexFunc(d.entries[start:], func(x history.Entry) bool { return x.F == e.F+history.EndSuffix && x.ID == e.ID })
		if end < 0 || start+end > from {
			return true
		}
	}
	return false
}

// removed reports whether the release that ended at pos removed the entry of its grant on
// every server that had one.
func (s *store) removed(pos int) bool {
	x, invoke := s.find(s.entries[pos].Grant), s.invokeOf(pos)
	had, has := map[string]bool{}, map[string]bool{}
	for _, y := range s.stays {
		if x != nil && y.acquire == x.stands {
			had[y.server] = true
		}
	}
	for i := range s.entries[:pos] {
		if e := &s.entries[i]; x != nil && e.F == history.Remove && s.at(e.By) == invoke && s.asked(s.at(e.Op)) == x.stands {
			has[e.Process.Name] = true
		}
	}
	return len(has) > 0 && len(has) >= len(had)
}

// wentToAnother reports whether another client was granted the lock after x, and
// before a renewal that left at the line asked or later.
func (d *defined) wentToAnother(x *definedHold, asked int, lease time.Duration) bool {
	for _, y := range d.holds {
		if !d.exclude(x, y) || y.lock != x.lock || y.begin >= asked {
			continue
		}
		request := y.nest.stands
		if y.nest == y && y.stands == y.invoke && y.ok && len(y.deadlines) > 0 && y.deadlines[0].pos == y.begin {
			request = d.left(request, y.deadlines[0].until, lease)
		}
		if request > x.begin {
			return true
		}
	}
	return false
}

// left returns the earliest line at which a request may have left that was invoked at
// the line asked and brought that time. No request brings more than a lease, or than
// the longest remaining time that a client ever had.
func (d *defined) left(asked int, until, lease time.Duration) int {
	if lease == 0 || until == 0 {
		return asked
	}
	for _, x := range d.holds {
		for _, known := range x.deadlines {
			lease = max(lease, known.until-d.entries[known.pos].Time)
		}
	}
	for asked < len(d.entries) && d.entries[asked].Time < until-lease-lease/10 {
		asked++
	}
	return asked
}

// keeps reports whether an entry of an acquire is there for longer than that since
// pos.
func (s *store) keeps(op, pos int, long time.Duration) bool {
	last := len(s.entries) - 1
	return slices.ContainsFunc(s.stays, func(x *definedStay) bool {
		since := s.entries[max(pos, x.from)].Time
		return x.acquire == op && x.to > last && s.entries[last].Time-since >= long
	})
}

func (s *store) gaveBack(x *definedHold, until int) bool {
	for pos, e := range s.entries[:until+1] {
		if e.F == history.Release && e.Type == history.OK && e.Grant == x.grant && x.begin < s.invokeOf(pos) {
			return true
		}
	}
	return false
}
