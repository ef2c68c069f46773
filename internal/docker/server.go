package docker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/clients"
)

// server is a Redis server, or a Sentinel, in a container whose first process only
// sleeps: the server stops and starts, and keeps its address.
type server struct {
	box
	command string // starts it
	fsync   catalogue.Fsync
	ledger  *ledger // nil: it is not observed
	node    *node   // nil: a server without replication

	changing sync.Mutex // one start, stop or jump at a time
	gate     gate       // of its pauses, which its state does not have

	// mu of its state guards these:
	turns int   // number of starts and stops
	feed  *feed // nil: it is down, or not observed yet
}

const (
	// port is the port of servers and Sentinels in their containers.
	port      = "6379"
	redisPort = port + "/tcp"
)

// redisFlags are the flags of every Redis server and Sentinel.
const redisFlags = `--dir /data --pidfile /data/pid --logfile /data/log --bind 0.0.0.0 --protected-mode no`

// storeCommand returns the command of a server that keeps data. It sets the
// notifications, and that the server saves only on request.
func storeCommand(fsync catalogue.Fsync) string {
	log := "--appendonly no"
	if fsync != catalogue.FsyncNone {
		log = "--appendonly yes --appendfsync " + string(fsync)
	}
	return redisFlags + ` --notify-keyspace-events EA --save "" ` + log
}

// script returns a script that starts the server.
func (s *server) script() string {
	run := "exec redis-server " + s.command
	if s.ledger != nil && s.fsync != catalogue.FsyncNone {
		run = keepSynced + run
	}
	if s.faked {
		run = setOffset(s.offset) + " && " + faketime + run
	}
	return storeBirth + run
}

// start starts the server, waits for its own answer (the published port accepts
// connections without it, too), and listens to it.
func (s *server) start(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.runs() {
		return nil
	}
	if err := s.spawn(ctx, s.script()); err != nil {
		return err
	}
	if err := s.awaitAnswer(ctx, s.ping); err != nil {
		return err
	}
	s.mu.Lock()
	s.up = true
	s.turns++
	turn := s.turns
	s.mu.Unlock()
	if s.ledger == nil {
		return nil
	}
	if err := s.listen(turn); err != nil {
		return fmt.Errorf("look at %s after its start: %w", s.name, err)
	}
	return nil
}

// ping returns an error unless the server answers.
func (s *server) ping() error {
	_, err := doAt(s.Addr, "PING")
	return err
}

// current returns the feed of the running server; nil: none now.
func (s *server) current() *feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.feed
}

func (s *server) turn() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns
}

// stop ends the server's process. With lose it is killed, and keeps its synced data;
// otherwise it saves everything, and is resumed for that if it is paused. A server that
// has ended by itself cannot be stopped.
func (s *server) stop(ctx context.Context, lose bool) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if !s.runs() {
		return nil
	}
	if !lose {
		if err := s.lives(ctx); err != nil {
			return err
		}
	}
	s.mu.Lock()
	f := s.feed
	s.feed, s.up = nil, false
	s.turns++
	s.mu.Unlock()
	if lose {
		s.syncNoMore(f)
	}
	if err := s.end(ctx, lose); err != nil {
		return err
	}
	s.gate.open()
	if f != nil {
		f.drain()
	}
	// The replicas may have the master's data: that shows when one of them takes its
	// place, or it comes back itself.
	if lose && s.fsync == catalogue.FsyncNone && s.node == nil && s.ledger != nil {
		s.ledger.lose()
	}
	return nil
}

// syncNoMore makes a server that syncs every second keep its disk as it is: to kill it
// takes a command in its container, and that can take longer than a second. A server
// that is paused, or does not answer, syncs nothing either.
func (s *server) syncNoMore(f *feed) {
	if s.fsync == catalogue.FsyncEverysec && f != nil && !s.gate.wasPaused(time.Now()) {
		f.command.do("CONFIG", "SET", "appendfsync", "no")
	}
}

// end ends the server's process. With lose it removes the unsynced data.
func (s *server) end(ctx context.Context, lose bool) error {
	if !lose {
		if err := s.shutdown(ctx); err != nil {
			return fmt.Errorf("stop %s: %w", s.name, err)
		}
		return s.sh(ctx, awaitEnd)
	}
	script := `kill -9 "$(cat /data/pid)"; ` + awaitEnd
	if s.fsync == catalogue.FsyncNone {
		script += " && rm -rf /data/dump.rdb /data/appendonlydir"
	} else {
		script += " || exit\n" + powerLoss
	}
	return s.endBy(ctx, script)
}

