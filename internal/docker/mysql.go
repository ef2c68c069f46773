package docker

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// mysqld is a MySQL server of a run, in a container whose first process only sleeps:
// the server stops and starts, and keeps its address.
type mysqld struct {
	MySQLServer     // Host is "" for a server without replication
	number      int // its server_id
	fsync       catalogue.Fsync
	primary     *primary

	lost    bool    // it lost its unsynced data, which its replicas may have
	follows *mysqld // the primary that it joined last

	deposed atomic.Bool // another server is the primary, and it must start empty
}

// replicationFlags are the flags of a server with replication.
var replicationFlags = []string{
	"--log-bin=/data/mysql/binlog", "--binlog-format=ROW", "--log-slave-updates", "--gtid-strict-mode=ON",
	"--relay-log=/data/mysql/relay", "--relay-log-recovery=ON", "--slave-net-timeout=2", "--skip-slave-start",
}

// script returns a script that starts the server.
func (s *mysqld) script() string {
	var flags []string
	if s.Host != "" {
		flags = append(replicationFlags[:len(replicationFlags):len(replicationFlags)], "--server-id="+strconv.Itoa(s.number))
	}
	if s.fsync != catalogue.FsyncAlways {
		flags = append(flags, "--innodb-flush-log-at-trx-commit=0")
	}
	if s.fsync == catalogue.FsyncNone {
		flags = append(flags, "--innodb-flush-log-at-timeout=2700") // the longest possible interval, in seconds
	}
	prepare := mysqlData() + " || exit\n"
	if s.faked {
		prepare += setOffset(s.offset) + " || exit\n" + faketime
	}
	return storeBirth + prepare + "exec " + mysqlCommand(flags...)
}

// launch starts the server, and returns when it answers.
func (s *mysqld) launch(ctx context.Context) error { return s.startBy(ctx, s.script()) }

// fill creates the tables on an empty server without a primary.
func (s *mysqld) fill(ctx context.Context) error {
	list := []string{mysql.Schema}
	if s.primary.rows.builtIn() { // a worker's table has its triggers from its declaration on
		list = append(list, auditSchema(audited{})...)
	}
	return s.each(ctx, list...)
}

// each executes statements one after another, on one connection.
func (s *mysqld) each(ctx context.Context, statements ...string) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	defer conn.Close()
	for _, q := range statements {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %q: %w", s.name, q, err)
		}
	}
	return nil
}

// kill ends connections with KILL, and returns when the server no longer lists them, or
// serves no longer.
func (s *mysqld) kill(ctx context.Context, sessions ...int64) error {
	for _, id := range sessions {
		kill := fmt.Sprintf("KILL CONNECTION %d", id)
		var there int
		err := await(ctx, fmt.Sprintf("connection %d ends", id), func() (bool, error) {
			if !s.serves() {
				return true, nil
			}
			err := s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ?", id).Scan(&there)
			if err == nil && there > 0 {
				s.db.ExecContext(ctx, kill) // it may end by itself at the same time
			}
			return there == 0, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pause implements machine.
func (s *mysqld) pause(ctx context.Context) error {
	defer s.primary.change()()
	return s.stand(ctx)
}

// resume implements machine.
func (s *mysqld) resume(ctx context.Context) error {
	defer s.primary.change()()
	return s.goOn(ctx)
}

func (s *mysqld) goOn(ctx context.Context) error {
	if !s.runs() || s.serves() {
		return nil
	}
	err := s.Continue(ctx)
	s.setState(true, false)
	return err
}

// stop ends the server's process. With lose it is killed, and keeps its synced data;
// otherwise it saves everything, and is resumed for that if it is paused. A server that
// has ended by itself cannot be stopped.
func (s *mysqld) stop(ctx context.Context, lose bool) error {
	defer s.primary.change()()
	if !s.runs() {
		return nil
	}
	end := killServer
	if !lose {
		if err := s.goOn(ctx); err != nil {
			return err
		}
		end = `p=$(cat /data/pid) && kill -TERM "$p"; ` + awaitGone
	}
	if err := s.endBy(ctx, end); err != nil {
		return err
	}
	if s == s.primary.leader() {
		s.lost = lose
		s.primary.cut()
	}
	return nil
}

// start implements machine.
func (s *mysqld) start(ctx context.Context) error {
	defer s.primary.change()()
	switch {
	case s.runs():
		return nil
	case s == s.primary.leader():
		return s.primary.restart(ctx, s)
	case s.deposed.Load():
		return s.primary.rebuild(ctx, s)
	}
	if err := s.launch(ctx); err != nil {
		return err
	}
	if behind, err := s.lags(ctx); err != nil {
		return err
	} else if behind {
		s.setState(true, false)
		return s.primary.rebuild(ctx, s)
	}
	return s.primary.join(ctx, s)
}

// lags reports whether the tables of a replica have less than its log: a killed server
// has kept more of its log. It could not write again what the primary sends again.
func (s *mysqld) lags(ctx context.Context) (behind bool, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT @@gtid_binlog_pos <> @@gtid_slave_pos").Scan(&behind)
	return behind, err
}

// jump moves the server's wall clock.
func (s *mysqld) jump(ctx context.Context, by time.Duration) error {
	defer s.primary.change()()
	var shows func() (time.Duration, error)
	if s.serves() {
		shows = func() (at time.Duration, err error) {
			var micros int64
			err = s.db.QueryRowContext(ctx, "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)").Scan(&micros)
			return time.Duration(micros) * time.Microsecond, err
		}
	}
	return s.moveClock(ctx, by, shows)
}
