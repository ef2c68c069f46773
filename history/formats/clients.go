package formats

import (
	"fmt"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// clients are the processes of clients that a file has shown so far.
type clients struct {
	numbers map[int]*client
	names   map[string]*client // of those that a file knows by name: the one that goes on
	lowest  int                // the number that was given to a name last
}

// client is one process of a client.
type client struct {
	number  int
	name    string // "" where the file numbers it
	client  string // who it is, where that was said
	open    string // the operation that it invoked; "" when there is none
	lock    string // of the open operation
	said    string // its value
	retired bool   // its last operation ended with info
}

// who finds out which process e is of, and returns the client's, or nil for a
// process with a name.
func (m *mapper) who(op *operation, e *history.Entry) (*client, error) {
	v := op[keyProcess]
	if v.kind == integer {
		return m.clients.numbered(e, int(v.n))
	}
	if v.kind == number && integral(strings.TrimRight(v.text, "N")) {
		return nil, fmt.Errorf("%s is %s: it does not fit 64 bits", m.spell(keyProcess), v.short())
	}
	name, ok := v.word()
	if !ok || name == "" {
		return nil, m.wrong(keyProcess, v, "an integer or a name")
	}
	c := m.clients.names[name]
	switch {
	case name == history.Nemesis:
	case c != nil, e.Type != history.Event && e.Type != history.Info:
		return m.clients.named(e, c, name)
	case !m.ours && e.Type == history.Info && isOperation(e.F):
		return nil, fmt.Errorf("%s completes %s, and has invoked nothing", name, e.F)
	}
	e.Process.Name = name
	return nil, nil
}

func isOperation(f string) bool {
	_, ok := synonyms[f]
	return ok || history.IsOperation(f)
}

func (c *clients) numbered(e *history.Entry, n int) (*client, error) {
	e.Process.N = n
	p := c.add(n)
	if p.name != "" {
		return nil, fmt.Errorf("process %d is the number that %s was given: number processes from 0", n, p.name)
	}
	return p, nil
}

// add is process n, which may be new.
func (c *clients) add(n int) *client {
	p := c.numbers[n]
	if p == nil {
		if c.numbers == nil {
			c.numbers, c.names = map[int]*client{}, map[string]*client{}
		}
		p = &client{number: n}
		c.numbers[n] = p
	}
	return p
}

// named is the process of a client that the file knows by its name; p is the
// one that it had, if any. After an info it goes on under a number of its own.
func (c *clients) named(e *history.Entry, p *client, name string) (*client, error) {
	if p != nil && p.open != "" && e.Type == history.Invoke {
		return nil, fmt.Errorf("%s invokes %s while its %s is open", name, e.F, p.open)
	}
	if e.Type != history.Invoke && e.Type != history.Event && (p == nil || p.open == "") {
		return nil, fmt.Errorf("%s completes %s, and has invoked nothing", name, e.F)
	}
	if p == nil || p.retired && e.Type == history.Invoke {
		for c.lowest--; c.numbers[c.lowest] != nil; c.lowest-- {
		}
		before := p
		p = c.add(c.lowest)
		p.name, p.client = name, name
		if before != nil {
			p.client = before.client
			delete(c.numbers, before.number) // nothing follows under that number
		}
		if e.Client != "" {
			p.client = e.Client
		}
		c.names[name] = p
	}
	e.Process.N = p.number
	if e.Client == "" {
		e.Client = p.client
	}
	return p, nil
}
