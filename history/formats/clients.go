package formats

import (
	"fmt"

	"github.com/lockcheck/lockcheck/history"
)

// clients are the clients' processes in a file so far.
type clients struct {
	numbers map[int]*client
	names   map[string]*client // the present processes of clients that the file names
	lowest  int                // the last number given to a name
}

// client is one process of a client.
type client struct {
	number  int
	name    string // "" if the file numbers it
	client  string // the client's name, if known
	open    string // its open operation, or ""
	lock    string // of the open operation
	value   string // its value
	retired bool   // its last operation ended with info
}

func (c *clients) numberedProcess(e *history.Entry, n int) (*client, error) {
	e.Process.N = n
	p := c.add(n)
	if p.name != "" {
		return nil, fmt.Errorf("process %d is the number that %s was given: number processes from 0", n, p.name)
	}
	return p, nil
}

// add returns process n, which may be new.
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

// namedProcess returns the process of a client that the file names. p is its present
// process, if any. After an info the client gets a new number.
func (c *clients) namedProcess(e *history.Entry, p *client, name string) (*client, error) {
	if p != nil && p.open != "" && e.Type == history.Invoke {
		return nil, fmt.Errorf("%s invokes %s while its %s is open", name, e.F, p.open)
	}
	if e.Type != history.Invoke && e.Type != history.Event && (p == nil || p.open == "") {
		return nil, fmt.Errorf("%s completes %s without an invoke", name, e.F)
	}
	if p == nil || p.retired && e.Type == history.Invoke {
		for c.lowest--; c.numbers[c.lowest] != nil; c.lowest-- {
		}
		before := p
		p = c.add(c.lowest)
		p.name, p.client = name, name
		if before != nil {
			p.client = before.client
			delete(c.numbers, before.number) // no later line has that number
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

// track notes that e opens or closes an operation.
func (c *clients) track(e *history.Entry, p *client) {
	if p.client == "" {
		if p.client = e.Client; p.client == "" {
			p.client = e.Process.String()
		}
	}
	switch e.Type {
	case history.Event:
	case history.Invoke:
		p.open, p.lock = e.F, e.Lock
	default:
		p.open, p.lock = "", ""
		p.retired = e.Type == history.Info
	}
}
