package model_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
)

const ms = time.Millisecond

// desk is a server that tags its statements 1, 2, …, on a clock that only the
// test moves.
type desk struct {
	*testing.T
	*model.Server
	now model.Clock
	tag int
}

func newDesk(t *testing.T) *desk {
	return &desk{T: t, Server: model.New(model.Options{}), now: model.Clock{Wall: 1_700_000_000 * time.Second}}
}

func (d *desk) open() int64 { return d.Connect(d.now) }

// do executes c in session and asserts its effects.
func (d *desk) do(session int64, c mysql.Command, want ...actedEffect) {
	d.Helper()
	d.tag++
	d.Do(d.now, session, d.tag, c)
	d.wantEffects(want...)
}

// actedEffect is an effect and the statement that caused it.
type actedEffect struct {
	kind      model.EffectKind
	name      string
	maker, by int
}

// wantEffects asserts the effects since the last call.
func (d *desk) wantEffects(want ...actedEffect) {
	d.Helper()
	var got []actedEffect
	for _, o := range d.Outputs() {
		if o.Kind == model.Acted {
			got = append(got, actedEffect{o.Effect.Kind, o.Effect.Name, o.Effect.Maker, o.By})
		}
	}
	if !slices.Equal(got, want) {
		d.Errorf("after statement %d: got %v, want %v", d.tag, got, want)
	}
}

func verb(v mysql.Verb) mysql.Command { return mysql.Command{Verb: v} }

func insert(resource string) mysql.Command {
	return mysql.Command{Verb: mysql.Insert, Row: mysql.Row{Resource: resource, Expires: 5}, Means: mysql.Grants}
}

// takeOver leases the row of resource and changes its version.
func takeOver(resource string, version int64) mysql.Command {
	return mysql.Command{
		Verb: mysql.Update, Set: mysql.Version | mysql.Expires, Row: mysql.Row{Version: version},
		Lease: time.Duration(version) * time.Second, Where: mysql.Resource, Match: mysql.Row{Resource: resource}, Means: mysql.Grants,
	}
}

func remove(resource string) mysql.Command {
	return mysql.Command{Verb: mysql.Delete, Where: mysql.Resource, Match: mysql.Row{Resource: resource}, Means: mysql.Frees}
}

func forUpdate(resource string) mysql.Command {
	return mysql.Command{Verb: mysql.SelectForUpdate, Row: mysql.Row{Resource: resource}}
}

func get(name string) mysql.Command {
	return mysql.Command{Verb: mysql.GetLock, Name: name, Wait: time.Hour}
}

func release(name string) mysql.Command { return mysql.Command{Verb: mysql.ReleaseLock, Name: name} }

func TestEffectsOfRows(t *testing.T) {
	d := newDesk(t)
	a, b := d.open(), d.open()
	d.do(a, insert("k"), actedEffect{model.Created, "k", 1, 1})
	d.do(b, insert("k"))
	d.do(b, takeOver("k", 1), actedEffect{model.TakenOver, "k", 1, 3})
	d.do(a, verb(mysql.Begin))
	d.do(a, takeOver("k", 2))
	d.do(a, remove("k"))
	d.do(a, insert("k"))
	d.do(b, remove("k")) // waits
	d.do(a, verb(mysql.Commit),
		actedEffect{model.TakenOver, "k", 3, 5}, actedEffect{model.Removed, "k", 5, 6}, actedEffect{model.Created, "k", 7, 7},
		actedEffect{model.Removed, "k", 7, 8})
	d.do(a, verb(mysql.Begin))
	d.do(a, insert("k"))
	d.do(a, verb(mysql.Rollback))
}

func TestEffectsOfRowsLockedForUpdate(t *testing.T) {
	d := newDesk(t)
	a, b := d.open(), d.open()
	d.do(a, mysql.Command{Verb: mysql.Insert, Row: mysql.Row{Resource: "k"}})
	d.do(a, forUpdate("k")) // only for this statement
	d.do(a, verb(mysql.Begin))
	d.do(a, forUpdate("none"))
	d.do(a, forUpdate("k"), actedEffect{model.Created, "k", 5, 5})
	d.do(a, forUpdate("k"))
	d.do(b, verb(mysql.Begin))
	d.do(b, forUpdate("k")) // waits
	d.do(a, verb(mysql.Commit), actedEffect{model.Removed, "k", 5, 9}, actedEffect{model.Created, "k", 8, 8})
	d.do(a, verb(mysql.Begin))
	d.do(a, forUpdate("k")) // waits
	d.Disconnect(d.now, b)
	d.wantEffects(actedEffect{model.SessionOver, "k", 8, 0}, actedEffect{model.Created, "k", 11, 11})
	d.do(a, verb(mysql.Rollback), actedEffect{model.Removed, "k", 11, 12})
}

// A session that waits for a purged row continues at once, without further
// statements.
func TestThePurgeEndsWaits(t *testing.T) {
	d := newDesk(t)
	a, b, c := d.open(), d.open(), d.open()
	d.do(a, insert("k"), actedEffect{model.Created, "k", 1, 1})
	d.do(a, verb(mysql.Begin))
	d.do(a, remove("k"))
	d.do(b, mysql.Command{Verb: mysql.Isolate, Isolation: mysql.ReadCommitted})
	d.do(b, verb(mysql.Begin))
	d.do(b, forUpdate("k")) // waits, and then has the rest of the row
	d.do(c, insert("k"))    // waits behind it
	d.do(a, verb(mysql.Commit), actedEffect{model.Removed, "k", 1, 3}, actedEffect{model.Created, "k", 7, 7})
}

