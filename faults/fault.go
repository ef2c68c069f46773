package faults

import (
	"fmt"
	"slices"
	"time"
)

// Fault is something that can go wrong, on its own: what it does to which
// part of a place, and how it heals.
type Fault struct {
	Name string
	Does string // in a line
	On   Target
	Need Need // what the place must be able to do
	// Ends says that its client never does anything again.
	Ends bool
	// Shares names what faults in force on one host have in common: the first
	// of them starts it, and only the last one ends it. "": each is on its own.
	Shares string
	// Alone says that it strikes its client and none of those that share a process
	// with that one.
	Alone bool
	// Stops says that it stops or cuts off a client, a server or a request, for
	// a while or for good: a hand-over may then take its time.
	Stops bool

	// Start makes it happen. Heal ends it: nil for a fault that is over at
	// once or stays. hits is how many messages were touched; -1: it does not say.
	Start func(p Place, id int, in Injection) error
	Heal  func(p Place, id int, in Injection) (hits int, err error)

	// Draw completes an injection for a random run: how long, how far, in
	// which direction. T is the lease.
	Draw func(in *Injection, t time.Duration, draw func(n int64) int64)
}

// Need is something that not every place can do.
type Need string

// The needs.
const (
	NeedClock       Need = "a server whose clock can be set"
	NeedRate        Need = "a server whose clock can be made fast or slow"
	NeedStop        Need = "clients that can be stopped: on Docker, Linux"
	NeedClientClock Need = "workers of ours, whose clocks can be set"
	NeedReplicas    Need = "servers with replicas"
	NeedSessions    Need = "a server that keeps sessions, which somebody else can close"
	NeedMemory      Need = "a server that evicts what it has no room for"
)

// All are all faults, in the order in which they are shown.
func All() []Fault {
	return []Fault{
		pause, kill, powerOff, hang, skew, jump, rate,
		serverPause, restart, restartLost, failover, serverSkew, serverJump, serverRate, evict,
		partition, partitionOneway, partitionServers, delay, dropReply, killConnection,
		sessionExpiry,
	}
}

// Find returns the fault with that name.
func Find(name string) (Fault, bool) {
	all := All()
	i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}, false
	}
	return all[i], true
}

// Available says why f does not apply where a place offers only what it has;
// nil: it applies.
func (f Fault) Available(has []Need) error {
	if f.Need == "" || slices.Contains(has, f.Need) {
		return nil
	}
	return fmt.Errorf("%s needs %s", f.Name, f.Need)
}

// between draws evenly from tenths of T.
func between(draw func(int64) int64, t time.Duration, from, to int64) time.Duration {
	return t * time.Duration(10*from+draw(10*(to-from)+1)) / 100
}

// lasts draws how long a disturbance goes on: 0.1–2.5 T.
func lasts(in *Injection, t time.Duration, draw func(int64) int64) {
	in.For = between(draw, t, 1, 25)
}

// eitherWay draws an amount of 0.5–3 T, forward or back.
func eitherWay(in *Injection, t time.Duration, draw func(int64) int64) {
	in.Amount = between(draw, t, 5, 30)
	if draw(2) == 1 {
		in.Amount = -in.Amount
	}
}

// Offers is what faults can ask for in a place. own: its clients are workers of
// ours; a stranger's lock stands on Redis servers, which keep no sessions. On
// Docker clients can be stopped where the machine is Linux.
func Offers(place string, own bool) []Need {
	has := []Need{NeedClock, NeedReplicas, NeedMemory, NeedStop}
	if own {
		has = append(has, NeedClientClock, NeedSessions)
	}
	if place == "sim" {
		has = append(has, NeedRate)
	}
	return has
}
