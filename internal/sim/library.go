package sim

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

// These are the times of the client library, go-zookeeper v1.0.4: shares of a
// session's length, and shares of T for times that are one second there.
const (
	beatShare  = 3  // a heartbeat each third of the session,
	dialShare  = 10 // to connect takes T/10 at most,
	restShare  = 10 // and after it has tried all servers without success it waits for T/10
	helloTimes = 10 // it waits ten times as long for the greeting of a server that has accepted
)

// silence is how long it waits for a message before it gives up a connection.
func (s *session) silence() time.Duration { return s.length * 2 / 3 }

// libraryState is what the library waits for.
type libraryState uint8

const (
	dialing   libraryState = iota // a connection
	greeting                      // the session on it
	connected                     // any message
	resting                       // the next round
	over                          // nothing: the session has ended
)

func (s *session) reset(c *client, length time.Duration) {
	*s = session{
		client: c, length: length, last: -1, at: -1, deadline: never, beat: never, timer: never,
		calls: s.calls[:0], watches: s.watches[:0], events: s.events[:0], readers: s.readers[:0],
		servers: append(s.servers[:0], c.members...), kept: s.kept[:0],
	}
	for i := range s.servers[1:] {
		j := i + int(c.net.Rand(c.name, "server", int64(len(s.servers)-i)))
		s.servers[i], s.servers[j] = s.servers[j], s.servers[i]
	}
}

// connectNext tries the next server. After all have failed since the last connection
// the library waits. The real library also returns unsent requests then, but the port
// passes them on again until their timeout.
func (s *session) connectNext() {
	s.at = (s.at + 1) % len(s.servers)
	again := s.at == s.last
	if s.last < 0 {
		s.last = 0
	}
	if again {
		s.state = resting
		s.setDeadline(s.client.net.cfg.Lease / restShare)
		return
	}
	s.dial()
}

func (s *session) dial() {
	c := s.client
	n := c.net.connect(&c.endpoint, s.servers[s.at])
	n.owner, n.open = s, true
	c.hold(n)
	s.conn, s.state = n, dialing
	s.setDeadline(c.net.cfg.Lease / dialShare)
	c.net.send(c.net.zkMessage(n, dial, true))
}

// hold adds n to the client's connections.
func (c *client) hold(n *conn) {
	if slot := &c.conns[n.server.n]; !(*slot).open {
		*slot = n
		return
	}
	c.spare = slices.DeleteFunc(c.spare, func(o *conn) bool { return o.owner != nil && !o.open })
	c.spare = append(c.spare, n)
}

// setDeadline sets the time after which the library gives up its current wait.
func (s *session) setDeadline(d time.Duration) {
	s.deadline = s.client.net.now + s.client.clock.trueDuration(d)
	s.arm()
}

// arm queues a timer for the library's next deadline.
func (s *session) arm() {
	if at := min(s.deadline, s.beat); at < s.timer {
		s.timer = at
		s.client.net.push(event{at: at, what: s})
	}
}

// happen handles one of its timers.
func (s *session) happen() {
	if s.timer > s.client.net.now || s.state == over || s.client.dead {
		return
	}
	s.timer = never
	if s.client.paused {
		s.late = true
		return
	}
	s.handleDeadlines()
}

// handleDeadlines does everything that is due.
func (s *session) handleDeadlines() {
	now := s.client.net.now
	switch {
	case s.state == resting && now >= s.deadline:
		s.dial()
		return
	case now >= s.deadline:
		s.lose()
		return
	case now >= s.beat:
		s.client.net.send(s.client.net.zkMessage(s.conn, call, true).setAsk(ping))
		s.setBeat()
	}
	s.arm()
}

func (m *message) setAsk(a ask) *message {
	m.zk.ask = a
	return m
}

func (s *session) setBeat() {
	s.beat = s.client.net.now + s.client.clock.trueDuration(s.length/beatShare)
}

// drop closes the connection.
func (s *session) drop() {
	n := s.conn
	s.conn, s.deadline, s.beat = nil, never, never
	if n != nil && n.open {
		n.open = false
		w := s.client.net
		w.send(w.newMessage(n, rst, true))
	}
}