// shutdown makes the server save everything and end.
func (s *server) shutdown(ctx context.Context) error {
	if err := s.resume(ctx); err != nil {
		return err
	}
	c, err := connect(s.Addr)
	if err != nil {
		return err
	}
	defer c.close()
	c.do("SHUTDOWN", "SAVE") // the connection's end is the answer
	return nil
}

// silence ends the observation of the server, for good.
func (s *server) silence() {
	s.mu.Lock()
	f := s.feed
	s.feed, s.up = nil, false
	s.turns++
	s.mu.Unlock()
	s.gate.open()
	if f != nil {
		f.close()
	}
}

// remove removes the server's container.
func (s *server) remove(ctx context.Context) error {
	s.silence()
	return s.box.remove(ctx)
}

// alive implements farServer.
func (s *server) alive(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	return s.livesIfUp(ctx)
}

// jump moves the server's wall clock.
func (s *server) jump(ctx context.Context, by time.Duration) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	var shows func() (time.Duration, error)
	if s.current() != nil && !s.gate.wasPaused(time.Now()) {
		shows = func() (time.Duration, error) {
			f := s.current() // another feed after a change of role
			if f == nil {
				return 0, clients.ErrDown
			}
			return wallClock(f.command)
		}
	}
	return s.moveClock(ctx, by, shows)
}

// pause stops the server's process. Its kernel goes on: connections stay, and data
// waits.
func (s *server) pause(ctx context.Context) error {
	if !s.runs() {
		return fmt.Errorf("%s is down, and cannot be paused", s.name)
	}
	s.gate.close()
	if err := s.Pause(ctx); err != nil {
		s.gate.open()
		return fmt.Errorf("pause of %s: %w", s.name, err)
	}
	return nil
}

// resume continues the server if it is paused.
func (s *server) resume(ctx context.Context) error {
	if !s.gate.wasPaused(time.Now()) {
		return nil
	}
	defer s.gate.open()
	if err := s.Continue(ctx); err != nil {
		return fmt.Errorf("resume %s: %w", s.name, err)
	}
	return nil
}

// Drop implements clients.Server. A server without a ledger is never observed.
func (s *server) Drop(format string, args ...any) {
	if s.ledger != nil {
		s.ledger.drop(format, args...)
	}
}

// Reach implements clients.Server: it registers the connection with the feed, and waits
// while the server's role changes.
func (s *server) Reach(ctx context.Context, client string) (clients.Conn, clients.Dialect, error) {
	for {
		s.mu.Lock()
		f, up := s.feed, s.up
		s.mu.Unlock()
		switch {
		case !up:
			return nil, nil, clients.ErrDown
		case f == nil && s.ledger != nil:
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			time.Sleep(time.Millisecond)
			continue
		}
		c, talk, err := s.connect(ctx, client, f)
		switch {
		case err == nil:
			return c.conn, talk, nil
		case f == nil || ctx.Err() != nil || s.current() == f && !f.isOver():
			return nil, nil, err
		}
		time.Sleep(time.Millisecond)
	}
}

// connect connects to the server, whose feed is f; nil: none.
func (s *server) connect(ctx context.Context, client string, f *feed) (*control, *clients.Redis, error) {
	c, err := connect(s.Addr)
	if err != nil {
		return nil, nil, err
	}
	c.gate = &s.gate
	t := &clients.Redis{
		Replies: c.replies, Names: s.ledger == nil,
		Foreign: func() { s.Drop("client %s does not speak the protocol of Redis", client) },
	}
	if f == nil {
		return c, t, nil
	}
	defer context.AfterFunc(ctx, func() { c.close() })()
	expected, err := f.add(c)
	if err != nil {
		c.close()
		return nil, nil, err
	}
	t.Begin = func(words []string, op int64) (sent, answered func(<-chan struct{})) {
		q := &request{words: words, op: op, seen: make(chan struct{})}
		sent = func(<-chan struct{}) { f.expect(expected, q) }
		answered = func(<-chan struct{}) {
			if err := f.waitShown(q); err != nil {
				s.Drop("%v (%s)", err, words[0])
			}
		}
		return sent, answered
	}
	return c, t, nil
}
