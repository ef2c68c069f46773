package docker

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/catalogue"
)

// room is what a full server has left for what is written to it, in bytes: it
// has evicted what it may, and can go on.
const room = 8 << 20

// evict makes memory short: the limit comes down to below what the server uses,
// which to it is the same as other data that grows. One that evicts has room
// again when it has evicted all that it may; one that does not refuses what
// would need more, until relieve.
func (s *server) evict(ctx context.Context, policy catalogue.Eviction) error {
	name := "volatile-lru"
	if policy == catalogue.EvictNothing {
		name = "noeviction"
	}
	err := s.setMemory(func(c *control) error {
		if err := configure(c, "maxmemory-policy", name, "maxmemory", "1"); err != nil || policy == catalogue.EvictNothing {
			return err
		}
		err := await(ctx, "all that may be evicted is", func() (bool, error) {
			raw, err := c.do("INFO", "keyspace")
			return !strings.Contains(raw, "expires=") || strings.Contains(raw, "expires=0"), err
		})
		if err != nil {
			return err
		}
		raw, err := c.do("INFO", "memory")
		if err != nil {
			return err
		}
		_, used, _ := strings.Cut(raw, "used_memory:")
		used, _, _ = strings.Cut(used, "\r\n")
		n, err := strconv.Atoi(used)
		if err != nil {
			return err
		}
		return configure(c, "maxmemory", strconv.Itoa(n+room))
	})
	if f := s.current(); f != nil && err == nil {
		err = f.catchUp()
	}
	return err
}

// relieve takes the limit away.
func (s *server) relieve() error {
	return s.setMemory(func(c *control) error { return configure(c, "maxmemory", "0") })
}

// setMemory does something with a connection to the server of its own: the
// feed's would wait as well.
func (s *server) setMemory(do func(*control) error) error {
	if !s.isUp() {
		return nil // what filled its memory is gone, too
	}
	c, err := connect(s.addr)
	if err != nil {
		return err
	}
	defer c.close()
	if err := do(c); err != nil {
		return fmt.Errorf("set what memory %s has: %w", s.name, err)
	}
	return nil
}

// configure sets what a server can change while it runs.
func configure(c *control, settings ...string) error {
	_, err := c.do(append([]string{"CONFIG", "SET"}, settings...)...)
	return err
}
