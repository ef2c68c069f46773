package sim

import "fmt"

// process is the server that a fault acts on. The guarded resource is none.
func (w *World) process(name string) (*server, error) {
	s := w.server(name)
	if s == nil || s.node == nil && s.member == nil && s.database == nil {
		return nil, fmt.Errorf("sim: no server %q", name)
	}
	return s, nil
}

// Stop ends the server's process, and resets the connections that it had
// accepted. A server that is down cannot be stopped.
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
	switch {
	case s.member != nil:
		s.member.stop(lose)
	case s.database != nil:
		s.database.stop(lose)
	case lose:
		s.redis.Crash(s.wall())
		s.got = 0 // who knows nothing is the last whom Sentinels choose
		switch {
		case !s.node.replicated():
			s.tell()
		case s == s.node.master:
			s.redis.Effects() // what becomes of them shows when somebody is the master again
		default:
			s.forget()
		}
	}
	s.hangUp()
	s.incarnation++
	if s.node != nil {
		s.detach()
	}
	w.look()
	return nil
}

// Start lets the server run again, with what it has kept. A server that is up
// cannot be started.
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
	case !s.node.replicated():
		s.tell()
	case s == s.node.master:
		s.expired()
		s.node.settle(s)
	default: // others speak for the node
		s.forget()
	}
	s.arm()
	w.look()
	return nil
}

// pauseServer lets a server stand still.
func (w *World) pauseServer(name string) error {
	s, err := w.process(name)
	if err != nil {
		return err
	}
	s.paused = true
	w.look()
	return nil
}

// resumeServer lets it go on: with what has arrived meanwhile.
func (w *World) resumeServer(name string) error {
	s, err := w.process(name)
	if err != nil {
		return err
	}
	s.paused = false
	for _, m := range s.inbox {
		w.pushFirst(event{at: w.now, what: (*kept)(m)})
	}
	s.inbox = s.inbox[:0]
	switch {
	case s.member != nil:
		s.member.goOn()
	case s.up:
		s.expire()
		s.arm()
	}
	w.look()
	return nil
}

// kept is a message that a server finds when it goes on: no disturbance of the
// network touches it any more.
type kept message

func (k *kept) happen(*World) {
	m := (*message)(k)
	m.conn.server.receive(m)
}

// Evict fills a server's memory.
func (w *World) Evict(name string) error {
	s, err := w.process(name)
	if err != nil {
		return err
	}
	if s.redis == nil {
		return fmt.Errorf("sim: %s keeps all that it has", name)
	}
	if s.runs() {
		s.redis.Evict(s.wall())
		s.tell()
	}
	return nil
}

// Relieve ends that.
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
