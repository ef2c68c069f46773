package docker

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/go-sql-driver/mysql"
)

// MySQLServer is a MySQL server (Debian's MariaDB): one of a run (mysqld), or another one
// for tests, which runs at first.
type MySQLServer struct {
	box
	flags []string
	db    *sql.DB // our own connections
}

const (
	mysqlPort = "3306/tcp"
	// mysqlAdmin has all rights, and no password: see Dockerfile. The clients' user may
	// not write to a server that is read only.
	mysqlAdmin = "root"
	// mysqlDatabase is the database of clients.
	mysqlDatabase = "lockcheck"
)

// mysqlCommand returns the command that starts a server on the files of mysqlData, with
// additional flags. Some servers do not know the flags with "loose". The server uses
// little memory and no io_uring, which is limited on a machine, because many servers
// run in parallel.
func mysqlCommand(flags ...string) string {
	return "$(command -v mariadbd || command -v mysqld) " + quote(append([]string{
		"--no-defaults", "--user=root", "--datadir=/data/mysql", "--pid-file=/data/pid", "--socket=/data/mysql.sock",
		"--bind-address=0.0.0.0", "--skip-name-resolve", "--performance-schema=OFF", "--innodb-use-native-aio=OFF",
		"--loose-innodb-log-file-size=4M", "--innodb-buffer-pool-size=8M", "--key-buffer-size=1M", "--loose-aria-pagecache-buffer-size=1M", "--loose-mysqlx=OFF",
		"--innodb-buffer-pool-dump-at-shutdown=OFF", "--innodb-buffer-pool-load-at-startup=OFF",
	}, flags...)) + " >>/data/log 2>&1"
}

// MySQL starts a server with additional flags, and returns when it answers.
func MySQL(ctx context.Context, opts Options, flags ...string) (*MySQLServer, error) {
	e, image, err := prepare(ctx, opts)
	if err != nil {
		return nil, err
	}
	s := &MySQLServer{box: box{engine: e, name: "a MySQL server"}, flags: flags}
	if image, err = e.mysqlImage(ctx, image, 1); err == nil {
		err = s.create(ctx, image)
	}
	if err == nil {
		err = s.Start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// create makes the container, and opens our connections.
func (s *MySQLServer) create(ctx context.Context, image string) (err error) {
	if _, err = s.box.create(ctx, image, mysqlPort); err == nil {
		s.db, err = openMySQL(s.Addr)
	}
	return err
}

// Start starts the server on its files, with more flags, and returns when it answers.
func (s *MySQLServer) Start(ctx context.Context, flags ...string) error {
	return s.startBy(ctx, mysqlData()+" && exec "+mysqlCommand(slices.Concat(s.flags, flags)...))
}

// startBy starts the server by a script, and returns when it answers.
func (s *MySQLServer) startBy(ctx context.Context, script string) error {
	if err := s.spawn(ctx, script); err != nil {
		return err
	}
	return s.awaitAnswer(ctx, func() error { return s.db.PingContext(ctx) })
}

// Admin returns a pool of connections with all rights.
func (s *MySQLServer) Admin() (*sql.DB, error) { return openMySQL(s.Addr) }

// Close removes the container.
func (s *MySQLServer) Close(ctx context.Context) error {
	return errors.Join(s.remove(ctx), s.engine.close())
}

func (s *MySQLServer) remove(ctx context.Context) error {
	if s.db != nil {
		s.db.Close()
	}
	return s.box.remove(ctx)
}

// openMySQL returns a pool of the administrator's connections to the server at addr.
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
