package docker

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// Tamper removes or changes an entry of a lock, as an operator does who asks this server. It
// chooses among the entries that the server has reported. It does nothing if the server is
// down, paused or a replica, or fails to answer.
func (e *Environment) Tamper(server string, how faults.Tampering, nth int) error {
	return e.onMachine(server, func(m machine) error {
		if err := m.tamper(e.Ctx, how, nth); err != nil {
			e.Log.Printf("%s did not serve the operator: %v", server, err)
		}
		return nil
	})
}

// seesEntries returns an error if an operator is to choose among entries that nobody
// observes.
func (e *Environment) seesEntries() error {
	for _, in := range e.Cfg.Schedule {
		if f, ok := faults.Find(in.Fault); ok && f.Operator != "" && e.Observes() == nil {
			return &env.ProtocolError{Misuse: in.Fault + " needs a lock whose entries lockcheck knows. A worker declares them in its answer to init: docs/worker.md"}
		}
	}
	return nil
}

// overwrite changes the value of a key, or of the first field of a hash.
const overwrite = `if redis.call('TYPE', KEYS[1]).ok == 'hash' then
  return redis.call('HSET', KEYS[1], redis.call('HKEYS', KEYS[1])[1], ARGV[1])
end
return redis.call('SET', KEYS[1], ARGV[1], 'XX', 'KEEPTTL')`

// tamper implements machine: it deletes a key, or changes its value.
func (s *server) tamper(ctx context.Context, how faults.Tampering, nth int) error {
	f := s.current()
	if f == nil || s.gate.wasPaused(time.Now()) {
		return nil
	}
	key, ok := s.ledger.nth(nth)
	if !ok {
		return nil
	}
	c, talk, err := s.connect(ctx, "the operator", f)
	if err != nil {
		return err
	}
	defer c.close()
	words := []string{"DEL", key}
	if how == faults.Overwriting {
		words = []string{"EVAL", overwrite, "1", key, env.OperatorsValue}
	}
	sent, answered := talk.Begin(words, operator)
	sent(nil)
	if _, err := c.do(words...); err != nil {
		return err
	}
	answered(nil)
	return nil
}

// nth returns the key of the nth entry; ok is false if there is none.
func (l *ledger) nth(nth int) (key string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	makers := map[string]int64{}
	for key, e := range l.entries {
		makers[key] = e.op
	}
	key, ok = env.NthEntry(makers, nth)
	return key, ok && !l.dropped
}

// tamper implements machine: it deletes a node in a session of its own, or changes its data,
// and leaves the session of the node's client.
func (m *member) tamper(ctx context.Context, how faults.Tampering, nth int) error {
	n := m.ensemble.nodes
	path, ok := n.nth(nth)
	if !ok || !m.serves() {
		return nil
	}
	o, err := m.open(session{password: make([]byte, passwordLength)}, tellLimit)
	if err != nil {
		return err
	}
	defer o.conn.Close()
	defer context.AfterFunc(ctx, func() { o.conn.Close() })()
	const xid = 1
	n.AddRequest(o.session, xid, operator)
	kind, request := int32(jute.OpDelete), jute.AppendBuffer(nil, path)
	if how == faults.Overwriting {
		kind, request = jute.OpSetData, jute.AppendBuffer(request, env.OperatorsValue)
	}
	zxid, err := o.ask(xid, kind, jute.AppendInt(request, zookeeper.AnyVersion))
	if err != nil {
		return err
	}
	n.Committed(ctx.Done(), zxid)
	_, err = o.ask(closingXid, jute.OpCloseSession, nil)
	return err
}

// nth returns the path of the nth entry; ok is false if there is none.
func (n *nodes) nth(nth int) (path string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	makers := map[string]int64{}
	for path, node := range n.live {
		makers[path] = node.op
	}
	path, ok = env.NthEntry(makers, nth)
	return path, ok && !n.dropped
}

// tamper implements machine: it deletes the row with the grant or changes its owner, or kills
// the connection that keeps a named lock. A statement waits for the row's lock like any other.
func (s *mysqld) tamper(ctx context.Context, how faults.Tampering, nth int) error {
	p := s.primary
	p.mu.Lock()
	leads, reign := s == p.first && !p.rising, p.rows.now()
	p.mu.Unlock()
	name, session, of, ok := p.rows.nth(nth)
	if !ok || !leads || !s.serves() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	var err error
	switch {
	case session != 0 && how == faults.Removal:
		err = s.kill(ctx, session)
	case session == 0:
		means := mysql.Frees
		if how == faults.Overwriting {
			means = mysql.Grants
		}
		err = s.tamperRow(ctx, how, of, name, func(session int64) {
			p.rows.addCommand(reign, session, sentCommand{op: operator, means: means}, true)
		})
	}
	if err == nil {
		p.rows.await(ctx.Done(), reign, p.rows.ask())
	}
	return err
}

// nth returns the name of the nth entry, and the connection that keeps it or else the table
// of its row; ok is false if there is none.
func (r *rows) nth(nth int) (name string, session int64, of audited, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	makers := map[string]int{}
	for lock, op := range r.grants {
		if op != 0 {
			makers[lock] = op
		}
	}
	for name, n := range r.named {
		if n.session != 0 {
			makers[name] = n.op
		}
	}
	name, ok = env.NthEntry(makers, nth)
	if n := r.named[name]; n != nil {
		session = n.session
	}
	return name, session, r.of, ok && !r.dropped
}

// tamperRow deletes the present row of a lock or changes its owner, on a connection that
// sends learns before. A row that replaces it meanwhile stays, and so does another owner.
func (s *mysqld) tamperRow(ctx context.Context, how faults.Tampering, of audited, lock string, sends func(session int64)) error {
	found, err := rowsNow(ctx, s.db, of)
	row, there := found[lock]
	if err != nil || !there {
		return err
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var session int64
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&session); err != nil {
		return err
	}
	sends(session)
	statement, same, args := "DELETE FROM "+of.name(), "", []any{lock, row.ID}
	if how == faults.Overwriting {
		was := row
		columns, row := was.Rename(env.OperatorsValue)
		column, value, old := of.column("", "owner"), row.Owner, was.Owner
		if columns == mysql.Queue {
			column, value, old = of.column("", "fair_queue"), row.Queue, was.Queue
		}
		statement = fmt.Sprintf("UPDATE %s SET %s = ?", of.name(), column)
		same, args = " AND "+column+" <=> ?", []any{value.S, lock, row.ID, sql.NullString{String: old.S, Valid: old.Valid}}
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf("%s WHERE %s = ? AND %s = ?%s", statement, of.column("", "resource"), of.column("", "id"), same), args...)
	return err
}
