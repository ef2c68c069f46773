package client

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

// statement is a command as SQL.
type statement struct {
	verb mysql.Verb
	text strings.Builder
	args []any // the values of the placeholders, in order
}

// now is NOW(3) in milliseconds since 1970: the time at which the server began
// the statement, even if it has waited since.
const now = "CAST(UNIX_TIMESTAMP(NOW(3))*1000 AS SIGNED)"

// selects reads a row, if it exists, and always the time. It locks the same as a
// SELECT of the row alone.
const selects = "SELECT n.at, r.id, r.resource, r.version_no, r.expire_time, r.fair_queue, r.owner" +
	" FROM (SELECT " + now + " AS at) n LEFT JOIN " + mysql.Table + " r ON r.resource = ?"

// forEver is the longest wait of GET_LOCK, in seconds: a year. MariaDB rejects
// negative values.
const forEver = 365 * 24 * 3600

var errCommand = errors.New("mysql client: no such command")

// newStatement returns cmd as SQL.
func newStatement(cmd mysql.Command) (*statement, error) {
	q := &statement{verb: cmd.Verb}
	switch cmd.Verb {
	case mysql.Select:
		q.add(selects, cmd.Row.Resource)
	case mysql.SelectForUpdate:
		q.add(selects+" FOR UPDATE", cmd.Row.Resource)
	case mysql.Insert:
		q.add("INSERT INTO " + mysql.Table + " SET ")
		q.assign(mysql.Resource|mysql.Version|mysql.Expires|mysql.Queue|mysql.Owner, cmd)
		q.add(cmd.Means.Comment())
	case mysql.Update:
		q.add("UPDATE " + mysql.Table + " SET ")
		q.assign(cmd.Set, cmd)
		q.where(cmd)
		q.add(cmd.Means.Comment())
	case mysql.Delete:
		q.add("DELETE FROM " + mysql.Table)
		q.where(cmd)
		q.add(cmd.Means.Comment())
	case mysql.Isolate:
		q.add("SET SESSION TRANSACTION ISOLATION LEVEL " + cmd.Isolation.String())
	case mysql.Begin:
		q.add("START TRANSACTION")
	case mysql.Commit:
		q.add("COMMIT")
	case mysql.Rollback:
		q.add("ROLLBACK")
	case mysql.GetLock:
		q.add("SELECT GET_LOCK(?, "+seconds(cmd.Wait)+")", cmd.Name)
	case mysql.ReleaseLock:
		q.add("SELECT RELEASE_LOCK(?)", cmd.Name)
	case mysql.IsUsedLock:
		q.add("SELECT IS_USED_LOCK(?)", cmd.Name)
	case mysql.Kill:
		q.add("KILL CONNECTION ?", cmd.Int)
	case mysql.SetWaitTimeout:
		q.add("SET SESSION wait_timeout = ?", max(1, int64((cmd.Wait+time.Second-1)/time.Second)))
	case mysql.Ping:
		q.add("DO 0")
	default:
		return nil, errCommand
	}
	return q, nil
}

func (q *statement) add(text string, args ...any) {
	q.text.WriteString(text)
	q.args = append(q.args, args...)
}

// columns are the table's columns, in the order of mysql.Columns.
var columns = []struct {
	is           mysql.Columns
	name, equals string
	value        func(mysql.Row) any
}{
	{mysql.ID, "id", " = ", func(r mysql.Row) any { return r.ID }},
	{mysql.Resource, "resource", " = ", func(r mysql.Row) any { return r.Resource }},
	{mysql.Version, "version_no", " = ", func(r mysql.Row) any { return r.Version }},
	{mysql.Expires, "expire_time", " = ", func(r mysql.Row) any { return r.Expires }},
	{mysql.Queue, "fair_queue", " <=> ", func(r mysql.Row) any { return text(r.Queue) }},
	{mysql.Owner, "owner", " <=> ", func(r mysql.Row) any { return text(r.Owner) }},
}

func text(t mysql.Text) any {
	if !t.Valid {
		return nil
	}
	return t.S
}

// assign sets the columns of set, and the lease's if cmd has one.
func (q *statement) assign(set mysql.Columns, cmd mysql.Command) {
	if cmd.Lease != 0 {
		set |= mysql.Expires
	}
	between := ""
	for _, k := range columns {
		switch {
		case set&k.is == 0:
			continue
		case k.is == mysql.Expires && cmd.Lease != 0:
			q.add(between+k.name+" = "+now+" + ?", cmd.Lease.Milliseconds())
		default:
			q.add(between+k.name+" = ?", k.value(cmd.Row))
		}
		between = ", "
	}
}

// where adds the conditions. For nullable columns NULL equals NULL.
func (q *statement) where(cmd mysql.Command) {
	between := " WHERE "
	for _, k := range columns {
		if cmd.Where&k.is != 0 {
			q.add(between+k.name+k.equals+"?", k.value(cmd.Match))
			between = " AND "
		}
	}
}

