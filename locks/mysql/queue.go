package mysql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/stores/mysql"
)

// queue is the queue of a fairFixed, the first one first. In its column a place
// is "id:until,": until in base 36, so that two dozen places have room.
type queue []place

type place struct {
	id    string
	until int64 // by the server's clock, in milliseconds since 1970: then it counts no more
}

func parseQueue(s string) (q queue) {
	for entry := range strings.SplitSeq(s, separator) {
		id, until, ok := strings.Cut(entry, ":")
		ms, err := strconv.ParseInt(until, 36, 64)
		if ok && err == nil {
			q = append(q, place{id, ms})
		}
	}
	return q
}

func (q queue) String() string {
	var b strings.Builder
	for _, p := range q {
		b.WriteString(p.id + ":" + strconv.FormatInt(p.until, 36) + separator)
	}
	return b.String()
}

// full tells whether q does not fit its column.
func (q queue) full() bool { return len(q.String()) > mysql.QueueLength }

// find is where id is in q; -1: nowhere.
func (q queue) find(id string) int {
	return slices.IndexFunc(q, func(p place) bool { return p.id == id })
}

// counts tells whether there is a place in q that counts.
func (q queue) counts(now int64) bool {
	return slices.ContainsFunc(q, func(p place) bool { return p.until >= now })
}
