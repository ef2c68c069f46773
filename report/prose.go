package report

import (
	"slices"
	"strings"
)

// prose joins the moments to a paragraph.
func (p *plot) prose() string {
	var sentences []string
	time, who := "", "" // of the sentence before
	told := p.sentences()
	for i := range told {
		m := &told[i]
		lead := "At " + p.d.units.at(m.at)
		if lead == time {
			lead = "Right after that"
		} else {
			time = lead
		}
		if m.where != "" {
			lead += ", " + m.where + ","
		}
		subject := m.who
		if subject == who && slices.Contains(p.clients, who) {
			subject = "it"
		}
		who = m.who
		sentences = append(sentences, lead+" "+subject+" "+m.did+".")
	}
	if p.coda != "" {
		sentences = append(sentences, p.coda)
	}
	return strings.Join(sentences, " ")
}

// sentences are the moments that have one. A client that wakes up and acts at
// once does both in one sentence; one that only wakes up has none.
func (p *plot) sentences() []moment {
	var out []moment
	for i := range p.moments {
		m := p.moments[i]
		if m.did == "" {
			continue
		}
		if n := len(out); n > 0 && out[n-1].wakes {
			woke := out[n-1]
			if m.who == woke.who && m.at-woke.at <= p.d.h.Header.Lease()/20 {
				m.did = "woke up and " + m.did
				out[n-1] = m
				continue
			}
		}
		out = append(out, m)
	}
	return out
}
