package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// server is a Redis server, or a Sentinel, in a container whose first process only
// sleeps: the server stops and starts, and keeps its address.
type server struct {
	name    string
	engine  *engine
	id      string // of the container; "": none yet
	addr    string // on this machine
	peer    string // for other containers; "": unused
	command string // starts it
	fsync   catalogue.Fsync
	faked   bool    // its clock can be set
	ledger  *ledger // nil: it is not observed
	node    *node   // nil: a server without replication

	changing sync.Mutex // one start, stop or jump at a time
	offset   time.Duration
	gate     gate

	mu    sync.Mutex
	up    bool
	turns int   // number of starts and stops
	feed  *feed // nil: it is down, or not observed yet
}

const (
	redisPort = "6379/tcp"
	// upLimit is how long a server may take to answer after its start. It is generous:
	// three JVMs take 3 s on an idle machine, and have taken 15 s on a machine with ten
	// times too much load.
	upLimit = time.Minute
	// awaitEnd is a script that waits until the server has ended, for 10 s.
	awaitEnd = `p=$(cat /data/pid 2>/dev/null) || exit 0; ` + awaitGone
	// awaitGone is awaitEnd for the process $p.
	awaitGone = `i=0; while [ -d "/proc/$p" ] && [ $i -lt 1000 ]; do sleep 0.01; i=$((i+1)); done; [ ! -d "/proc/$p" ]`
)

// storeCommand returns the command of a server that keeps data. It sets the
// notifications, and that the server saves only on request.
func storeCommand(fsync catalogue.Fsync) string {
	log := "--appendonly no"
	if fsync != catalogue.FsyncNone {
		log = "--appendonly yes --appendfsync " + string(fsync)
	}
	return `--dir /data --pidfile /data/pid --logfile /data/log --bind 0.0.0.0 --protected-mode no ` +
		`--notify-keyspace-events EA --save "" ` + log
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
	if s.isUp() {
		return nil
	}
	if err := s.engine.exec(ctx, s.id, s.script(), true); err != nil {
		return err
	}
	if err := s.awaitAnswer(ctx); err != nil {
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

// awaitAnswer waits until the server answers.
func (s *server) awaitAnswer(ctx context.Context) error {
	return s.engine.awaitAnswer(ctx, s.name, s.id, func() error {
		c, err := connect(s.addr)
		if err != nil {
			return err
		}
		defer c.close()
		_, err = c.do("PING")
		return err
	})
}

// awaitAnswer waits until the server in a container answers after its start.
func (e *engine) awaitAnswer(ctx context.Context, who, id string, ping func() error) error {
	for limit := time.Now().Add(upLimit); ; time.Sleep(5 * time.Millisecond) {
		err := ping()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(limit):
			return fmt.Errorf("%s does not answer %v after its start: %w\n%s", who, upLimit, err, e.serverLog(ctx, id))
		}
	}
}

// current returns the feed of the running server; nil: none now.
func (s *server) current() *feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.feed
}

func (s *server) isUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up
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
	if !s.isUp() {
		return nil
	}
	if !lose {
		if err := s.engine.lives(ctx, s.name, s.id); err != nil {
			return err
		}
	}
	s.mu.Lock()
	f := s.feed
	s.feed, s.up = nil, false
	s.turns++
	s.mu.Unlock()
	if err := s.end(ctx, lose); err != nil {
		if errors.Is(err, errGone) { // Alive still reports it
			s.mu.Lock()
			s.up = true
			s.mu.Unlock()
		}
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

// end ends the server's process. With lose it removes the unsynced data.
func (s *server) end(ctx context.Context, lose bool) error {
	if !lose {
		if err := s.shutdown(ctx); err != nil {
			return fmt.Errorf("stop %s: %w", s.name, err)
		}
		return s.engine.exec(ctx, s.id, awaitEnd, false)
	}
	script := `kill -9 "$(cat /data/pid)"; ` + awaitEnd
	if s.fsync == catalogue.FsyncNone {
		script += " && rm -rf /data/dump.rdb /data/appendonlydir"
	} else {
		script += " || exit\n" + powerLoss
	}
	return s.engine.end(ctx, s.name, s.id, script)
}

// shutdown makes the server save everything and end.
func (s *server) shutdown(ctx context.Context) error {
	if err := s.resume(ctx); err != nil {
		return err
	}
	c, err := connect(s.addr)
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
	if s.id == "" {
		return nil
	}
	return s.engine.remove(ctx, s.id)
}

// serverLog returns the end of a server's log, for an error.
func (e *engine) serverLog(ctx context.Context, id string) string {
	err := e.exec(ctx, id, "tail -n 20 /data/log; exit 1", false)
	if err == nil {
		return ""
	}
	return err.Error()
}

// dial connects a client's connection to the server, and registers it with the feed. It
// waits while the server's role changes.
func (s *server) dial(ctx context.Context) (*route, error) {
	for {
		s.mu.Lock()
		f, up := s.feed, s.up
		s.mu.Unlock()
		switch {
		case !up:
			return nil, errDown
		case f == nil && s.ledger != nil:
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			time.Sleep(time.Millisecond)
			continue
		}
		r, err := s.connect(ctx, f)
		if err == nil || f == nil || ctx.Err() != nil || s.current() == f && !f.isOver() {
			return r, err
		}
		time.Sleep(time.Millisecond)
	}
}

var errDown = errors.New("the server is down")

// connect connects to the server, whose feed is f; nil: none.
func (s *server) connect(ctx context.Context, f *feed) (*route, error) {
	c, err := connect(s.addr)
	if err != nil {
		return nil, err
	}
	c.gate = &s.gate
	if f == nil {
		return &route{control: c}, nil
	}
	defer context.AfterFunc(ctx, func() { c.close() })()
	x, err := f.add(c)
	if err != nil {
		c.close()
		return nil, err
	}
	return &route{control: c, feed: f, expected: x}, nil
}

// route is our connection to a server that carries a client's connection.
type route struct {
	*control
	feed     *feed // nil: the server is not observed
	expected *pendingRequests
}
