package porttest

import (
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// watchCase is watches, set after the commands before, and the only events that
// may follow the commands then.
type watchCase struct {
	name   string
	before []zookeeper.Command
	set    []zookeeper.Command
	then   []zookeeper.Command
	want   []zookeeper.Event
}

type (
	commands = []zookeeper.Command
	events   = []zookeeper.Event
)

var (
	node  = create("/a", "", persistent)
	child = create("/a/b", "", persistent)
	set   = setData("/a", "v", anyVersion)
	gone  = remove("/a", anyVersion)
	other = create("/b", "", persistent)
	below = create("/a/b/c", "", persistent)
)

func watchCases() []watchCase {
	return []watchCase{
		{
			name: "exists of a missing node fires only on its creation",
			set:  commands{watching(exists("/a"))},
			then: commands{other, node, set, gone, node},
			want: events{created("/a")},
		},
		{
			name:   "exists fires on new data",
			before: commands{node},
			set:    commands{watching(exists("/a"))},
			then:   commands{other, child, set, set, remove("/a/b", anyVersion), gone},
			want:   events{changed("/a")},
		},
		{
			name:   "exists fires on the deletion",
			before: commands{node},
			set:    commands{watching(exists("/a"))},
			then:   commands{gone, node, set},
			want:   events{deleted("/a")},
		},
		{
			name: "getData of a missing node leaves no watch",
			set:  commands{watching(getData("/a"))},
			then: commands{node, set, gone},
		},
		{
			name:   "getData fires on new data",
			before: commands{node},
			set:    commands{watching(getData("/a"))},
			then:   commands{child, set, set},
			want:   events{changed("/a")},
		},
		{
			name:   "getData fires on equal data",
			before: commands{node, set},
			set:    commands{watching(getData("/a"))},
			then:   commands{set},
			want:   events{changed("/a")},
		},
		{
			name:   "getData fires on the deletion",
			before: commands{node},
			set:    commands{watching(getData("/a"))},
			then:   commands{gone},
			want:   events{deleted("/a")},
		},
		{
			name: "getChildren of a missing node leaves no watch",
			set:  commands{watching(children("/a"))},
			then: commands{node, child},
		},
		{
			name:   "getChildren fires on a new child",
			before: commands{node},
			set:    commands{watching(children("/a"))},
			then:   commands{set, child, remove("/a/b", anyVersion)},
			want:   events{listChanged("/a")},
		},
		{
			name:   "getChildren fires on a deleted child",
			before: commands{node, child},
			set:    commands{watching(children("/a"))},
			then:   commands{setData("/a/b", "v", anyVersion), below, remove("/a/b/c", anyVersion), remove("/a/b", anyVersion), gone},
			want:   events{listChanged("/a")},
		},
		{
			name:   "getChildren fires on the deletion",
			before: commands{node},
			set:    commands{watching(children("/a"))},
			then:   commands{gone, node, child},
			want:   events{deleted("/a")},
		},
		{
			name:   "several on one node: one event",
			before: commands{node},
			set:    commands{watching(exists("/a")), watching(getData("/a")), watching(exists("/a")), watching(children("/a"))},
			then:   commands{gone, node},
			want:   events{deleted("/a")},
		},
		{
			name:   "data and children are separate events",
			before: commands{node},
			set:    commands{watching(getData("/a")), watching(children("/a"))},
			then:   commands{set, child, set},
			want:   events{changed("/a"), listChanged("/a")},
		},
		{
			name:   "the node first, then the parent",
			before: commands{node},
			set:    commands{watching(exists("/a")), watching(children(""))},
			then:   commands{gone},
			want:   events{deleted("/a"), listChanged("")},
		},
		{
			name: "the new node first, then the parent",
			set:  commands{watching(children("")), watching(exists("/a"))},
			then: commands{node},
			want: events{created("/a"), listChanged("")},
		},
		{
			name:   "a refused request fires nothing",
			before: commands{node, child},
			set:    commands{watching(getData("/a")), watching(children("/a")), watching(exists("/b")), watching(children(""))},
			then:   commands{node, gone, setData("/a", "", 7), create("/a/b", "", persistent), remove("/b", anyVersion), create("/b/c", "", persistent)},
		},
		{
			name:   "a sequential node fires by its final name",
			before: commands{node},
			set:    commands{watching(exists("/a/s-0000000000")), watching(exists("/a/s-"))},
			then:   commands{create("/a/s-", "", sequential)},
			want:   events{created("/a/s-0000000000")},
		},
	}
}

var watchTests = tests{
	{"each kind", watchTable},
	{"an event comes before the reply that shows the change", eventFirst},
	{"all watchers get one event each", allTold},
	{"a fired watch can be set again", setAgain},
}

// watchTable makes the changes from the watching session, and from a session at
// another server.
func watchTable(t *tester) {
	for _, c := range watchCases() {
		for name, server := range map[string]int{"own": 0, "another's": 1} {
			t.Run(c.name+", "+name, func(tt *testing.T) {
				t := newTester(tt, t.World)
				watcher := t.open(0, long)
				actor := watcher
				if server != 0 {
					actor = t.open(server, long)
				}
				for _, do := range c.before {
					t.ok(watcher, do)
				}
				t.ok(watcher, flush(""))
				for _, do := range c.set {
					t.do(watcher, do)
				}
				for _, do := range c.then {
					t.do(actor, do)
				}
				t.wantEvents(watcher, c.want...)
				t.wantNoEvent(watcher)
			})
		}
	}
}

func eventFirst(t *tester) {
	h, other := t.open(0, long), t.open(1, long)
	t.ok(h, node)
	t.ok(h, watching(getData("/a")))
	t.ok(h, set)
	t.wantEventQueued(h, changed("/a"))
	t.ok(h, watching(exists("/a")))
	t.ok(other, set)
	for give := t.Now() + patience; t.ok(h, getData("/a")).Stat.Version < 2; t.Sleep(moment) {
		if t.Now() > give {
			t.Fatal("the change never came")
		}
	}
	t.wantEventQueued(h, changed("/a"))
	t.ok(h, watching(children("/a")))
	t.ok(other, child)
	t.ok(h, flush(""))
	t.wantEventQueued(h, listChanged("/a"))
}

func allTold(t *tester) {
	var all []zookeeper.Handle
	for server := range 3 {
		all = append(all, t.open(server, long), t.open(server, long))
	}
	for _, h := range all {
		t.ok(h, flush(""))
		t.do(h, watching(exists("/a")))
	}
	t.ok(all[1], node)
	for _, h := range all {
		t.wantEvents(h, created("/a"))
		t.wantNoEvent(h)
	}
}

func setAgain(t *tester) {
	h := t.open(0, long)
	t.do(h, watching(exists("/a")))
	for range 3 {
		t.ok(h, node)
		t.wantEvents(h, created("/a"))
		t.ok(h, watching(getData("/a")))
		t.ok(h, set)
		t.wantEvents(h, changed("/a"))
		t.ok(h, watching(exists("/a")))
		t.ok(h, gone)
		t.wantEvents(h, deleted("/a"))
		t.refused(h, watching(exists("/a")), zookeeper.NoNode)
	}
	t.wantNoEvent(h)
}

// wantEventQueued asserts that e is in the queue.
func (t *tester) wantEventQueued(h zookeeper.Handle, e zookeeper.Event) {
	t.Helper()
	e.Path = t.root + e.Path
	if got, err := h.Next(t.Context(), moment); err != nil || got != e {
		t.Fatalf("got event %v, error %v; want %v at once", got, err, e)
	}
}
