package porttest

import (
	"errors"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

// runPort calls each method of the port and of its sessions at least twice: once
// with and once without an effect.
func runPort(t *tester) {
	ctx, p := t.Context(), t.Port()
	h, err := p.Open(ctx, patience)
	if err != nil {
		t.Fatal(err)
	}
	of := func(got any, err error) func(string, any) {
		return func(what string, want any) {
			t.Helper()
			if err != nil || got != want {
				t.Errorf("%s: got %v, error %v; want %v", what, got, err, want)
			}
		}
	}
	row := func(r mysql.Row, found bool, now int64, err error) func(string, mysql.Row, bool) {
		return func(what string, want mysql.Row, wantFound bool) {
			t.Helper()
			if err != nil || r != want || found != wantFound || now <= 0 {
				t.Errorf("%s: got %+v, %t, at %d, error %v; want %+v, %t", what, r, found, now, err, want, wantFound)
			}
		}
	}
	code := func(err error) func(string, mysql.Code) {
		return func(what string, want mysql.Code) {
			t.Helper()
			if !errors.Is(err, want) || !locks.IsDefinite(err) {
				t.Errorf("%s: got error %v, want a definite %v", what, err, want)
			}
		}
	}
	name := t.prefix + "k"
	made := mysql.Row{ID: 1, Resource: "k", Expires: 5}
	newer := made
	newer.Version, newer.Queue = 1, mysql.Some("q")
	change := mysql.Change{
		Set: mysql.Version | mysql.Queue, Row: mysql.Row{Version: 1, Queue: mysql.Some("q")},
		Where: mysql.Resource | mysql.Version, Match: mysql.Row{Resource: "k"},
	}

	row(p.Select(ctx, patience, "k"))("Select of a missing row", mysql.Row{}, false)
	of(p.Insert(ctx, patience, mysql.Row{Resource: "k", Expires: 5}, 0))("Insert", int64(1))
	_, err = h.Insert(ctx, patience, mysql.Row{Resource: "k"}, 0)
	code(err)("Insert again", mysql.Duplicate)
	row(h.Select(ctx, patience, "k"))("Select", made, true)
	of(p.Update(ctx, patience, change))("Update", int64(1))
	of(h.Update(ctx, patience, change))("Update of another version", int64(0))
	of(nil, h.Isolate(ctx, patience, mysql.ReadCommitted))("Isolate", nil)
	of(nil, h.Begin(ctx, patience))("Begin", nil)
	row(h.SelectForUpdate(ctx, patience, "k"))("SelectForUpdate", newer, true)
	row(h.SelectForUpdate(ctx, patience, "l"))("SelectForUpdate of a missing row", mysql.Row{}, false)
	of(h.Delete(ctx, patience, mysql.Resource, newer))("Delete", int64(1))
	of(nil, h.Rollback(ctx, patience))("Rollback", nil)
	row(p.Select(ctx, patience, "k"))("Select after Rollback", newer, true)
	of(nil, h.Commit(ctx, patience))("Commit without changes", nil)
	of(p.Delete(ctx, patience, mysql.ID, newer))("Delete by id", int64(1))
	of(p.Delete(ctx, patience, mysql.ID, newer))("Delete of a missing row", int64(0))
	of(h.GetLock(ctx, patience, name, 0))("GetLock", true)
	of(h.IsUsedLock(ctx, patience, name))("IsUsedLock", h.ID())
	of(p.GetLock(ctx, patience, name, 50*ms))("GetLock of another's", false)
	of(p.ReleaseLock(ctx, patience, name))("ReleaseLock of another's", false)
	of(h.ReleaseLock(ctx, patience, name))("ReleaseLock", true)
	of(h.IsUsedLock(ctx, patience, name))("IsUsedLock of a free lock", int64(0))
	of(nil, h.SetWaitTimeout(ctx, patience, time.Minute))("SetWaitTimeout", nil)
	of(nil, h.Ping(ctx, patience))("Ping", nil)
	id := h.ID()
	h.Return()
	again, err := p.Open(ctx, patience)
	if err != nil || again.ID() != id {
		t.Errorf("Open after Return: got session %d, error %v; want %d again", again.ID(), err, id)
	}
	of(nil, p.Kill(ctx, patience, id))("Kill", nil)
	t.wantOver(again)
	again.Close()
	t.Settle()
	code(p.Kill(ctx, patience, id))("Kill of an unknown session", mysql.NoSuchSession)
}
