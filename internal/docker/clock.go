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

// faketime makes libfaketime answer the server's questions for the wall clock.
// The C library comes second because the server's allocator deadlocks
// otherwise: it asks for the time while symbols are being resolved.
const faketime = `export FAKETIME_TIMESTAMP_FILE=/faketime/offset FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1
LD_PRELOAD="$(echo /usr/lib/*/faketime/libfaketimeMT.so.1) $(echo /lib/*/libc.so.6)"
export LD_PRELOAD
`

// setOffset is a script that writes how far the wall clock is off. The server reads
// the file whenever it looks at its clock, so it is replaced in one step.
func setOffset(offset time.Duration) string {
	return fmt.Sprintf("echo %+.6f >/faketime/new && mv /faketime/new /faketime/offset", offset.Seconds())
}

// fakes tells whether the schedule moves a server's clock.
func (p *Place) fakes(server string) bool {
	return slices.ContainsFunc(p.schedule, func(in faults.Injection) bool {
		f, ok := faults.Find(in.Fault)
		return ok && f.Need == faults.NeedClock && slices.Contains(in.On, server)
	})
}

// jump moves the server's wall clock, and returns when it shows it.
func (s *server) jump(ctx context.Context, by time.Duration) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if !s.faked {
		return errNoJump(s.name)
	}
	s.offset += by
	var shows func() (time.Duration, error)
	if s.current() != nil && !s.gate.still(time.Now()) {
		shows = func() (time.Duration, error) {
			f := s.current() // another one once the server has changed its role
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

// moveClock sets how far the wall clock of a container's server is off, and returns
// when it shows that. shows is nil where the server will see it when it runs.
func (e *engine) moveClock(ctx context.Context, id string, offset time.Duration, shows func() (time.Duration, error)) error {
	err := e.exec(ctx, id, setOffset(offset), false)
	if err != nil || shows == nil {
		return err
	}
	return await(ctx, "the clock shows its new time", func() (bool, error) {
		at, err := shows()
		if err != nil {
			return false, err // its connection may just be replaced
		}
		off := at - time.Duration(time.Now().UnixNano()) - offset
		return off.Abs() < jumpExact, nil
	})
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
