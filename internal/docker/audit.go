package docker

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	mysqlclient "github.com/lockcheck/lockcheck/internal/stores/mysql/client"
)

// audit reads the table in which triggers record each change of the locks' rows, in the
// same transaction: its connection, and the row before and after. The harness reads it
// on its own connection. It is replicated like the rows.
type audit struct {
	last int64 // the last line read
	// missing are absent lines before it: their transactions are still open, or were
	// undone. The transaction of such a line is below the value. 0: the value is not
	// known yet.
	missing map[int64]int64
}

// auditLine is one change. before is nil for a new row, after for a deleted one.
type auditLine struct {
	id, session   int64
	before, after *mysql.Row
}

// audited is a table with the rows of locks: the built-in locks' own, which is the zero
// value, or one that a worker declares.
type audited struct{ table, key, owner string }

// name returns the name of the table.
func (t audited) name() string { return cmp.Or(t.table, mysql.Table) }

// column returns the expression of a column of a row, whose name row is empty or ends with
// a dot. A worker's table has a lock and an owner only.
func (t audited) column(row, c string) string {
	switch {
	case t.table == "":
		return row + c
	case c == "resource":
		return row + t.key
	case c == "owner":
		return row + t.owner
	case c == "fair_queue":
		return "NULL"
	}
	return "0"
}

// auditTable is the name of the audit table.
const auditTable = mysql.Table + "_audit"

// rowColumns are the columns of a row, in the order that scan expects.
var rowColumns = []string{"id", "resource", "version_no", "expire_time", "fair_queue", "owner"}

// auditSchema returns the statements that create the audit table and the triggers of a
// table. NULLs stand in for an absent row.
func auditSchema(of audited) []string {
	var columns, into []string
	for _, when := range []string{"old_", "new_"} {
		for _, c := range rowColumns {
			kind := "BIGINT"
			switch c {
			case "resource", "owner":
				kind = fmt.Sprintf("VARCHAR(%d)", mysql.NameLength)
			case "fair_queue":
				kind = fmt.Sprintf("VARCHAR(%d)", mysql.QueueLength)
			}
			columns = append(columns, when+c+" "+kind)
			into = append(into, when+c)
		}
	}
	list := []string{fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (line BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, session BIGINT NOT NULL, %s) "+
		"ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin", auditTable, strings.Join(columns, ", "))}
	for event, has := range map[string][2]bool{"INSERT": {false, true}, "UPDATE": {true, true}, "DELETE": {true, false}} {
		var values []string
		for i, row := range []string{"OLD.", "NEW."} {
			for _, c := range rowColumns {
				if has[i] {
					values = append(values, of.column(row, c))
				} else {
					values = append(values, "NULL")
				}
			}
		}
		list = append(list, fmt.Sprintf("CREATE TRIGGER IF NOT EXISTS %[1]s_%[2]s AFTER %[2]s ON %[1]s FOR EACH ROW INSERT INTO %[3]s (session, %[4]s) VALUES (CONNECTION_ID(), %[5]s)",
			of.name(), event, auditTable, strings.Join(into, ", "), strings.Join(values, ", ")))
	}
	return list
}

// read returns the changes that were committed since its last call. Those of one row
// are in order, because a transaction keeps its rows until it ends.
func (a *audit) read(ctx context.Context, db *sql.DB) (lines []auditLine, err error) {
	oldest := int64(0)
	if len(a.missing) > 0 {
		next, open, err := transactions(ctx, db)
		if err != nil {
			return nil, err
		}
		oldest = open
		for id, below := range a.missing {
			if below == 0 {
				a.missing[id] = next
			}
		}
	}
	query := "SELECT * FROM " + auditTable + " WHERE line > ?"
	args := []any{a.last}
	for _, id := range slices.Sorted(maps.Keys(a.missing)) {
		query += " OR line = ?"
		args = append(args, id)
	}
	found, err := db.QueryContext(ctx, query+" ORDER BY line", args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var l auditLine
		var before, after mysqlclient.NullRow
		if err := found.Scan(slices.Concat([]any{&l.id, &l.session}, before.Fields(), after.Fields())...); err != nil {
			return nil, err
		}
		l.before, l.after = before.Row(), after.Row()
		lines = append(lines, l)
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	a.note(lines, oldest)
	return lines, nil
}

// note records that these lines were read while oldest was the first open transaction.
// Absent lines of earlier transactions will never appear.
func (a *audit) note(lines []auditLine, oldest int64) {
	for _, l := range lines {
		delete(a.missing, l.id)
	}
	maps.DeleteFunc(a.missing, func(_, below int64) bool { return below != 0 && below <= oldest })
	for _, l := range lines {
		for id := a.last + 1; id < l.id; id++ {
			a.missing[id] = 0
		}
		a.last = max(a.last, l.id)
	}
}

var (
	nextTransaction = regexp.MustCompile(`Trx id counter (\d+)`)
	openTransaction = regexp.MustCompile(`(?m)^---TRANSACTION (\d+), (?:ACTIVE|COMMITTED|PREPARED)`)
)

// transactions returns the number of the next transaction that changes something, and
// of the first open one; next without an open one. InnoDB's own table of transactions may
// be 0.1 s old.
func transactions(ctx context.Context, db *sql.DB) (next, oldest int64, err error) {
	var engine, name, status string
	if err := db.QueryRowContext(ctx, "SHOW ENGINE INNODB STATUS").Scan(&engine, &name, &status); err != nil {
		return 0, 0, err
	}
	counter := nextTransaction.FindStringSubmatch(status)
	if counter == nil {
		return 0, 0, errors.New("the InnoDB status has no number of the next transaction")
	}
	if next, err = strconv.ParseInt(counter[1], 10, 64); err != nil {
		return 0, 0, err
	}
	oldest = next
	for _, open := range openTransaction.FindAllStringSubmatch(status, -1) {
		id, err := strconv.ParseInt(open[1], 10, 64)
		if err != nil {
			return 0, 0, err
		}
		oldest = min(oldest, id)
	}
	return next, oldest, nil
}

// rowsNow returns the rows of a table, by their resource. A row without an owner in a
// worker's table is no entry.
func rowsNow(ctx context.Context, db *sql.DB, of audited) (map[string]mysql.Row, error) {
	var columns []string
	for _, c := range rowColumns {
		columns = append(columns, of.column("", c))
	}
	found, err := db.QueryContext(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM "+of.name())
	if err != nil {
		return nil, err
	}
	defer found.Close()
	rows := map[string]mysql.Row{}
	for found.Next() {
		var n mysqlclient.NullRow
		if err := found.Scan(n.Fields()...); err != nil {
			return nil, err
		}
		if row := n.Row(); of.table == "" || isOwned(row) {
			rows[row.Resource] = *row
		}
	}
	return rows, found.Err()
}

// auditNow returns an audit that has read everything so far.
func auditNow(ctx context.Context, db *sql.DB) (audit, error) {
	a := audit{missing: map[int64]int64{}}
	err := db.QueryRowContext(ctx, "SELECT COALESCE(MAX(line), 0) FROM "+auditTable).Scan(&a.last)
	return a, err
}
