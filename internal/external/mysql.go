package external

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// mysqlStore is a MySQL server. Only a declaration says in which table locks are.
type mysqlStore struct {
	access
	db     *sql.DB
	tables []worker.MySQLEntry
	before []string // rows without our prefix before the run
}

func (m *mysqlStore) find(ctx context.Context) ([]*server, error) {
	s, err := m.newServer("mysql-1", m.Addrs()[0], worker.TargetMySQL)
	if err == nil {
		err = m.connect(ctx, s.addr)
	}
	return []*server{s}, err
}

func (m *mysqlStore) prepare(context.Context, string) error { return nil }

// connect connects. With MySQL 8 this also lets clients prove who they are over a link
// without TLS: the server remembers the password (caching_sha2_password).
func (m *mysqlStore) connect(ctx context.Context, addr string) error {
	name, err := m.DSN(addr)
	if err != nil {
		return err
	}
	c, err := mysql.ParseDSN(name)
	if err != nil {
		return fmt.Errorf("mysql at %s: the data source name is wrong", addr) // the error may show the password
	}
	if c.TLS, err = m.TLSConfig(addr); err != nil {
		return err
	}
	c.Logger, c.Timeout, c.ReadTimeout, c.WriteTimeout = &mysql.NopLogger{}, answerLimit, answerLimit, answerLimit
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return err
	}
	m.db = sql.OpenDB(connector)
	if err := m.db.PingContext(ctx); err != nil {
		return fmt.Errorf("mysql at %s: %w", addr, err)
	}
	return nil
}

// declare notes the rows that are there: the tables may be used by others.
func (m *mysqlStore) declare(ctx context.Context, entries []worker.Entry) (err error) {
	for _, e := range entries {
		if !e.MySQL.GetLock {
			m.tables = append(m.tables, *e.MySQL)
		}
	}
	if m.before, err = m.rows(ctx, " NOT LIKE ?", Mark); err != nil {
		return &env.ProtocolError{Misuse: "the table has to be there when init is answered: " + err.Error()}
	}
	return nil
}

// rows returns the rows of the declared tables whose keys fit a text.
func (m *mysqlStore) rows(ctx context.Context, fits, text string) (list []string, err error) {
	for _, t := range m.tables {
		found, err := m.db.QueryContext(ctx, "SELECT `"+t.Key+"` FROM `"+t.Table+"` WHERE `"+t.Key+"`"+fits, "%"+text+"%")
		if err != nil {
			return nil, err
		}
		for found.Next() {
			var key sql.NullString
			if err := found.Scan(&key); err != nil {
				found.Close()
				return nil, err
			}
			list = append(list, fmt.Sprintf("%s.%s = %q", t.Table, t.Key, key.String))
		}
		found.Close()
		if err := found.Err(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// strange returns the rows without our prefix that were not there before the run. Another
// program may have made them.
func (m *mysqlStore) strange(ctx context.Context) ([]string, error) {
	now, err := m.rows(ctx, " NOT LIKE ?", Mark)
	return slices.DeleteFunc(now, func(row string) bool { return slices.Contains(m.before, row) }), err
}

func (m *mysqlStore) others(ctx context.Context) ([]string, error) {
	return m.rows(ctx, " LIKE ?", Mark)
}

// remove removes the rows of declared tables whose keys contain the prefix.
func (m *mysqlStore) remove(ctx context.Context, prefix string) (removed []string, err error) {
	if removed, err = m.rows(ctx, " LIKE ?", prefix); err != nil || len(removed) == 0 {
		return removed, err
	}
	for _, t := range m.tables {
		if _, err := m.db.ExecContext(ctx, "DELETE FROM `"+t.Table+"` WHERE `"+t.Key+"` LIKE ?", "%"+prefix+"%"); err != nil {
			return nil, err
		}
	}
	return removed, nil
}

func (m *mysqlStore) close() {
	if m.db != nil {
		m.db.Close()
	}
}

// words returns at most ten of a list, for people.
func words(list []string) string {
	const most = 10
	if len(list) > most {
		list = append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most))
	}
	return strings.Join(list, ", ")
}
