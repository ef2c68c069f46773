package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/faults"
)

// faketime makes libfaketime answer the server's reads of the wall clock. The C library
// must come second: the server's allocator deadlocks otherwise, because it reads the
// time while symbols are being resolved.
const faketime = `export FAKETIME_TIMESTAMP_FILE=/faketime/offset FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1
LD_PRELOAD="$(echo /usr/lib/*/faketime/libfaketimeMT.so.1) $(echo /lib/*/libc.so.6)"
export LD_PRELOAD
`

// setOffset returns a script that writes the offset of the wall clock. The server reads
// the file at each read of its clock, so it is replaced in one step.
func setOffset(offset time.Duration) string {
	return fmt.Sprintf("echo %+.6f >/faketime/new && mv /faketime/new /faketime/offset", offset.Seconds())
}

// fakes reports whether the schedule moves a server's clock.
func (p *Environment) fakes(server string) bool {
	return slices.ContainsFunc(p.schedule, func(in faults.Injection) bool {
		f, ok := faults.Find(in.Fault)
		return ok && f.Need == faults.NeedClock && slices.Contains(in.On, server)
	})
}

// jump moves the server's wall clock, and returns when the server shows the new time.
func (s *server) jump(ctx context.Context, by time.Duration) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if !s.faked {
		return errNoJump(s.name)
	}
	s.offset += by
	var shows func() (time.Duration, error)
	if s.current() != nil && !s.gate.wasPaused(time.Now()) {
		shows = func() (time.Duration, error) {
			f := s.current() // another feed after a change of role
			if f == nil {
				return 0, errDown
			}
			return wallClock(f.command)
		}
	}
	if err := s.engine.moveClock(ctx, s.id, s.offset, shows); err != nil {
		return fmt.Errorf("jump of %s: %w", s.name, err)
	}
	return nil
}

func errNoJump(server string) error {
	return fmt.Errorf("the clock of %s cannot be set: no jump was planned when it was started", server)
}

// moveClock sets the offset of a server's wall clock, and returns when the server shows
// it. shows is nil if the server will only see it later.
func (e *engine) moveClock(ctx context.Context, id string, offset time.Duration, shows func() (time.Duration, error)) error {
	err := e.exec(ctx, id, setOffset(offset), false)
	if err != nil || shows == nil {
		return err
	}
	return await(ctx, "the clock shows its new time", func() (bool, error) {
		at, err := shows()
		if err != nil {
			return false, err // its connection may be changing
		}
		off := at - time.Duration(time.Now().UnixNano()) - offset
		return off.Abs() < jumpExact, nil
	})
}

// jumpExact is the tolerance of a set clock: the travel time of the question and its
// answer.
const jumpExact = 100 * time.Millisecond

// wallClock returns the server's wall clock, as the time since 1970.
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
