package report

import (
	"fmt"
	"maps"
	"slices"
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

// absent names the clients that are not in the picture.
func (d *drawing) absent() {
	others := map[string]bool{}
	for _, o := range d.plot.d.all {
		if !slices.Contains(d.clients, o.client) {
			others[o.client] = true
		}
	}
	switch n := len(others); n {
	case 0:
	case 1:
		d.text(laneName, dim, "Not shown: "+slices.Collect(maps.Keys(others))[0]+".")
	default:
		d.text(laneName, dim, fmt.Sprintf("Not shown: %d other clients.", n))
	}
}

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
