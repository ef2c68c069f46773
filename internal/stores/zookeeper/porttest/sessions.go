package porttest

import (
	"context"
	"errors"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

var sessionTests = tests{
	{"each has a number and the requested length", granted},
	{"an idle session lives", idleLives},
	{"close removes ephemeral nodes", closeRemoves},
	{"a closed session returns an error", closedSays},
	{"a frozen session expires", frozenExpires},
	{"a briefly frozen session lives", frozenLives},
	{"a lost connection keeps the session and its watches", disconnectKeeps},
	{"missed events arrive on the next connection", missedTold},
	{"a missed deletion is one event", missedDeletion},
	{"an ended context sends nothing", endedContext},
}

func granted(t *tester) {
	a, b := t.open(0, brief), t.open(0, long)
	if a.ID() == 0 || a.ID() == b.ID() {
		t.Errorf("two sessions are called %d and %d", a.ID(), b.ID())
	}
	if a.Timeout() != brief || b.Timeout() != long {
		t.Errorf("granted %v and %v, want %v and %v", a.Timeout(), b.Timeout(), brief, long)
	}
}

func idleLives(t *tester) {
	// Not a brief session: a busy machine delays its heartbeats for too long.
	h := t.open(0, 4*brief)
	t.ok(h, create("/e", "", ephemeral))
	t.Sleep(6 * brief)
	t.wantNoEvent(h)
	t.ok(h, exists("/e"))
}

func closeRemoves(t *tester) {
	h, other := t.open(0, long), t.open(1, long)
	t.ok(h, create("/e", "", ephemeral))
	t.ok(h, create("/p", "", persistent))
	t.ok(h, create("/p/s-", "", ephemeral|sequential))
	t.ok(other, create("/f", "", ephemeral))
	t.ok(other, watching(exists("/e")))
	t.ok(other, watching(exists("/f")))
	t.ok(other, watching(exists("/p")))
	if err := h.Close(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	t.wantEvents(other, deleted("/e"))
	t.refused(other, exists("/p/s-0000000000"), zookeeper.NoNode)
	t.ok(other, exists("/f"))
	if s := t.ok(other, exists("/p")).Stat; s.CVersion != 2 || s.Pzxid <= s.Czxid || s.NumChildren != 0 {
		t.Errorf("the parent of the removed nodes: %+v", s)
	}
	t.wantNoEvent(other)
}

func closedSays(t *tester) {
	h := t.open(0, long)
	t.ok(h, watching(children("")))
	if err := h.Close(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	t.fails(h, exists(""), zookeeper.ErrClosed)
	t.fails(h, create("/a", "", persistent), zookeeper.ErrClosed)
	t.wantEvents(h, closed)
	if e, err := h.Next(t.Context(), patience); !errors.Is(err, zookeeper.ErrClosed) {
		t.Errorf("got event %v, error %v; want %v", e, err, zookeeper.ErrClosed)
	}
	t.refused(t.open(0, long), exists("/a"), zookeeper.NoNode)
}

func frozenExpires(t *tester) {
	h, other := t.open(0, brief), t.open(1, long)
	asked := t.Now() // before the last sign of life
	t.ok(h, create("/e", "", ephemeral))
	t.ok(other, flush(""))
	t.ok(other, watching(exists("/e")))
	t.Freeze(h)
	t.wantEvents(other, deleted("/e"))
	if lived := t.Now() - asked; lived < brief-moment {
		t.Errorf("expired after %v, want %v", lived, brief)
	}
	t.Thaw(h)
	t.wantEvents(h, disconnected, expired)
	t.wantExpired(h)
}

// wantExpired asserts that h's session has expired, without other events.
func (t *tester) wantExpired(h zookeeper.Handle) {
	t.Helper()
	t.fails(h, exists(""), zookeeper.ErrSessionExpired)
	t.fails(h, create("/late", "", persistent), zookeeper.ErrSessionExpired)
	if e, err := h.Next(t.Context(), patience); !errors.Is(err, zookeeper.ErrSessionExpired) {
		t.Errorf("got event %v, error %v; want %v", e, err, zookeeper.ErrSessionExpired)
	}
	t.refused(t.open(0, long), exists("/late"), zookeeper.NoNode)
}

func frozenLives(t *tester) {
	h := t.open(0, 4*brief)
	t.ok(h, create("/e", "", ephemeral))
	t.Freeze(h)
	t.Sleep(brief)
	t.Thaw(h)
	t.ok(h, exists("/e"))
	t.Sleep(5 * brief)
	t.ok(h, exists("/e"))
	t.ok(h, create("/f", "", ephemeral))
}

func disconnectKeeps(t *tester) {
	h, other := t.open(0, long), t.open(1, long)
	id := h.ID()
	t.ok(h, create("/e", "", ephemeral))
	t.ok(h, watching(getData("/e")))
	t.Disconnect(h)
	t.wantEvents(h, disconnected, connected)
	t.wantNoEvent(h)
	t.ok(other, flush(""))
	t.ok(other, setData("/e", "v", anyVersion))
	t.wantEvents(h, changed("/e"))
	if s := t.ok(h, exists("/e")).Stat; s.Owner != id || h.ID() != id {
		t.Errorf("the session was %d; now it is %d, and the node's %d", id, h.ID(), s.Owner)
	}
}

// missedTold makes changes in the order in which a reconnecting client gets their
// events. The order is then the same if the client reconnects before them.
func missedTold(t *tester) {
	h, other := t.open(0, long), t.open(1, long)
	watchAll(t, h)
	t.ok(other, flush(""))
	t.Disconnect(h)
	changeAll(t, other)
	t.wantEvents(h, disconnected, connected)
	t.wantEvents(h, allChanged...)
	t.wantNoEvent(h)
}

// watchAll sets a watch of each kind, and two on nodes without changes.
func watchAll(t *tester, h zookeeper.Handle) {
	t.ok(h, node)
	t.ok(h, create("/c", "", persistent))
	t.ok(h, create("/still", "", persistent))
	t.ok(h, watching(getData("/a")))
	t.ok(h, watching(children("/c")))
	t.refused(h, watching(exists("/b")), zookeeper.NoNode)
	t.ok(h, watching(getData("/still")))
	t.ok(h, watching(children("/still")))
	t.refused(h, watching(exists("/none")), zookeeper.NoNode)
}

func changeAll(t *tester, h zookeeper.Handle) {
	t.ok(h, set)
	t.ok(h, other)
	t.ok(h, create("/c/d", "", persistent))
}

var allChanged = events{changed("/a"), created("/b"), listChanged("/c")}

func missedDeletion(t *tester) {
	h, other := t.open(0, long), t.open(1, long)
	t.ok(h, node)
	t.ok(h, watching(getData("/a")))
	t.ok(h, watching(children("/a")))
	t.ok(other, flush(""))
	t.Disconnect(h)
	t.ok(other, gone)
	t.wantEvents(h, disconnected, connected, deleted("/a"))
	t.wantNoEvent(h)
}

func endedContext(t *tester) {
	h := t.open(0, long)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Do(ctx, patience, within(t.root, node)); err == nil {
		t.Error("a request with an ended context was answered")
	}
	if _, err := h.Next(ctx, patience); !errors.Is(err, context.Canceled) {
		t.Errorf("Next: got error %v, want %v", err, context.Canceled)
	}
	t.refused(h, exists("/a"), zookeeper.NoNode)
}
