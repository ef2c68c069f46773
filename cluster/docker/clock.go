package docker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// faketime makes libfaketime answer the server's questions for the wall clock.
// The C library comes second because the server's allocator deadlocks
// otherwise: it asks for the time while symbols are being resolved.
const faketime = `export FAKETIME_TIMESTAMP_FILE=/faketime/offset FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1
LD_PRELOAD="$(echo /usr/lib/*/faketime/libfaketimeMT.so.1) $(echo /lib/*/libc.so.6)"
export LD_PRELOAD
`

// setOffset writes how far the wall clock is off. The server reads the file
// whenever it looks at its clock, so it is replaced in one step.
func (s *server) setOffset() string {
	return fmt.Sprintf("echo %+.6f >/faketime/new && mv /faketime/new /faketime/offset", s.offset.Seconds())
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
	if f == nil || s.gate.still(time.Now()) {
		return nil // it will see it when it runs
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
