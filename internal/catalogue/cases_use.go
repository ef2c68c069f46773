package catalogue

import (
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/workloads"
)

// useCases are the cases of a lock's surroundings: the settings of its server, and
// clients that wait for it, renew it or hang.
var useCases = []Case{
	{
		ID: "redis-single-crash-everysec", Kind: Violation,
		Title:  "The server syncs its log once a second, and loses the last second",
		Tells:  "With appendfsync everysec the server answers before the lock is on its disk. When the power goes, so does what was not synced; that is up to a second, or two.",
		Source: "Redis manual, Distributed Locks with Redis, Performance, Crash Recovery and fsync",
		Setup:  Setup{Lock: "redis-set-lua", Server: Server{Fsync: FsyncEverysec}},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, T/20, T/2, 6*T/10), // the server is away for less than T
				visit(c2, 4*T/10, T, T/2),
			},
			Faults: []faults.Injection{{
				Fault: "restart-lost", On: []string{RedisName}, For: T / 10,
				Point: granted(),
			}},
			Hazard: checker.RestartWithHolder,
			Must:   overlap,
			May:    damage,
		}},
		Remedy:  synced,
		OwnTime: true, // the power has to fail before the second is over
	},
	{
		ID: "redis-eviction", Kind: Violation,
		Title:     "A server runs out of memory, and evicts the lock",
		Tells:     "On a server that evicts, a lock is a key with an expiry like any other. When memory is full it goes, without a crash, a pause or a partition.",
		Source:    "Redis manual, Key eviction: volatile-lru may evict keys that have an expiry",
		Setup:     setLua,
		Schedules: []Schedule{keyLost("evict", checker.TouchedBy("evict"))},
		Remedy: Remedy{
			Words: "maxmemory-policy noeviction, or a server for locks alone.",
			Setup: Setup{Lock: "redis-set-lua", Server: Server{Eviction: EvictNothing}},
			Keeps: unharmed,
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
		Title:  "A lease of 0 is no lease: the holder dies, and nobody ever gets the lock again",
		Tells:  "Nothing refuses a lease of 0. go-redis takes SetNX with 0 for a key that never expires. (A client that sends PX 0 is better off: Redis refuses the command, and the acquire ends at once with the error.)",
		Source: "go-redis v9, SetNX, on an expiration of 0; jiaduo, Distributed locks with Redis and with ZooKeeper (in Chinese), whose validParam lets 0 pass",
		Setup:  Setup{Lock: "redis-set-lua", Options: Options{ZeroTTL: true}},
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
		Remedy: Remedy{
			Words: "Refuse a lease of 0 when the lock is made: one above 0 ends without its holder.",
			Setup: setLua, Keeps: served,
		},
	},
	{
		ID: "redis-renew-unconditional", Kind: Violation,
		Title:  "A watchdog renews whoever's key is there, and nobody gets the lock again",
		Tells:  "A client that was paused beyond its lease goes on renewing: its successor's key. When the successor dies, its key stays, for as long as the first client works, or hangs.",
		Source: "Redis manual, Distributed Locks with Redis, Making the algorithm more reliable: Extending the lock, whose script looks at the value",
		Setup:  Setup{Lock: "redis-watchdog-blind"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, T/10),
				visit(c2, T/2, T, 25*T/10),
				visit(c3, 2*T, 35*T/10, T/10),
			},
			Faults: []faults.Injection{
				{Fault: "pause", On: []string{c1}, Point: granted(), For: 12 * T / 10},
				{Fault: "hang", On: []string{c1}, Point: writing()},
				{Fault: "kill", On: []string{c2}, At: 18 * T / 10},
			},
			Hazard: checker.PauseHitHolder,
			Must:   []checker.Property{checker.Liveness, checker.Exclusion, checker.LeaseExclusion, checker.Answers},
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "Renew in a script that compares the value first. When the lease is over, or the key is another's, the watchdog stops and tells the holder.",
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
				visit(c1, 0, T/2, T/10),
				visit(c2, T/10, 4*T, T/10),
			},
			Faults: []faults.Injection{{Fault: "hang", On: []string{c1}, Point: writing()}},
			Hazard: checker.HangHitHolder,
			Must:   starved,
			May:    delay,
		}},
		Remedy: Remedy{
			Words: "Renew no longer than the work may take, here 1.5 T; or only while the worker makes progress.",
			Setup: Setup{Lock: "redis-watchdog", Options: Options{Cap: true}}, Keeps: []checker.Property{checker.Liveness, checker.LeaseExclusion},
		},
	},
	{
		ID: "fencing-rejects-stale", Kind: Control,
		Title:  "The resource refuses the late write of a paused client",
		Tells:  "Two clients hold the lock, as can happen with every lease; the resource has seen the newer token and refuses the older one.",
		Source: "M. Kleppmann, How to do distributed locking, 2016, Making the lock safe with fencing",
		Setup:  fenced,
		Schedules: []Schedule{{
			Scripts: sleepingWriter.Scripts,
			Faults:  sleepingWriter.Faults,
			Hazard:  checker.StaleRefused,
			Must:    fencingKeeps,
		}},
		Remedy: Remedy{None: "this is the remedy"},
	},
}
