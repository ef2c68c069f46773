package porttest

import (
	"errors"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

var outageTests = tests{
	{"a request without a server is not sent", nothingSent},
	{"missed events arrive after an outage", missedInOutage},
	{"a missed deletion is one event", deletedInOutage},
	{"an outage as long as the session ends it", outageExpires},
}

// cut separates h from all servers and waits until h knows it.
func (t *tester) cut(h zookeeper.Handle) {
	t.Helper()
	t.World.(Outage).Cut(h)
	t.wantEvents(h, disconnected)
}

func nothingSent(t *tester) {
	h := t.open(0, long)
	t.cut(h)
	start := t.Now()
	_, err := h.Do(t.Context(), brief/4, within(t.root, node))
	if !errors.Is(err, zookeeper.ErrNotConnected) || !locks.IsDefinite(err) {
		t.Errorf("got error %v, want a definite %v", err, zookeeper.ErrNotConnected)
	}
	if took := t.Now() - start; took < brief/4 {
		t.Errorf("it gave up after %v, want %v", took, brief/4)
	}
	t.World.(Outage).Join(h)
	t.wantEvents(h, connected)
	t.refused(h, exists("/a"), zookeeper.NoNode)
	t.wantNoEvent(h)
}

func missedInOutage(t *tester) {
	h, other := t.open(0, long), t.open(1, long)
	watchAll(t, h)
	t.cut(h)
	t.ok(other, flush(""))
	changeAll(t, other)
	t.World.(Outage).Join(h)
	t.wantEvents(h, connected)
	t.wantEvents(h, allChanged...)
	t.wantNoEvent(h)
	t.ok(other, setData("/still", "v", anyVersion))
	t.wantEvents(h, changed("/still"))
}

func outageExpires(t *tester) {
	h, other := t.open(0, brief), t.open(1, long)
	t.ok(h, create("/e", "", ephemeral))
	t.ok(other, flush(""))
	t.ok(other, watching(exists("/e")))
	t.cut(h)
	t.wantEvents(other, deleted("/e"))
	t.World.(Outage).Join(h)
	t.wantEvents(h, expired)
	t.wantExpired(h)
}

var failoverTests = tests{
	{"data stays, and new zxids are greater", failover},
	{"a silent session expires under the new leader, too", expiryAfterFailover},
}

func failover(t *tester) {
	f := t.World.(Failover)
	h, other := t.open(0, long), t.open(1, long)
	t.ok(h, create("/e-", "", ephemeral|sequential))
	before := t.ok(h, exists("/e-0000000000")).Stat
	t.ok(other, flush(""))
	t.ok(other, watching(exists("/e-0000000000")))
	f.KillLeader()
	t.await(h, exists(""))
	t.await(other, flush(""))
	if s := t.await(h, exists("/e-0000000000")).Stat; s != before {
		t.Errorf("the node is now %+v, and was %+v", s, before)
	}
	t.await(h, setData("/e-0000000000", "v", anyVersion)) // this may be executed twice
	for e := connected; e.Path == ""; {                   // events of connections that came and went
		var err error
		if e, err = other.Next(t.Context(), patience); err != nil {
			t.Fatal(err)
		}
		if e.Path != "" && e != (zookeeper.Event{Type: zookeeper.NodeDataChanged, Path: t.root + "/e-0000000000"}) {
			t.Errorf("got event %v", e)
		}
	}
	t.await(other, create("/e-", "", ephemeral|sequential))
	s := t.await(other, exists("/e-0000000001")).Stat
	if s.Czxid>>32 <= before.Czxid>>32 || s.Owner != other.ID() {
		t.Errorf("created by %d under the new leader: %+v; under the old one: %+v", other.ID(), s, before)
	}
	f.StartKilled()
	for server := range 3 {
		h := t.open(server, long)
		t.ok(h, flush(""))
		if got := t.ok(h, exists("/e-0000000001")).Stat; got != s {
			t.Errorf("server %d has %+v, want %+v", server, got, s)
		}
	}
}

func expiryAfterFailover(t *tester) {
	f := t.World.(Failover)
	h, other := t.open(0, brief), t.open(1, long)
	t.ok(h, create("/e", "", ephemeral))
	t.Freeze(h)
	f.KillLeader()
	for give := t.Now() + 2*patience; ; t.Sleep(brief / 10) {
		r, err := other.Do(t.Context(), patience, within(t.root, exists("/e")))
		if err == nil && r.Code == zookeeper.NoNode {
			break
		}
		if t.Now() > give {
			t.Fatalf("the node is still there: %+v, error %v", r, err)
		}
	}
	t.Thaw(h)
	f.StartKilled()
	t.wantEvents(h, disconnected, expired)
	t.wantExpired(h)
}

// await repeats c until it succeeds, despite lost connections and missing
// servers. A request that was executed without an answer is executed again.
func (t *tester) await(h zookeeper.Handle, c zookeeper.Command) zookeeper.Reply {
	t.Helper()
	for give := t.Now() + 2*patience; ; t.Sleep(50 * time.Millisecond) {
		r, err := h.Do(t.Context(), patience, within(t.root, c))
		switch {
		case err == nil && r.Code == zookeeper.OK:
			return r
		case err == nil || t.Now() > give:
			t.Fatalf("%s: %v, error %v", describe(c), r.Code, err)
		}
	}
}

// In deletedInOutage a server sends a missed deletion for each kind of watch, but
// the client expects only one event.
func deletedInOutage(t *tester) {
	h, other := t.open(0, long), t.open(1, long)
	t.ok(h, node)
	t.ok(h, watching(getData("/a")))
	t.ok(h, watching(children("/a")))
	t.cut(h)
	t.ok(other, flush(""))
	t.ok(other, gone)
	t.World.(Outage).Join(h)
	t.wantEvents(h, connected, deleted("/a"))
	t.wantNoEvent(h)
}
