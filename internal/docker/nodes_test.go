package docker

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// The effects of transactions on the nodes of a lock.
func TestNodes(t *testing.T) {
	t.Parallel()
	create := func(session int64, xid int32, path string) txn {
		return txn{session: session, xid: xid, kind: jute.OpCreate, path: path, ephemeral: true}
	}
	remove := func(session int64, xid int32, path string) txn {
		return txn{session: session, xid: xid, kind: jute.OpDelete, path: path}
	}
	end := func(session int64) txn { return txn{session: session, kind: jute.OpCloseSession} }
	type asks map[ask]int64
	for _, c := range []struct {
		name     string
		requests asks
		txns     []txn
		want     []string
		drops    bool
	}{
		{
			"create and delete",
			asks{{7, 1}: 1, {7, 2}: 2},
			[]txn{create(7, 1, "/a/x"), remove(7, 2, "/a/x"), remove(7, 2, "/a/x")},
			[]string{"grant of 1 by 1", "remove of 1 by 2"},
			false,
		},
		{
			"another client's delete",
			asks{{7, 1}: 1, {8, 1}: 2},
			[]txn{create(7, 1, "/a/x"), remove(8, 1, "/a/x")},
			[]string{"grant of 1 by 1", "remove of 1 by 2"},
			false,
		},
		{
			"an operator's delete",
			asks{{7, 1}: 1, {9, 1}: operator},
			[]txn{create(7, 1, "/a/x"), remove(9, 1, "/a/x"), end(9), remove(9, 1, "/a/x")},
			[]string{"grant of 1 by 1", "remove of 1 by nobody"},
			false,
		},
		{
			"a session ends by itself, with all its nodes and with no other's",
			asks{{7, 1}: 1, {8, 1}: 2, {7, 2}: 3},
			[]txn{create(7, 1, "/a/x"), create(8, 1, "/a/y"), create(7, 2, "/a/w"), end(7), end(7)},
			[]string{"grant of 1 by 1", "grant of 2 by 2", "grant of 3 by 3", "expire of 3 by nobody", "expire of 1 by nobody"},
			false,
		},
		{
			"a session is closed by its client",
			asks{{7, 1}: 1, {7, 0}: 2},
			[]txn{create(7, 1, "/a/x"), end(7)},
			[]string{"grant of 1 by 1", "remove of 1 by 2"},
			false,
		},
		{
			"what outlives its session",
			asks{{7, 1}: 1},
			[]txn{{session: 7, xid: 1, kind: jute.OpCreate, path: "/a/x"}, end(7)},
			[]string{"grant of 1 by 1"},
			false,
		},
		{
			"nodes of no lock",
			asks{},
			[]txn{create(7, 1, "/a"), create(7, 2, "/b/x"), remove(7, 3, "/b/x"), {kind: -1}, {kind: -10}},
			nil, false,
		},
		{"a stranger", asks{}, []txn{create(7, 1, "/a/x")}, nil, true},
		{"a request without an operation", asks{{7, 1}: 0}, []txn{create(7, 1, "/a/x")}, nil, true},
		{"a request of an unknown operation", asks{{7, 1}: -1}, []txn{create(7, 1, "/a/x")}, nil, true},
		{"several changes as one", asks{}, []txn{{kind: jute.OpMulti}}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got eventLog
			n := newNodes(&catalogue.Lock{}, []string{"a"}, &got, t.Logf)
			for a, op := range c.requests {
				n.AddRequest(a.session, a.xid, op)
			}
			for _, x := range c.txns {
				n.commit("zk-1", x)
			}
			if !slices.Equal(got.lines, c.want) {
				t.Errorf("events %q, want %q", got.lines, c.want)
			}
			if n.observes() == c.drops {
				t.Errorf("observes: %v", n.observes())
			}
		})
	}
}

// A transaction as a leader sends it: org.apache.zookeeper.txn, after a TxnHeader.
func TestTxn(t *testing.T) {
	t.Parallel()
	head := func(kind int32) []byte {
		b := jute.AppendLong(jute.AppendInt(jute.AppendLong(nil, 7), 3), 1<<32+5)
		return jute.AppendInt(jute.AppendLong(b, 1700000000000), kind)
	}
	created := jute.AppendBuffer(jute.AppendBuffer(head(jute.OpCreate), "/a/x"), "data")
	created = jute.AppendInt(jute.AppendInt(created, 1), 31) // all rights for everybody
	created = jute.AppendBuffer(jute.AppendBuffer(created, "world"), "anyone")
	for _, c := range []struct {
		b    []byte
		want txn
	}{
		{slices.Concat(created, []byte{1, 0, 0, 0, 9}), txn{kind: jute.OpCreate, path: "/a/x", ephemeral: true}},
		{slices.Concat(created, []byte{0, 0, 0, 0, 9}), txn{kind: jute.OpCreate, path: "/a/x"}},
		{jute.AppendBuffer(head(jute.OpDelete), "/a/x"), txn{kind: jute.OpDelete, path: "/a/x"}},
		{jute.AppendInt(head(jute.OpCloseSession), 0), txn{kind: jute.OpCloseSession}},
		{jute.AppendInt(head(-1), -101), txn{kind: -1}},
	} {
		c.want.session, c.want.xid, c.want.zxid = 7, 3, 1<<32+5
		if got := readTxn(c.b); got != c.want {
			t.Errorf("read %+v, want %+v", got, c.want)
		}
		readTxn(c.b[:len(c.b)-1]) // a partial transaction must not panic
	}
}