func TestEffectsOfNamedLocks(t *testing.T) {
	d := newDesk(t)
	a, b := d.open(), d.open()
	d.do(a, get("n"), actedEffect{model.Created, "n", 1, 1})
	d.do(a, get("n"), actedEffect{model.Prolonged, "n", 1, 2})
	d.do(b, get("n")) // waits
	d.do(a, release("n"))
	d.do(a, release("n"), actedEffect{model.Removed, "n", 1, 5}, actedEffect{model.Created, "n", 3, 3})
	d.do(a, get("m"), actedEffect{model.Created, "m", 6, 6})
	d.do(a, mysql.Command{Verb: mysql.Kill, Int: b}, actedEffect{model.SessionOver, "n", 3, 0})
	c := d.open()
	d.do(c, get("k"), actedEffect{model.Created, "k", 8, 8})
	d.do(a, get("k")) // waits
	d.Kill(d.now, c)
	d.wantEffects(actedEffect{model.SessionOver, "k", 8, 0}, actedEffect{model.Created, "k", 9, 9})
	d.do(a, release("k"), actedEffect{model.Removed, "k", 9, 10})
	d.Kill(d.now, c) // already over
	d.wantEffects()
	d.Advance(model.Clock{Mono: 8*time.Hour - 1})
	d.wantEffects()
	d.Advance(model.Clock{Mono: 8 * time.Hour})
	d.wantEffects(actedEffect{model.SessionOver, "m", 6, 0})
}

// The client of a waiter for a named lock is checked once a second.
func TestAWaiterWhoIsGone(t *testing.T) {
	d := newDesk(t)
	a, b, c := d.open(), d.open(), d.open()
	d.do(a, get("n"), actedEffect{model.Created, "n", 1, 1})
	d.do(b, get("n"))
	d.do(c, get("n"))
	d.now.Mono = 1300 * ms
	d.Disconnect(d.now, b)
	if due, _ := d.Next(); due != 2*time.Second {
		t.Errorf("the next check is at %v, want 2 s", due)
	}
	d.now.Mono = 2 * time.Second
	d.Advance(d.now)
	d.do(a, release("n"), actedEffect{model.Removed, "n", 1, 4}, actedEffect{model.Created, "n", 3, 3})
}

func TestReplication(t *testing.T) {
	d, r := newDesk(t), newDesk(t)
	r.Follow()
	a := d.open()
	d.do(a, insert("k"), actedEffect{model.Created, "k", 1, 1})
	d.do(a, insert("l"), actedEffect{model.Created, "l", 2, 2})
	d.do(a, takeOver("k", 1), actedEffect{model.TakenOver, "k", 1, 3})
	d.do(a, remove("l"), actedEffect{model.Removed, "l", 2, 4})
	for i, want := range []map[string]int{{"k": 1}, {"k": 1, "l": 2}, {"k": 3, "l": 2}, {"k": 3}} {
		for _, txn := range d.Transactions(r.Committed())[:1] {
			r.Replicate(d.now, txn)
		}
		r.wantEffects()
		r.holds(want)
		if r.Committed() != int64(i+1) {
			t.Errorf("it has %d transactions, want %d", r.Committed(), i+1)
		}
	}
	r.Lead(d.now)
	r.tag = 10
	r.do(r.open(), takeOver("k", 2), actedEffect{model.TakenOver, "k", 3, 11})
	d.do(a, insert("l"), actedEffect{model.Created, "l", 5, 5})
	d.CopyFrom(d.now, r.Server)
	d.wantEffects(actedEffect{model.Lost, "k", 3, 0}, actedEffect{model.Lost, "l", 5, 0})
	d.holds(map[string]int{"k": 11})
	if got, want := d.AppendState(nil, d.now), model.New(model.Options{}); bytes.Equal(got, want.AppendState(nil, d.now)) {
		t.Error("the copy is empty")
	}
}

// holds asserts that the rows belong to the grants of these statements.
func (d *desk) holds(want map[string]int) {
	d.Helper()
	got := map[string]int{}
	for name, maker := range d.Entries {
		got[name] = maker
	}
	if len(got) != len(want) {
		d.Errorf("got %v, want %v", got, want)
	}
	for name, maker := range want {
		if got[name] != maker {
			d.Errorf("%s is %d's, want %d's", name, got[name], maker)
		}
	}
}

func TestCrash(t *testing.T) {
	d := newDesk(t)
	a, b := d.open(), d.open()
	d.do(a, insert("k"), actedEffect{model.Created, "k", 1, 1})
	d.do(a, insert("l"), actedEffect{model.Created, "l", 2, 2})
	d.do(a, takeOver("k", 1), actedEffect{model.TakenOver, "k", 1, 3})
	d.do(a, remove("l"), actedEffect{model.Removed, "l", 2, 4})
	d.do(a, get("n"), actedEffect{model.Created, "n", 5, 5})
	d.do(b, get("n"))
	d.do(a, verb(mysql.Begin))
	d.do(a, takeOver("k", 2))
	d.Crash(d.now, 2)
	d.wantEffects(actedEffect{model.SessionOver, "n", 5, 0}, actedEffect{model.Lost, "k", 3, 0}, actedEffect{model.Created, "k", 1, 0}, actedEffect{model.Created, "l", 2, 0})
	d.holds(map[string]int{"k": 1, "l": 2})
	d.tag = 20
	d.do(a, insert("m")) // its session is over
	d.do(d.open(), insert("m"), actedEffect{model.Created, "m", 22, 22})
	d.Crash(d.now, d.Committed())
	d.wantEffects()
	d.holds(map[string]int{"k": 1, "l": 2, "m": 22})
}
