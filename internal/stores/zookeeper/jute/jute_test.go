package jute_test

import (
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// Written data reads as written. Truncated data reads as missing.
func TestWrittenDataIsRead(t *testing.T) {
	t.Parallel()
	b := jute.AppendInt(nil, -7)
	b = jute.AppendLong(b, -1<<40)
	b = jute.AppendBuffer(b, "sub-0")
	b = jute.AppendInt(b, -1) // no string
	b = append(b, 1)          // true
	b = jute.AppendInt(b, 2)  // two permissions
	for range 2 {
		b = jute.AppendBuffer(jute.AppendBuffer(jute.AppendInt(b, 31), "world"), "anyone")
	}
	b = jute.AppendInt(b, -1) // no list
	read := func(p jute.Packet) (n int32, l int64, s, none string, yes bool, acls int, rest jute.Packet) {
		n, p = p.Int()
		l, p = p.Long()
		s, p = p.Text()
		none, p = p.Text()
		yes, p = p.Bool()
		acls, p = p.SkipACLs()
		p = p.List(func(jute.Packet) jute.Packet { t.Error("an element of no list"); return nil })
		return n, l, s, none, yes, acls, p
	}
	n, l, s, none, yes, acls, rest := read(b)
	if n != -7 || l != -1<<40 || s != "sub-0" || none != "" || !yes || acls != 2 || rest == nil || len(rest) != 0 {
		t.Errorf("%d %d %q %q %t %d %v", n, l, s, none, yes, acls, rest)
	}
	for i := range len(b) {
		if _, _, _, _, _, _, rest := read(b[:i]); rest != nil {
			t.Errorf("%d bytes: the rest is %v", i, rest)
		}
	}
	if _, rest := (jute.Packet{0xff, 0xff, 0xff, 0xfe, 1}).Buffer(); rest != nil {
		t.Error("a negative length was accepted")
	}
	many := jute.Packet{0x7f, 0xff, 0xff, 0xff, 1}
	if n, rest := many.SkipACLs(); n != 1 || rest != nil {
		t.Errorf("a list that ends too early: read %d elements, the rest is %v", n, rest)
	}
}
