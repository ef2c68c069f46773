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
	read := func(p jute.Packet) (n int32, l int64, s, none string, rest jute.Packet) {
		n, p = p.Int()
		l, p = p.Long()
		s, p = p.Text()
		none, p = p.Text()
		return n, l, s, none, p
	}
	n, l, s, none, rest := read(b)
	if n != -7 || l != -1<<40 || s != "sub-0" || none != "" || rest == nil || len(rest) != 0 {
		t.Errorf("%d %d %q %q %v", n, l, s, none, rest)
	}
	for i := range len(b) {
		if _, _, _, _, rest := read(b[:i]); rest != nil {
			t.Errorf("%d bytes: the rest is %v", i, rest)
		}
	}
	if _, rest := (jute.Packet{0xff, 0xff, 0xff, 0xfe, 1}).Buffer(); rest != nil {
		t.Error("a negative length was accepted")
	}
}
