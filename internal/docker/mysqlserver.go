package docker

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"
)

// MySQLServer is a MySQL server (Debian's MariaDB) that is not of a run, for
// tests of what talks to one. It is up at first.
type MySQLServer struct {
	box
	flags []string
}

const (
	mysqlPort = "3306/tcp"
	// mysqlAdmin has all rights, and no password: see Dockerfile. The clients'
	// user may write nothing to a server that is read only.
	mysqlAdmin = "root"
	// mysqlDatabase is the clients'.
	mysqlDatabase = "lockcheck"
)

// mysqlCommand starts a server on the files of mysqlData, with further flags;
// those that are loose not every server knows.
// What it keeps in memory is small, because many of them run side by side; for
// the same reason it does without io_uring, of which a machine has only so much.
func mysqlCommand(flags ...string) string {
	return "$(command -v mariadbd || command -v mysqld) " + quote(append([]string{
		"--no-defaults", "--user=root", "--datadir=/data/mysql", "--pid-file=/data/pid", "--socket=/data/mysql.sock",
		"--bind-address=0.0.0.0", "--skip-name-resolve", "--performance-schema=OFF", "--innodb-use-native-aio=OFF",
		"--loose-innodb-log-file-size=4M", "--innodb-buffer-pool-size=8M", "--key-buffer-size=1M", "--loose-aria-pagecache-buffer-size=1M", "--loose-mysqlx=OFF",
		"--innodb-buffer-pool-dump-at-shutdown=OFF", "--innodb-buffer-pool-load-at-startup=OFF",
	}, flags...)) + " >>/data/log 2>&1"
}

// MySQL starts a server with further flags, and returns when it answers.
func MySQL(ctx context.Context, opts Options, flags ...string) (*MySQLServer, error) {
	e, self, image, err := prepare(ctx, opts)
	if err != nil {
		return nil, err
	}
	s := &MySQLServer{box: box{engine: e}, flags: flags}
	if image, err = e.mysqlImage(ctx, image, 1); err == nil {
		s.id, s.Addr, err = e.create(ctx, self, image, mysqlPort)
	}
	if err == nil {
		err = s.Start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// Start starts the server on the files that it has, and returns when it answers.
func (s *MySQLServer) Start(ctx context.Context) error {
	if err := s.engine.exec(ctx, s.id, mysqlData()+" && exec "+mysqlCommand(s.flags...), true); err != nil {
		return err
	}
	return s.engine.answered(ctx, "a MySQL server", s.id, func() error { return pingMySQL(ctx, s.Addr) })
}

// Admin is a pool of connections that may do everything.
func (s *MySQLServer) Admin() (*sql.DB, error) { return openMySQL(s.Addr) }

// Close removes the container.
func (s *MySQLServer) Close(ctx context.Context) error {
	var err error
	if s.id != "" {
		err = s.engine.remove(ctx, s.id)
	}
	return errors.Join(err, s.engine.close())
}

// pingMySQL asks the server at addr for an answer.
func pingMySQL(ctx context.Context, addr string) error {
	db, err := openMySQL(addr)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.PingContext(ctx)
}

// openMySQL is a pool of the administrator's connections to the server at addr.
func openMySQL(addr string) (*sql.DB, error) {
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.DBName = "tcp", addr, mysqlAdmin, mysqlDatabase
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
