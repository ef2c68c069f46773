package sim

import (
	"strconv"
	"strings"
)

// pool hands out objects, those of earlier runs first. Their contents are left as
// they were.
type pool[T any] struct {
	made []*T
	used int
}

func (p *pool[T]) next() *T {
	if p.used == len(p.made) {
		p.made = append(p.made, new(T))
	}
	p.used++
	return p.made[p.used-1]
}

// recycle makes all objects available for the next run.
func (p *pool[T]) recycle() { p.used = 0 }

// all returns the objects that were handed out in this run.
func (p *pool[T]) all() []*T { return p.made[:p.used] }

// text makes strings. They are cut from one long buffer that is never overwritten:
// they stay valid, and hundreds of them take one allocation.
type text struct{ strings.Builder }

// join returns a + sep + b.
func (t *text) join(a, sep, b string) string {
	from := t.line()
	t.WriteString(a)
	t.WriteString(sep)
	t.WriteString(b)
	return t.String()[from:]
}

// numberedName returns name-n.
func (t *text) numberedName(name string, n int) string {
	var digits [20]byte
	from := t.line()
	t.WriteString(name)
	t.WriteByte('-')
	t.Write(strconv.AppendInt(digits[:0], int64(n), 10))
	return t.String()[from:]
}

// line returns where the next string begins.
func (t *text) line() int {
	const room, longest = 4096, 128
	if t.Cap()-t.Len() < longest {
		t.Reset()
		t.Grow(room)
	}
	return t.Len()
}
