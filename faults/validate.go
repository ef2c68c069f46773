package faults

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// Validate returns an error if an injection does not fit an environment with these
// clients, data servers, and monitors of those servers. On a link the monitors and the
// guarded resource are servers, too.
func (in Injection) Validate(clients, servers, monitors []string) error {
	f, ok := Find(in.Fault)
	if !ok {
		return fmt.Errorf("no fault %q", in.Fault)
	}
	all := slices.Concat(servers, monitors)
	among := map[Target][][]string{OnClient: {clients}, OnServer: {servers}, OnLink: {clients, append(all, history.Resource)}}[f.On]
	if f.On == OnServers {
		among = slices.Repeat([][]string{all}, max(1, len(in.On)))
	}
	if len(in.On) != len(among) {
		return fmt.Errorf("%s acts on %s, not on %q", in.Fault, f.On, in.On)
	}
	for i, name := range in.On {
		if !slices.Contains(among[i], name) {
			return fmt.Errorf("%s on %q: no such name; there are %s", in.Fault, name, strings.Join(among[i], ", "))
		}
	}
	if in.Entry < 0 {
		return fmt.Errorf("%s on entry %d: the first is 0", in.Fault, in.Entry)
	}
	if in.At < 0 || in.For < 0 || f.Name == delay.Name && in.Amount < 0 {
		return fmt.Errorf("%s: a time is negative", in.Fault)
	}
	if in.Point != nil {
		return in.Point.validate(clients)
	}
	return nil
}

func (p *Point) validate(clients []string) error {
	ops := []string{history.Acquire, history.Read, history.Write, history.Release}
	switch {
	case !slices.Contains(clients, p.Client):
		return fmt.Errorf("a point of %q: no such client; there are %s", p.Client, strings.Join(clients, ", "))
	case !slices.Contains(ops, p.Op):
		return fmt.Errorf("a point in %q: the operations are %s", p.Op, strings.Join(ops, ", "))
	case p.Acquisition < 1:
		return fmt.Errorf("a point in critical section %d of %s: the first is 1", p.Acquisition, p.Client)
	case p.OK && p.Op != history.Acquire, p.Request < 0, p.kinds() != 1:
		return fmt.Errorf("a point of %s in its %s must be at one request, at the last, at a command, or after an acquire's ok", p.Client, p.Op)
	}
	return nil
}

// kinds returns how many of the fields that place a point are set.
func (p *Point) kinds() (n int) {
	for _, is := range []bool{p.Request != 0, p.Last, p.OK, p.Command != ""} {
		if is {
			n++
		}
	}
	return n
}
