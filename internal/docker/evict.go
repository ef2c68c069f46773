package docker

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// room is the free memory of a full server for further writes, in bytes: it has evicted
// what it can and goes on.
const room = 8 << 20

// evict makes memory short: it sets the limit below the used memory, as if other data
// had grown. A server that evicts gets room again when it has evicted everything that
// it can. One that does not evict refuses further data until relieve.
func (s *server) evict(ctx context.Context, policy catalogue.Eviction) error {
	name := "volatile-lru"
	if policy == catalogue.EvictNothing {
		name = "noeviction"
	}
	err := s.setMemory(func(c *control) error {
		if err := configure(c, "maxmemory-policy", name, "maxmemory", "1"); err != nil || policy == catalogue.EvictNothing {
			return err
		}
		err := await(ctx, "the eviction of all keys with a time to live", func() (bool, error) {
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

// relieve removes the limit.
func (s *server) relieve() error {
	return s.setMemory(func(c *control) error { return configure(c, "maxmemory", "0") })
}

// setMemory uses its own connection to the server, because that of the feed would have
// to wait.
func (s *server) setMemory(do func(*control) error) error {
	if !s.runs() {
		return nil // a stopped server has free memory
	}
	c, err := connect(s.Addr)
	if err != nil {
		return err
	}
	defer c.close()
	if err := do(c); err != nil {
		return fmt.Errorf("set the memory limit of %s: %w", s.name, err)
	}
	return nil
}

// configure changes settings of a running server.
func configure(c *control, settings ...string) error {
	_, err := c.do(append([]string{"CONFIG", "SET"}, settings...)...)
	return err
}
