package sim

import "fmt"

// Isolate separates servers from the others until Restore.
func (w *World) Isolate(id int, servers []string) error {
	for _, name := range servers {
		if s := w.server(name); s == nil || s == w.resource || s == w.tokens {
			_, err := w.process(name)
			return err
		}
	}
	w.isolations = append(w.isolations, isolation{id, servers})
	w.look()
	return nil
}

// Restore ends a disturbance or an isolation.
func (w *World) Restore(id int) (hits int, err error) {
	for i, is := range w.isolations {
		if is.id == id {
			w.isolations = append(w.isolations[:i:i], w.isolations[i+1:]...)
			w.look()
			return 0, nil
		}
	}
	return w.network.Restore(id)
}

// look makes all servers and monitors notice which servers they reach, after that
// has changed.
func (w *World) look() {
	if w.ensemble != nil {
		w.ensemble.look()
	}
	w.network.look()
}

// process returns the server that a fault acts on. The guarded resource is an
// error.
func (w *World) process(name string) (*server, error) {
	s := w.server(name)
	if s == nil || s.node == nil && s.member == nil && s.database == nil {
		return nil, fmt.Errorf("sim: no server %q", name)
	}
	return s, nil
}

// Stop ends the server's process and resets its accepted connections. It returns
// an error if the server is down.
func (w *World) Stop(name string, lose bool) error {
	s, err := w.process(name)
	if err != nil {
		return err
	}
	if !s.up {
		return fmt.Errorf("sim: %s is down already", name)
	}
	if !lose {
		s.finish()
	}
	s.up, s.inbox = false, s.inbox[:0]
	switch x, _ := s.member.(*member); {
	case x != nil:
		x.stop(lose)
	case s.database != nil:
		s.database.stop(lose)
	case lose:
		s.redis.Crash(s.wall())
		s.got = 0 // Sentinels choose an empty replica last
		switch {
		case !s.node.hasReplicas():
			s.reportEffects()
		case s == s.node.master:
			s.redis.Effects() // settle reports on them when a server is the master again
		default:
			s.reportDropped()
		}
	}
	s.hangUp()
	if w.outside != nil && s.member == nil {
		w.outside.Front(name).Restart()
		s.blocked = s.blocked[:0]
	}
	s.incarnation++
	if s.node != nil {
		s.detach()
	}
	w.look()
	return nil
}

// Start starts the server with its kept data. It returns an error if the server
// is up.
func (w *World) Start(name string) error {
	s, err := w.process(name)
	if err != nil {
		return err
	}
	if s.up {
		return fmt.Errorf("sim: %s is up already", name)
	}
	s.up = true
	if s.node == nil {
		if s.database != nil {
			s.database.start()
		}
		w.look()
		return nil
	}
	s.redis.Restart(s.wall())
	switch {
	case !s.node.hasReplicas():
		s.reportEffects()
	case s == s.node.master:
		s.reportExpired()
		s.node.settle(s)
	default: // other servers of the node report
		s.reportDropped()
	}
	s.arm()
	w.look()
	return nil
}

// pauseServer pauses a server.
func (w *World) pauseServer(name string) error {
	s, err := w.process(name)
	if err != nil {
		return err
	}
	s.paused = true
	w.look()
	return nil
}

// resumeServer ends a server's pause. It first receives the messages that have
// arrived meanwhile.
func (w *World) resumeServer(name string) error {
	s, err := w.process(name)
	if err != nil {
		return err
	}
	s.paused = false
	for _, m := range s.inbox {
		w.pushFirst(event{at: w.now, what: (*inboxMessage)(m)})
	}
	s.inbox = s.inbox[:0]
	switch x, _ := s.member.(*member); {
	case x != nil:
		x.resume()
	case s.up:
		s.expire()
		s.arm()
	}
	w.look()
	return nil
}

// inboxMessage is a message in a paused server's kernel. Disturbances of the network no
// longer apply to it.
type inboxMessage message

func (k *inboxMessage) happen() {
	m := (*message)(k)
	m.conn.server.receive(m)
}

// Evict fills a server's memory. A server that is not Redis returns an error.
func (w *World) Evict(name string) error {
	s, err := w.process(name)
	if err != nil {
		return err
	}
	if s.redis == nil {
		return fmt.Errorf("sim: %s never evicts", name)
	}
	if s.runs() {
		s.redis.Evict(s.wall())
		s.reportEffects()
	}
	return nil
}

// Relieve ends the shortage of memory.
func (w *World) Relieve(name string) error {
	s, err := w.process(name)
	if err != nil {
		return err
	}
	if s.redis != nil {
		s.redis.Relieve()
	}
	return nil
}

// Keeps reports whether a server answers only from data on its disk, as members
// do.
func (w *World) Keeps(server string) bool {
	s := w.server(server)
	return s != nil && s.member != nil
}
