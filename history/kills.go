package history

import (
	"slices"
	"strings"
)

// Kills pairs the lines of kills and power-offs: the first, and the second, by which
// their clients are certainly dead. The zero value has none.
type Kills struct {
	open map[killKey][]openKill // those without a second line so far
	sure map[int]int            // by the position of the first line: that of the second
}

type killKey struct {
	name string
	id   int
}

// openKill is a kill that may get a second line.
type openKill struct {
	on  []string
	pos int
}

// Add adds e, a line of the nemesis at pos. If e is the second line of a kill, Add
// returns the killed clients and the position of the first line. A second line belongs
// to the last kill of its name and id that named the same clients.
func (k *Kills) Add(pos int, e *Entry) (on []string, from int) {
	name, second := strings.CutSuffix(e.F, DoneSuffix)
	if name != "kill" && name != "poweroff" {
		return nil, 0
	}
	if k.open == nil {
		k.open, k.sure = map[killKey][]openKill{}, map[int]int{}
	}
	key := killKey{name, e.ID}
	if !second {
		k.open[key] = append(k.open[key], openKill{e.On, pos})
		return nil, 0
	}
	for i, first := range slices.Backward(k.open[key]) {
		if len(e.On) == 0 || slices.Equal(first.on, e.On) {
			k.open[key] = slices.Delete(k.open[key], i, i+1)
			k.sure[first.pos] = pos
			return first.on, first.pos
		}
	}
	return nil, 0
}

// Sure returns the position of the second line of the kill whose first line is at pos,
// or pos if it has only one. All lines must have been added.
func (k *Kills) Sure(pos int) int {
	if second, ok := k.sure[pos]; ok {
		return second
	}
	return pos
}
