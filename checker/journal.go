package checker

import (
	"sort"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// journal is the entries of a history, from a list or from a Log.
type journal struct {
	list []history.Entry
	log  *history.Log // nil: use the list
}

func (j *journal) len() int {
	if j.log == nil {
		return len(j.list)
	}
	return j.log.Len()
}

// at returns the entry at pos. Callers must not change it.
func (j *journal) at(pos int) *history.Entry {
	if j.log == nil {
		return &j.list[pos]
	}
	e := new(history.Entry)
	j.log.At(pos, e)
	return e
}

func (j *journal) time(pos int) time.Duration {
	if j.log == nil {
		return j.list[pos].Time
	}
	return j.log.Time(pos)
}

func (j *journal) index(pos int) int {
	if j.log == nil {
		return j.list[pos].Index
	}
	return j.log.Index(pos)
}

// find returns the position of the entry with an index, or none.
func (j *journal) find(index history.Opt) int32 {
	n := j.len()
	if !index.Set || n == 0 {
		return none
	}
	// Indices mostly have no gaps.
	at := index.V - int64(j.index(0))
	if at < 0 || at >= int64(n) || int64(j.index(int(at))) != index.V {
		at = int64(sort.Search(n, func(i int) bool { return int64(j.index(i)) >= index.V }))
		if at == int64(n) || int64(j.index(int(at))) != index.V {
			return none
		}
	}
	return int32(at)
}

// each yields the entries. An entry is valid until the next one.
func (j *journal) each(yield func(pos int, e *history.Entry) bool) {
	if j.log != nil {
		j.log.All(yield)
		return
	}
	for i := range j.list {
		if !yield(i, &j.list[i]) {
			return
		}
	}
}
