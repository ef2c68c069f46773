package report

import (
	"cmp"
	"slices"
	"strings"
)

// vain tells of the entries that an acquire made on a minority of servers and removed
// again.
func (p *plot) vain(o *op) {
	nodes := p.d.h.Header.Nodes
	if nodes < 2 {
		return
	}
	var gone []*stay
	count := map[string]int{}
	for _, s := range o.stays {
		if s.own() && s.by == o && s.to != none {
			gone = append(gone, s)
			count[s.home]++
		}
	}
	if len(gone) == 0 {
		return
	}
	first := gone[:1]
	for len(first) < len(gone) && gone[len(first)].from < gone[0].to {
		first = gone[:len(first)+1]
	}
	if len(first) > nodes/2 {
		return
	}
	made, makes, them := "made an entry", "makes an entry", "which is no majority, and "+o.client+" removed it again"
	if len(homes(gone)) > 1 {
		made, makes, them = "made entries", "make entries", "which were never a majority, and "+o.client+" removed them again"
	}
	short := ": no majority"
	if slices.ContainsFunc(gone, func(s *stay) bool { return p.d.granting(o, s.to) > nodes/2 }) { // the client did not learn of all of them
		them, short = "which "+o.client+" removed again", ", which removes what it knows of"
	}
	often := p.often(count, homes(gone)) + p.rivals(o, gone)
	oftener := strings.Replace(often, "; that happened", ",", 1)
	p.wants(o, detail) // the entries show it
	m := happens(gone[0].from, list(homes(gone)), made+" for "+o.client+", "+them+often, makes+" for "+o.client+short+oftener)
	p.add(p.d.spread(gone, func(s *stay) int { return s.from }, m.in(gone[0].home).weighing(side)))
}

// rivals returns how often other clients made and removed entries on the server of gone, from
// the start of o to the last of gone: ", and twice for c2". It returns "" if none did, and if
// gone is on several servers.
func (p *plot) rivals(o *op, gone []*stay) string {
	all, last := homes(gone), gone[len(gone)-1].from
	if len(all) > 1 {
		return ""
	}
	count := map[string]int{}
	var names []string
	for _, s := range p.d.stays {
		if x := s.op; x != nil && s.own() && s.by == x && x.client != o.client && o.invoke < s.from && s.from < last && s.home == all[0] {
			if count[x.client]++; count[x.client] == 1 {
				names = append(names, x.client)
			}
		}
	}
	text := ""
	for _, name := range names {
		text += ", and " + times(count[name]) + " for " + name
	}
	return text
}

// often returns how often something happened on servers, by a count for each: ";
// that happened twice", "; that happened twice on redis-1 and 3 times on redis-2". It
// returns "" if it happened once on each.
func (p *plot) often(count map[string]int, all []string) string {
	var each []string
	same := true
	for _, server := range all {
		same = same && count[server] == count[all[0]]
		each = append(each, times(count[server])+" on "+server)
	}
	switch {
	case !same:
		return "; that happened " + list(each)
	case count[all[0]] > 1:
		return "; that happened " + times(count[all[0]])
	}
	return ""
}

// split tells that clients split the servers among them so that no client could get a
// majority, as package checker defines it. It returns false if they did so fewer
// times than least.
func (p *plot) split(free gap, least int) bool {
	nodes := p.d.h.Header.Nodes
	if nodes < 2 {
		return false
	}
	type change struct {
		pos int
		s   *stay
	}
	var changes []change
	for _, s := range p.d.stays {
		if s.op == nil {
			continue
		}
		changes = append(changes, change{s.from, s})
		if s.to != none {
			changes = append(changes, change{s.to, s})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.pos, b.pos) })
	there := map[string]*stay{} // by server
	var first []string
	at, often, was := none, 0, false
	for _, c := range changes {
		if c.pos > free.end {
			break
		}
		if c.pos == c.s.from {
			there[c.s.home] = c.s
		} else if there[c.s.home] == c.s {
			delete(there, c.s.home)
		}
		most, votes := 0, map[*op]int{}
		for _, s := range there {
			votes[s.op]++
			most = max(most, votes[s.op])
		}
		is := len(votes) > 1 && most+nodes-len(there) <= nodes/2
		if is && !was && c.pos >= free.begin {
			if often++; often == 1 {
				at = c.pos
				for server, s := range there {
					first = append(first, server+" one for "+s.client())
				}
			}
		}
		was = is
	}
	if often < least {
		return false
	}
	slices.Sort(first)
	who, its, _ := strings.Cut(first[0], " one for ")
	first[0] = "had an entry for " + its
	again, short := "", ""
	if often > 1 {
		again, short = "; that happened "+times(often), ", "+times(often)
	}
	p.add(moment{
		pos: at, lane: p.d.h.Entries[at].Process.Name, who: who,
		did:  list(first) + ", and nobody could get a majority" + again,
		line: "the servers are split among the clients: nobody can get a majority" + short,
	})
	return true
}

// granting returns how many servers had an entry of an acquire just before a
// position.
func (d *digest) granting(o *op, pos int) int {
	var there []*stay
	for _, s := range o.stays {
		if s.from < pos && !before(s.to, pos) {
			there = append(there, s)
		}
	}
	return len(homes(there))
}
