package report

import (
	"cmp"
	"slices"
	"strings"
)

// told is a sentence of a story, and the number of its moment; 0: it has none.
type told struct {
	N    int
	Text string
}

// prose joins the sentences to a paragraph.
func (p *plot) prose() string {
	var text []string
	for _, t := range p.told() {
		text = append(text, t.Text)
	}
	return strings.Join(text, " ")
}

// told returns the sentences of the story.
func (p *plot) told() (story []told) {
	var last moment
	time := ""
	for i, m := range p.sentences() {
		lead := "At " + p.d.units.at(m.at)
		if m.between != "" {
			lead = "Between " + m.between
		}
		again := lead == time
		if again && m.between == "" && len(last.faults) > 0 && strings.Contains(last.did, ", until ") {
			again = false // "then" would be after its end
		}
		switch {
		case again && m.between != "":
			lead = "In the same time"
		case again:
			lead = "Then"
		default:
			time = lead
		}
		if m.where != "" && m.point != "" && m.point == last.point && m.at-last.at <= p.d.slack() {
			m.where = samePoint
		}
		if m.where != "" && !(again && m.obvious) {
			lead += ", " + m.where + ","
		}
		who := m.who
		if i > 0 && p.clear(&last) {
			who = pronoun(who, last.who)
		}
		last = m
		last.who = cmp.Or(m.latest, m.who)
		story = append(story, told{m.number, lead + " " + who + " " + m.did + "."})
	}
	if p.coda != "" {
		story = append(story, told{0, p.coda})
	}
	return story
}

// clear reports whether "it" can only mean the subject of the sentence m.
func (p *plot) clear(m *moment) bool {
	return slices.Contains(p.clients, m.who) && !slices.ContainsFunc(p.clients, func(c string) bool {
		return c != m.who && strings.Contains(m.did+m.where, c)
	})
}

// pronoun replaces last by "it", and last's by "its".
func pronoun(who, last string) string {
	if who == last {
		return "it"
	}
	if what, ok := strings.CutPrefix(who, possessive(last)+" "); ok {
		return "its " + what
	}
	return who
}

// sentences returns the moments that have a sentence. A client that wakes up and acts
// at the same written time does both in one sentence.
func (p *plot) sentences() []moment {
	var out []moment
	for i, m := range p.moments {
		if m.did == "" {
			continue
		}
		m.number = i + 1
		if n := len(out); n > 0 {
			if woke := &out[n-1]; woke.wakes && m.between == "" && m.actor == woke.who && p.d.units.at(m.at) == p.d.units.at(woke.at) {
				if woke.did += " and "; m.who != woke.who {
					woke.did = "woke up, and " + pronoun(m.who, woke.who) + " "
				}
				woke.did += m.did
				woke.wakes = false
				if pronoun(m.who, woke.who) == m.who {
					woke.latest = m.who
				}
				continue
			}
		}
		out = append(out, m)
	}
	return out
}
