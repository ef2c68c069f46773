package docker_test

import (
	"context"
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// A change is reported when its transaction ends, however late. An undone change stops
// being awaited when no open transaction can have made it.
func TestAuditWaitsForOpenTransactions(t *testing.T) {
	t.Parallel()
	const other = "INSERT INTO " + mysql.Table + " (resource, version_no, expire_time) VALUES (?, 0, 5)"
	w := &witness{}
	observed(t, tables(t, catalogue.Server{}, w, nil, func(p *docker.Environment) {
		begin := func(client string, op int, q string, args ...any) *sql.Tx {
			db := through(t, p, client)
			docker.As(p, client, op)
			tx, err := db.BeginTx(context.Background(), nil)
			must(t, err)
			_, err = tx.Exec(q, args...)
			must(t, err)
			return tx
		}
		late := begin("c1", 1, insert, 5)
		undone := begin("c2", 2, other, "b")
		does(t, p, through(t, p, "c2"), "c2", 3, other, "c")
		until(t, p, "both are missing", func() bool { return docker.Missing(p) == 2 })
		must(t, undone.Rollback())
		does(t, p, through(t, p, "c2"), "c2", 4, other, "d")
		p.Sleep(300 * time.Millisecond) // many reads, none of which may give up the late change
		if docker.Missing(p) == 0 {
			t.Error("the open change is no longer awaited")
		}
		must(t, late.Commit())
		until(t, p, "nothing is missing", func() bool { return docker.Missing(p) == 0 })
	}))
	if want := []string{"grant a of 1 by 1"}; !slices.Equal(w.told(), want) {
		t.Errorf("events %q, want %q", w.told(), want)
	}
}
