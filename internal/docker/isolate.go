package docker

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Isolate cuts servers off from all others: their containers drop the packets between
// the two sides, and connections stay open. Clients come from outside, through links,
// and still reach all servers.
func (p *Environment) Isolate(id int, servers []string) error {
	var inside []*peer
	var outside []string
	for _, s := range p.peers() {
		if slices.Contains(servers, s.name) {
			inside = append(inside, s)
		} else {
			outside = append(outside, s.addr)
		}
	}
	switch {
	case len(inside)+len(outside) == 0:
		return errors.New("docker: these servers do not communicate with each other")
	case len(inside) != len(servers):
		return fmt.Errorf("docker: not all of %q are servers", servers)
	}
	script := dropping(chain(id), outside)
	err := together(inside, func(s *peer) error { return p.engine.exec(p.ctx, s.id, script, false) })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isolated[id] = inside // from now on orchestrate and settled regard them as cut off
	return err
}

// dropping returns a script that drops all packets between its container and hosts,
// with the rules of one chain. All rules are set in one step: setting them one by one
// takes 0.25 s, in which many packets get through.
func dropping(chain string, hosts []string) string {
	var rules strings.Builder
	fmt.Fprintf(&rules, "*filter\n:%s - [0:0]\n", chain)
	for _, h := range hosts {
		fmt.Fprintf(&rules, "-A %[1]s -s %[2]s -j DROP\n-A %[1]s -d %[2]s -j DROP\n", chain, h)
	}
	fmt.Fprintf(&rules, "-I INPUT -j %[1]s\n-I OUTPUT -j %[1]s\nCOMMIT\n", chain)
	return filter + "$ipt-restore -w -n <<'end'\n" + rules.String() + "end\n"
}

// peer is a server that communicates with others.
type peer struct{ name, id, addr string }

// peers returns the servers that communicate with each other.
func (p *Environment) peers() (all []*peer) {
	if p.ensemble != nil {
		for _, m := range p.ensemble.members {
			all = append(all, &peer{m.name, m.id, m.Host})
		}
	}
	if p.mysql != nil && len(p.mysql.servers) > 1 {
		for _, s := range p.mysql.servers {
			all = append(all, &peer{s.name, s.id, s.Host})
		}
	}
	if len(p.sentinels) > 0 {
		for _, s := range slices.Concat(p.stores, p.sentinels) {
			all = append(all, &peer{s.name, s.id, s.peer})
		}
	}
	return all
}

// filter is a script that finds the packet filter of this machine's kernel.
const filter = "ipt=iptables; $ipt -w -L -n >/dev/null 2>&1 || ipt=iptables-legacy; "

// chain returns the name of a partition's rules.
func chain(id int) string { return "lockcheck-" + strconv.Itoa(id) }

// join ends a partition and counts the packets that it dropped. known: there was such a
// partition.
func (p *Environment) join(id int) (hits int, known bool, err error) {
	p.mu.Lock()
	inside, known := p.isolated[id]
	p.mu.Unlock()
	counts := make([]int, len(inside))
	err = together(inside, func(s *peer) error {
		out, err := p.engine.ask(p.ctx, s.id, fmt.Sprintf(filter+
			"echo dropped=$($ipt -w -L %[1]s -v -x -n | awk '/DROP/ { n += $1 } END { print n+0 }'); set -e; "+
			"$ipt -w -D INPUT -j %[1]s; $ipt -w -D OUTPUT -j %[1]s; $ipt -w -F %[1]s; $ipt -w -X %[1]s", chain(id)))
		if err != nil {
			return fmt.Errorf("end the partition of %s: %w", s.name, err)
		}
		_, n, _ := strings.Cut(out, "dropped=")
		counts[slices.Index(inside, s)], err = strconv.Atoi(strings.TrimSpace(n))
		return err
	})
	p.mu.Lock()
	delete(p.isolated, id)
	p.mu.Unlock()
	for _, n := range counts {
		hits += n
	}
	if known && p.ensemble != nil && err == nil {
		err = p.ensemble.awaitSettled(p.ctx)
	}
	return hits, known, err
}

// isCut reports whether a server is cut off from others.
func (p *Environment) isCut(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, inside := range p.isolated {
		if slices.ContainsFunc(inside, func(s *peer) bool { return s.name == name }) {
			return true
		}
	}
	return false
}
