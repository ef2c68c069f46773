package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
)

// server is a Redis server, or a Sentinel, in a container. The container's
// first process only sleeps: the server comes and goes, and keeps its address.
type server struct {
	name    string
	engine  *engine
	id      string // of the container; "": there is none yet
	addr    string // on this machine
	peer    string // for other containers; "": nobody there asks for it
	command string // starts it
	fsync   catalogue.Fsync
	faked   bool    // its clock can be set
	ledger  *ledger // nil: nobody wants to know what it does
	node    *node   // nil: it has no replicas, and is none

	changing sync.Mutex // one start, stop or jump at a time
	offset   time.Duration
	gate     gate

	mu    sync.Mutex
	up    bool
	turns int   // how often it was started or stopped
	feed  *feed // nil: it is down, or not listened to yet
}

const (
	redisPort = "6379/tcp"
	// upLimit is how long a server may take to answer after its start. It is
	// patience and no more: three JVMs take 3 s on a machine that does nothing
	// else, and have been seen to take 15 on one that had ten times too much to do.
	upLimit = time.Minute
	// awaitEnd is a script that waits until the server has ended, for 10 s.
	awaitEnd = `p=$(cat /data/pid 2>/dev/null) || exit 0; ` + awaitGone
	// awaitGone does so where $p says who that is.
	awaitGone = `i=0; while [ -d "/proc/$p" ] && [ $i -lt 1000 ]; do sleep 0.01; i=$((i+1)); done; [ ! -d "/proc/$p" ]`
)

// storeCommand starts a server that keeps data. What notifications it sends,
// and that it saves only when it is told to, is set here and nowhere else.
func storeCommand(fsync catalogue.Fsync) string {
	log := "--appendonly no"
	if fsync != catalogue.FsyncNone {
		log = "--appendonly yes --appendfsync " + string(fsync)
	}
	return `--dir /data --pidfile /data/pid --logfile /data/log --bind 0.0.0.0 --protected-mode no ` +
		`--notify-keyspace-events EA --save "" ` + log
}

// script starts the server.
func (s *server) script() string {
	run := "exec redis-server " + s.command
	if s.ledger != nil && s.fsync != catalogue.FsyncNone {
		run = keepSynced + run
	}
	if s.faked {
		run = setOffset(s.offset) + " && " + faketime + run
	}
	return born + run
}

// start starts the server, waits for its own answer (something answers the
// published port also without it), and listens to it.
func (s *server) start(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.isUp() {
		return nil
	}
	if err := s.engine.exec(ctx, s.id, s.script(), true); err != nil {
		return err
	}
	if err := s.answered(ctx); err != nil {
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

// answered waits until the server answers.
func (s *server) answered(ctx context.Context) error {
	return s.engine.answered(ctx, s.name, s.id, func() error {
		c, err := connect(s.addr)
		if err != nil {
			return err
		}
		defer c.close()
		_, err = c.do("PING")
		return err
	})
}

// answered waits until the server in a container does, which was just started.
func (e *engine) answered(ctx context.Context, who, id string, ping func() error) error {
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

// current is the feed of the server that runs; nil: there is none now.
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

// stop ends the server's process. With lose it is killed, and keeps what it
// had synced; without, it saves all. One that stands still goes on to do so.
// One that has ended by itself cannot be stopped.
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
		if errors.Is(err, errGone) { // it is missed all the same
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
	// What a master had its replicas may have: that shows when one of them takes
	// its place, or it comes back itself.
	if lose && s.fsync == catalogue.FsyncNone && s.node == nil && s.ledger != nil {
		s.ledger.lose()
	}
	return nil
}

// end ends the server's process, and with lose takes what it had not synced.
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

// shutdown asks the server to save all and to end.
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

// silence ends listening to the server, for good.
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

// serverLog is the end of the log of a container's server, for an error.
func (e *engine) serverLog(ctx context.Context, id string) string {
	err := e.exec(ctx, id, "tail -n 20 /data/log; exit 1", false)
	if err == nil {
		return ""
	}
	return err.Error()
}

// dial connects a client's connection to the server, and makes the feed know
// it. It waits while the server's role changes.
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
		if err == nil || f == nil || ctx.Err() != nil || s.current() == f && !f.over() {
			return r, err
		}
		time.Sleep(time.Millisecond)
	}
}

var errDown = errors.New("the server is down")

// connect connects to the server, whose feed is f; nil: it has none.
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

// route is a connection of ours to a server that stands for one of a client's.
type route struct {
	*control
	feed     *feed // nil: nobody wants to know what the server does
	expected *expected
}
