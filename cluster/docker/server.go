package docker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
)

// server is a Redis server in a container. The container's first process only
// sleeps: the server comes and goes, and keeps its address.
type server struct {
	name   string
	engine *engine
	id     string // of the container
	addr   string // on this machine
	fsync  catalogue.Fsync
	faked  bool // its clock can be set
	ledger *ledger

	changing sync.Mutex // one start, stop or jump at a time
	offset   time.Duration

	mu   sync.Mutex
	feed *feed // nil: the server is down
}

const (
	redisPort = "6379/tcp"
	// up is how long a server may take to answer after its start, and down to end.
	upLimit   = 15 * time.Second
	downLimit = 10 * time.Second
)

// faketime makes libfaketime answer the server's questions for the wall clock.
// The C library comes second because the server's allocator deadlocks
// otherwise: it asks for the time while symbols are being resolved.
const faketime = `export FAKETIME_TIMESTAMP_FILE=/faketime/offset FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1
LD_PRELOAD="$(echo /usr/lib/*/faketime/libfaketimeMT.so.1) $(echo /lib/*/libc.so.6)"
export LD_PRELOAD
`

// script starts the server. What notifications it sends, and that it saves
// only when it is told to, is set here and nowhere else.
func (s *server) script() string {
	args := `--dir /data --pidfile /data/pid --logfile /data/log --bind 0.0.0.0 --protected-mode no ` +
		`--notify-keyspace-events EA --save "" --appendonly no`
	if s.fsync == catalogue.FsyncAlways {
		args = strings.Replace(args, "--appendonly no", "--appendonly yes --appendfsync always", 1)
	}
	run := "exec redis-server " + args
	if s.faked {
		return s.setOffset() + " && " + faketime + run
	}
	return run
}

// setOffset writes how far the wall clock is off. The server reads the file
// whenever it looks at its clock, so it is replaced in one step.
func (s *server) setOffset() string {
	return fmt.Sprintf("echo %+.6f >/faketime/new && mv /faketime/new /faketime/offset", s.offset.Seconds())
}

// start starts the server, waits for its own answer (something answers the
// published port also without it), and listens to it.
func (s *server) start(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.current() != nil {
		return nil
	}
	if err := s.engine.exec(ctx, s.id, s.script(), true); err != nil {
		return err
	}
	f, err := s.answered(ctx)
	if err != nil {
		return err
	}
	if err := s.compare(f); err != nil {
		f.close()
		return fmt.Errorf("look at %s after its start: %w", s.name, err)
	}
	s.mu.Lock()
	s.feed = f
	s.mu.Unlock()
	return nil
}

// answered waits until the server answers, and returns its feed.
func (s *server) answered(ctx context.Context) (*feed, error) {
	limit := time.Now().Add(upLimit)
	for {
		c, err := connect(s.addr)
		if err == nil {
			_, err = c.do("PING")
			c.close()
		}
		if err == nil {
			return listen(s.addr, s.ledger)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if time.Now().After(limit) {
			return nil, fmt.Errorf("%s does not answer %v after its start: %w\n%s", s.name, upLimit, err, s.log(ctx))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// compare sets the ledger right: what a server has after its start is what it
// has kept.
func (s *server) compare(f *feed) error {
	for _, key := range s.ledger.names {
		there, err := f.command.do("EXISTS", key)
		if err != nil {
			return err
		}
		at, err := wallClock(f.command)
		if err != nil {
			return err
		}
		if err := f.catchUp(); err != nil {
			return err
		}
		s.ledger.compare(key, there == ":1\r\n", at)
	}
	return nil
}

// wallClock is the server's wall clock, since 1970.
func wallClock(c *control) (time.Duration, error) {
	raw, err := c.do("TIME")
	if err != nil {
		return 0, err
	}
	f := strings.Split(raw, "\r\n")
	if len(f) < 5 {
		return 0, fmt.Errorf("an unexpected answer to TIME: %q", raw)
	}
	seconds, err1 := strconv.ParseInt(f[2], 10, 64)
	micros, err2 := strconv.ParseInt(f[4], 10, 64)
	return time.Duration(seconds)*time.Second + time.Duration(micros)*time.Microsecond, errors.Join(err1, err2)
}

// current is the feed of the server that runs; nil: it is down.
func (s *server) current() *feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.feed
}

// stop ends the server's process. With lose it is killed, and keeps what it
// had synced; without, it saves all.
func (s *server) stop(ctx context.Context, lose bool) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	f := s.feed
	s.feed = nil
	s.mu.Unlock()
	if f == nil {
		return nil
	}
	var err error
	if lose {
		err = s.engine.exec(ctx, s.id, `kill -9 "$(cat /data/pid)"`, false)
	} else {
		f.command.do("SHUTDOWN", "SAVE") // the connection's end is the answer
	}
	if err == nil {
		err = s.engine.exec(ctx, s.id, fmt.Sprintf(
			`p=$(cat /data/pid 2>/dev/null) || exit 0; i=0; while [ -d "/proc/$p" ] && [ $i -lt %d ]; do sleep 0.01; i=$((i+1)); done; [ ! -d "/proc/$p" ]`,
			downLimit/(10*time.Millisecond)), false)
	}
	if err != nil {
		return fmt.Errorf("stop %s: %w", s.name, err)
	}
	f.drain()
	if lose && s.fsync == catalogue.FsyncNone {
		err = s.engine.exec(ctx, s.id, "rm -rf /data/dump.rdb /data/appendonlydir", false)
		s.ledger.lose()
	}
	return err
}

// jump moves the server's wall clock, and returns when it shows it.
func (s *server) jump(ctx context.Context, by time.Duration) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if !s.faked {
		return fmt.Errorf("the clock of %s cannot be set: no jump was planned when it was started", s.name)
	}
	s.offset += by
	if err := s.engine.exec(ctx, s.id, s.setOffset(), false); err != nil {
		return fmt.Errorf("jump of %s: %w", s.name, err)
	}
	f := s.current()
	if f == nil {
		return nil // it will see it when it starts
	}
	limit := time.Now().Add(upLimit)
	for {
		shows, err := wallClock(f.command)
		if err != nil {
			return fmt.Errorf("jump of %s: %w", s.name, err)
		}
		off := shows - time.Duration(time.Now().UnixNano()) - s.offset
		if off.Abs() < jumpExact {
			return nil
		}
		if time.Now().After(limit) {
			return fmt.Errorf("jump of %s: its clock is still off by %v", s.name, off)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// jumpExact is how near a clock must be to where it was set. The difference is
// how long the question and its answer travel.
const jumpExact = 100 * time.Millisecond

// log is the end of the server's own log, for an error.
func (s *server) log(ctx context.Context) string {
	err := s.engine.exec(ctx, s.id, "tail -n 20 /data/log; exit 1", false)
	if err == nil {
		return ""
	}
	return err.Error()
}

// dial connects a client's connection to the server, and makes the feed know it.
func (s *server) dial(ctx context.Context) (*route, error) {
	f := s.current()
	if f == nil {
		return nil, errors.New("the server is down")
	}
	c, err := connect(s.addr)
	if err != nil {
		return nil, err
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
	feed     *feed
	expected *expected
}
