package history

import (
	"math"
	"slices"
	"strings"
)

// Pauses are the pauses of clients. The zero value has none.
type Pauses struct {
	byID   map[int][]*pause
	of     map[string][]*pause // by client
	killed map[string]int      // by client: the position of its last call of Since
}

// pause is one pause; its positions are in the order of lines.
type pause struct {
	on         []string
	from       int
	ends, over int // the first and the last line of its end; never without one
}

const never = math.MaxInt

// Add adds e, a line of the nemesis at pos. A caller that reads line by line may
// have called Since between the two lines of a pause's end, when the pause seemed
// over. At the second line Add then returns the clients killed in between, and
// where the pause began.
func (p *Pauses) Add(pos int, e *Entry) (killed []string, from int) {
	rest, ok := strings.CutPrefix(e.F, "pause")
	switch {
	case !ok:
		return nil, 0
	case rest == "":
		if p.of == nil {
			p.byID, p.of, p.killed = map[int][]*pause{}, map[string][]*pause{}, map[string]int{}
		}
		x := &pause{e.On, pos, never, never}
		p.byID[e.ID] = append(p.byID[e.ID], x)
		for _, client := range e.On {
			p.of[client] = append(p.of[client], x)
		}
		return nil, 0
	}
	for _, x := range slices.Backward(p.byID[e.ID]) {
		switch {
		case rest == EndSuffix && x.ends == never:
			x.ends, x.over = pos, pos
			return nil, 0
		case rest == EndSuffix+DoneSuffix && x.ends != never:
			x.over = pos
			for _, client := range x.on {
				if p.killed[client] > x.ends {
					killed = append(killed, client)
				}
			}
			return killed, x.from
		}
	}
	return nil, 0
}

// Since returns the beginning of the first pause of a client that lasts at pos,
// where the client is killed, or pos without one. Calls must be in the order
// of lines.
func (p *Pauses) Since(client string, pos int) int {
	list := p.of[client]
	if list == nil {
		return pos
	}
	for len(list) > 0 && list[0].over <= pos {
		list = list[1:]
	}
	p.of[client], p.killed[client] = list, pos
	if len(list) == 0 {
		return pos
	}
	return min(list[0].from, pos)
}