// lose handles a lost connection, or a failed attempt to connect.
func (s *session) lose() {
	was := s.state
	s.drop()
	s.fail(s.sent, zookeeper.ErrConnectionLoss)
	if was == connected {
		s.event(zookeeper.Disconnected, "")
	}
	s.connectNext()
}

// receive handles a message that arrives at the client. During a pause the
// message waits.
func (s *session) receive(m *message) {
	switch c := s.client; {
	case c.dead || s.state == over || m.conn != s.conn:
		c.net.release(m)
	case c.paused:
		s.kept = append(s.kept, m)
	default:
		s.take(m)
		c.net.release(m)
	}
}

// resume continues after a pause. Messages that have arrived come before the
// timers, see await.
func (s *session) resume() {
	kept := s.kept
	s.kept = nil
	for _, m := range kept {
		s.receive(m)
	}
	s.kept = kept[:0]
	if s.late && s.state != over {
		s.late = false
		s.handleDeadlines()
	}
}

func (s *session) take(m *message) {
	switch {
	case m.kind == rst, m.kind == dial && m.err != nil:
		s.lose()
	case m.kind == dial:
		s.greet()
	case m.kind == notice:
		s.restartSilence()
		s.notify(m.zk.event)
	case m.zk.ask == hello:
		s.receiveGreeting(m.zk)
	case m.zk.ask == ping:
		s.restartSilence()
	default:
		s.restartSilence()
		s.receiveAnswer(m.zk)
	}
}

// restartSilence restarts the wait for a message.
func (s *session) restartSilence() {
	s.deadline = s.client.net.now + s.client.clock.trueDuration(s.silence())
	s.arm()
}

// greet asks the server for the session.
func (s *session) greet() {
	s.state = greeting
	w := s.client.net
	m := w.zkMessage(s.conn, call, true).setAsk(hello)
	k := m.zk
	k.session, k.life, k.length, k.zxid = s.id, s.life, s.length, s.zxid
	k.watches = append(k.watches, s.watches...)
	if s.opener != nil {
		m.op = s.opener.operation.Index
	}
	s.setDeadline(helloTimes * s.silence())
	w.send(m)
}

// receiveGreeting handles the server's answer to the greeting.
func (s *session) receiveGreeting(k *packet) {
	if k.ended {
		s.event(zookeeper.Expired, "")
		s.finish(zookeeper.ErrSessionExpired)
		return
	}
	s.id, s.life, s.length = k.session, k.life, k.length
	s.state, s.last = connected, s.at
	s.restartSilence()
	s.setBeat()
	s.arm()
	s.event(zookeeper.Connected, "")
	s.wake(s.opener)
	s.sendCalls()
}

// sendCalls sends the calls that wait for a connection.
func (s *session) sendCalls() {
	w := s.client.net
	for ; s.state == connected && s.sent < len(s.calls); s.sent++ {
		c := s.calls[s.sent]
		m := w.zkMessage(s.conn, call, true).setAsk(c.ask)
		m.op, m.zk.command = c.op, c.command
		w.send(m)
	}
}

// receiveAnswer handles the answer to the first call.
func (s *session) receiveAnswer(k *packet) {
	s.zxid = max(s.zxid, k.zxid)
	call := s.calls[0]
	s.calls = append(s.calls[:0], s.calls[1:]...)
	s.sent--
	call.reply, call.done = k.reply, true
	switch {
	case k.ended:
		call.err = zookeeper.ErrSessionExpired
	case k.ask == farewell:
		s.event(zookeeper.Closed, "")
		s.finish(zookeeper.ErrClosed)
	default:
		if watch, ok := model.WatchOf(call.command, k.reply); ok && !slices.Contains(s.watches, watch) {
			s.watches = append(s.watches, watch)
		}
	}
	s.wake(call.task)
}

// notify queues the event of a watch. After a reconnection a server may repeat an event
// that has ended all its watches; see Member.Attach.
func (s *session) notify(e zookeeper.Event) {
	before := len(s.watches)
	s.watches = slices.DeleteFunc(s.watches, func(o model.Watch) bool { return o.Ends(e) })
	if len(s.watches) < before {
		s.event(e.Type, e.Path)
	}
}
