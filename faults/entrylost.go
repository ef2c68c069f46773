package faults

import (
	"errors"
	"time"
)

var entryLost = Fault{
	Name:     "entry-lost",
	Does:     "an operator or a script removes one entry of a lock from a server, and no client is told; all leaves this fault out",
	On:       OnServer,
	Operator: true,
	Once:     true,
	Words: Words{
		Lane: "removal",
		Past: "an operator {removed} on {on}",
		Now:  "an operator {removes} on {on}",
	},
	Start: func(p Place, _ int, in Injection) error {
		o, ok := p.(operated)
		if !ok {
			return errors.New("nobody can act as an operator here")
		}
		return o.RemoveEntry(in.On[0], in.Entry)
	},
	Draw: drawEntry,
}

// operated is a Place with servers on which an operator can act.
type operated interface {
	// RemoveEntry removes an entry of a lock from a server: the key, the node or the
	// row, or the connection that keeps it. nth counts the server's entries of locks
	// from 0, in the order of their acquires, and begins again after the last. It does
	// nothing if there is no entry, or the server does not accept the request.
	RemoveEntry(server string, nth int) error
}

// drawEntry draws which entry an operator chooses: every second time the oldest, which
// in a queue is the holder's.
func drawEntry(in *Injection, _ time.Duration, draw func(int64) int64) {
	in.Entry = int(max(0, draw(6)-2))
}
