package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// unreleased returns an entry of the acquire made which proves that the ok of the
// release id was untrue, or none: one that outstays the release, or is kept. If the
// grant has entries on several servers, this has to hold on a majority of them. Where
// the header does not declare the servers, one entry that is kept is enough.
func (s *stored) unreleased(id, made int32) int32 {
	servers, ended := s.outstays(id, made)
	n := len(servers) - s.blind[id]
	if ended != none && n >= s.majority(made) {
		return ended
	}
	all, left := s.kept(made, s.ops[id].done, servers)
	if left == none || s.head.Nodes > 0 && n+len(all)-len(servers) < s.majority(made) {
		return none
	}
	return left
}

// outstays returns the last one of the entries of the acquire made that were there from
// before the release id was invoked until after its ok, and then ended by themselves:
// their time or their session was over. So no request of the release removed them. It
// also returns their servers.
func (s *stored) outstays(id, made int32) (servers []string, entry int32) {
	o := &s.ops[id]
	entry = none
	for i, x := range s.staysOf(made) {
		if x.from < o.invoke && o.done < x.to && s.endedByItself(x, &s.holds[o.hold]) {
			servers, entry = s.also(servers, x), i
		}
	}
	return servers, entry
}

// also returns servers with that of x.
func (s *stored) also(servers []string, x *stay) []string {
	if name := s.entry(x.from).Process.Name; !slices.Contains(servers, name) {
		servers = append(servers, name)
	}
	return servers
}

// endedByItself reports whether the entry x of the grant h ended because its time or
// its session was over. An expired row stays until a client takes it over. The row's
// time is then the deadline that the grant's client knew.
func (s *stored) endedByItself(x *stay, h *hold) bool {
	switch x.how {
	case expired:
		return true
	case lost:
		return s.entry(x.to).Text == history.SessionOver
	case takenOver:
		until := s.validUntil(h, x.to)
		return until != 0 && until <= s.at(x.to)
	}
	return false
}

// majority returns how many servers must agree to grant the lock. It uses the number
// of servers in the header, or else the number on which the acquire made an entry.
func (s *stored) majority(made int32) int {
	if n := s.head.Nodes; n > 0 {
		return n/2 + 1
	}
	seen := map[string]bool{}
	for _, x := range s.staysOf(made) {
		seen[s.entry(x.from).Process.Name] = true
	}
	return len(seen)
}

// outlasts returns how long an entry may stay when no client knows of it any more: T
// and a tenth of T, because a server checks its clock only now and then, and that
// clock may be slow.
func outlasts(lease time.Duration) time.Duration { return lease + lease/10 }

// kept returns the first one of the entries of the acquire op that are there at the end
// of the history, at least T and a tenth after pos and after the entry came. It returns
// none if the header does not declare T. An entry that came only after the release, or
// came back because a server lost its removal, may stay as long from then on. It also
// returns servers with those of the entries.
func (s *stored) kept(op, pos int32, servers []string) (all []string, entry int32) {
	all, entry = servers, none
	for id, x := range s.staysOf(op) {
		if s.lease > 0 && x.to == s.size() && s.end-max(s.at(pos), s.at(x.from)) >= outlasts(s.lease) {
			if all = s.also(all, x); entry == none {
				entry = id
			}
		}
	}
	return all, entry
}

// emptyRelease returns the witness that a release was ok after the last entry e had ended.
func (s *stored) emptyRelease(o *op, e int32) *Witness {
	x := &s.entries[e]
	ended := map[deed]string{removed: "was removed", takenOver: "was taken over", expired: "had expired", lost: "was lost"}[x.how]
	return s.untrue(o, []int32{x.from, x.to, o.invoke, o.done}, "released", fmt.Sprintf(
		"but the entry that %s made for it at %s %s at %s, so nothing of its own was left to release", s.entry(x.from).Process, s.when(x.from), ended, s.when(x.to)))
}

// falseRefusal returns the witness that a release failed although it removed the entry at pos.
func (s *stored) falseRefusal(o *op, pos int32) *Witness {
	return s.untrue(o, []int32{o.invoke, pos, o.done}, "did not release", fmt.Sprintf(
		"but its request removed the entry at %s", s.when(pos)))
}

func (s *stored) falseRelease(o *op, e int32) *Witness {
	x := &s.entries[e]
	server := s.entry(x.from).Process
	switch {
	case x.from > o.done:
		return s.untrue(o, []int32{o.invoke, o.done, x.from}, "released", fmt.Sprintf(
			"but from %s on %s had an entry for it again, which was still there at %s", s.when(x.from), server, seconds(s.end)))
	case x.to < s.size():
		ended := "ended by itself"
		if x.how == takenOver {
			ended = "was taken over only"
		}
		return s.untrue(o, []int32{x.from, o.invoke, o.done, x.to}, "released", fmt.Sprintf(
			"but the entry that %s made for it at %s was still there, and %s at %s", server, s.when(x.from), ended, s.when(x.to)))
	}
	return s.untrue(o, []int32{x.from, o.invoke, o.done}, "released", fmt.Sprintf(
		"but the entry that %s made for it at %s was still there at %s", server, s.when(x.from), seconds(s.end)))
}
