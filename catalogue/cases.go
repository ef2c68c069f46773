package catalogue

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

// T is the lease, in the tables: each place chooses its own, and Scaled turns
// a table's times into it.
const T = time.Second

// Kind says what a case has to show.
type Kind string

// The kinds.
const (
	Violation Kind = "violation" // its properties are violated
	Control   Kind = "control"   // the hazard was reached, and its properties held
)

// Case is a documented failure, told as a script, a schedule and what comes of it.
type Case struct {
	ID     string
	Kind   Kind
	Title  string // what goes wrong, in a line
	Tells  string // what it teaches, in a sentence or two
	Source string
	Setup  Setup

	Schedules []Schedule
	Remedy    Remedy
	// NotOn says why a place cannot show the case.
	NotOn map[string]string
}

// Setup is a lock and what it stands on.
type Setup struct {
	Lock    string
	Options Options
	Server  Server
	Fencing history.Fencing
}

// Schedule is one way in which a case goes. Its times are written in T.
type Schedule struct {
	Name    string // where a case has several
	Scripts []workloads.Script
	Faults  []faults.Injection
	Hazard  checker.Counter // what has to be reached, else the run shows nothing
	Must    []checker.Property
	May     []checker.Property // may be violated as well
	// Blind are properties of Must that a place cannot observe.
	Blind map[string][]checker.Property
}

// Remedy is what to do about it: the same schedule, with one thing changed.
type Remedy struct {
	Words string // in a sentence
	None  string // why there is nothing that can be run
	Setup Setup
	Keeps []checker.Property // must be valid; the others are shown
}

// Scaled is the schedule for a lease of t.
func (s Schedule) Scaled(t time.Duration) Schedule {
	scale := func(d time.Duration) time.Duration {
		return time.Duration(int64(d) * (int64(t) / 1000) / (int64(T) / 1000))
	}
	s.Scripts = slices.Clone(s.Scripts)
	for i := range s.Scripts {
		steps := slices.Clone(s.Scripts[i].Steps)
		for j := range steps {
			steps[j].At, steps[j].Wait, steps[j].Limit = scale(steps[j].At), scale(steps[j].Wait), scale(steps[j].Limit)
		}
		s.Scripts[i].Steps = steps
	}
	s.Faults = slices.Clone(s.Faults)
	for i := range s.Faults {
		f := &s.Faults[i]
		f.At, f.For, f.Amount = scale(f.At), scale(f.For), scale(f.Amount)
	}
	return s
}

// FindCase returns the case with that id.
func FindCase(id string) (Case, bool) {
	i := slices.IndexFunc(Cases, func(c Case) bool { return c.ID == id })
	if i < 0 {
		return Case{}, false
	}
	return Cases[i], true
}

// The clients of the cases.
const (
	c1 = "c1"
	c2 = "c2"
	c3 = "c3"
)

// script is what one client does.
func script(client string, steps ...workloads.Step) workloads.Script {
	return workloads.Script{Client: client, Steps: steps}
}

// acquire asks from at until at+limit.
func acquire(at, limit time.Duration) workloads.Step {
	return workloads.Step{Do: history.Acquire, At: at, Limit: limit}
}

// read, write and release follow after a wait.
func read() workloads.Step { return workloads.Step{Do: history.Read} }

func write(wait time.Duration) workloads.Step {
	return workloads.Step{Do: history.Write, Wait: wait}
}
func release() workloads.Step { return workloads.Step{Do: history.Release} }

// until only waits: the run goes on for what is still under way.
func until(at time.Duration) workloads.Step { return workloads.Step{At: at} }

// section is a whole critical section: acquire, read, think, write, release.
func section(at, limit, think time.Duration) []workloads.Step {
	return []workloads.Step{acquire(at, limit), read(), write(think), release()}
}

// at is a point in the first critical section of c1.
func at(op string, p faults.Point) *faults.Point {
	p.Client, p.Acquisition, p.Op = c1, 1, op
	return &p
}

// pauseC1 stops c1 from a point on.
func pauseC1(p *faults.Point, d time.Duration) []faults.Injection {
	return []faults.Injection{{Fault: "pause", On: []string{c1}, Point: p, For: d}}
}

