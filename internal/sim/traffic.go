package sim

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// mostMessages is how many messages of a run are recorded.
const mostMessages = 100_000

// traffic is the record of a run's messages.
type traffic struct {
	list []history.Message
	left int
}

// add records a message and returns its number, from 1; 0: it is left out.
func (t *traffic) add(m history.Message) int {
	if len(t.list) == mostMessages {
		t.left++
		return 0
	}
	t.list = append(t.list, m)
	return len(t.list)
}

// sent implements record.
func (t *traffic) sent(now time.Duration, m *message) {
	c := m.conn
	x := history.Message{Sent: now, From: c.server.name, To: c.client.name, Type: history.Reply, Text: m.words()}
	if w := c.waiter; w != nil && w.client != nil {
		x.To = w.client.name // a process's connections serve all of its clients
	}
	if m.toUp {
		x.From, x.To, x.Type = x.To, x.From, history.Request
	}
	switch {
	case m.kind == call && c.server == m.conn.client.net.resource:
		x.By = m.access.By
	case m.kind == call:
		x.By = m.op
	case m.kind == notice, m.kind == rst && !m.toUp:
		x.Type = history.Notice
	}
	m.noted = t.add(x)
}

// arrived implements record.
func (t *traffic) arrived(now time.Duration, m *message) {
	if m.noted > 0 {
		t.reached(now, m.noted)
		t.list[m.noted-1].Late = m.isLate()
	}
}

// between implements record.
func (t *traffic) between(now time.Duration, from, to *server, text string) int {
	return t.add(history.Message{Sent: now, From: from.name, To: to.name, Type: history.Replication, Text: short(text)})
}

// reached implements record.
func (t *traffic) reached(now time.Duration, noted int) {
	if noted > 0 {
		t.list[noted-1].Arrived = now
	}
}

// lost implements record.
func (t *traffic) lost(noted int) {
	if noted > 0 {
		t.list[noted-1].Lost = true
	}
}

// isLate reports whether nobody waits any more for m, or for the answer to it.
func (m *message) isLate() bool {
	if m.kind != call {
		return false
	}
	switch owner := m.conn.owner.(type) {
	case nil:
		return m.conn.waiter == nil
	case *Wire:
		return owner.closed
	}
	return !m.conn.open
}
