package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// mates returns the clients in the process of c, with c. A fault on a process
// applies to all of them. A dead client stays dead.
func (w *World) mates(c *client) []*client {
	all := w.clients[c.first.n:]
	return all[:min(max(1, w.cfg.Lock.Together), len(all))]
}

// clientNamed returns the client that a fault acts on.
func (w *World) clientNamed(name string) (*client, error) {
	c := w.find(name)
	if c == nil {
		return nil, fmt.Errorf("sim: no client %q", name)
	}
	return c, nil
}

// Pause stops a server, or all clients of a process.
func (w *World) Pause(host string) error {
	c := w.find(host)
	if c == nil {
		return w.pauseServer(host)
	}
	for _, m := range w.mates(c) {
		m.paused = true
	}
	return nil
}

// Resume ends a pause. Tasks that became runnable meanwhile run first.
func (w *World) Resume(host string) error {
	c := w.find(host)
	if c == nil {
		return w.resumeServer(host)
	}
	for _, m := range w.mates(c) {
		m.resume()
	}
	return nil
}

func (c *client) resume() {
	n := c.net
	c.paused = false
	for _, s := range c.sessions.all() {
		s.resume()
	}
	c.resumeWires()
	if o := c.sched.outside; o != nil && !c.dead {
		o.Resumed(c.name)
	}
	c.wake()
	// This comes after everything that arrived before: a waiting answer is found.
	for _, s := range c.news {
		n.push(event{at: n.now, what: action(func() { c.learn(s) })})
	}
	c.news = c.news[:0]
}

// Hang stops only the task that the client's caller waits for.
func (w *World) Hang(client string) error {
	c, err := w.clientNamed(client)
	if err != nil {
		return err
	}
	c.hung = true
	return nil
}

// Unhang ends a hang.
func (w *World) Unhang(client string) error {
	c, err := w.clientNamed(client)
	if err != nil {
		return err
	}
	c.hung = false
	c.wake()
	return nil
}

// Kill ends a client's process. Its kernel closes its connections. That has no
// effect on servers without sessions, or with sessions that outlive connections.
func (w *World) Kill(name string) error {
	c, err := w.clientNamed(name)
	if err != nil {
		return err
	}
	if c.pool != nil {
		c.pool.hangUp()
	}
	return w.PowerOff(name)
}

// PowerOff ends a client's process without closing its connections.
func (w *World) PowerOff(name string) error {
	c, err := w.clientNamed(name)
	if err != nil {
		return err
	}
	for _, m := range w.mates(c) {
		m.die()
	}
	if c.pool != nil {
		c.pool.conns = c.pool.conns[:0] // the server keeps them half open
	}
	return nil
}

// die ends the client. A task on its host unwinds when it is woken, and gets no
// more answers.
func (c *client) die() {
	c.dead = true
	if c.sched.outside != nil {
		c.sched.outside.Died(c.name)
	}
	c.eachConn(func(n *conn) { n.waiter = nil })
	c.wake()
	k := c.sched
	for _, t := range k.tasks {
		if t.client == &c.host && t != k.current {
			t.wakeAt(k.now)
		}
	}
}

// ExpireSession closes the sessions of a client's process. An ensemble takes its
// usual time for that.
func (w *World) ExpireSession(name string) error {
	c, err := w.clientNamed(name)
	switch {
	case err != nil:
		return err
	case w.databases != nil:
		w.databases.primary.kill(c.first)
		return nil
	case w.ensemble == nil:
		return fmt.Errorf("sim: %s has no session", name)
	}
	for _, s := range c.sessions.all() {
		if s.id != 0 && s.end == nil && s.life == w.ensemble.life {
			w.ensemble.close(s.id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.lives)) { // of code outside
		if c.lives[id] == w.ensemble.life {
			w.ensemble.close(id)
		}
	}
	return nil
}

// Jump moves a wall clock. If a server's timer in the queue is now too early, it
// finds nothing to expire and queues the next one.
func (w *World) Jump(host string, by time.Duration) error {
	if c := w.find(host); c != nil {
		for _, m := range w.mates(c) {
			m.clock.offset += by
		}
		return nil
	}
	s, err := w.process(host)
	if err != nil {
		return err
	}
	s.clock.offset += by
	w.arm(s)
	return nil
}

// Rate makes clocks run faster or slower. A client measures its leases with its
// own clock, so they now end at other times.
func (w *World) Rate(host string, gain time.Duration) error {
	if c := w.find(host); c != nil {
		if err := c.clock.checkGain(gain, w.cfg.Lease); err != nil {
			return err
		}
		for _, m := range w.mates(c) {
			m.clock.addGain(w.now, gain, w.cfg.Lease)
			m.revalue()
		}
		return nil
	}
	s, err := w.process(host)
	if err == nil {
		err = s.clock.checkGain(gain, w.cfg.Lease)
	}
	if err != nil {
		return err
	}
	s.clock.addGain(w.now, gain, w.cfg.Lease)
	w.arm(s)
	return nil
}

// arm queues the next timer of a server whose clock has changed.
func (w *World) arm(s *server) {
	if s.member != nil {
		w.ensemble.arm()
	} else {
		s.arm()
	}
}
