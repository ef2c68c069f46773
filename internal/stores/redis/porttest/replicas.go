package porttest

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// Group is a master, server 0, and its two replicas, servers 1 and 2, which are
// up and empty. A method that fails ends the test of the group.
type Group interface {
	// Port returns a port to server n, on one connection while that is up.
	Port(n int) redis.Port
	// Cut separates server n from the other servers until Join. Clients still
	// reach all servers.
	Cut(n int)
	Join(n int)
	// Pause pauses the process of server n until Continue.
	Pause(n int)
	Continue(n int)
	// Kill ends the process of server n, which has no disk. Start starts it again
	// in its previous role.
	Kill(n int)
	Start(n int)
	// Follow makes server n a replica of server of. Promote makes it a master.
	Follow(n, of int)
	Promote(n int)
	// Settle waits until every running replica has its master's data. It ignores
	// replicas without a connection, or if one of the two is paused or down.
	Settle()
	Clock
}

// patient is the limit of a wait for an answer, in real time.
const patient = time.Minute

// Clock is the time of a World; see there.
type Clock interface {
	Now() time.Duration
	Sleep(d time.Duration)
	Slack() time.Duration
}

// These are the errors of a replica.
const (
	readOnly    = "READONLY You can't write against a read only replica."
	replicaWait = "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated."
)

// RunReplicas runs the tests of a master and its replicas, each on a group of its
// own.
func RunReplicas(t *testing.T, f func(t *testing.T) Group) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*watch, Group)
	}{
		{"writes reach the replicas", writesArrive},
		{"a replica refuses writes", replicaRefuses},
		{"a due key reads as missing before its deletion arrives", expiryOnReplica},
		{"a separated replica catches up", catchesUp},
		{"wait counts the replicas that have the write", waitCounts},
		{"a promotion keeps entries and expires them", promotionKeeps},
		{"a promotion loses writes that have not arrived", promotionLoses},
		{"a replica that returns drops its own entries", returnsWithOwnEntries},
		{"an empty master wipes its replicas", emptyMaster},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := f(t)
			c.run(&watch{t, g}, g)
		})
	}
}

// watch asserts a server's answers.
type watch struct {
	*testing.T
	Clock
}

// on executes c on p and asserts the answer want. Times to live may be off by the
// slack.
func (w *watch) on(p redis.Port, c redis.Command, want redis.Reply) {
	w.Helper()
	w.before(forever, p, c, want)
}

// forever means no expiry.
const forever = math.MaxInt64

// before asserts that p answers c with want, unless the answer comes after due,
// when the entry may have expired.
func (w *watch) before(due time.Duration, p redis.Port, c redis.Command, want redis.Reply) {
	w.Helper()
	got, err := p.Do(w.Context(), patient, c)
	if err != nil {
		w.Fatalf("%s: %v", describe(c), err)
	}
	if w.Now() < due && !(World{Slack: w.Slack()}).same(c, got, want) {
		w.Fatalf("%s: got %+v, want %+v", describe(c), got, want)
	}
}

func writesArrive(w *watch, g Group) {
	master := g.Port(0)
	w.on(master, set("e", "v", ms), ok)
	g.Sleep(10 * ms)
	w.on(master, get("e"), none)
	w.on(master, set("k", "v", long), ok)
	w.on(master, grant("g", "v", "n", long), number(1))
	w.on(master, grant("h", "v", "n", long), number(2))
	w.on(master, rpush("l"), number(1))
	w.on(master, setNX("d", "v"), number(1))
	w.on(master, del("d"), number(1))
	w.on(master, set("c", "v", long), ok)
	w.on(master, compareAndDelete("c", "v"), number(1))
	w.on(master, set("x", "v", 0), ok)
	w.on(master, extend("x", "v", long), number(1))
	w.on(master, replace("r", "", "v", long), number(1))
	w.on(master, replace("r", "v", "w", 0), number(1))
	w.on(master, getSet("k", "w"), bulk("v"))
	g.Settle()
	for n := range 3 {
		p := g.Port(n)
		for key, want := range map[string]struct {
			value redis.Reply
			left  int64
		}{
			"k": {bulk("w"), -1},
			"g": {bulk("v"), long.Milliseconds()},
			"n": {bulk("2"), -1},
			"l": {wrongType, -1},
			"d": {none, -2},
			"c": {none, -2},
			"x": {bulk("v"), long.Milliseconds()},
			"r": {bulk("w"), -1},
			"e": {none, -2},
		} {
			w.on(p, get(key), want.value)
			w.on(p, pttl(key), number(want.left))
		}
	}
}