// seconds formats the timeout of GET_LOCK.
func seconds(wait time.Duration) string {
	if wait < 0 {
		return strconv.Itoa(forEver)
	}
	return strconv.FormatFloat(wait.Seconds(), 'f', 3, 64)
}

// send executes the statement on conn and waits for the answer. If it may have
// been sent and no answer comes, it closes the connection.
func (q *statement) send(ctx, wait context.Context, conn *sql.Conn) (mysql.Reply, error) {
	if ctx.Err() != nil {
		return mysql.Reply{}, locks.Definite(context.Cause(ctx))
	}
	r, err := q.execute(wait, conn)
	if err == nil {
		return r, nil
	}
	if r, ok := q.refusal(err); ok {
		return r, nil
	}
	hangUp(conn)
	switch {
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone):
		err = mysql.ErrSessionOver // the driver returns this only if it has written nothing
	case wait.Err() != nil:
		err = context.Cause(wait)
	case !errors.Is(err, mysql.ErrProtocol):
		err = fmt.Errorf("%w: %v", mysql.ErrConnectionLost, err)
	}
	return mysql.Reply{}, err
}

// refusals are the server's errors after which the statement is certain to have
// had no effect and the session continues. After any other error the outcome is
// unknown.
var refusals = map[uint16]bool{
	uint16(mysql.Duplicate): true, uint16(mysql.NoSuchSession): true, uint16(mysql.LockTimeout): true,
	uint16(mysql.DeadlockFound): true, uint16(mysql.LockDeadlock): true, uint16(mysql.ReadOnlyServer): true,
	uint16(mysql.Interrupted): true, uint16(mysql.TooLong): true,
}

// refusal returns the server's refusal in err, if it is one. A session that
// killed itself gets an error of this form, too, but it is over.
func (q *statement) refusal(err error) (mysql.Reply, bool) {
	var e *mysqldriver.MySQLError
	if !errors.As(err, &e) || !refusals[e.Number] || q.verb == mysql.Kill && e.Number == uint16(mysql.Interrupted) {
		return mysql.Reply{}, false
	}
	return mysql.Reply{Code: mysql.Code(e.Number)}, true
}

func (q *statement) execute(ctx context.Context, conn *sql.Conn) (r mysql.Reply, err error) {
	switch q.verb {
	case mysql.Select, mysql.SelectForUpdate:
		return q.row(ctx, conn)
	case mysql.GetLock, mysql.ReleaseLock, mysql.IsUsedLock:
		var n sql.NullInt64
		err = q.ask(ctx, conn, &n)
		return mysql.Reply{Int: n.Int64, Null: err == nil && !n.Valid}, err
	}
	done, err := conn.ExecContext(ctx, q.text.String(), q.args...)
	switch {
	case err != nil:
	case q.verb == mysql.Insert:
		r.ID, err = done.LastInsertId()
	case q.verb == mysql.Update, q.verb == mysql.Delete:
		r.Affected, err = done.RowsAffected()
	}
	return r, err
}

// row reads the answer to selects.
func (q *statement) row(ctx context.Context, conn *sql.Conn) (r mysql.Reply, err error) {
	var n NullRow
	err = q.ask(ctx, conn, append([]any{&r.Now}, n.Fields()...)...)
	if row := n.Row(); row != nil {
		r.Row, r.Found = *row, true
	}
	return r, err
}

// NullRow is a row as it is scanned; it may be absent.
type NullRow struct {
	id, version, expires   sql.NullInt64
	resource, queue, owner sql.NullString
}

// Fields returns the targets of a scan, in the order of mysql.Columns.
func (n *NullRow) Fields() []any {
	return []any{&n.id, &n.resource, &n.version, &n.expires, &n.queue, &n.owner}
}

// Row returns the row; nil: it is absent.
func (n *NullRow) Row() *mysql.Row {
	if !n.id.Valid {
		return nil
	}
	return &mysql.Row{
		ID: n.id.Int64, Resource: n.resource.String, Version: n.version.Int64, Expires: n.expires.Int64,
		Queue: mysql.Text{S: n.queue.String, Valid: n.queue.Valid}, Owner: mysql.Text{S: n.owner.String, Valid: n.owner.Valid},
	}
}

// ask executes a statement whose answer is one row. The server may also send an
// error instead.
func (q *statement) ask(ctx context.Context, conn *sql.Conn, row ...any) error {
	rows, err := conn.QueryContext(ctx, q.text.String(), q.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return cmp.Or(rows.Err(), mysql.ErrProtocol)
	}
	if err := rows.Scan(row...); err != nil {
		return fmt.Errorf("%w: %v", mysql.ErrProtocol, err)
	}
	rows.Next() // read to the end
	return rows.Err()
}