// A link delays an answer until the events that it depends on are reported.
func TestZooKeeperTalk(t *testing.T) {
	t.Parallel()
	framed := func(b []byte) []byte { return jute.AppendBuffer(nil, b) }
	reply := func(xid int32, zxid int64) []byte {
		return framed(jute.AppendInt(jute.AppendLong(jute.AppendInt(nil, xid), zxid), 0))
	}
	granted := jute.AppendLong(jute.AppendInt(jute.AppendInt(nil, 0), 1000), 7)
	granted = framed(jute.AppendBuffer(granted, "0123456789abcdef"))
	refused := framed(jute.AppendBuffer(jute.AppendLong(jute.AppendInt(jute.AppendInt(nil, 0), 0), 0), "0123456789abcdef"))
	event := jute.AppendInt(jute.AppendLong(jute.AppendInt(nil, -1), -1), 0)
	event = framed(jute.AppendBuffer(jute.AppendInt(jute.AppendInt(event, 2), 3), "/a/x"))
	hello := func(session int64) []byte {
		b := jute.AppendLong(jute.AppendInt(jute.AppendLong(jute.AppendInt(nil, 0), 0), 1000), session)
		return framed(jute.AppendBuffer(b, "0123456789abcdef"))
	}
	request := func(xid, op int32) []byte { return framed(jute.AppendInt(jute.AppendInt(nil, xid), op)) }

	for _, c := range []struct {
		name    string
		session int64 // the session that the client asks for
		replies [][]byte
		sorts   []clients.Kind
		until   txn // makes the last reply pass; zxid 0: nothing is needed
	}{
		{"a new session", 0, [][]byte{granted}, []clients.Kind{clients.Library}, txn{}},
		{"a heartbeat", 7, [][]byte{granted, reply(-2, 99)}, []clients.Kind{clients.Library, clients.Library}, txn{}},
		{"an answer", 7, [][]byte{granted, reply(1, 5)}, []clients.Kind{clients.Library, clients.Effect}, txn{zxid: 5}},
		{"an event", 7, [][]byte{granted, event}, []clients.Kind{clients.Library, clients.Library}, txn{zxid: 9, session: 7, xid: 3, kind: jute.OpDelete, path: "/a/x"}},
		{"the end of a session", 7, [][]byte{refused}, []clients.Kind{clients.Library}, txn{zxid: 5, session: 7, kind: jute.OpCloseSession}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var said eventLog
			n := newNodes(&catalogue.Lock{}, []string{"a"}, &said, t.Logf)
			n.learn = func(int64) {}
			n.AddRequest(7, 2, 1)
			n.AddRequest(7, 3, 2)
			n.commit("zk-1", txn{zxid: 1, session: 7, xid: 2, kind: jute.OpCreate, path: "/a/x", ephemeral: true})
			talk := &clients.ZooKeeper{Nodes: n, Client: "c1", Replies: bufio.NewReader(iotest.OneByteReader(bytes.NewReader(slices.Concat(c.replies...))))}
			talk.Request(bufio.NewReader(bytes.NewReader(hello(c.session))), 4)
			var last clients.Parcel
			for i, want := range c.sorts {
				var err error
				if last, err = talk.Reply(); err != nil || last.Kind != want || !bytes.Equal(last.Raw, c.replies[i]) {
					t.Fatalf("reply %d: sort %d, %d bytes, %v", i+1, last.Kind, len(last.Raw), err)
				}
			}
			if _, err := talk.Reply(); err != io.EOF {
				t.Errorf("at the end: %v", err)
			}
			passes := make(chan struct{})
			go func() {
				defer close(passes)
				if last.Pass != nil {
					last.Pass(nil)
				}
			}()
			if c.until.zxid != 0 {
				select {
				case <-passes:
					t.Fatal("the reply passes before its event is reported")
				case <-time.After(20 * time.Millisecond):
				}
				n.commit("zk-1", c.until)
			}
			<-passes
			if !n.observes() {
				t.Error("no longer observed")
			}
		})
	}

	var said eventLog
	n := newNodes(&catalogue.Lock{}, []string{"a"}, &said, t.Logf)
	talk := &clients.ZooKeeper{Nodes: n, Client: "c1", Replies: bufio.NewReader(bytes.NewReader(granted))}
	r := bufio.NewReader(bytes.NewReader(slices.Concat(hello(0), request(-2, 11), request(1, jute.OpCreate), request(-8, 101), request(0, jute.OpCloseSession))))
	talk.Request(r, 4)
	if _, err := talk.Reply(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []clients.Kind{clients.Library, clients.Effect, clients.Library, clients.Effect} {
		p := talk.Request(r, int64(4+i))
		if p.Kind != want {
			t.Errorf("request %d is of sort %d", i+1, p.Kind)
		}
		if p.Pass != nil {
			p.Pass(nil)
		}
	}
	if op, bye := n.requests[ask{7, 1}], n.requests[ask{7, 0}]; op != 5 || bye != 7 || len(n.requests) != 2 {
		t.Errorf("known are %v", n.requests)
	}
	if s := n.openSessions("c1"); len(s) != 1 || s[0].id != 7 || string(s[0].password) != "0123456789abcdef" {
		t.Errorf("the sessions of c1 are %v", s)
	}
	http := &clients.ZooKeeper{Nodes: n, Client: "c1"}
	if p := http.Request(bufio.NewReader(strings.NewReader("GET / HTTP/1.1\r\n\r\n")), 1); len(p.Raw) == 0 || n.observes() {
		t.Errorf("another protocol: %q, observes %v", p.Raw, n.observes())
	}
}
