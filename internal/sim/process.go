package sim

import "fmt"

// mates returns the clients in the process of c, with c. A fault on a process
// applies to all of them. A dead client stays dead.
func (c *client) mates() []*client {
	all := c.world.clients[c.first.n:]
	return all[:min(max(1, c.world.cfg.Lock.Together), len(all))]
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
	for _, m := range c.mates() {
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
	for _, m := range c.mates() {
		m.resume()
	}
	return nil
}

func (c *client) resume() {
	w := c.world
	c.paused = false
	for _, s := range c.sessions {
		s.resume()
	}
	c.wake()
	// This comes after everything that arrived before: a waiting answer is found.
	for _, s := range c.news {
		w.push(event{at: w.now, what: action(func() { c.learn(s) })})
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

// wake resumes every task that the pause stopped.
func (c *client) wake() {
	for _, t := range c.runnable {
		t.wakeAt(c.world.now)
	}
	for _, t := range c.waiting {
		t.wakeAt(c.world.now)
	}
	c.runnable, c.waiting = c.runnable[:0], c.waiting[:0]
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
	for _, m := range c.mates() {
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
	c.eachConn(func(n *conn) { n.waiter = nil })
	c.wake()
	w := c.world
	for _, t := range w.tasks {
		if t.client == c && t != w.current {
			t.wakeAt(w.now)
		}
	}
}
