package porttest

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// The statements.
func begin() mysql.Command    { return mysql.Command{Verb: mysql.Begin} }
func commit() mysql.Command   { return mysql.Command{Verb: mysql.Commit} }
func rollback() mysql.Command { return mysql.Command{Verb: mysql.Rollback} }
func ping() mysql.Command     { return mysql.Command{Verb: mysql.Ping} }

func isolate(level mysql.Isolation) mysql.Command {
	return mysql.Command{Verb: mysql.Isolate, Isolation: level}
}

func read(resource string) mysql.Command {
	return mysql.Command{Verb: mysql.Select, Row: mysql.Row{Resource: resource}}
}

func forUpdate(resource string) mysql.Command {
	return mysql.Command{Verb: mysql.SelectForUpdate, Row: mysql.Row{Resource: resource}}
}

func insert(r mysql.Row) mysql.Command { return mysql.Command{Verb: mysql.Insert, Row: r} }

// update sets the version of the row of resource.
func update(resource string, version int64) mysql.Command {
	return mysql.Command{
		Verb: mysql.Update, Set: mysql.Version, Row: mysql.Row{Version: version},
		Where: mysql.Resource, Match: mysql.Row{Resource: resource},
	}
}

// updateID sets the version of the row with that id.
func updateID(id, version int64) mysql.Command {
	c := update("", version)
	c.Where, c.Match = mysql.ID, mysql.Row{ID: id}
	return c
}

func remove(resource string) mysql.Command {
	return mysql.Command{Verb: mysql.Delete, Where: mysql.Resource, Match: mysql.Row{Resource: resource}}
}

func removeID(id int64) mysql.Command {
	return mysql.Command{Verb: mysql.Delete, Where: mysql.ID, Match: mysql.Row{ID: id}}
}

// ifVersion restricts c to a row of that version.
func ifVersion(version int64, c mysql.Command) mysql.Command {
	c.Where |= mysql.Version
	c.Match.Version = version
	return c
}

func getLock(name string, wait time.Duration) mysql.Command {
	return mysql.Command{Verb: mysql.GetLock, Name: name, Wait: wait}
}

func releaseLock(name string) mysql.Command {
	return mysql.Command{Verb: mysql.ReleaseLock, Name: name}
}

func isUsedLock(name string) mysql.Command {
	return mysql.Command{Verb: mysql.IsUsedLock, Name: name}
}

func kill(session int64) mysql.Command { return mysql.Command{Verb: mysql.Kill, Int: session} }

func setWaitTimeout(d time.Duration) mysql.Command {
	return mysql.Command{Verb: mysql.SetWaitTimeout, Wait: d}
}

// row returns a row of resource. The table numbers it.
func row(resource string, version int64) mysql.Row {
	return mysql.Row{Resource: resource, Version: version, Expires: 10}
}

// The answers.
var (
	okay     = mysql.Reply{}
	nothing  = mysql.Reply{}
	missed   = mysql.Reply{}
	hit      = mysql.Reply{Affected: 1}
	yes      = mysql.Reply{Int: 1}
	no       = mysql.Reply{}
	null     = mysql.Reply{Null: true}
	deadlock = refused(mysql.DeadlockFound)
)

func made(id int64) mysql.Reply           { return mysql.Reply{ID: id} }
func refused(code mysql.Code) mysql.Reply { return mysql.Reply{Code: code} }

// found is the answer with the row of resource, with that id and version.
func found(resource string, id, version int64) mysql.Reply {
	r := row(resource, version)
	r.ID = id
	return mysql.Reply{Found: true, Row: r}
}

// within puts the named lock of c under prefix.
func within(prefix string, c mysql.Command) mysql.Command {
	if c.Name != "" {
		c.Name = prefix + c.Name
	}
	return c
}

var columns = [...]string{"id", "resource", "version", "expires", "queue", "owner"}

// describe formats c for people.
func describe(c mysql.Command) string {
	s := c.Verb.String()
	switch c.Verb {
	case mysql.Select, mysql.SelectForUpdate:
		s += fmt.Sprintf(" %q", c.Row.Resource)
	case mysql.Insert:
		s += " " + list(c.Row, ^mysql.ID)
	case mysql.Update:
		s += " SET " + list(c.Row, c.Set)
	case mysql.Isolate:
		s += " " + c.Isolation.String()
	case mysql.GetLock, mysql.ReleaseLock, mysql.IsUsedLock:
		s += fmt.Sprintf(" %q", c.Name)
	case mysql.Kill:
		s += fmt.Sprintf(" %d", c.Int)
	}
	if c.Where != 0 {
		s += " WHERE " + list(c.Match, c.Where)
	}
	if c.Lease != 0 {
		s += fmt.Sprintf(", for %v", c.Lease)
	}
	if c.Wait != 0 {
		s += fmt.Sprintf(", %v", c.Wait)
	}
	return s
}

// list formats the columns of set in r.
func list(r mysql.Row, set mysql.Columns) string {
	var parts []string
	for i, v := range [...]any{r.ID, brief(r.Resource), r.Version, r.Expires, text(r.Queue), text(r.Owner)} {
		if set&(1<<i) != 0 {
			parts = append(parts, fmt.Sprintf("%s %v", columns[i], v))
		}
	}
	return strings.Join(parts, ", ")
}

func text(t mysql.Text) string {
	if !t.Valid {
		return "NULL"
	}
	return brief(t.S)
}

func brief(s string) string { return fmt.Sprintf("%.40q", s) }

// show formats r for people.
func show(r mysql.Reply) string {
	if r.Code != mysql.OK {
		return r.Code.Error()
	}
	s := fmt.Sprintf("id %d, affected %d, int %d, null %t", r.ID, r.Affected, r.Int, r.Null)
	if r.Found {
		s += ", row " + list(r.Row, ^mysql.Columns(0))
	}
	return s
}
