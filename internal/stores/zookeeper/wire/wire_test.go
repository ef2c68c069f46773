package wire_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/wire"
)

// packet returns the bytes of a packet: an int has 4 bytes, an int64 has 8.
func packet(fields ...any) []byte {
	b := make([]byte, 4)
	for _, f := range fields {
		switch f := f.(type) {
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(f))
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(f))
		case string:
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(f))), f...)
		case bool:
			b = append(b, map[bool]byte{true: 1}[f])
		case []any:
			b = append(b, packet(f...)[4:]...)
		}
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

var (
	secret = strings.Repeat("p", 16)
	zeros  = strings.Repeat("\x00", 16)
	// open are permissions for everybody; stat and statBytes are the same Stat.
	open      = []any{1, 31, "world", "anyone"}
	stat      = zookeeper.Stat{Czxid: 1, Mzxid: 2, Pzxid: 3, Version: 4, CVersion: 5, Owner: 6, DataLength: 7, NumChildren: 8}
	statBytes = []any{int64(1), int64(2), int64(0), int64(0), 4, 5, 0, int64(6), 7, 8, int64(3)}
	greeting  = packet(0, int64(0), 4000, int64(0), zeros)
)

// talks are requests as a client sends them after its greeting, with their meaning, and
// answers of a server whose last transaction is 9, with their bytes.
var talks = []struct {
	name  string
	in    []byte
	want  wire.Request
	reply zookeeper.Reply
	out   []byte
}{
	{
		"create", packet(1, 1, "/a/n-", "data", open, 3),
		call(1, 1, zookeeper.Command{Verb: zookeeper.Create, Path: "/a/n-", Data: "data", Mode: zookeeper.Ephemeral | zookeeper.Sequential}),
		zookeeper.Reply{Path: "/a/n-0000000000"},
		packet(1, int64(9), 0, "/a/n-0000000000"),
	},
	{
		"create of a node without data", packet(1, 1, "/a", -1, open, 0),
		call(1, 1, zookeeper.Command{Verb: zookeeper.Create, Path: "/a"}),
		zookeeper.Reply{Code: zookeeper.NodeExists},
		packet(1, int64(9), -110),
	},
	{
		"create below no node", packet(1, 1, "/none/a", "", open, 1),
		call(1, 1, zookeeper.Command{Verb: zookeeper.Create, Path: "/none/a", Mode: zookeeper.Ephemeral}),
		zookeeper.Reply{Code: zookeeper.NoNode},
		packet(1, int64(9), -101),
	},
	{
		"delete", packet(2, 2, "/a", -1),
		call(2, 2, zookeeper.Command{Verb: zookeeper.Delete, Path: "/a", Version: zookeeper.AnyVersion}),
		zookeeper.Reply{},
		packet(2, int64(9), 0),
	},
	{
		"exists", packet(3, 3, "/a", true),
		call(3, 3, zookeeper.Command{Verb: zookeeper.Exists, Path: "/a", Watch: true}),
		zookeeper.Reply{Stat: stat},
		packet(3, int64(9), 0, statBytes),
	},
	{
		"exists without a watch", packet(3, 3, "/a", false),
		call(3, 3, zookeeper.Command{Verb: zookeeper.Exists, Path: "/a"}),
		zookeeper.Reply{Code: zookeeper.NoNode},
		packet(3, int64(9), -101),
	},
	{
		"getData", packet(4, 4, "/a", true),
		call(4, 4, zookeeper.Command{Verb: zookeeper.GetData, Path: "/a", Watch: true}),
		zookeeper.Reply{Data: "data", Stat: stat},
		packet(4, int64(9), 0, "data", statBytes),
	},
	{
		"setData", packet(5, 5, "/a", "new", 3),
		call(5, 5, zookeeper.Command{Verb: zookeeper.SetData, Path: "/a", Data: "new", Version: 3}),
		zookeeper.Reply{Stat: stat},
		packet(5, int64(9), 0, statBytes),
	},
	{
		"getChildren", packet(6, 8, "/a", false),
		call(6, 8, zookeeper.Command{Verb: zookeeper.GetChildren, Path: "/a"}),
		zookeeper.Reply{Children: []string{"x", "y"}, Stat: stat},
		packet(6, int64(9), 0, 2, "x", "y"),
	},
	{
		"getChildren, in the order of a server", packet(6, 8, "/a", false),
		call(6, 8, zookeeper.Command{Verb: zookeeper.GetChildren, Path: "/a"}),
		zookeeper.Reply{Children: []string{"_c_0b7a-lock-0000000004", "_c_9f3e-lock-0000000005", "ä"}},
		packet(6, int64(9), 0, 3, "ä", "_c_9f3e-lock-0000000005", "_c_0b7a-lock-0000000004"),
	},
	{
		"getChildren2", packet(7, 12, "/a", true),
		call(7, 12, zookeeper.Command{Verb: zookeeper.GetChildren, Path: "/a", Watch: true}),
		zookeeper.Reply{Children: []string{"x", "y"}, Stat: stat},
		packet(7, int64(9), 0, 2, "x", "y", statBytes),
	},
	{
		"sync", packet(8, 9, "/a"),
		call(8, 9, zookeeper.Command{Verb: zookeeper.Sync, Path: "/a"}),
		zookeeper.Reply{},
		packet(8, int64(9), 0, "/a"),
	},
	{
		"a request after the end of the session", packet(8, 9, "/a"),
		call(8, 9, zookeeper.Command{Verb: zookeeper.Sync, Path: "/a"}),
		zookeeper.Reply{Code: wire.SessionExpired},
		packet(8, int64(9), -112),
	},
	{
		"a heartbeat", packet(-2, 11),
		wire.Request{Kind: wire.Ping, Xid: -2, Op: 11},
		zookeeper.Reply{},
		packet(-2, int64(9), 0),
	},
	{
		"the watches that are left, in any order", packet(9, 101, int64(5), 2, "/b", "/a", 1, "/c", 2, "/a", "/"),
		wire.Request{Kind: wire.SetWatches, Xid: 9, Op: 101, Zxid: 5, Watches: []model.Watch{
			{Kind: model.DataWatch, Path: "/a"},
			{Kind: model.DataWatch, Path: "/b"},
			{Kind: model.ExistWatch, Path: "/c"},
			{Kind: model.ChildWatch, Path: "/"},
			{Kind: model.ChildWatch, Path: "/a"},
		}},
		zookeeper.Reply{},
		packet(9, int64(9), 0),
	},
	{
		"credentials", packet(-4, 100, 0, "digest", "user:password"),
		wire.Request{Kind: wire.Auth, Xid: -4, Op: 100},
		zookeeper.Reply{},
		packet(-4, int64(0), 0),
	},
	{
		"the end of the session", packet(10, -11),
		wire.Request{Kind: wire.Farewell, Xid: 10, Op: -11},
		zookeeper.Reply{},
		packet(10, int64(9), 0),
	},
	{
		"several changes as one", packet(11, 14, 1, false, -1), unknown(11, 14, "multi"),
		zookeeper.Reply{},
		packet(11, int64(0), -6),
	},
	{
		"a container", packet(11, 19, "/a", "", open, 4), unknown(11, 19, "createContainer"),
		zookeeper.Reply{},
		packet(11, int64(0), -6),
	},
	{
		"a container by create", packet(11, 1, "/a", "", open, 4), unknown(11, 1, "create with the flags 4"),
		zookeeper.Reply{},
		packet(11, int64(0), -6),
	},
	{
		"a node without permissions", packet(11, 1, "/a", "", 0, 0), unknown(11, 1, "create without permissions"),
		zookeeper.Reply{},
		packet(11, int64(0), -6),
	},
	{
		"an operation of the future", packet(11, 555), unknown(11, 555, "operation 555"),
		zookeeper.Reply{},
		packet(11, int64(0), -6),
	},
}

