package faults

import (
	"fmt"
	"slices"
	"time"
)

// Fault is something that can go wrong on its own: what it does to a part of the
// environment, how it heals, and what the judge and the stories have to know about it.
type Fault struct {
	Name string
	Does string // one line
	On   Target
	Need Need // what the environment must be able to do
	// Ends: the client's process is over. Restarts: it can start again, as a new one.
	Ends, Restarts bool
	// Shares groups faults that act on one state of a host: the first of them in force
	// starts it, the last one ends it. "": each acts on its own.
	Shares string
	// Alone: it strikes its client, but not the clients in the same process.
	Alone bool
	// Stops: it stops or cuts off a client, a server or a request, for a while or for
	// good. A handover may take its time then.
	Stops bool
	// Once: it is over at once, or waits for something that it strikes once.
	Once bool
	// Operator is what a person or a script does to an entry in one server. "all" leaves
	// such faults out, because no lock is made for them.
	Operator Tampering
	// Clock: it sets a wall clock wrong. Rate: it makes clocks run fast or slow. Amount
	// is how far.
	Clock, Rate bool
	Words       Words

	// Start makes it happen. Heal ends it; nil for a fault that is over at once or
	// stays. hits is how many messages were touched; -1: unknown.
	Start func(p Place, id int, in Injection) error
	Heal  func(p Place, id int, in Injection) (hits int, err error)

	// Draw completes an injection of a random run: duration, amount, direction. t is
	// the lease T.
	Draw func(in *Injection, t time.Duration, draw func(n int64) int64)
}

// Need is an ability that some environments lack.
type Need string

const (
	NeedClock       Need = "a server whose clock can be set"
	NeedRate        Need = "a server whose clock can be made fast or slow"
	NeedStop        Need = "clients that can be stopped: on Docker, Linux"
	NeedClientClock Need = "lockcheck's own workers, whose clocks can be set"
	NeedReplicas    Need = "servers with replicas"
	NeedSessions    Need = "a server that keeps sessions, which others can close"
	NeedMemory      Need = "a server that evicts what it has no room for"
	NeedValues      Need = "entries with a value or an owner"

	// NeedServers is what every fault of servers and sessions needs.
	NeedServers Need = "servers that lockcheck starts itself: it never stops, slows or changes yours"
)

// down is the Shares of faults whose server is gone until they end.
const down = "down"

// Down reports whether its server is gone until its end.
func (f *Fault) Down() bool { return f.Shares == down }

// onServer returns the fault of a server that does what f does to a client.
func (f Fault) onServer(name string, need Need, does string) Fault {
	f.Name, f.On, f.Need, f.Does = name, OnServer, need, does
	return f
}

// Available returns nil if f applies in an environment that has these abilities, else
// an error that says why not.
func (f Fault) Available(has []Need) error {
	foreign := f.On == OnServer || f.On == OnServers || f.Need == NeedSessions
	switch {
	case foreign && !slices.Contains(has, NeedServers):
		return fmt.Errorf("%s needs %s", f.Name, NeedServers)
	case f.Need == "" || slices.Contains(has, f.Need):
		return nil
	}
	return fmt.Errorf("%s needs %s", f.Name, f.Need)
}

// between draws evenly from from/10 T to to/10 T.
func between(draw func(int64) int64, t time.Duration, from, to int64) time.Duration {
	return t * time.Duration(10*from+draw(10*(to-from)+1)) / 100
}

// drawDuration draws how long a disturbance goes on: 0.1–2.5 T.
func drawDuration(in *Injection, t time.Duration, draw func(int64) int64) {
	in.For = between(draw, t, 1, 25)
}

// drawAmount draws 0.5–3 T, forward or back.
func drawAmount(in *Injection, t time.Duration, draw func(int64) int64) {
	in.Amount = between(draw, t, 5, 30)
	if draw(2) == 1 {
		in.Amount = -in.Amount
	}
}

// Offers returns the abilities of an environment. own: its clients are our workers. On
// Docker, clients can be stopped if the machine runs Linux.
func Offers(place string, own bool) []Need {
	has := []Need{NeedStop}
	if place != "external" {
		has = append(has, NeedServers, NeedClock, NeedReplicas, NeedMemory, NeedSessions, NeedValues)
	}
	if own {
		has = append(has, NeedClientClock)
	}
	if place == "sim" {
		has = append(has, NeedRate)
	}
	return has
}