func replicaRefuses(w *watch, g Group) {
	w.on(g.Port(0), set("k", "v", long), ok)
	w.on(g.Port(0), rpush("l"), number(1))
	g.Settle()
	refused, p := failure(readOnly), g.Port(1)
	for _, c := range []struct {
		do   redis.Command
		want redis.Reply
	}{
		{get("k"), bulk("v")},
		{get("l"), wrongType},
		{pttl("k"), number(long.Milliseconds())},
		{set("k", "w", 0), refused},
		{setIfAbsent("k", "w", 0), refused},
		{set("k", "w", -ms), refused},
		{setNX("k", "w"), refused},
		{getSet("k", "w"), refused},
		{pexpire("none", long), refused},
		{del("none"), refused},
		{incr("l"), refused},
		{rpush("k"), refused},
		{wait(1, 0), failure(replicaWait)},
		{wait(1, -ms), failure(replicaWait)},
		{compareAndDelete("k", "v"), refused},
		{compareAndDelete("k", "w"), number(0)},
		{compareAndDelete("none", "v"), number(0)},
		{compareAndDelete("l", "v"), wrongType},
		{extend("k", "v", long), refused},
		{extend("k", "w", long), number(0)},
		{extend("l", "v", long), wrongType},
		{grant("k", "w", "n", long), refused},
		{grant("k", "w", "n", -ms), refused},
		{claim("k", "v", "n", long), refused},
		{claim("k", "w", "", long), refused},
		{replace("k", "x", "w", long), refused},
		{replace("k", "v", "w", -ms), refused},
	} {
		w.on(p, c.do, c.want)
	}
	w.on(p, get("k"), bulk("v"))
	if _, err := p.Incr(w.Context(), 0, "n"); !errors.Is(err, redis.ServerError(readOnly)) {
		w.Errorf("Incr: got error %v", err)
	}
}

func expiryOnReplica(w *watch, g Group) {
	due := g.Now() + 3*brief
	w.on(g.Port(0), set("k", "v", 3*brief), ok)
	g.Settle()
	w.before(due, g.Port(1), get("k"), bulk("v"))
	g.Cut(1)
	g.Sleep(4 * brief)
	w.on(g.Port(0), get("k"), none)
	w.on(g.Port(1), get("k"), none)
	w.on(g.Port(1), pttl("k"), number(-2))
	w.on(g.Port(1), compareAndDelete("k", "v"), number(0))
	w.on(g.Port(1), setNX("k", "w"), failure(readOnly))
	g.Promote(1)
	w.on(g.Port(1), setNX("k", "w"), number(1))
}

func catchesUp(w *watch, g Group) {
	w.on(g.Port(0), set("k", "v", long), ok)
	g.Settle()
	g.Cut(1)
	w.on(g.Port(0), set("k", "w", 0), ok)
	g.Settle()
	w.on(g.Port(1), get("k"), bulk("v"))
	w.on(g.Port(2), get("k"), bulk("w"))
	g.Join(1)
	g.Settle()
	w.on(g.Port(1), get("k"), bulk("w"))
	g.Kill(2)
	w.on(g.Port(0), del("k"), number(1))
	g.Start(2)
	g.Settle()
	w.on(g.Port(2), get("k"), none)
}

