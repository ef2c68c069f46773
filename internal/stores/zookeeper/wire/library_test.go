package wire_test

import (
	"errors"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

const length = 10 * tick

// library runs f in virtual time with a function that opens sessions of go-zookeeper.
func library(t *testing.T, f func(t *testing.T, s *server, open func() *zk.Conn)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		f(t, s, func() *zk.Conn {
			dial := func(string, string, time.Duration) (net.Conn, error) { return s.dial() }
			c, events, err := zk.Connect([]string{"127.0.0.1:2181"}, length, zk.WithDialer(dial), zk.WithLogger(silence{}), zk.WithLogInfo(false))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			awaitState(t, events, zk.StateHasSession)
			return c
		})
	})
}

type silence struct{}

func (silence) Printf(string, ...any) {}

// awaitState returns when the session has a state.
func awaitState(t *testing.T, events <-chan zk.Event, state zk.State) {
	t.Helper()
	for limit := time.After(time.Minute); ; {
		select {
		case e := <-events:
			if e.State == state {
				return
			}
		case <-limit:
			t.Fatalf("the session is not %v", state)
		}
	}
}

// want asserts that an error is as wanted; nil: no error.
func want(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) || want == nil && got != nil {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// wantEvent asserts that the next event of a watch is of a type.
func wantEvent(t *testing.T, what string, watch <-chan zk.Event, want zk.EventType) {
	t.Helper()
	select {
	case e := <-watch:
		if e.Type != want {
			t.Errorf("%s: got %+v, want %v", what, e, want)
		}
	case <-time.After(time.Minute):
		t.Errorf("%s: no event", what)
	}
}

var everybody = zk.WorldACL(zk.PermAll)

func TestTheLibraryReadsAndWritesNodes(t *testing.T) {
	library(t, func(t *testing.T, s *server, open func() *zk.Conn) {
		c := open()
		_, err := c.Create("/none/a", nil, 0, everybody)
		want(t, "create below no node", err, zk.ErrNoNode)
		path, err := c.Create("/a", []byte("one"), zk.FlagPersistent, everybody)
		if want(t, "create", err, nil); path != "/a" {
			t.Errorf("the path is %q", path)
		}
		_, err = c.Create("/a", nil, 0, everybody)
		want(t, "create again", err, zk.ErrNodeExists)
		path, err = c.Create("/a/n-", nil, zk.FlagEphemeralSequential, everybody)
		if want(t, "create with a number", err, nil); path != "/a/n-0000000000" {
			t.Errorf("the path is %q", path)
		}
		_, err = c.Create(path+"/x", nil, 0, everybody)
		want(t, "create below an ephemeral node", err, zk.ErrNoChildrenForEphemerals)
		there, st, err := c.Exists(path)
		if want(t, "exists", err, nil); !there || st.EphemeralOwner != c.SessionID() || st.Czxid == 0 || st.Czxid != st.Mzxid {
			t.Errorf("exists: %t, %+v", there, st)
		}
		there, _, err = c.Exists("/none")
		if want(t, "exists without a node", err, nil); there {
			t.Error("a missing node exists")
		}
		st, err = c.Set("/a", []byte("three"), 0)
		if want(t, "set", err, nil); st.Version != 1 || st.DataLength != 5 || st.NumChildren != 1 || st.Cversion != 1 || st.Mzxid <= st.Czxid || st.Pzxid <= st.Czxid {
			t.Errorf("set: %+v", st)
		}
		_, err = c.Set("/a", nil, 0)
		want(t, "set at another version", err, zk.ErrBadVersion)
		data, got, err := c.Get("/a")
		if want(t, "get", err, nil); string(data) != "three" || *got != *st {
			t.Errorf("get: %q, %+v", data, got)
		}
		names, got, err := c.Children("/a")
		if want(t, "children", err, nil); !slices.Equal(names, []string{"n-0000000000"}) || *got != *st {
			t.Errorf("children: %q, %+v", names, got)
		}
		synced, err := c.Sync("/a")
		if want(t, "sync", err, nil); synced != "/a" {
			t.Errorf("sync: %q", synced)
		}
		want(t, "delete of a parent", c.Delete("/a", -1), zk.ErrNotEmpty)
		want(t, "delete at another version", c.Delete(path, 7), zk.ErrBadVersion)
		want(t, "delete", c.Delete(path, 0), nil)
		want(t, "delete again", c.Delete(path, 0), zk.ErrNoNode)
		want(t, "credentials", c.AddAuth("digest", []byte("user:password")), nil)
	})
}

func TestTheLibraryGetsEvents(t *testing.T) {
	library(t, func(t *testing.T, s *server, open func() *zk.Conn) {
		c, other := open(), open()
		_, _, created, err := c.ExistsW("/a")
		want(t, "exists", err, nil)
		_, _, names, err := c.ChildrenW("/")
		want(t, "children", err, nil)
		_, err = other.Create("/a", nil, 0, everybody)
		want(t, "create", err, nil)
		wantEvent(t, "a new node", created, zk.EventNodeCreated)
		wantEvent(t, "a new child", names, zk.EventNodeChildrenChanged)
		_, _, changed, err := c.GetW("/a")
		want(t, "get", err, nil)
		_, err = other.Set("/a", []byte("x"), -1)
		want(t, "set", err, nil)
		wantEvent(t, "new data", changed, zk.EventNodeDataChanged)
		_, _, deleted, err := c.ExistsW("/a")
		want(t, "exists", err, nil)
		want(t, "delete", other.Delete("/a", -1), nil)
		wantEvent(t, "a deleted node", deleted, zk.EventNodeDeleted)
	})
}

// After a reconnection the library sets its watches again, and hears of what happened
// meanwhile.
func TestTheLibrarySetsItsWatchesAgain(t *testing.T) {
	library(t, func(t *testing.T, s *server, open func() *zk.Conn) {
		c := open()
		for _, path := range []string{"/a", "/b", "/c"} {
			_, err := c.Create(path, nil, 0, everybody)
			want(t, "create", err, nil)
		}
		id := c.SessionID()
		var watches []<-chan zk.Event
		for _, path := range []string{"/b", "/a", "/d"} {
			_, _, w, err := c.ExistsW(path)
			want(t, "exists", err, nil)
			watches = append(watches, w)
		}
		_, _, names, err := c.ChildrenW("/c")
		want(t, "children", err, nil)
		s.hangUp()
		s.mu.Lock()
		for _, do := range []zookeeper.Command{
			{Verb: zookeeper.SetData, Path: "/b", Version: -1},
			{Verb: zookeeper.Delete, Path: "/a", Version: -1},
			{Verb: zookeeper.Create, Path: "/c/x"},
		} {
			x, _ := s.leader.Propose(s.now(), id, 1, do)
			s.commit(x)
		}
		s.mu.Unlock()
		wantEvent(t, "changed meanwhile", watches[0], zk.EventNodeDataChanged)
		wantEvent(t, "deleted meanwhile", watches[1], zk.EventNodeDeleted)
		wantEvent(t, "with another child meanwhile", names, zk.EventNodeChildrenChanged)
		if c.SessionID() != id {
			t.Error("the library has another session")
		}
		_, err = c.Create("/d", nil, 0, everybody)
		want(t, "create", err, nil)
		wantEvent(t, "created later", watches[2], zk.EventNodeCreated)
		order := []model.Watch{
			{Kind: model.DataWatch, Path: "/a"},
			{Kind: model.DataWatch, Path: "/b"},
			{Kind: model.ExistWatch, Path: "/d"},
			{Kind: model.ChildWatch, Path: "/c"},
		}
		if !slices.Equal(s.watches, order) {
			t.Errorf("the watches are %v, want %v", s.watches, order)
		}
	})
}

// A session that the server no longer hears from ends, with its ephemeral nodes.
func TestTheLibraryLosesItsSession(t *testing.T) {
	library(t, func(t *testing.T, s *server, open func() *zk.Conn) {
		c, other := open(), open()
		id := c.SessionID()
		_, err := c.Create("/a", nil, zk.FlagEphemeral, everybody)
		want(t, "create", err, nil)
		time.Sleep(3 * length) // heartbeats keep it
		_, _, gone, err := other.ExistsW("/a")
		want(t, "exists", err, nil)
		s.mu.Lock()
		x, _ := s.leader.Close(s.now(), id, 0)
		s.commit(x)
		s.mu.Unlock()
		wantEvent(t, "its node", gone, zk.EventNodeDeleted)
		time.Sleep(length)
		if again := c.SessionID(); again == id || again == 0 {
			t.Errorf("the session is %#x after %#x", again, id)
		}
		_, err = c.Create("/a", nil, zk.FlagEphemeral, everybody)
		want(t, "create", err, nil)
	})
}

// The lock of the library has one holder at a time.
func TestTheLockOfTheLibrary(t *testing.T) {
	library(t, func(t *testing.T, s *server, open func() *zk.Conn) {
		var order []string
		first := zk.NewLock(open(), "/locks/a", everybody)
		second := zk.NewLock(open(), "/locks/a", everybody)
		want(t, "lock", first.Lock(), nil)
		done := make(chan struct{})
		go func() {
			defer close(done)
			want(t, "the other lock", second.Lock(), nil)
			order = append(order, "second")
			want(t, "the other unlock", second.Unlock(), nil)
		}()
		time.Sleep(length)
		order = append(order, "first")
		want(t, "unlock", first.Unlock(), nil)
		<-done
		if !slices.Equal(order, []string{"first", "second"}) {
			t.Errorf("the order is %q", order)
		}
	})
}

// An operation that the model lacks is named.
func TestMissingOperationsAreNamed(t *testing.T) {
	library(t, func(t *testing.T, s *server, open func() *zk.Conn) {
		c := open()
		for name, do := range map[string]func() error{
			"multi":                      func() error { _, err := c.Multi(&zk.DeleteRequest{Path: "/a"}); return err },
			"getACL":                     func() error { _, _, err := c.GetACL("/"); return err },
			"setACL":                     func() error { _, err := c.SetACL("/", everybody, -1); return err },
			"reconfig":                   func() error { _, err := c.IncrementalReconfig(nil, nil, -1); return err },
			"createContainer":            func() error { _, err := c.CreateContainer("/a", nil, zk.FlagContainer, everybody); return err },
			"createTTL":                  func() error { _, err := c.CreateTTL("/a", nil, zk.FlagTTL, everybody, 1); return err },
			"create without permissions": func() error { _, err := c.Create("/a", nil, 0, nil); return err },
		} {
			s.missing = nil
			if err := do(); err == nil || !slices.Equal(s.missing, []string{name}) {
				t.Errorf("%s: %v; the names are %q", name, err, s.missing)
			}
			time.Sleep(length / 2) // the library connects again
		}
	})
}
