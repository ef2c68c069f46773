package sim

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// serveWire serves a request of code outside. It returns false if the request waits.
func (s *server) serveWire(m *message) bool {
	w := m.wired
	front := s.net.outside.Front(s.name)
	if w.timeout { // it has waited, and may have got its answer during a pause of the server
		waits := s.unblock(func(x blocked) bool { return x.message == m }) != nil
		if waits {
			w.data = front.Timeout(m.conn.front)
		}
		return waits
	}
	apply := func(cmd redis.Command) redis.Reply {
		if cmd.Verb == redis.IncrBy || cmd.Verb == redis.Store {
			s.net.count(cmd.Key)
		}
		if cmd.Instant {
			w.instants = append(w.instants, cmd.Key)
		}
		return s.redis.Apply(s.wall(), m.op, cmd)
	}
	var err error
	if w.data, err = front.Do(m.conn.front, apply, w.Words); err != nil {
		s.net.Abort(err)
	}
	s.serving = m
	s.reportEffects()
	s.serving = nil
	s.push(front)
	request, timeout := front.Blocked(m.conn.front)
	if request > 0 {
		s.wait(m, request, timeout)
	}
	return request == 0
}

// blocked is a request that waits for its answer.
type blocked struct {
	*message
	request int
}

// wait keeps a request until it is answered, or until its timeout comes, like a message.
func (s *server) wait(m *message, request int, timeout time.Duration) {
	s.blocked = append(s.blocked, blocked{m, request})
	if timeout == 0 {
		return
	}
	s.net.push(event{at: s.net.now + timeout, what: action(func() {
		for _, x := range s.blocked {
			if x.request == request {
				x.wired.timeout = true
				s.receive(x.message)
				return
			}
		}
	})})
}

// unblock removes a request that waits, and returns it, or nil.
func (s *server) unblock(is func(blocked) bool) *message {
	i := slices.IndexFunc(s.blocked, is)
	if i < 0 {
		return nil
	}
	m := s.blocked[i].message
	s.blocked = slices.Delete(s.blocked, i, i+1)
	return m
}

// drop forgets a closed connection.
func (s *server) drop(c *conn) {
	s.net.outside.Front(s.name).Drop(c.front)
	m := s.unblock(func(x blocked) bool { return x.conn == c })
	if m != nil && !m.wired.timeout { // else a paused server has it in its inbox
		s.net.release(m)
	}
}

// count notes that code outside counts with a key, or keeps a queue, a set or a signal
// there, and has used it for nothing else: it is no entry.
func (n *network) count(key string) {
	if n.counters == nil {
		n.counters = map[string]bool{}
	}
	n.counters[key] = !n.entered[key]
}

// enter notes that a key is an entry.
func (n *network) enter(key string) {
	if n.entered == nil {
		n.entered = map[string]bool{}
	}
	n.entered[key] = true
}

// push sends what connections get without asking.
func (s *server) push(front Front) {
	front.Pushes(func(to any, data []byte, answer bool) {
		if answer {
			m := s.unblock(func(x blocked) bool { return x.conn.front == to })
			m.wired.data = data
			s.net.send(m)
			return
		}
		s.eachWire(func(c *conn) {
			if c.front == to {
				s.pushTo(c, data)
			}
		})
	})
}

func (s *server) pushTo(c *conn, data []byte) {
	m := s.net.newMessage(c, notice, false)
	m.wired = &wired{data: data}
	s.net.send(m)
}

// eachWire calls f for every connection of code outside to s.
func (s *server) eachWire(f func(*conn)) {
	for _, e := range s.net.endpoints {
		for _, c := range e.spare {
			if c.server == s && c.front != nil && c.incarnation == s.incarnation {
				f(c)
			}
		}
	}
}

// noteEnd notes until when a client may believe in an entry that a request of code
// outside has just made or prolonged: it knows when it has sent that request, or which
// instant it has named. What the server's clock shows it does not know, nor whose entry it
// has prolonged after it has lost its own.
func (s *server) noteEnd(f *model.Effect) {
	switch f.Kind {
	case model.Removed, model.Expired, model.Lost, model.Evicted, model.Overwritten:
		for _, e := range s.net.endpoints {
			e.noteGone(s.name, f.Key)
		}
	}
	m := s.serving
	if m == nil || f.By != m.op || f.Kind == model.Removed {
		return
	}
	client, acquire := m.conn.client, m.wired.grant
	switch {
	case f.Kind == model.Created || f.Kind == model.Overwritten:
	case client.hadEntry(f.Maker, s.name, f.Key):
		acquire = f.Maker
	case !client.hadEntry(acquire, s.name, f.Key):
		return
	}
	until := never
	if due, ok := s.redis.Due(f.Key); ok && slices.Contains(m.wired.instants, f.Key) {
		until = due - epoch // clocks of clients outside are right
	} else if ok {
		until = m.wired.from + due - s.wall()
	}
	client.noteEnd(acquire, s.name, f.Key, until)
	m.wired.noted = acquire
}
