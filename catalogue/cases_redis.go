package catalogue

import (
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

var (
	setLua = Setup{Lock: "redis-set-lua"}
	fenced = Setup{Lock: "redis-set-lua", Options: Options{Token: true}, Fencing: history.FencingAll}

	overlap      = []checker.Property{checker.Exclusion, checker.LeaseExclusion}
	stolen       = []checker.Property{checker.Ownership, checker.Exclusion, checker.LeaseExclusion}
	fencingKeeps = []checker.Property{checker.Fencing, checker.Resource}

	// serverTime is the remedy where clients count time.
	serverTime = Remedy{
		Words: "Let the server count the time, and nobody else: SET NX PX.",
		Setup: setLua, Keeps: append([]checker.Property{checker.Ownership, checker.Resource}, overlap...),
	}
)

// redisCases are those of one server.
var redisCases = []Case{
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
		ID: "redis-setnx-stale-del-race", Kind: Violation,
		Title:  "Two clients remove a stale lock, and the second removes the first one's",
		Tells:  "Who finds that the time in the key has passed deletes the key, and takes the lock with SETNX. Whoever has read the old time as well does the same a little later, to a lock that is new.",
		Source: "Redis manual, SETNX, Handling deadlocks, the trace of C1, C2 and C3",
		Setup:  Setup{Lock: "redis-setnx-del-stale"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, T/20)...),
				script(c2, section(125*T/100, T/2, 65*T/100)...),
				script(c3, section(12*T/10, T, T/10)...),
			},
			Faults: []faults.Injection{
				{Fault: "kill", On: []string{c1}, Point: at(history.Acquire, faults.Point{After: true, OK: true})},
				{Fault: "pause", On: []string{c3}, Point: of(c3, history.Acquire, faults.Point{After: true, Request: 2, Exact: true}), For: 2 * T / 10},
			},
			Hazard: checker.PauseHitWaiter,
			Must:   stolen,
			May:    []checker.Property{checker.Resource, checker.Handover},
		}},
		Remedy: Remedy{
			Words: "Replace the old time with GETSET, and take the lock only if what came back had passed; better, let the server count the time: SET NX PX.",
			Setup: Setup{Lock: "redis-setnx-getset-fixed"}, Keeps: append([]checker.Property{checker.Resource}, overlap...),
		},
	},
	{
		ID: "redis-setnx-unlock-inverted", Kind: Figures,
		Title:  "A release that only deletes what has expired: every hand-over takes a lease",
		Tells:  "As it is published, the release deletes the key if its time has passed. A client that works in time therefore never gives its lock back, and the next one waits until the lease is over.",
		Source: "imcoderlemon, Three ways to lock with Redis (in Chinese), the first way, its release; the Redis manual's page on SETNX says the opposite",
		Setup:  Setup{Lock: "redis-setnx-getset"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, 3*T/10)...),
				script(c2, section(T/10, 3*T, 3*T/10)...),
				script(c3, section(2*T/10, 5*T, 3*T/10)...),
			},
			Hazard: checker.Contended,
			Must:   []checker.Property{checker.Handover},
			May:    []checker.Property{checker.Ownership},
		}},
		Figure: &Figure{Of: LongestGap, AtLeast: 0.75, AtMost: 0.1},
		Remedy: Remedy{
			Words: "Delete the key while it is one's own: a value that nobody else has, compared and deleted in one script.",
			Setup: setLua, Keeps: []checker.Property{checker.Handover, checker.Exclusion},
		},
	},
	{
		ID: "redis-setnx-unlock-inverted-race", Kind: Violation,
		Title:  "A release that only deletes what has expired deletes what somebody has just taken over",
		Tells:  "The release deletes the key exactly when the lock may be taken over. Between its look and its DEL somebody does.",
		Source: "imcoderlemon, Three ways to lock with Redis (in Chinese), the first way, its release, read against its own schedule",
		Setup:  Setup{Lock: "redis-setnx-getset"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, acquire(0, T/2), read(), write(T/10), workloads.Step{Do: history.Release, At: 115 * T / 100}),
				script(c2, section(12*T/10, T/2, 7*T/10)...),
				script(c3, section(15*T/10, 2*T, T/10)...),
			},
			Faults: pauseC1(at(history.Release, faults.Point{After: true, Request: 1}), 3*T/10),
			Hazard: checker.TouchedBy("pause"),
			Must:   stolen,
			May:    []checker.Property{checker.Resource, checker.Handover},
		}},
		Remedy: Remedy{
			Words: "A value that nobody else has, compared and deleted in one script.",
			Setup: setLua, Keeps: stolen,
		},
	},
	{
		ID: "redis-setnx-unlock-unowned", Kind: Violation,
		Title:  "A late release deletes a lock that has not expired: another's",
		Tells:  "The release looks whether the time in the key has passed, not whose it is. A client that was paused beyond its lease finds its successor's time, which has not passed, and deletes it. It takes no race.",
		Source: "imcoderlemon, Three ways to lock with Redis (in Chinese), the first way; the Redis manual's page on SETNX asks the holder to look at its own time-out",
		Setup:  Setup{Lock: "redis-setnx-getset-fixed"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, 0)...),
				script(c2, section(115*T/100, T/2, 75*T/100)...),
				script(c3, section(14*T/10, T, T/10)...),
			},
			Faults: pauseC1(at(history.Acquire, faults.Point{After: true, OK: true}), 13*T/10),
			Hazard: checker.PauseHitHolder,
			Must:   stolen,
			May:    []checker.Property{checker.Resource, checker.Handover},
		}},
		Remedy: Remedy{
			Words: "A value that nobody else has, compared and deleted in one script.",
			Setup: setLua, Keeps: []checker.Property{checker.Ownership, checker.LeaseExclusion},
		},
	},
	{
		ID: "redis-setnx-client-skew-ahead", Kind: Violation,
		Title:  "A client whose clock is ahead takes over a lock that has not expired",
		Tells:  "The time in the key is one client's, and another compares it with its own. If that one's clock is ahead by more than what is left of the lease, the lock is his.",
		Source: "imcoderlemon, Three ways to lock with Redis (in Chinese), the first way, which does not mention clocks",
		Setup:  Setup{Lock: "redis-setnx-getset-fixed"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, 8*T/10)...),
				script(c2, section(T/10, 2*T, T/2)...),
			},
			Faults: []faults.Injection{{Fault: "skew", On: []string{c2}, For: 5 * T, Amount: 15 * T / 10}},
			Hazard: checker.ClockOffWithHolder,
			Must:   overlap,
			May:    []checker.Property{checker.Resource, checker.Ownership, checker.Handover},
		}},
		Remedy: serverTime,
	},
	{
		ID: "redis-setnx-client-skew-behind", Kind: Violation,
		Title:  "A client whose clock is behind holds a lock that is born expired",
		Tells:  "The holder writes down when its lease ends, by its own clock. If that is behind by more than the lease, everybody else finds that it has ended.",
		Source: "imcoderlemon, Three ways to lock with Redis (in Chinese), the first way, which does not mention clocks",
		Setup:  Setup{Lock: "redis-setnx-getset-fixed"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, 8*T/10)...),
				script(c2, section(T/10, 2*T, T/2)...),
			},
			Faults: []faults.Injection{{Fault: "skew", On: []string{c1}, For: 5 * T, Amount: -15 * T / 10}},
			Hazard: checker.ClockOffWithHolder,
			Must:   overlap,
			May:    []checker.Property{checker.Resource, checker.Ownership, checker.Handover},
		}},
		Remedy: serverTime,
	},
	{
		ID: "redis-single-crash-everysec", Kind: Violation,
		Title:  "The server syncs its log once a second, and forgets the last of them",
		Tells:  "With appendfsync everysec the server answers before the lock is on its disk. When the power goes, so does what was not synced; that is up to a second, or two.",
		Source: "Redis manual, Distributed Locks with Redis, Performance, Crash Recovery and fsync",
		Setup:  Setup{Lock: "redis-set-lua", Server: Server{Fsync: FsyncEverysec}},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(T/20, T/2, 8*T/10)...),
				script(c2, section(4*T/10, T, T/2)...),
			},
			Faults: []faults.Injection{{
				Fault: "restart-lost", On: []string{RedisName}, For: T / 10,
				Point: at(history.Acquire, faults.Point{After: true, OK: true}),
			}},
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
		ID: "redis-eviction", Kind: Violation,
		Title:  "A cache makes room for other data, and the lock has to go",
		Tells:  "On a server that evicts, a lock is a key with an expiry like any other. When memory is full it goes, without a crash, a pause or a partition.",
		Source: "Redis manual, Key eviction: volatile-lru may evict keys that have an expiry",
		Setup:  setLua,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, 8*T/10)...),
				script(c2, section(4*T/10, T, T/2)...),
			},
			Faults: []faults.Injection{{Fault: "evict", On: []string{RedisName}, At: 2 * T / 10, For: T / 10}},
			Hazard: checker.TouchedBy("evict"),
			Must:   overlap,
			May:    []checker.Property{checker.Resource, checker.Handover},
		}},
		Remedy: Remedy{
			Words: "maxmemory-policy noeviction, or a server for locks alone.",
			Setup: Setup{Lock: "redis-set-lua", Server: Server{Eviction: EvictNothing}},
			Keeps: append([]checker.Property{checker.Ownership, checker.Resource}, overlap...),
		},
	},
	{
		ID: "redis-spin-no-backoff", Kind: Figures,
		Title:  "Clients that ask again at once send hundreds of commands for each lock",
		Tells:  "A loop without a wait asks as fast as the network lets it, and all but one of its commands are in vain. docs/contention.md has the whole comparison.",
		Source: "jiaduo, Distributed locks with Redis and with ZooKeeper (in Chinese), the loop of lock(), and what it says about spinning",
		Setup:  Setup{Lock: "redis-set-lua", Options: Options{Spin: true}},
		Schedules: []Schedule{{
			Scripts: crowd(20, section(0, 3*T, T/50)),
			Hazard:  checker.Contended,
		}},
		Figure: &Figure{Of: RequestsPerGrant, AtLeast: 200, AtMost: 30},
		Remedy: Remedy{
			Words: "Wait for a random time before asking again.",
			Setup: setLua, Keeps: []checker.Property{checker.Exclusion, checker.Handover, checker.Liveness},
		},
		LeastLease: 10 * time.Second,
		NotOn:      map[string]string{"docker": "the commands are counted in sim; lockcheck bench contention --on docker measures them with a real server"},
	},
	{
		ID: "redis-expiretime-zero", Kind: Violation,
		Title:  "A lease of 0 is sent to the server, and nobody ever gets the lock",
		Tells:  "The check of the parameters refuses what is below 0 and lets 0 pass. The server refuses every SET, the lock says that it was not acquired, and its caller asks again.",
		Source: "jiaduo, Distributed locks with Redis and with ZooKeeper (in Chinese), validParam",
		Setup:  Setup{Lock: "redis-set-lua", Options: Options{ZeroTTL: true}},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, 4*T, T/20)...),
				script(c2, section(T/10, 4*T, T/20)...),
			},
			Must: []checker.Property{checker.Liveness},
			May:  []checker.Property{checker.Handover},
		}},
		Remedy: Remedy{None: "a lease of 0 has to be refused when the lock is made"},
	},
	{
		ID: "redis-renew-unconditional", Kind: Violation,
		Title:  "A watchdog renews whoever's key is there, and nobody gets the lock again",
		Tells:  "A client that was paused beyond its lease goes on renewing: its successor's key. When that one dies its key lives on, for as long as the first client works, or hangs.",
		Source: "Redis manual, Distributed Locks with Redis, Making the algorithm more reliable: Extending the lock, whose script looks at the value",
		Setup:  Setup{Lock: "redis-watchdog-blind"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, T/10)...),
				script(c2, section(T/2, T, 25*T/10)...),
				script(c3, section(2*T, 35*T/10, T/10)...),
			},
			Faults: []faults.Injection{
				{Fault: "pause", On: []string{c1}, Point: at(history.Acquire, faults.Point{After: true, OK: true}), For: 12 * T / 10},
				{Fault: "hang", On: []string{c1}, Point: at(history.Write, faults.Point{Request: 1})},
				{Fault: "kill", On: []string{c2}, At: 18 * T / 10},
			},
			Hazard: checker.PauseHitHolder,
			Must:   []checker.Property{checker.Exclusion, checker.LeaseExclusion, checker.Liveness},
			May:    []checker.Property{checker.Resource, checker.Handover},
		}},
		Remedy: Remedy{
			Words: "Renew in a script that compares the value first; stop, and tell the holder, when it is another's.",
			Setup: Setup{Lock: "redis-watchdog"}, Keeps: []checker.Property{checker.Liveness, checker.LeaseExclusion, checker.Ownership},
		},
	},
	{
		ID: "redis-watchdog-worker-hang", Kind: Violation,
		Title:  "The worker hangs, its watchdog does not, and the lock is held for ever",
		Tells:  "A lease is there so that a holder that does nothing loses its lock. A watchdog that renews in a thread of its own does so for a worker that will never come back.",
		Source: "Redis manual, Distributed Locks with Redis, Extending the lock, which limits the number of extensions",
		Setup:  Setup{Lock: "redis-watchdog"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, section(0, T/2, T/10)...),
				script(c2, section(T/10, 4*T, T/10)...),
			},
			Faults: []faults.Injection{{Fault: "hang", On: []string{c1}, Point: at(history.Write, faults.Point{Request: 1})}},
			Hazard: checker.HangHitHolder,
			Must:   []checker.Property{checker.Liveness},
			May:    []checker.Property{checker.Handover},
		}},
		Remedy: Remedy{
			Words: "Renew no longer than the work may take, or only while the worker makes progress.",
			Setup: Setup{Lock: "redis-watchdog", Options: Options{Cap: true}}, Keeps: []checker.Property{checker.Liveness, checker.LeaseExclusion},
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
