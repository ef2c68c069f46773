package catalogue

import (
	"slices"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

var (
	setLua = Setup{Lock: "redis-set-lua"}
	fenced = Setup{Lock: "redis-set-lua", Options: Options{Token: true}, Fencing: history.FencingAll}

	oneCommand = Remedy{
		Words: "Set the key and its expiry in one command: SET NX PX.",
		Setup: setLua, Keeps: served,
	}
	synced = Remedy{
		Words: "appendfsync always: the server answers only when the lock is on its disk.",
		Setup: Setup{Lock: "redis-set-lua", Server: Server{Fsync: FsyncAlways}},
		Keeps: unharmed,
	}

	// sleepingWriter has a client that is paused beyond its lease just before its
	// write, while another client is granted the lock and writes.
	sleepingWriter = Schedule{
		Scripts: []workloads.Script{
			visit(c1, 0, T/2, 0),
			script(c2, acquire(T/10, 2*T), read(), write(0), workloads.Step{Do: history.Release, Wait: 5 * T / 10}),
		},
		Faults: pauseC1(writing(), 13*T/10),
		Hazard: checker.LeaseExpiredWhileHeld,
		Must:   lateWrite,
		May:    delay,
	}
)

// keyLost has the server lose c1's key through a fault, before c2 asks.
func keyLost(fault string, hazard checker.Counter) Schedule {
	return Schedule{
		Scripts: []workloads.Script{
			visit(c1, 0, T/2, 8*T/10),
			visit(c2, 4*T/10, T, T/2),
		},
		Faults: []faults.Injection{{Fault: fault, On: []string{RedisName}, At: 2 * T / 10, For: T / 10}},
		Hazard: hazard,
		Must:   overlap,
		May:    damage,
	}
}

// redisCases are the cases of one Redis server.
var redisCases = slices.Concat(leaseCases, setnxCases, useCases)

// leaseCases are the cases of a lease that is missing, that ends before its holder
// knows it, or that the server forgets.
var leaseCases = []Case{
	{
		ID: "redis-setnx-no-ttl", Kind: Violation,
		Title:  "A holder dies, and nobody ever gets the lock again",
		Tells:  "SETNX without an expiry hands the lock to a client until that client deletes the key, and a dead client cannot do that.",
		Source: "Redis manual, SETNX, Handling deadlocks",
		Setup:  Setup{Lock: "redis-setnx"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, T/20),
				visit(c2, T/10, 35*T/10, T/20),
			},
			Faults: []faults.Injection{{Fault: "kill", On: []string{c1}, Point: granted()}},
			Hazard: checker.KillHitHolder,
			Must:   starved,
			May:    delay,
		}},
		Remedy: oneCommand,
	},
	{
		ID: "redis-setnx-expire-gap", Kind: Violation,
		Title:  "A client dies between SETNX and EXPIRE, and the key stays for ever",
		Tells:  "Two commands are two steps: whoever dies between them leaves a key without an expiry.",
		Source: "Redis manual, SET, Patterns",
		Setup:  Setup{Lock: "redis-setnx-expire"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, T/20),
				visit(c2, T/10, 35*T/10, T/20),
			},
			Faults: []faults.Injection{{Fault: "kill", On: []string{c1}, Point: at(history.Acquire, faults.Point{After: true, Request: 1})}},
			Hazard: checker.KillHitAcquirer,
			Must:   starved,
			May:    delay,
		}},
		Remedy: oneCommand,
	},
	{
		ID: "redis-del-unowned", Kind: Violation,
		Title:  "A late release deletes the key of the next holder",
		Tells:  "A bare DEL removes whatever is there. A client that was paused beyond its lease frees the lock under its successor, and a third one comes in.",
		Source: "Redis manual, Distributed Locks with Redis, Correct Implementation with a Single Instance",
		Setup:  Setup{Lock: "redis-set-del"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, 0),
				visit(c2, T/10, 2*T, 6*T/10),
				visit(c3, 11*T/10, T, T/10),
			},
			Faults: pauseC1(granted(), 12*T/10),
			Hazard: checker.LeaseExpiredWhileHeld,
			Must:   stolenLate,
			May:    damage,
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
				visit(c1, 0, T/2, 6*T/10),
				visit(c2, 7*T/10, 2*T, 6*T/10),
				visit(c3, 11*T/10, T, T/10),
			},
			Faults: pauseC1(at(history.Release, faults.Point{Last: true}), 6*T/10),
			Hazard: checker.LeaseExpiredWhileReleasing,
			Must:   stolen,
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "Compare and delete in one script: the server runs nothing in between.",
			Setup: setLua, Keeps: stolen,
		},
	},
	{
		ID: "redis-expiry-while-holding", Kind: Violation,
		Title:     "The lease of a paused client ends, and it goes on as if it held",
		Tells:     "A lease ends on time whether its holder knows it or not. This is not a defect of the lock but the price of leases; only the resource can refuse the late write.",
		Source:    "M. Kleppmann, How to do distributed locking, 2016, Protecting a resource with a lock",
		Setup:     setLua,
		Schedules: []Schedule{sleepingWriter},
		Remedy: Remedy{
			Words: "Draw a fencing token with each grant, and let the resource refuse tokens older than the newest that it has seen.",
			Setup: fenced, Keeps: fencingKeeps,
		},
	},
	{
		ID: "redis-delayed-write", Kind: Violation,
		Title:  "A write is under way for so long that the lock has had a new holder",
		Tells:  "Nobody is paused, and only one client holds the lock at any time. But one packet, a write, is late. No lock can stop that packet. Only the resource can refuse it.",
		Source: "M. Kleppmann, How to do distributed locking, 2016, the network delay variant",
		Setup:  setLua,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, acquire(0, T/2), read(), workloads.Step{Do: history.Write, At: 5 * T / 10, Limit: 2 * T / 10}, release()),
				script(c2, append(section(6*T/10, T, T/10), until(18*T/10))...),
			},
			Faults: []faults.Injection{{
				Fault: "delay", On: []string{c1, history.Resource}, Direction: faults.ToServer,
				Point: writing(), For: 2 * T / 10, Amount: T,
			}},
			Hazard: checker.LateAccess,
			Must:   []checker.Property{checker.Resource},
			May:    delay,
		}},
		Remedy: Remedy{
			Words: "Draw a fencing token with each grant, and let the resource refuse the late write by its token.",
			Setup: fenced, Keeps: append([]checker.Property{checker.Exclusion}, fencingKeeps...),
		},
	},
	{
		ID: "redis-single-crash-nopersist", Kind: Violation,
		Title:     "The server forgets the lock when it loses power",
		Tells:     "A lock is only as durable as the server that remembers it. Without persistence every restart frees every lock.",
		Source:    "jiaduo, Distributed locks with Redis and with ZooKeeper (in Chinese), last section; Redis manual, Distributed Locks with Redis",
		Setup:     setLua,
		Schedules: []Schedule{keyLost("restart-lost", checker.RestartWithHolder)},
		Remedy:    synced,
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
					visit(c1, 0, T/2, 7*T/10),
					visit(c2, T/10, 2*T, T/2),
				},
				Faults: []faults.Injection{{Fault: "server-jump", On: []string{RedisName}, At: 3 * T / 10, Amount: 2 * T}},
				Hazard: checker.JumpWithHolder,
				Must:   twoWrite,
				May:    delay,
			},
			{
				Name: "backward",
				Scripts: []workloads.Script{
					script(c1, acquire(0, T/2), read(), workloads.Step{Do: history.Write, At: 9 * T / 10}, release()),
					script(c2, insist(T/10, 3*T, T/20)...),
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
			Words: "Slew clocks instead of setting them, which cannot be run here. And let the resource check fencing tokens, which do not depend on clocks: they protect the data; the lock still fails.",
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
				visit(c2, 12*T/10, T, T/10),
			},
			Faults: []faults.Injection{{
				Fault: "delay", On: []string{c1, RedisName}, Direction: faults.ToServer,
				Point: at(history.Release, faults.Point{Request: 1}), For: 2 * T / 10, Amount: 12 * T / 10,
			}},
			Hazard: checker.LeaseExpiredWhileReleasing,
			Must:   stolen,
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "A fresh value for each acquisition. The late release then finds another value, and deletes nothing.",
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
				visit(c1, 0, 7*T/10, T/20),
				visit(c2, T/10, 2*T, T/20),
			},
			Faults: []faults.Injection{{
				Fault: "drop-reply", On: []string{c1, RedisName}, Direction: faults.ToClient,
				Point: at(history.Acquire, faults.Point{Request: 1}), For: T,
			}},
			Hazard: checker.ReplyDropped,
			Must:   []checker.Property{checker.Answers, checker.Handover},
		}},
		Remedy: Remedy{
			Words: "An acquire that recognises its own value, in the script that sets it. (With MaxRetries: -1 alone the client reports the error, but still cannot lock.)",
			Setup: Setup{Lock: "redis-set-lua", Options: Options{Retries: true, Claim: true}},
			Keeps: []checker.Property{checker.Answers, checker.Handover, checker.Exclusion},
		},
	},
}
