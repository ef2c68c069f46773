package mysql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// queue is the queue of a fairFixed, the first entry first. In its column an
// entry is "id:until,", with until in base 36, so that the column has room for
// two dozen.
type queue []place

type place struct {
	id    string
	until int64 // by the server's clock, in milliseconds since 1970: the entry expires then
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

// full reports whether q does not fit its column.
func (q queue) full() bool { return len(q.String()) > mysql.QueueLength }

// find returns the index of id in q, or -1.
func (q queue) find(id string) int {
	return slices.IndexFunc(q, func(p place) bool { return p.id == id })
}

// counts reports whether q has an entry that has not expired.
func (q queue) counts(now int64) bool {
	return slices.ContainsFunc(q, func(p place) bool { return p.until >= now })
}
