package faults

import (
	"errors"
	"time"
)

// Tampering is what an operator does to an entry of a lock; "": nothing.
type Tampering string

// The kinds of tampering.
const (
	// Removal removes the key, the node or the row, or ends the connection that keeps
	// the entry.
	Removal Tampering = "remove"
	// Overwriting writes another value, or another owner, into the key, the node or the
	// row. It leaves its expiry and its session as they are.
	Overwriting Tampering = "change"
)

var entryLost = Fault{
	Name:     "entry-lost",
	Does:     "an operator or a script removes one entry of a lock from a server, without a word to the clients; all leaves this fault out",
	Operator: Removal,
	Words:    Words{Lane: "removal"},
}.byOperator()

var entryChanged = Fault{
	Name:     "entry-changed",
	Does:     "an operator or a script writes another value or owner into one entry of a lock, without a word to the clients; all leaves this fault out",
	Operator: Overwriting,
	Need:     NeedValues,
	Words:    Words{Lane: "change"},
}.byOperator()

// byOperator returns f with what the faults of operators share.
func (f Fault) byOperator() Fault {
	f.On, f.Once, f.Draw = OnServer, true, drawEntry
	f.Words.Past, f.Words.Now = "an operator {tampered} on {on}", "an operator {tampers} on {on}"
	how := f.Operator
	f.Start = func(p Place, _ int, in Injection) error {
		o, ok := p.(operated)
		if !ok {
			return errors.New("nobody can act as an operator here")
		}
		return o.Tamper(in.On[0], how, in.Entry)
	}
	return f
}

// operated is a Place with servers on which an operator can act.
type operated interface {
	// Tamper acts on an entry of a lock in a server. nth counts the server's entries of
	// locks from 0, in the order of their acquires, and begins again after the last; it
	// leaves out entries that an operator wrote. Tamper does nothing if there is no
	// entry, or the server does not accept the request.
	Tamper(server string, how Tampering, nth int) error
}

// drawEntry draws which entry an operator chooses: every second time the oldest, which
// in a queue is the holder's.
func drawEntry(in *Injection, _ time.Duration, draw func(int64) int64) {
	in.Entry = int(max(0, draw(6)-2))
}
