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

// legend explains the signs that were used.
func (d *drawing) legend() {
	d.blank()
	line := ""
	for _, l := range signsOfLanes {
		if !d.used[l.sign] {
			continue
		}
		part := string(l.sign) + " " + l.says
		if d.plot.d.queue && l.sign == '━' {
			part = "━ whose node is in the queue"
		}
		switch {
		case line == "":
			line = part
		case len([]rune(line))+3+len([]rune(part)) > columns-laneName:
			d.line(laneName, dim, line)
			line = part
		default:
			line += "   " + part
		}
	}
	if line != "" {
		d.line(laneName, dim, line)
	}
}

// absent names the clients that are not in the picture, and the servers that are left out.
func (d *drawing) absent(servers []string) {
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
	if len(servers) > 0 {
		missing = append(missing, several(servers))
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
		m := &s.moments[i]
		head := fmt.Sprintf("%d  %*s  ", i+1, width, s.d.units.exact(m.at))
		p.beside(laneName, plain, head, laneName+len(head), m.line)
	}
}
