package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// words returns a message in short, for its record.
func (m *message) words() string {
	switch {
	case m.kind == rst:
		return "closes the connection"
	case m.kind == dial && m.toUp:
		return "connects"
	case m.kind == dial && m.err != nil:
		return "refuses the connection"
	case m.kind == dial:
		return "accepts the connection"
	case m.kind == notice && m.zk != nil && m.conn.server.member != nil:
		return strings.TrimSpace(events[m.zk.event.Type] + " " + m.zk.event.Path)
	case m.kind == notice && m.wired == nil:
		return "the master is " + m.master.name
	case m.conn.server == m.conn.client.net.resource:
		return accessWords(m)
	case m.wired != nil && m.zk == nil:
		return wiredWords(m)
	case m.conn.server.member != nil:
		return packetWords(m.zk, m.toUp)
	case m.conn.server.database != nil && m.toUp:
		return statementWords(&m.sql.command)
	case m.conn.server.database != nil:
		return rowsWords(&m.sql.command, &m.sql.reply)
	case m.toUp:
		return commandWords(&m.command)
	}
	return replyWords(&m.reply)
}

func join(words ...string) string {
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

func accessWords(m *message) string {
	a := &m.access
	if !m.toUp {
		switch {
		case m.answer.Stale:
			return "refused: the token is stale"
		case a.Write:
			return "written"
		}
		return strconv.FormatInt(m.answer.Value, 10)
	}
	words := history.Read
	if a.Write {
		words = fmt.Sprint(history.Write, " ", a.Value)
	}
	if a.Token != 0 {
		words += fmt.Sprint(", token ", a.Token)
	}
	return words
}

// commandWords returns a Redis command in short. A script is what it does.
func commandWords(c *redis.Command) string {
	px, nx := "", ""
	if c.TTL > 0 {
		px = "PX " + milliseconds(c.TTL)
	}
	if c.NX {
		nx = "NX"
	}
	incr := ""
	if c.Counter != "" {
		incr = ", INCR " + c.Counter
	}
	switch c.Verb {
	case redis.Set, redis.SetNX, redis.GetSet, redis.RPush:
		return join(c.Verb.String(), c.Key, c.Value, nx, px)
	case redis.PExpire:
		return join("PEXPIRE", c.Key, milliseconds(c.TTL))
	case redis.Wait:
		return join("WAIT", strconv.FormatInt(c.N, 10), milliseconds(c.TTL))
	case redis.CompareAndDelete:
		return join("DEL", c.Key, "if it is", c.Value)
	case redis.Grant:
		return join("SET", c.Key, c.Value, "NX", px) + incr
	case redis.Claim:
		return join("SET", c.Key, c.Value, px, "if missing or the same") + incr
	case redis.Extend:
		return join("PEXPIRE", c.Key, milliseconds(c.TTL), "if it is", c.Value)
	case redis.Replace:
		return join("SET", c.Key, c.Value, px, "if missing or", c.Old)
	}
	return join(c.Verb.String(), c.Key)
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

func replyWords(r *redis.Reply) string {
	switch r.Kind {
	case redis.Nil:
		return "nil"
	case redis.Int:
		return strconv.FormatInt(r.Int, 10)
	}
	return r.Str
}

// wiredWords returns a message in the protocol of Redis in short.
func wiredWords(m *message) string {
	if m.toUp {
		return short(join(m.wired.Words...))
	}
	return short(join(strings.ReplaceAll(string(m.wired.data), "\r\n", " ")))
}

// short cuts what code outside sends: its scripts are long.
func short(s string) string {
	const most = 60
	if r := []rune(strings.ToValidUTF8(s, "?")); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

var events = [...]string{
	zookeeper.NodeCreated: "created", zookeeper.NodeDeleted: "deleted",
	zookeeper.NodeDataChanged: "data changed", zookeeper.NodeChildrenChanged: "children changed",
	zookeeper.Closed: "closed",
}

// packetWords returns a message of ZooKeeper in short.
func packetWords(k *packet, toUp bool) string {
	switch {
	case !toUp && k.ended:
		return "the session has ended"
	case k.ask == hello && toUp && k.session == 0:
		return "opens a session"
	case k.ask == hello && toUp:
		return "continues its session"
	case k.ask == hello:
		return "session of " + milliseconds(k.length) + " ms"
	case k.ask == ping && toUp:
		return "ping"
	case k.ask == rewatch && toUp:
		return "sets its watches again"
	case k.ask == farewell && toUp:
		return "closes its session"
	case k.ask != request:
		return "ok"
	case !toUp && k.reply.Code != zookeeper.OK:
		return strings.TrimPrefix(k.reply.Code.Error(), "zookeeper: ")
	case !toUp && k.command.Verb == zookeeper.Create:
		return k.reply.Path
	case !toUp && k.command.Verb == zookeeper.GetChildren:
		return short(join(k.reply.Children...))
	case !toUp && k.command.Verb == zookeeper.GetData:
		return join("ok", k.reply.Data)
	case !toUp:
		return "ok"
	}
	watch := ""
	if k.command.Watch {
		watch = "with a watch"
	}
	return join(k.command.Verb.String(), k.command.Path, k.command.Data, watch)
}

// statementWords returns a statement of MySQL in short.
func statementWords(c *mysql.Command) string {
	switch c.Verb {
	case mysql.Select, mysql.SelectForUpdate, mysql.Insert:
		return join(c.Verb.String(), c.Row.Resource)
	case mysql.Update, mysql.Delete:
		return join(c.Verb.String(), c.Match.Resource)
	case mysql.Isolate:
		return join(c.Verb.String(), c.Isolation.String())
	case mysql.Kill:
		return join(c.Verb.String(), strconv.FormatInt(c.Int, 10))
	}
	return join(c.Verb.String(), c.Name)
}

func rowsWords(c *mysql.Command, r *mysql.Reply) string {
	switch {
	case r.Code != mysql.OK:
		return strings.TrimPrefix(r.Code.Error(), "mysql: ")
	case c.Verb == mysql.Select || c.Verb == mysql.SelectForUpdate:
		if !r.Found {
			return "no row"
		}
		return join("a row", r.Row.Owner.S)
	case c.Verb == mysql.Update || c.Verb == mysql.Delete:
		return fmt.Sprint(r.Affected, " affected")
	case c.Verb == mysql.GetLock || c.Verb == mysql.ReleaseLock || c.Verb == mysql.IsUsedLock:
		if r.Null {
			return "NULL"
		}
		return strconv.FormatInt(r.Int, 10)
	}
	return "ok"
}
