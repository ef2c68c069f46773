package client_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/client"
	"github.com/lockcheck/lockcheck/locks"
)

// tester has a table with the row "r".
type tester struct {
	*testing.T
	options client.Options
	admin   *sql.DB
}

// newClient resets the table and returns a client.
func (t *tester) newClient() (mysql.Port, *client.Client, *wires) {
	t.Helper()
	t.run("TRUNCATE " + client.Database + "." + mysql.Table)
	p, c, w := newClient(t, t.options)
	if _, err := p.Insert(t.Context(), 0, mysql.Row{Resource: "r"}, 0); err != nil {
		t.Fatal(err)
	}
	return p, c, w
}

// run executes a statement as the administrator.
func (t *tester) run(text string, args ...any) {
	t.Helper()
	if _, err := t.admin.ExecContext(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

// kill ends a session and waits for its end.
func (t *tester) kill(h mysql.Handle) {
	t.Helper()
	t.run(fmt.Sprintf("KILL %d", h.ID()))
	t.until("the session has ended", func() bool {
		var n int
		err := t.admin.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ?", h.ID()).Scan(&n)
		return err == nil && n == 0
	})
}

// until waits until so returns true.
func (t *tester) until(what string, so func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("not so after %v: %s", patience, what)
		}
	}
}

// fails asserts the error and whether it is definite.
func (t *tester) fails(what string, err, want error, definite bool) {
	t.Helper()
	if !errors.Is(err, want) || locks.IsDefinite(err) != definite {
		t.Errorf("%s: got error %v (definite: %v), want %v (%v)", what, err, locks.IsDefinite(err), want, definite)
	}
}

// fine asserts that so is true and err is nil.
func (t *tester) fine(what string, so bool, err error) {
	t.Helper()
	if err != nil || !so {
		t.Errorf("%s: unexpected result, or error %v", what, err)
	}
}

// holds locks the row until the session ends.
func (t *tester) holds(h mysql.Handle) {
	t.Helper()
	must(t, h.Begin(t.Context(), 0))
	_, found, _, err := h.SelectForUpdate(t.Context(), 0, "r")
	t.fine("SelectForUpdate", found, err)
}

// waits sends a statement that waits for the row, and returns when it waits.
func (t *tester) waits(ctx context.Context, h mysql.Handle, timeout time.Duration) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, _, _, err := h.SelectForUpdate(ctx, timeout, "r")
		done <- err
	}()
	t.until("the statement waits", func() bool {
		var name string
		var n int
		err := t.admin.QueryRow("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'").Scan(&name, &n)
		return err == nil && n == 1
	})
	return done
}

// free waits until a named lock has no holder.
func (t *tester) free(name string) {
	t.Helper()
	t.until(name+" is free", func() bool {
		var owner sql.NullInt64
		err := t.admin.QueryRow("SELECT IS_USED_LOCK(?)", name).Scan(&owner)
		return err == nil && !owner.Valid
	})
}
