package sim

import "fmt"

// mates are the clients that share a process with c, c among them. What strikes
// a process strikes all of them; a dead client stays dead.
func (c *client) mates() []*client {
	all := c.world.clients[c.first.n:]
	return all[:min(max(1, c.world.cfg.Lock.Together), len(all))]
}

// named is the client that a fault acts on.
func (w *World) named(name string) (*client, error) {
	c := w.find(name)
	if c == nil {
		return nil, fmt.Errorf("sim: no client %q", name)
	}
	return c, nil
}

// Pause stops everything that a client's process does, or a server.
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

// Resume lets it go on: first what had become runnable meanwhile.
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
		s.goOn()
	}
	c.wake()
	// After what had arrived before: an answer that waits is found.
	for _, s := range c.news {
		w.push(event{at: w.now, what: action(func() { c.learn(s) })})
	}
	c.news = c.news[:0]
}

// Hang stops the task that the client's caller waits for.
func (w *World) Hang(client string) error {
	c, err := w.named(client)
	if err != nil {
		return err
	}
	c.hung = true
	return nil
}

// Unhang lets it go on.
func (w *World) Unhang(client string) error {
	c, err := w.named(client)
	if err != nil {
		return err
	}
	c.hung = false
	c.wake()
	return nil
}

// wake lets every task that the pause kept go on.
func (c *client) wake() {
	for _, t := range c.runnable {
		t.wakeAt(c.world.now)
	}
	for _, t := range c.waiting {
		t.wakeAt(c.world.now)
	}
	c.runnable, c.waiting = c.runnable[:0], c.waiting[:0]
}

// Kill ends a client's process. Its kernel closes its connections, which is
// nothing to a server that has no sessions, or keeps them.
func (w *World) Kill(name string) error {
	c, err := w.named(name)
	if err != nil {
		return err
	}
	if c.pool != nil {
		c.pool.hangUp()
	}
	return w.PowerOff(name)
}

// PowerOff ends a client's process without a word.
func (w *World) PowerOff(name string) error {
	c, err := w.named(name)
	if err != nil {
		return err
	}
	for _, m := range c.mates() {
		m.die()
	}
	if c.pool != nil {
		c.pool.conns = c.pool.conns[:0] // what is open at a server is half open
	}
	return nil
}

// die ends the client. A task that is on its host unwinds when it is woken,
// and no answer finds it any more.
func (c *client) die() {
	c.dead = true
	c.each(func(n *conn) { n.waiter = nil })
	c.wake()
	w := c.world
	for _, t := range w.tasks {
		if t.client == c && t != w.current {
			t.wakeAt(w.now)
		}
	}
}
