package adapters_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/mysql"

	"github.com/lockcheck/lockcheck"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

// github.com/golang-migrate/migrate/v4/database/mysql: GET_LOCK on a connection of its own.
// The lock's name comes from that of the migrations table. Lock waits for 10 s at most, and
// takes no context: like migrate itself, the adapter opens a driver for each use, and
// closes it afterwards.

func newMigrate(e *lockcheck.Env) (lockcheck.Lock, error) {
	db, err := sql.Open("mysql", e.DSN()+"?multiStatements=true")
	if err != nil {
		return lockcheck.Lock{}, err
	}
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			conn, err := db.Conn(ctx)
			if err != nil {
				return lockcheck.Grant{}, err
			}
			driver, err := mysql.WithConnection(ctx, conn, &mysql.Config{MigrationsTable: name})
			if err == nil {
				err = driver.Lock()
			}
			if err != nil {
				conn.Close()
				return lockcheck.Grant{}, err
			}
			return lockcheck.Grant{Release: func(context.Context) error {
				return errors.Join(driver.Unlock(), driver.Close())
			}}, nil
		},
		Refused: func(err error) bool { return errors.Is(err, database.ErrLocked) },
		Close:   db.Close,
	}, nil
}

func TestMigrate(t *testing.T) {
	if os.Getenv("LOCKCHECK_WORKER") == "" { // in the processes of its clients the turn is not theirs
		dockertest.Require(t)
	}
	lockcheck.Test(t, lockcheck.MySQL(), newMigrate, lockcheck.On("docker"),
		lockcheck.Faults("none", "pause", "kill", "delay"), lockcheck.Promise("exclusion", "liveness"))
}
