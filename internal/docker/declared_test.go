package docker

import (
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// A declaration says which keys are entries, whatever they are called.
func TestDeclaredKeys(t *testing.T) {
	t.Parallel()
	k := newKeys(&catalogue.Lock{}, []string{"a"})
	k.declared.set(map[string]string{"lock:a": "a", "queue:a": "a"})
	for key, want := range map[string]string{"lock:a": "a", "queue:a": "a", "a": "", "lock:b": ""} {
		if got := k.lockOf(key); got != want {
			t.Errorf("%s is an entry of %q, want %q", key, got, want)
		}
	}
	if got := k.all(); !slices.Equal(got, []string{"lock:a", "queue:a"}) {
		t.Errorf("all keys: %q", got)
	}
}

// told is an observer that keeps what servers report.
type told struct {
	env.Observer
	lines []string
}

func (o *told) Server(e history.Entry) { o.lines = append(o.lines, e.F+" "+e.Key) }

// The entries of a declared node are its children, and itself if it is ephemeral. A lock
// may make the node for its children at any time.
func TestDeclaredNodes(t *testing.T) {
	t.Parallel()
	got := &told{}
	n := newNodes(&catalogue.Lock{}, []string{"a"}, got, t.Logf)
	n.declared.set(map[string]string{"/locks/a": "a"})
	n.AddRequest(7, 1, 5)
	for _, x := range []txn{
		{kind: jute.OpCreate, path: "/locks"},
		{kind: jute.OpCreate, path: "/locks/a"}, // by no operation of a client
		{kind: jute.OpCreate, path: "/locks/a/1", ephemeral: true, session: 7, xid: 1},
		{kind: jute.OpCreate, path: "/locks/b/1", ephemeral: true},
		{kind: jute.OpDelete, path: "/locks/a/1", session: 7, xid: 1},
		{kind: jute.OpDelete, path: "/locks/a"},
		{kind: jute.OpCreate, path: "/locks/a", ephemeral: true, session: 7, xid: 1},
		{kind: jute.OpDelete, path: "/locks/a", session: 7, xid: 1},
	} {
		n.commit("zk-1", x)
	}
	want := []string{"grant /locks/a/1", "remove /locks/a/1", "grant /locks/a", "remove /locks/a"}
	if !slices.Equal(got.lines, want) || !n.observes() {
		t.Errorf("%q, observed %v, want %q", got.lines, n.observes(), want)
	}
}

// A row of a worker's table belongs to the grant of its owner.
func TestDeclaredRows(t *testing.T) {
	t.Parallel()
	got := &told{}
	r := newRows([]string{"a"}, "mysql-1", got, t.Logf)
	r.dropped = true
	r.declare(audited{"locks", "name", "who"})
	row := func(owner string) *mysql.Row {
		return &mysql.Row{Resource: "a", Owner: mysql.Text{S: owner, Valid: owner != ""}}
	}
	for i, l := range []auditLine{
		{after: row("")},
		{before: row(""), after: row("c1")},
		{before: row("c1"), after: row("c2")},
		{before: row("c2"), after: row("c2")},
		{before: row("c2"), after: row("")},
		{before: row(""), after: row("c1")},
		{before: row("c1")},
	} {
		r.sent[1] = sentCommand{op: i + 1}
		l.session = 1
		r.change(l)
	}
	want := []string{"grant a", "takeover a", "grant a", "remove a", "grant a", "remove a"}
	if !slices.Equal(got.lines, want) || !r.observes() {
		t.Errorf("%q, observed %v, want %q", got.lines, r.observes(), want)
	}
}

// The triggers of a worker's table fill in what the table lacks.
func TestAuditOfADeclaredTable(t *testing.T) {
	t.Parallel()
	of := audited{"locks", "name", "who"}
	for c, want := range map[string]string{"id": "0", "resource": "NEW.name", "owner": "NEW.who", "fair_queue": "NULL", "expire_time": "0"} {
		if got := of.column("NEW.", c); got != want {
			t.Errorf("%s: %s, want %s", c, got, want)
		}
	}
	if got := (audited{}).column("OLD.", "owner"); got != "OLD.owner" {
		t.Errorf("the built-in locks' table: %s", got)
	}
}
