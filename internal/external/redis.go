package external

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"

	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// redisStore is Redis servers, or Sentinels with the servers that they know.
type redisStore struct {
	access
	keepers   []*server // that keep keys
	sentinels []*server
}

// find returns the servers. Sentinels name the rest: the master first, then its replicas.
func (r *redisStore) find(ctx context.Context) (all []*server, err error) {
	if r.Store() != endpoints.Sentinel {
		r.keepers, err = r.numbered("redis", worker.TargetRedis)
	} else if r.sentinels, err = r.numbered("sentinel", worker.TargetSentinels); err == nil {
		r.prove()
		err = r.discover(ctx)
	}
	if err != nil {
		return nil, err
	}
	r.prove()
	all = slices.Concat(r.keepers, r.sentinels)
	return all, clients.Together(all, func(s *server) error {
		t, err := s.open(ctx)
		if err != nil {
			return err
		}
		defer t.Close()
		if _, err = t.do("PING"); err != nil {
			err = fmt.Errorf("%s at %s: %w", s.name, s.addr, err)
		}
		return err
	})
}

// prove lets the servers know who asks.
func (r *redisStore) prove() {
	if r.secret == "" {
		return
	}
	for _, s := range slices.Concat(r.keepers, r.sentinels) {
		s.auth = []string{"AUTH", r.secret}
		if r.User != "" {
			s.auth = []string{"AUTH", r.User, r.secret}
		}
	}
}

// discover asks the Sentinels for the servers and for each other.
func (r *redisStore) discover(ctx context.Context) error {
	for _, s := range slices.Clone(r.sentinels) {
		t, err := s.open(ctx)
		if err != nil {
			return err
		}
		defer t.Close()
		master, err := t.do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", r.Master())
		switch {
		case err != nil:
			return fmt.Errorf("%s at %s: %w", s.name, s.addr, err)
		case len(master.Parts) != 2:
			return fmt.Errorf("%s at %s knows no master %s", s.name, s.addr, r.Master())
		}
		found := []string{net.JoinHostPort(master.Parts[0].Text, master.Parts[1].Text)}
		for _, list := range []string{"REPLICAS", "SENTINELS"} {
			said, err := t.do("SENTINEL", list, r.Master())
			if err != nil {
				return fmt.Errorf("%s at %s: %w", s.name, s.addr, err)
			}
			for _, each := range said.Parts {
				at := net.JoinHostPort(field(each, "ip"), field(each, "port"))
				if list == "SENTINELS" {
					err = errors.Join(err, r.meet(&r.sentinels, at, "sentinel-"+fmt.Sprint(len(r.sentinels)+1), ""))
				} else {
					found = append(found, at)
				}
			}
			if err != nil {
				return err
			}
		}
		for _, at := range found {
			name := "redis-1"
			if n := len(r.keepers); n > 0 {
				name += string(rune('a' + n)) // as with --on docker: the replicas of redis-1 are redis-1b, redis-1c
			}
			if err := r.meet(&r.keepers, at, name, worker.TargetRedis); err != nil {
				return err
			}
		}
	}
	return nil
}

// meet adds a server that Sentinels announce, unless it is known.
func (r *redisStore) meet(list *[]*server, at, name, kind string) error {
	for _, s := range *list {
		if s.addr == at || slices.Contains(s.announced, at) {
			if !slices.Contains(s.announced, at) {
				s.announced = append(s.announced, at)
			}
			return nil
		}
	}
	s, err := r.newServer(name, at, kind)
	if err == nil {
		s.announced = []string{at}
		*list = append(*list, s)
	}
	return err
}

// field returns a field of a server in a Sentinel's list.
func field(v clients.Value, name string) string {
	for i := 0; i+1 < len(v.Parts); i += 2 {
		if v.Parts[i].Text == name {
			return v.Parts[i+1].Text
		}
	}
	return ""
}

func (r *redisStore) prepare(context.Context, string) error { return nil }

// declare does nothing: a declared key has the name of the lock, and so its prefix.
func (r *redisStore) declare(context.Context, []worker.Entry) error { return nil }

func (r *redisStore) strange(context.Context) ([]string, error) { return nil, nil }

func (r *redisStore) close() {}

func (r *redisStore) others(ctx context.Context) ([]string, error) { return r.each(ctx, Mark, false) }

// remove removes the keys that contain the prefix. A request may have been on its way when
// its client ended, so it looks until nothing is left.
func (r *redisStore) remove(ctx context.Context, prefix string) (removed []string, err error) {
	for range 10 {
		list, err := r.each(ctx, prefix, true)
		removed = append(removed, list...)
		if err != nil || len(list) == 0 {
			return removed, err
		}
	}
	return removed, fmt.Errorf("keys with %s come back: a client is still there", prefix)
}

// each returns the keys that contain a text in all databases of all masters. It removes
// them, if that is wanted.
func (r *redisStore) each(ctx context.Context, text string, remove bool) (keys []string, err error) {
	for _, s := range r.keepers {
		list, wrong := s.keys(ctx, text, remove)
		keys, err = append(keys, list...), errors.Join(err, wrong)
	}
	return keys, err
}

var databaseLine = regexp.MustCompile(`(?m)^db(\d+):`)

// keys is each of one server. A replica has the keys of its master.
func (s *server) keys(ctx context.Context, text string, remove bool) (keys []string, err error) {
	t, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	role, err := t.do("ROLE")
	if err == nil && len(role.Parts) > 0 && role.Parts[0].Text != "master" {
		return nil, nil
	}
	space, err := t.do("INFO", "keyspace")
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", s.name, s.addr, err)
	}
	for _, db := range databaseLine.FindAllStringSubmatch(space.Text, -1) {
		if _, err := t.do("SELECT", db[1]); err != nil {
			return keys, fmt.Errorf("%s at %s: %w", s.name, s.addr, err)
		}
		for cursor := "0"; ; {
			said, err := t.do("SCAN", cursor, "MATCH", "*"+text+"*", "COUNT", "1000")
			if err == nil && len(said.Parts) != 2 {
				err = fmt.Errorf("an unexpected answer to SCAN: %q", said.Text)
			}
			if err == nil {
				err = ctx.Err()
			}
			var found []string
			if err == nil {
				for _, k := range said.Parts[1].Parts {
					found = append(found, k.Text)
				}
				for i := 0; remove && err == nil && i < len(found); i++ {
					_, err = t.do("DEL", found[i])
				}
			}
			if err != nil {
				return keys, fmt.Errorf("%s at %s: %w", s.name, s.addr, err)
			}
			keys = append(keys, found...)
			if cursor = said.Parts[0].Text; cursor == "0" {
				break
			}
		}
	}
	return keys, nil
}
