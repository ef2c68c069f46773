package external

import (
	"bufio"
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// packet returns a packet with these parts: numbers, texts, and bytes as they are.
func packet(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = jute.AppendInt(b, int32(p))
		case int64:
			b = jute.AppendLong(b, p)
		case string:
			b = jute.AppendBuffer(b, p)
		case []byte:
			b = append(b, p...)
		}
	}
	return jute.AppendBuffer(nil, b)
}

// Requests get the root before each path, and nothing else changes.
func TestChrootOfRequests(t *testing.T) {
	t.Parallel()
	acl := []byte(nil)
	acl = jute.AppendInt(acl, 1)
	acl = jute.AppendBuffer(jute.AppendBuffer(jute.AppendInt(acl, 31), "world"), "anyone")
	head := func(kind int) []byte { return jute.AppendInt(append(jute.AppendInt(nil, int32(kind)), 0), -1) }
	end := append(append(jute.AppendInt(nil, -1), 1), 0xff, 0xff, 0xff, 0xff)
	for name, tt := range map[string]struct{ ask, want []byte }{
		"create":      {packet(1, jute.OpCreate, "/a/x-", "data", acl, 3), packet(1, jute.OpCreate, "/r/a/x-", "data", acl, 3)},
		"the root":    {packet(1, 8, "/", []byte{1}), packet(1, 8, "/r", []byte{1})},
		"a ping":      {packet(-2, 11), packet(-2, 11)},
		"auth":        {packet(-4, 100, 0, "digest", "me"), packet(-4, 100, 0, "digest", "me")},
		"close":       {packet(3, -11), packet(3, -11)},
		"set watches": {packet(-8, jute.OpSetWatches, int64(9), 1, "/a", 0, 2, "/b", "/c"), packet(-8, jute.OpSetWatches, int64(9), 1, "/r/a", 0, 2, "/r/b", "/r/c")},
		"multi": {
			packet(4, jute.OpMulti, head(jute.OpCreate), "/a", "d", acl, 0, head(jute.OpDelete), "/b", -1, head(jute.OpSetData), "/c", "d", -1, head(jute.OpCheck), "/d", 2, end),
			packet(4, jute.OpMulti, head(jute.OpCreate), "/r/a", "d", acl, 0, head(jute.OpDelete), "/r/b", -1, head(jute.OpSetData), "/r/c", "d", -1, head(jute.OpCheck), "/r/d", 2, end),
		},
	} {
		c := &chroot{root: "/r", asked: map[int32]int32{}}
		hello := packet(0, int64(0), 1000, int64(0), "0123456789abcdef")
		r := bufio.NewReader(bytes.NewReader(slices.Concat(hello, tt.ask)))
		if p := c.Request(r, 1); !bytes.Equal(p.Raw, hello) {
			t.Errorf("%s: the greeting is %q", name, p.Raw)
		}
		if p := c.Request(r, 1); !bytes.Equal(p.Raw, tt.want) {
			t.Errorf("%s: got\n%q, want\n%q", name, p.Raw, tt.want)
		}
	}
}

// Answers and events lose the root again.
func TestChrootOfReplies(t *testing.T) {
	t.Parallel()
	stat := make([]byte, statBytes)
	head := func(kind, code int) []byte {
		return jute.AppendInt(append(jute.AppendInt(nil, int32(kind)), 0), int32(code))
	}
	end := append(append(jute.AppendInt(nil, -1), 1), 0xff, 0xff, 0xff, 0xff)
	hello := packet(0, 1000, int64(7), "0123456789abcdef")
	for name, tt := range map[string]struct {
		kind        int32
		reply, want []byte
	}{
		"create":    {jute.OpCreate, packet(1, int64(5), 0, "/r/a/x-1"), packet(1, int64(5), 0, "/a/x-1")},
		"create2":   {jute.OpCreate2, packet(1, int64(5), 0, "/r/a", stat), packet(1, int64(5), 0, "/a", stat)},
		"sync":      {jute.OpSync, packet(1, int64(5), 0, "/r"), packet(1, int64(5), 0, "/")},
		"a refusal": {jute.OpCreate, packet(1, int64(5), -110), packet(1, int64(5), -110)},
		"children":  {8, packet(1, int64(5), 0, 1, "/r"), packet(1, int64(5), 0, 1, "/r")},
		"an event":  {jute.OpDelete, packet(-1, int64(-1), 0, 2, 3, "/r/a/x"), packet(-1, int64(-1), 0, 2, 3, "/a/x")},
		"multi": {
			jute.OpMulti, packet(1, int64(5), 0, head(jute.OpCreate, 0), "/r/a", head(jute.OpSetData, 0), stat, head(jute.OpDelete, 0), end),
			packet(1, int64(5), 0, head(jute.OpCreate, 0), "/a", head(jute.OpSetData, 0), stat, head(jute.OpDelete, 0), end),
		},
		"a failed multi": {
			jute.OpMulti, packet(1, int64(5), -110, head(jute.OpError, 0), 0, head(jute.OpError, -110), -110, end),
			packet(1, int64(5), -110, head(jute.OpError, 0), 0, head(jute.OpError, -110), -110, end),
		},
	} {
		c := &chroot{
			ZooKeeper: clients.ZooKeeper{Replies: bufio.NewReader(bytes.NewReader(slices.Concat(hello, tt.reply)))},
			root:      "/r", asked: map[int32]int32{1: tt.kind},
		}
		c.Request(bufio.NewReader(strings.NewReader(string(packet(0, int64(0), 1000, int64(0), "0123456789abcdef")))), 1)
		if p, err := c.Reply(); err != nil || !bytes.Equal(p.Raw, hello) {
			t.Errorf("%s: the greeting is %q, %v", name, p.Raw, err)
		}
		if p, err := c.Reply(); err != nil || !bytes.Equal(p.Raw, tt.want) {
			t.Errorf("%s: got\n%q, %v, want\n%q", name, p.Raw, err, tt.want)
		}
	}
}