var (
	setLua = Setup{Lock: "redis-set-lua"}
	fenced = Setup{Lock: "redis-set-lua", Options: Options{Token: true}, Fencing: history.FencingAll}

	overlap      = []checker.Property{checker.Exclusion, checker.LeaseExclusion}
	stolen       = []checker.Property{checker.Ownership, checker.Exclusion, checker.LeaseExclusion}
	fencingKeeps = []checker.Property{checker.Fencing, checker.Resource}
)

// Cases are the documented failures, in the order in which they are shown.
var Cases = []Case{
	{
		ID: "redis-setnx-no-ttl", Kind: Violation,
		Title:  "A holder dies, and nobody ever gets the lock again",
		Tells:  "SETNX without an expiry hands the lock to a client for as long as that client lives, and a dead client cannot give it back.",
		Source: "Redis manual, SETNX, Handling deadlocks",
		Setup:  Setup{Lock: "redis-setnx"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, T/20)...),
				script(c2, section(T/10, 35*T/10, T/20)...),
			},
			Faults: []faults.Injection{{Fault: "kill", On: []string{c1}, Point: at(history.Acquire, faults.Point{After: true, OK: true})}},
			Hazard: checker.KillHitHolder,
			Must:   []checker.Property{checker.Liveness},
			May:    []checker.Property{checker.Handover},
		}},
		Remedy: Remedy{
			Words: "Set the key and its expiry in one command: SET NX PX.",
			Setup: setLua, Keeps: []checker.Property{checker.Liveness, checker.Exclusion},
		},
	},
	{
		ID: "redis-setnx-expire-gap", Kind: Violation,
		Title:  "A client dies between SETNX and EXPIRE, and the key stays for ever",
		Tells:  "Two commands are two steps: whoever dies between them leaves a key without an expiry.",
		Source: "Redis manual, SET, Patterns",
		Setup:  Setup{Lock: "redis-setnx-expire"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, T/20)...),
				script(c2, section(T/10, 35*T/10, T/20)...),
			},
			Faults: []faults.Injection{{Fault: "kill", On: []string{c1}, Point: at(history.Acquire, faults.Point{After: true, Request: 1})}},
			Hazard: checker.KillHitAcquirer,
			Must:   []checker.Property{checker.Liveness},
			May:    []checker.Property{checker.Handover},
		}},
		Remedy: Remedy{
			Words: "Set the key and its expiry in one command: SET NX PX.",
			Setup: setLua, Keeps: []checker.Property{checker.Liveness, checker.Exclusion},
		},
	},
	{
		ID: "redis-del-unowned", Kind: Violation,
		Title:  "A late release deletes the key of the next holder",
		Tells:  "A bare DEL removes whatever is there. A client that was paused beyond its lease frees the lock under its successor, and a third one comes in.",
		Source: "Redis manual, Distributed Locks with Redis, Correct Implementation with a Single Instance",
		Setup:  Setup{Lock: "redis-set-del"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, 0)...),
				script(c2, section(T/10, 2*T, 6*T/10)...),
				script(c3, section(11*T/10, T, T/10)...),
			},
			Faults: pauseC1(at(history.Acquire, faults.Point{After: true, OK: true}), 12*T/10),
			Hazard: checker.LeaseExpiredWhileHeld,
			Must:   stolen,
			May:    []checker.Property{checker.Resource, checker.Handover},
		}},
		Remedy: Remedy{
			Words: "Give the key a value that nobody else has, and delete it in a script only if it still holds that value.",
			Setup: setLua, Keeps: []checker.Property{checker.Ownership, checker.LeaseExclusion},
		},
	},
	{
		ID: "redis-get-del-race", Kind: Violation,
		Title:  "Between GET and DEL the lease ends, and DEL hits the next holder",
		Tells:  "Looking before deleting is not enough when looking and deleting are two commands.",
		Source: "jiaduo, Distributed locks with Redis and with ZooKeeper (in Chinese), the race of threads A and B; Redis manual, Distributed Locks with Redis",
		Setup:  Setup{Lock: "redis-set-get-del"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, 6*T/10)...),
				script(c2, section(7*T/10, 2*T, 6*T/10)...),
				script(c3, section(11*T/10, T, T/10)...),
			},
			Faults: pauseC1(at(history.Release, faults.Point{Last: true}), 6*T/10),
			Hazard: checker.LeaseExpiredWhileReleasing,
			Must:   stolen,
			May:    []checker.Property{checker.Resource, checker.Handover},
		}},
		Remedy: Remedy{
			Words: "Compare and delete in one script: the server runs nothing in between.",
			Setup: setLua, Keeps: stolen,
		},
	},
	{
		ID: "redis-expiry-while-holding", Kind: Violation,
		Title:  "The lease of a paused client ends, and it goes on as if it held",
		Tells:  "A lease ends on time whether its holder knows it or not. This is not a defect of the lock but the price of leases; only the resource can refuse the late write.",
		Source: "M. Kleppmann, How to do distributed locking, 2016, Protecting a resource with a lock",
		Setup:  setLua,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, 0)...),
				script(c2, acquire(T/10, 2*T), read(), write(0), workloads.Step{Do: history.Release, Wait: 5 * T / 10}),
			},
			Faults: pauseC1(at(history.Write, faults.Point{Request: 1}), 13*T/10),
			Hazard: checker.LeaseExpiredWhileHeld,
			Must:   []checker.Property{checker.Exclusion, checker.Resource},
			May:    []checker.Property{checker.Handover},
		}},
		Remedy: Remedy{
			Words: "Draw a fencing token with each grant, and let the resource refuse tokens older than the newest that it has seen.",
			Setup: fenced, Keeps: fencingKeeps,
		},
	},
	{
		ID: "redis-delayed-write", Kind: Violation,
		Title:  "A write is under way for so long that the lock has a new holder",
		Tells:  "Nobody was paused and nobody held the lock twice: a packet was late. No lock can help, only the resource can.",
		Source: "M. Kleppmann, How to do distributed locking, 2016, the network delay variant",
		Setup:  setLua,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, acquire(0, T/2), read(), workloads.Step{Do: history.Write, At: 5 * T / 10, Limit: 2 * T / 10}, release()),
				script(c2, append(section(6*T/10, T, T/10), until(18*T/10))...),
			},
			Faults: []faults.Injection{{
				Fault: "delay", On: []string{c1, history.Resource}, Direction: faults.ToServer,
				Point: at(history.Write, faults.Point{Request: 1}), For: 2 * T / 10, Amount: T,
			}},
			Hazard: checker.LateAccess,
			Must:   []checker.Property{checker.Resource},
			May:    []checker.Property{checker.Handover},
		}},
		Remedy: Remedy{
			Words: "Draw a fencing token with each grant, and let the resource refuse the late write by its token.",
			Setup: fenced, Keeps: append([]checker.Property{checker.Exclusion}, fencingKeeps...),
		},
	},
	{
		ID: "redis-single-crash-nopersist", Kind: Violation,
		Title:  "The server forgets the lock when it loses power",
		Tells:  "A lock is only as durable as the server that remembers it. Without an append-only file every restart frees every lock.",
		Source: "jiaduo, Distributed locks with Redis and with ZooKeeper (in Chinese), last section; Redis manual, Distributed Locks with Redis",
		Setup:  setLua,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, 8*T/10)...),
				script(c2, section(4*T/10, T, T/2)...),
			},
			Faults: []faults.Injection{{Fault: "restart-lost", On: []string{RedisName}, At: 2 * T / 10, For: T / 10}},
			Hazard: checker.RestartWithHolder,
			Must:   overlap,
			May:    []checker.Property{checker.Resource, checker.Handover},
		}},
		Remedy: Remedy{
			Words: "appendfsync always: the server answers only when the lock is on its disk.",
			Setup: Setup{Lock: "redis-set-lua", Server: Server{Fsync: FsyncAlways}},
			Keeps: append([]checker.Property{checker.Ownership, checker.Resource}, overlap...),
		},
	},
	{
		ID: "redis-server-clock-jump", Kind: Violation,
		Title:  "The server's clock jumps, and leases with it",
		Tells:  "Redis counts a lease by its wall clock. Set forward, the clock ends leases early; set back, it keeps the lease of a dead client alive.",
		Source: "Redis manual, Distributed Locks with Redis, Disclaimer about consistency; EXPIRE, Expires and persistence",
		Setup:  setLua,
		Schedules: []Schedule{
			{
				Name: "forward",
				Scripts: []workloads.Script{
					script(c1, section(0, T/2, 7*T/10)...),
					script(c2, section(T/10, 2*T, T/2)...),
				},
				Faults: []faults.Injection{{Fault: "server-jump", On: []string{RedisName}, At: 3 * T / 10, Amount: 2 * T}},
				Hazard: checker.JumpWithHolder,
				Must:   overlap,
				May:    []checker.Property{checker.Resource, checker.Handover},
			},
			{
				Name: "backward",
				Scripts: []workloads.Script{
					script(c1, acquire(0, T/2), read(), workloads.Step{Do: history.Write, At: 9 * T / 10}, release()),
					script(c2, section(T/10, 3*T, T/20)...),
				},
				Faults: []faults.Injection{
					{Fault: "server-jump", On: []string{RedisName}, At: 3 * T / 10, Amount: -T},
					{Fault: "kill", On: []string{c1}, At: 7 * T / 10},
				},
				Hazard: checker.JumpWithHolder,
				Must:   []checker.Property{checker.Handover},
			},
		},
		Remedy: Remedy{
			Words: "Slew clocks instead of setting them; and let the resource check fencing tokens, which do not depend on clocks.",
			Setup: fenced, Keeps: fencingKeeps,
		},
	},
	{
		ID: "redis-token-reuse", Kind: Violation,
		Title:  "A release that was under way too long frees a newer lock of the same client",
		Tells:  "The script compares values. If a client uses one value for every acquisition, an old release matches a new lock.",
		Source: "jiaduo, Distributed locks with Redis and with ZooKeeper (in Chinese), whose requestId comes from the caller; Redis manual, Distributed Locks with Redis",
		Setup:  Setup{Lock: "redis-set-lua", Options: Options{ReuseID: true}},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, append(section(0, T/2, 2*T/10),
					acquire(7*T/10, T), read(), write(7*T/10), release())...),
				script(c2, section(12*T/10, T, T/10)...),
			},
			Faults: []faults.Injection{{
				Fault: "delay", On: []string{c1, RedisName}, Direction: faults.ToServer,
				Point: at(history.Release, faults.Point{Request: 1}), For: 2 * T / 10, Amount: 12 * T / 10,
			}},
			Hazard: checker.LeaseExpiredWhileReleasing,
			Must:   stolen,
			May:    []checker.Property{checker.Resource, checker.Handover},
		}},
		Remedy: Remedy{
			Words: "A fresh value for each acquisition.",
			Setup: setLua, Keeps: append([]checker.Property{checker.Resource}, stolen...),
		},
	},
	{
		ID: "redis-retry-set-nx", Kind: Violation,
		Title:  "The library sends SET NX again, and says no to the client that holds",
		Tells:  "The first SET NX took the lock and its reply was lost. go-redis sends it again by default, and the server truly says no: the key is there. It is the client's own.",
		Source: "go-redis v9, MaxRetries (3 by default) and shouldRetry",
		Setup:  Setup{Lock: "redis-set-lua", Options: Options{Retries: true}},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, 7*T/10, T/20)...),
				script(c2, section(T/10, 2*T, T/20)...),
			},
			Faults: []faults.Injection{{
				Fault: "drop-reply", On: []string{c1, RedisName}, Direction: faults.ToClient,
				Point: at(history.Acquire, faults.Point{Request: 1}), For: T,
			}},
			Hazard: checker.ReplyDropped,
			Must:   []checker.Property{checker.Answers, checker.Handover},
		}},
		Remedy: Remedy{
			Words: "An acquire that recognises its own value, in the script that sets it. (MaxRetries: -1 alone makes the client honest, not able to lock.)",
			Setup: Setup{Lock: "redis-set-lua", Options: Options{Retries: true, Claim: true}},
			Keeps: []checker.Property{checker.Answers, checker.Handover, checker.Exclusion},
		},
	},
	{
		ID: "fencing-rejects-stale", Kind: Control,
		Title:  "The resource refuses the late write of a paused client",
		Tells:  "The lock is held twice, as under every lease; the resource has seen the newer token and refuses the older one.",
		Source: "M. Kleppmann, How to do distributed locking, 2016, Making the lock safe with fencing",
		Setup:  fenced,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, 0)...),
				script(c2, acquire(T/10, 2*T), read(), write(0), workloads.Step{Do: history.Release, Wait: 5 * T / 10}),
			},
			Faults: pauseC1(at(history.Write, faults.Point{Request: 1}), 13*T/10),
			Hazard: checker.StaleRefused,
			Must:   fencingKeeps,
		}},
		Remedy: Remedy{None: "this is the remedy"},
	},
}