func call(xid, op int32, c zookeeper.Command) wire.Request {
	return wire.Request{Kind: wire.Call, Xid: xid, Op: op, Command: c}
}

func unknown(xid, op int32, name string) wire.Request {
	return wire.Request{Kind: wire.Unknown, Xid: xid, Op: op, Missing: name}
}

func TestRequestsAreReadAndAnswersAreWritten(t *testing.T) {
	t.Parallel()
	for _, c := range talks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var p wire.Parser
			p.Feed(greeting)
			p.Feed(c.in)
			if r, ok, err := p.Next(); !ok || err != nil || r.Kind != wire.Hello {
				t.Fatalf("the greeting is %+v, %t, %v", r, ok, err)
			}
			r, ok, err := p.Next()
			if !ok || err != nil || !reflect.DeepEqual(r, c.want) {
				t.Fatalf("got %+v, %t, %v; want %+v", r, ok, err, c.want)
			}
			if out := wire.AppendAnswer([]byte("before"), &r, 9, c.reply); string(out) != "before"+string(c.out) {
				t.Errorf("got %x, want %x", out, c.out)
			}
		})
	}
}

// A client's bytes may come in any pieces.
func TestRequestsComeInPieces(t *testing.T) {
	t.Parallel()
	var all []byte
	for _, c := range talks {
		all = append(all, c.in...)
	}
	read := iotest.OneByteReader(bytes.NewReader(slices.Concat(greeting, all)))
	var p wire.Parser
	var got []wire.Request
	for b := make([]byte, 10); ; {
		n, err := read.Read(b)
		if err != nil {
			break
		}
		p.Feed(b[:n])
		if r, ok, err := p.Next(); err != nil {
			t.Fatal(err)
		} else if ok {
			got = append(got, r)
		}
	}
	if len(got) != 1+len(talks) {
		t.Fatalf("%d requests, want %d", len(got), 1+len(talks))
	}
	for i, c := range talks {
		if !reflect.DeepEqual(got[i+1], c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got[i+1], c.want)
		}
	}
}

