package history

import (
	"slices"
	"strings"
)

// Pauses are the pauses of clients that may last. The zero Pauses are none.
type Pauses struct {
	byID map[int][]*pause
	of   map[string][]*pause // by client
}

// pause is one, in the order of their first lines.
type pause struct {
	pos          int
	sure         bool // a second line said that it had its effect: another one says that it has ended
	ended, ready bool // as its first and its second line say
}

func (p *pause) over() bool { return p.ready || p.ended && !p.sure }

// Add takes in e, a line of the nemesis at pos.
func (p *Pauses) Add(pos int, e *Entry) {
	rest, ok := strings.CutPrefix(e.F, "pause")
	if !ok {
		return
	}
	if rest == "" {
		if p.of == nil {
			p.byID, p.of = map[int][]*pause{}, map[string][]*pause{}
		}
		x := &pause{pos: pos}
		p.byID[e.ID] = append(p.byID[e.ID], x)
		for _, client := range e.On {
			p.of[client] = append(p.of[client], x)
		}
		return
	}
	for _, x := range slices.Backward(p.byID[e.ID]) {
		switch {
		case rest == DoneSuffix:
			x.sure = true
		case rest == EndSuffix && !x.ended:
			x.ended = true
		case rest == EndSuffix+DoneSuffix && x.ended:
			x.ready = true
		default:
			continue
		}
		return
	}
}

// Since returns where the first pause of a client began that may last; pos if there
// is none.
func (p *Pauses) Since(client string, pos int) int {
	list := p.of[client]
	for len(list) > 0 && list[0].over() {
		list = list[1:]
	}
	if len(list) == 0 {
		return pos
	}
	p.of[client] = list
	return list[0].pos
}