func waitCounts(w *watch, g Group) {
	master := g.Port(0)
	count := func(asked int64, limit time.Duration, want int64, inFull bool) {
		w.Helper()
		w.on(master, set("k", "v", long), ok)
		start := g.Now()
		w.on(master, wait(asked, limit), number(want))
		if took := g.Now() - start; (took >= limit-ms) != inFull {
			w.Errorf("WAIT for %d replicas, of which %d have it, took %v of %v", asked, want, took, limit)
		}
	}
	count(2, patient/2, 2, false)
	g.Cut(1)
	count(1, patient/2, 1, false)
	count(2, 5*brief, 1, true)
	g.Pause(2)
	count(1, brief, 0, true)
	g.Join(1)
	g.Continue(2)
	g.Settle()
	count(2, patient/2, 2, false)
	g.Kill(1)
	count(2, 5*brief, 1, true)
	g.Start(1)
	g.Settle()
	count(2, patient/2, 2, false)
}

func promotionKeeps(w *watch, g Group) {
	due := g.Now() + 10*brief
	w.on(g.Port(0), setIfAbsent("k", "v", 10*brief), ok)
	over := g.Now() + 10*brief // expired by then, and not before due
	w.on(g.Port(0), grant("m", "v", "n", 0), number(1))
	g.Settle()
	g.Kill(0)
	g.Promote(1)
	p := g.Port(1)
	w.before(due, p, setIfAbsent("k", "w", ms), none)
	w.before(due, p, get("k"), bulk("v"))
	w.on(p, get("n"), bulk("1"))
	w.on(p, del("m"), number(1))
	w.on(p, grant("m", "w", "n", 0), number(2))
	g.Follow(2, 1)
	g.Settle()
	w.on(g.Port(2), get("m"), bulk("w"))
	g.Sleep(over + brief - g.Now())
	w.on(g.Port(2), get("k"), none)
	w.on(p, setIfAbsent("k", "w", long), ok)
	g.Settle()
	w.on(g.Port(2), get("k"), bulk("w"))
}

func promotionLoses(w *watch, g Group) {
	w.on(g.Port(0), grant("m", "v", "n", long), number(1))
	g.Settle()
	g.Cut(1)
	w.on(g.Port(0), setIfAbsent("k", "v", long), ok)
	w.on(g.Port(0), del("m"), number(1))
	w.on(g.Port(0), incr("n"), number(2))
	g.Promote(1)
	w.on(g.Port(1), setIfAbsent("k", "w", long), ok)
	w.on(g.Port(1), setNX("m", "w"), number(0))
	w.on(g.Port(1), incr("n"), number(2))
	w.on(g.Port(0), get("k"), bulk("v"))
}

func returnsWithOwnEntries(w *watch, g Group) {
	w.on(g.Port(0), set("both", "v", long), ok)
	g.Settle()
	g.Promote(1)
	w.on(g.Port(1), setNX("alone", "v"), number(1))
	w.on(g.Port(1), set("both", "w", 0), ok)
	w.on(g.Port(0), setNX("masters", "v"), number(1))
	g.Follow(1, 0)
	g.Settle()
	w.on(g.Port(1), get("alone"), none)
	w.on(g.Port(1), get("both"), bulk("v"))
	w.on(g.Port(1), pttl("both"), number(long.Milliseconds()))
	w.on(g.Port(1), get("masters"), bulk("v"))
	w.on(g.Port(1), setNX("alone", "v"), failure(readOnly))
}

func emptyMaster(w *watch, g Group) {
	w.on(g.Port(0), setNX("k", "v"), number(1))
	g.Settle()
	g.Kill(0)
	w.on(g.Port(1), get("k"), bulk("v"))
	g.Start(0)
	g.Settle()
	for n := range 3 {
		w.on(g.Port(n), get("k"), none)
	}
	w.on(g.Port(0), setIfAbsent("k", "w", long), ok)
}
