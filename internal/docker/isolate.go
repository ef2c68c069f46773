package docker

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/internal/clients"
)

// Isolate cuts servers off from all others: their containers drop the packets between
// the two sides, and connections stay open. Clients come from outside, through links,
// and still reach all servers.
func (e *Environment) Isolate(id int, servers []string) error {
	var inside []*box
	var outside []string
	for _, s := range e.peers {
		if slices.Contains(servers, s.name) {
			inside = append(inside, s)
		} else {
			outside = append(outside, s.Host)
		}
	}
	switch {
	case len(inside)+len(outside) == 0:
		return errors.New("docker: these servers do not communicate with each other")
	case len(inside) != len(servers):
		return fmt.Errorf("docker: not all of %q are servers", servers)
	}
	script := dropping(chain(id), outside)
	err := clients.Together(inside, func(s *box) error { return s.sh(e.Ctx, script) })
	e.mu.Lock()
	defer e.mu.Unlock()
	e.isolated[id] = inside // from now on orchestrate and settled regard them as cut off
	return err
}

// chain returns the name of a partition's rules.
func chain(id int) string { return "lockcheck-" + strconv.Itoa(id) }

// join ends a partition and counts the packets that it dropped. known: there was such a
// partition.
func (e *Environment) join(id int) (hits int, known bool, err error) {
	e.mu.Lock()
	inside, known := e.isolated[id]
	e.mu.Unlock()
	counts := make([]int, len(inside))
	err = clients.Together(inside, func(s *box) error {
		out, err := s.ask(e.Ctx, fmt.Sprintf(filter+
			"echo dropped=$($ipt -w -L %[1]s -v -x -n | awk '/DROP/ { n += $1 } END { print n+0 }'); set -e; "+
			"$ipt -w -D INPUT -j %[1]s; $ipt -w -D OUTPUT -j %[1]s; $ipt -w -F %[1]s; $ipt -w -X %[1]s", chain(id)))
		if err != nil {
			return fmt.Errorf("end the partition of %s: %w", s.name, err)
		}
		_, n, _ := strings.Cut(out, "dropped=")
		counts[slices.Index(inside, s)], err = strconv.Atoi(strings.TrimSpace(n))
		return err
	})
	e.mu.Lock()
	delete(e.isolated, id)
	e.mu.Unlock()
	for _, n := range counts {
		hits += n
	}
	if known && e.ensemble != nil && err == nil {
		err = e.ensemble.awaitSettled(e.Ctx)
	}
	return hits, known, err
}

// isCut reports whether a server is cut off from others.
func (e *Environment) isCut(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, inside := range e.isolated {
		if slices.ContainsFunc(inside, func(s *box) bool { return s.name == name }) {
			return true
		}
	}
	return false
}