func TestGreetings(t *testing.T) {
	t.Parallel()
	again := wire.Request{Kind: wire.Hello, Session: 7, Password: []byte(secret), Length: 4 * time.Second, Zxid: 9}
	for _, c := range []struct {
		name string
		in   []byte
		want wire.Request
	}{
		{"a new session", greeting, wire.Request{Kind: wire.Hello, Password: []byte(zeros), Length: 4 * time.Second}},
		{"a session again", packet(0, int64(9), 4000, int64(7), secret), again},
		{"of a client that accepts a read-only server", packet(0, int64(9), 4000, int64(7), secret, true), again},
		{"without a password", packet(0, int64(0), 4000, int64(0), -1), wire.Request{Kind: wire.Hello, Length: 4 * time.Second}},
		{"a four-letter word", []byte("ruok\n"), wire.Request{Kind: wire.Unknown, Missing: "ruok"}},
	} {
		var p wire.Parser
		p.Feed(c.in)
		if r, ok, err := p.Next(); !ok || err != nil || !reflect.DeepEqual(r, c.want) {
			t.Errorf("%s: got %+v, %t, %v; want %+v", c.name, r, ok, err, c.want)
		}
	}
	for _, c := range []struct {
		name      string
		got, want []byte
	}{
		{"a session", wire.AppendHello(nil, 7, []byte(secret), 4*time.Second), packet(0, 4000, int64(7), secret)},
		{"the end of a session", wire.AppendHello(nil, 7, []byte(secret), 0), packet(0, 0, int64(0), zeros)},
		{"an event", wire.AppendEvent(nil, zookeeper.Event{Type: zookeeper.NodeDeleted, Path: "/a"}), packet(-1, int64(-1), 0, 2, 3, "/a")},
		{"a four-letter word", wire.AppendAnswer(nil, &wire.Request{Kind: wire.Unknown, Missing: "ruok"}, 9, zookeeper.Reply{}), nil},
	} {
		if !bytes.Equal(c.got, c.want) {
			t.Errorf("%s: got %x, want %x", c.name, c.got, c.want)
		}
	}
}

// These bytes end a connection: Next returns the same error from then on.
func TestBadBytes(t *testing.T) {
	t.Parallel()
	long := packet(1, 4, strings.Repeat("x", 1<<20), false)
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"a greeting that ends too early", packet(0, int64(0)), "an incomplete greeting of 12 bytes"},
		{"a negative length", slices.Concat(greeting, []byte{0xff, 0xff, 0xff, 0xff}), "a packet of -1 bytes"},
		{"a request that is too long", slices.Concat(greeting, long[:4]), "a packet of 1048589 bytes"},
		{"a request without a header", slices.Concat(greeting, packet(1)), "an incomplete request"},
		{"a request that ends too early", slices.Concat(greeting, packet(1, 3, "/a")), "an incomplete request, exists, of 14 bytes"},
		{"a path that ends too early", slices.Concat(greeting, packet(1, 9, 100)), "an incomplete request, sync, of 12 bytes"},
		{"a list that ends too early", slices.Concat(greeting, packet(1, 101, int64(0), 1<<30, "/a")), "an incomplete request, setWatches, of 26 bytes"},
		{"four letters after the greeting", slices.Concat(greeting, []byte("ruok")), "a packet of 1920298859 bytes"},
	} {
		var p wire.Parser
		p.Feed(c.in)
		_, _, err := p.Next()
		if err == nil {
			_, _, err = p.Next()
		}
		p.Feed(greeting)
		_, ok, again := p.Next()
		if err == nil || !strings.Contains(err.Error(), c.want) || ok || again != err {
			t.Errorf("%s: got %v, then %t, %v; want %q", c.name, err, ok, again, c.want)
		}
	}
}

// Whatever a client sends, the Parser neither fails nor keeps more than was sent.
func FuzzParser(f *testing.F) {
	for _, c := range talks {
		f.Add(slices.Concat(greeting, c.in), 7)
	}
	f.Add([]byte("ruok"), 1)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		var p wire.Parser
		used := 0
		for len(b) > 0 {
			n := min(max(piece, 1), len(b))
			p.Feed(b[:n])
			used, b = used+n, b[n:]
			for {
				r, ok, err := p.Next()
				if !ok || err != nil {
					break
				}
				if held := 4 * len(r.Watches); held > used {
					t.Fatalf("%d watches in %d bytes", len(r.Watches), used)
				}
				if r.Kind == 0 || (r.Kind == wire.Unknown) != (r.Missing != "") {
					t.Fatalf("%+v", r)
				}
				out := wire.AppendAnswer(nil, &r, 1, zookeeper.Reply{})
				if len(out) > 0 && int(binary.BigEndian.Uint32(out)) != len(out)-4 {
					t.Fatalf("a packet of another length: %x", out)
				}
			}
		}
	})
}
