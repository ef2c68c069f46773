package wire

import (
	"math"
	"slices"
	"time"
)

// blocked is a request that waits until one of its keys has an element.
type blocked struct {
	serial  int
	timeout time.Duration // 0: none
	keys    []string
	take    func(x *call, key string) (r reply, done bool)
}

// later is no answer: it comes later.
var later = listOf(several)

// block answers at once if that is possible, or else when one of the keys has an element,
// or after a timeout in seconds. In a transaction it answers none instead.
func (x *call) block(keys []string, timeout string, none reply, b blocked) reply {
	seconds, ok := parseFloat(timeout)
	switch {
	case !ok:
		return failure("ERR timeout is not a float or out of range")
	case seconds < 0:
		return failure("ERR timeout is negative")
	case seconds*1000 > math.MaxInt64>>1:
		return failure("ERR timeout is out of range")
	}
	for _, key := range keys {
		if r, done := b.take(x, key); done {
			return r
		}
	}
	if x.inExec {
		return none
	}
	x.server.serials++
	b.serial, b.keys = x.server.serials, keys
	b.timeout = time.Duration(math.Ceil(seconds*1000)) * time.Millisecond
	x.conn.blocked = &b
	x.server.waiting = append(x.server.waiting, x.conn)
	return later
}

// serveWaiting answers the requests that can go on: first those that have waited longest.
func (s *Server) serveWaiting(apply Apply) {
	for s.stored {
		s.stored = false
		for _, c := range slices.Clone(s.waiting) {
			b := c.blocked
			x := &call{server: s, conn: c, apply: apply, commands: s.current.commands}
			for _, key := range b.keys {
				if r, done := b.take(x, key); done && !r.failed() {
					s.wake(c)
					s.pushes = append(s.pushes, Push{Conn: c, Data: r.append(nil, c.resp3), Answer: true})
					break
				}
			}
		}
	}
}

// wake ends the wait of a connection.
func (s *Server) wake(c *Conn) {
	c.blocked = nil
	s.waiting = slices.DeleteFunc(s.waiting, func(o *Conn) bool { return o == c })
}

// Blocked returns the number of the request for whose answer c waits, and the time after
// which the caller has to call Timeout; 0: there is none.
func (s *Server) Blocked(c *Conn) (serial int, timeout time.Duration) {
	if c.blocked == nil {
		return 0, 0
	}
	return c.blocked.serial, c.blocked.timeout
}

// Timeout ends the wait of that request, and returns the answer.
func (s *Server) Timeout(c *Conn) []byte {
	s.wake(c)
	return listOf(nilArray).append(nil, c.resp3)
}
