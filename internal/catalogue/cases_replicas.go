package catalogue

import (
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

// The members of the first node, if it has replicas.
const (
	redis1  = RedisName
	redis1b = RedisName + "b"
	redis1c = RedisName + "c"
)

var (
	replicated       = Server{Replicas: 2}
	setLuaReplicated = Setup{Lock: "redis-set-lua", Server: replicated}

	// forgets are further properties that may be violated where a master is replaced.
	forgets = []checker.Property{checker.Handover, checker.Answers}
)

// outlives is the remedy where a server forgets. Nothing helps the lock, but the
// resource can refuse stale accesses if the tokens come from another server.
func outlives(s Server) Remedy {
	return Remedy{
		Words: "Fencing, with tokens from a server that the fault does not touch. That protects the data; the lock still fails. A lock needs a store that writes to a majority.",
		Setup: Setup{Lock: "redis-set-lua", Server: s, Options: Options{OwnToken: true}, Fencing: history.FencingAll},
		Keeps: fencingKeeps,
	}
}

// unheard cuts a client off from the Sentinels for a while.
func unheard(client string, at, d time.Duration) []faults.Injection {
	cut := faults.Injection{Fault: "partition", On: []string{client}, At: at, For: d}
	return each(cut, "sentinel-1", "sentinel-2", "sentinel-3")
}

// cutOffFirst cuts servers off from the others just before c1 asks for the lock, so
// the other servers do not learn of its grant.
func cutOffFirst(servers ...string) faults.Injection {
	return faults.Injection{
		Fault: "partition-servers", On: servers, For: 2 * T,
		Point: at(history.Acquire, faults.Point{Request: 1}),
	}
}

// lostOnFailover is cutOffFirst, and a replica becomes the master once the old one
// has granted.
func lostOnFailover(servers ...string) []faults.Injection {
	return failsOver(granted(), servers...)
}

// failsOver is lostOnFailover with the point of c1's acquire at which the master fails.
func failsOver(p *faults.Point, servers ...string) []faults.Injection {
	return []faults.Injection{
		cutOffFirst(servers...),
		{Fault: "failover", On: []string{redis1}, For: 2 * T, Point: p},
	}
}

// masterLost has c1 hold when its master is replaced, while c2 asks before and after
// that.
func masterLost(name string, happens []faults.Injection) Schedule {
	return Schedule{
		Name: name,
		Scripts: []workloads.Script{
			visit(c1, T/20, T/2, 85*T/100),
			script(c2, insist(2*T/10, 2*T, 3*T/10)...),
		},
		Faults: happens,
		Hazard: checker.EntryLostWhileHeld,
		Must:   twoWrite,
		May:    forgets,
	}
}

// replicaCases are the cases of a master with replicas and Sentinels that watch it.
var replicaCases = []Case{
	{
		ID: "redis-failover-lost-key", Kind: Violation,
		Title:  "A master is replaced by a replica that has not heard of the lock",
		Tells:  "A master answers before its replicas know. If one of them takes its place in that moment, the lock that was granted does not exist.",
		Source: "imcoderlemon, Three ways to lock with Redis (in Chinese), why Redlock; Redis manual, Distributed Locks with Redis, Why Failover-based Implementations Are Not Enough",
		Setup:  setLuaReplicated,
		Schedules: []Schedule{
			masterLost("kill", lostOnFailover(redis1)),
			masterLost("partition", []faults.Injection{cutOffFirst(redis1)}),
		},
		Remedy: outlives(replicated),
	},
	{
		ID: "redis-sentinel-split-brain", Kind: Violation,
		Title:  "Two masters grant one lock, each to its own side of a partition",
		Tells:  "The Sentinels replace a master that they do not reach. It goes on all the same, for the clients on its side, and what it has granted is thrown away when the partition ends.",
		Source: "Redis manual, Sentinel, Consistency under partitions; K. Kingsbury, Jepsen: Redis",
		Setup:  setLuaReplicated,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				// The first section connects the client to the master.
				script(c1, append(section(0, T/10, 0), section(8*T/10, T/2, 6*T/10)...)...),
				script(c2, insist(85*T/100, T/2, 5*T/10)...),
			},
			Faults: append([]faults.Injection{
				{Fault: "partition-servers", On: []string{redis1}, At: T / 10, For: 9 * T / 10},
			}, unheard(c1, T/10, 9*T/10)...),
			Hazard: checker.EntryLostWhileHeld,
			Must:   twoWrite,
			May:    forgets,
		}},
		Remedy: outlives(replicated),
	},
	{
		ID: "redis-wait-not-consensus", Kind: Violation,
		Title:  "A lock was granted with WAIT, and the new master does not have it",
		Tells:  "WAIT counts replicas that have got a write; here one is enough. It does not make the Sentinels choose that one. Here redis-1b has the lock, and is cut off together with its master.",
		Source: "Redis manual, WAIT, Consistency and WAIT",
		Setup:  Setup{Lock: "redis-set-lua-wait", Server: Server{Replicas: 3}},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, T/20, T/2, 92*T/100),
				script(c2, insist(2*T/10, 2*T, 3*T/10)...),
			},
			Faults: failsOver(at(history.Acquire, faults.Point{After: true, Request: 2}), redis1, redis1b), // once WAIT has its answer
			Hazard: checker.EntryLostWhileHeld,
			Must:   twoWrite,
			May:    forgets,
		}},
		Remedy: outlives(Server{Replicas: 3}),
	},
	{
		ID: "redis-empty-master-restart", Kind: Violation,
		Title:  "A master comes back empty before anybody replaces it",
		Tells:  "A master without persistence restarts so quickly that the Sentinels do not miss it. Replicas do not help: they copy what their master has, which is nothing.",
		Source: "Redis manual, Replication, Safety of replication when master has persistence turned off",
		Setup:  setLuaReplicated,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, 8*T/10),
				script(c2, insist(4*T/10, T, T/2)...),
			},
			Faults: []faults.Injection{{Fault: "restart-lost", On: []string{redis1}, At: 2 * T / 10, For: T / 25}},
			Hazard: checker.RestartWithHolder,
			Never:  []checker.Counter{checker.Promotions}, // a replica keeps the lock
			Must:   twoWrite,
			May:    forgets,
		}},
		Remedy: Remedy{
			Words: "Persistence on the master, with appendfsync always; or no automatic restart.",
			Setup: Setup{Lock: "redis-set-lua", Server: Server{Replicas: 2, Fsync: FsyncAlways}},
			Keeps: unharmed,
		},
	},
	{
		ID: "redis-failover-clock-skew", Kind: Violation,
		Title:  "The new master's clock is ahead, and every lock has expired",
		Tells:  "A key's end is an instant, and each server goes by its own clock. Nothing was lost on the way to the replica; there it was simply later.",
		Source: "Redis manual, EXPIRE, How expires are handled in the replication link and AOF file",
		Setup:  setLuaReplicated,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, 9*T/10),
				script(c2, insist(3*T/10, 2*T, T/2)...),
			},
			Faults: []faults.Injection{
				{Fault: "server-skew", On: []string{redis1b}, For: 4 * T, Amount: 6 * T},
				{Fault: "server-skew", On: []string{redis1c}, For: 4 * T, Amount: 6 * T},
				{Fault: "failover", On: []string{redis1}, At: 2 * T / 10, For: 2 * T},
			},
			Hazard: checker.LeaseExpiredWhileHeld,
			Must:   twoWrite,
			May:    forgets,
		}},
		Remedy: outlives(replicated),
	},
	{
		ID: "redis-fencing-counter-regress", Kind: Violation,
		Title:  "The counter of the tokens goes back with the failover, and a stale write passes",
		Tells:  "A token is worth what its source remembers. A counter beside the lock, on a server that may forget, gives one token twice. A replica that has not heard of the lock has not heard of the count.",
		Source: "M. Kleppmann, How to do distributed locking, 2016, on what tokens have to be; Redis manual, Replication",
		Setup:  Setup{Lock: "redis-set-lua", Server: replicated, Options: Options{Token: true}, Fencing: history.FencingAll},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, T/20, T/2, 8*T/10),
				script(c2, append(insist(2*T/10, 2*T, 0)[:3], workloads.Step{Do: history.Release, Wait: 2 * T / 10})...),
			},
			Faults: lostOnFailover(redis1),
			Hazard: checker.EntryLostWhileHeld,
			Must:   fencingKeeps,
			May:    append([]checker.Property{checker.Handover, checker.Answers}, overlap...),
		}},
		Remedy: outlives(replicated),
	},
}
