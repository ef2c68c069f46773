package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// signsOfLanes are explained below the lanes, where they were used.
var signsOfLanes = []struct {
	sign rune
	says string
}{
	{'·', "waits"},
	{'█', "holds"},
	{'▒', "has not released it; its lease is over"},
	{'+', "renews its lease"},
	{'×', "is dead"},
	{'━', "whose entry is in the store"},
	{'╌', "an entry too short for a name"},
	{'»', "a request has its effect, long after its invoke"},
	{'R', "read"},
	{'W', "write"},
	{'!', "refused"},
}

// legend explains the signs that these drawings used.
func (p *page) legend(all ...*drawing) {
	p.blank()
	var parts []string
	for _, l := range signsOfLanes {
		for _, d := range all {
			part := string(l.sign) + " " + l.says
			if d.plot.d.queue && l.sign == '━' {
				part = "━ whose node is in the queue"
			}
			if d.used[l.sign] && !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	line := ""
	for _, part := range parts {
		switch {
		case line == "":
			line = part
		case len([]rune(line))+3+len([]rune(part)) > columns-laneName:
			p.line(laneName, dim, line)
			line = part
		default:
			line += "   " + part
		}
	}
	if line != "" {
		p.line(laneName, dim, line)
	}
}

// absent names the clients that are not in the picture, and the servers that are left out.
func (d *drawing) absent() {
	var missing []string
	for _, o := range d.plot.d.all {
		if !slices.Contains(d.clients, o.client) && !slices.Contains(missing, o.client) {
			missing = append(missing, o.client)
		}
	}
	slices.SortFunc(missing, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	if n := len(missing); n > maxAbsent {
		missing = []string{fmt.Sprintf("%d other clients", n)}
	}
	if len(d.out) > 0 {
		missing = append(missing, several(d.out))
	}
	if len(missing) > 0 {
		d.text(laneName, dim, "Not shown: "+list(missing)+".")
	}
}

// maxAbsent is the largest number of clients without a lane that a story names.
const maxAbsent = 3

// moments lists what happened, by the numbers in the lanes.
func (p *page) moments(s *plot) {
	width := 0
	for i := range s.moments {
		width = max(width, len(s.d.units.exact(s.moments[i].at)))
	}
	for i := range s.moments {
		p.moment(s, i, width)
	}
}

// moment writes one of the moments, with its time in a column of some width.
func (p *page) moment(s *plot, i, width int) {
	m := &s.moments[i]
	head := fmt.Sprintf("%d  %*s  ", i+1, width, s.d.units.exact(m.at))
	p.beside(laneName, plain, head, laneName+len(head), m.line)
}
