package catalogue

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

// The published locks ask again after 250 ms, whatever T is. Where it matters which
// client asks first, the schedule fixes the order and leaves T/4 for it.

var (
	mysqlOptimistic = Setup{Lock: "mysql-optimistic"}
	mysqlFair       = Setup{Lock: "mysql-fair"}
	mysqlFairFixed  = Setup{Lock: "mysql-fair-fixed"}

	// bailongma is the source of these cases.
	bailongma = "Bailongma, How to build a fair distributed lock with MySQL (in Chinese), "
)

// unfairly makes its first acquire ask out of turn.
func unfairly(steps []workloads.Step) []workloads.Step {
	steps[0].Unfair = true
	return steps
}

// shortly asks once: a lock that asks again after 250 ms comes back then.
func shortly(at time.Duration) workloads.Step { return acquire(at, T/20) }

// releaseName releases by name, as a finally block does, whether or not the lock was
// granted.
func releaseName() workloads.Step { return workloads.Step{Do: workloads.ReleaseName} }

// rowCases are the cases of a lock that is a row.
var rowCases = []Case{
	{
		ID: "mysql-unowned-unlock", Kind: Violation,
		Title:  "A client that was refused unlocks in its finally, and deletes the holder's row",
		Tells:  "The release deletes the row with the version that it has just read, so that version is always the right one. The release does not check the owner.",
		Source: bailongma + "unLockByName",
		Setup:  mysqlOptimistic,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, 9*T/10),
				script(c2, shortly(2*T/10), releaseName()),
				visit(c3, 65*T/100, T/2, T/10),
			},
			Hazard: checker.ReleasedUnheld,
			Must:   stolen,
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "Give each acquisition an id, write that into the row, and delete the row only with that id.",
			Setup: mysqlFairFixed, Keeps: unharmed,
		},
	},
	{
		ID: "mysql-stale-unlock-after-expiry", Kind: Violation,
		Title:  "A late release deletes the row of the next holder",
		Tells:  "A paused client's lease ends, and another takes the row over, with the next version. The release that comes late reads that version, and deletes with it.",
		Source: bailongma + "unLockByName",
		Setup:  mysqlOptimistic,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, 0),
				visit(c2, 2*T/10, 2*T, 9*T/10),
				visit(c3, 17*T/10, T, T/10),
			},
			Faults: pauseC1(granted(), 15*T/10),
			Hazard: checker.PauseHitHolder,
			Must:   stolenLate,
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "Release with what was written at the grant, an id or the version of then, and not with what is there now.",
			Setup: mysqlFairFixed, Keeps: []checker.Property{checker.Ownership, checker.LeaseExclusion},
		},
	},
	{
		ID: "mysql-client-clock-skew", Kind: Violation,
		Title:  "A client whose clock is ahead ends a lease that has not ended",
		Tells:  "The holder's clock decides which end of the lease the row has, and every client compares that end with its own clock. A client whose clock is ahead finds the lease over. If it asks out of turn, it takes the lock itself. If it has queued up, it throws the holder out of the queue, and the next one in the queue gets the lock.",
		Source: bailongma + "expireTime, from System.currentTimeMillis()",
		Setup:  mysqlFair,
		Schedules: []Schedule{
			{
				Name: "unfair",
				Scripts: []workloads.Script{
					script(c1, unfairly(section(0, T/2, 8*T/10))...),
					script(c2, unfairly(section(2*T/10, 2*T, T/2))...),
				},
				Faults: []faults.Injection{ahead(c2)},
				Hazard: checker.ClockOffWithHolder,
				Must:   overlap,
				May:    []checker.Property{checker.Resource, checker.Ownership, checker.Handover},
			},
			{
				Name: "fair",
				Scripts: []workloads.Script{
					visit(c1, 0, T/2, 8*T/10),
					visit(c2, 2*T/10, 2*T, T/2),
					visit(c3, 4*T/10, 3*T, T/10),
				},
				Faults: []faults.Injection{ahead(c3)},
				Hazard: checker.ClockOffWithHolder,
				Must:   overlap,
				May:    []checker.Property{checker.Resource, checker.Ownership, checker.Handover},
			},
		},
		Remedy: Remedy{
			Words: "Let the server's clock say when a lease ends, in the statement itself: NOW(3).",
			Setup: mysqlFairFixed, Keeps: unharmed,
		},
	},
	{
		ID: "mysql-insert-reply-lost", Kind: Violation,
		Title:  "The answer to the INSERT is lost, and the client takes that for a no",
		Tells:  "Whatever goes wrong with a statement is caught, and the caller is told that the lock is taken. It is: by himself, until the lease ends. When he asks again he finds his own row, and does not know it.",
		Source: bailongma + "lockByName, its catch",
		Setup:  mysqlOptimistic,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, 4*T/10, T/20),
				visit(c2, 2*T/10, 2*T, T/20),
			},
			Faults: []faults.Injection{{
				Fault: "drop-reply", On: []string{c1, MySQLName}, Direction: faults.ToClient,
				Point: at(history.Acquire, faults.Point{Request: 2}), For: T,
			}},
			Hazard: checker.ReplyDropped,
			Must:   []checker.Property{checker.Answers, checker.Handover},
		}},
		Remedy: Remedy{
			Words: "An id in the row, by which the client recognises its own when it reads again.",
			Setup: mysqlFairFixed, Keeps: []checker.Property{checker.Answers, checker.Handover, checker.Exclusion},
		},
	},
	{
		ID: "mysql-unlock-recursion", Kind: Violation,
		Title:  "A release inside a transaction reads the same again and again, and does not end",
		Tells:  "The release compares versions, and if that fails calls itself to look again. In a REPEATABLE READ transaction it sees what it saw at first, whatever has become of the row; and what its DELETE has looked at stays locked meanwhile. When the stack overflows, or the caller waits no longer, the transaction is rolled back. The lock stays taken until then, or until its lease ends if that is later.",
		Source: bailongma + "unLockByName, its recursion",
		Setup:  Setup{Lock: "mysql-fair", Options: Options{InTx: true}},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, 4*T/10),
				visit(c2, 2*T/10, 8*T, T/10),
			},
			Hazard: checker.Contended,
			Must:   delay,
			May:    starved, // the calls may take longer than 3 T
		}},
		Remedy: Remedy{
			Words: "Release outside the transaction, by a statement that needs nothing of what was read; and where one has to look again, a bounded number of times.",
			Setup: mysqlFairFixed, Keeps: append([]checker.Property{checker.Handover}, served...),
		},
	},
	{
		ID: "mysql-try-in-transaction", Kind: Violation,
		Title:  "A transaction around the try is rolled back, and takes the lock from its holder",
		Tells:  "Until the transaction ends nobody else sees the row of the grant. If the session ends first, the server rolls the transaction back, and the row is gone: the next client gets the lock, while the holder works on.",
		Source: bailongma + "tryLockByName, its comment that it must not be called in a transaction",
		Setup:  Setup{Lock: "mysql-optimistic", Options: Options{TryInTx: true}},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, 9*T/10),
				visit(c2, T/2, 2*T, T/2),
			},
			Faults: []faults.Injection{{Fault: "session-expiry", On: []string{c1}, At: 3 * T / 10}},
			Hazard: checker.TouchedBy("session-expiry"),
			Must:   overlap,
			// No server has made a grant that another client could see.
			May: append([]checker.Property{checker.Answers}, damage...),
		}},
		Remedy: Remedy{
			Words: "Ask outside any transaction, so that the row is committed before the work begins.",
			Setup: mysqlOptimistic, Keeps: append([]checker.Property{checker.LeaseExclusion}, served...),
		},
	},
	{
		ID: "mysql-timeout-drift", Kind: Figures,
		Title:  "A wait of at most T lasts longer when the network is slow",
		Tells:  "The program adds up its sleeps between the tries, 250 ms each. The time of the tries it does not count, and it sleeps once more after the last. Here c2 wants to wait for T.",
		Source: bailongma + "tryLockByName, total += offset",
		Setup:  mysqlFair,
		Schedules: []Schedule{{
			// c1 and then c3 hold for at least as long as c2 should wait.
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, 6*T/10),
				visit(c2, 25*T/100, T, 0),
				script(c3, acquire(15*T/100, 2*T), read(), workloads.Step{Do: history.Write, At: 157 * T / 100}, release()),
			},
			Faults: []faults.Injection{{Fault: "delay", On: []string{c2, MySQLName}, Direction: faults.ToClient, At: 2 * T / 10, For: 3 * T, Amount: 8 * T / 100}},
			Hazard: checker.TouchedBy("delay"),
			May:    []checker.Property{checker.Handover, checker.Fairness},
		}},
		Figure: &Figure{Of: LongestWait, AtLeast: 1.4, AtMost: 1.3},
		Remedy: Remedy{
			Words: "A deadline on a monotonic clock, and no sleep beyond it. A client that has a place still has to leave the queue, by two statements.",
			Setup: mysqlFairFixed, Keeps: served,
		},
	},
	{
		ID: "mysql-row-failover", Kind: Violation,
		Title:  "A primary is replaced by a replica that has not heard of the row",
		Tells:  "A commit is answered before the replicas have it. If one of them takes the primary's place then, the lock that was granted does not exist; nor does the version that could have been its token.",
		Source: "MySQL manual, Semisynchronous Replication, on asynchronous replication and committed transactions",
		Setup:  Setup{Lock: "mysql-optimistic", Server: Server{Replicas: 1}},
		Schedules: []Schedule{
			masterLost("", []faults.Injection{
				cutOffFirst(MySQLName),
				{Fault: "failover", On: []string{MySQLName}, For: 2 * T, Point: granted()},
			}),
		},
		Remedy: Remedy{None: "it takes replication that waits for a majority (Group Replication), or fencing with tokens from a store that survives: these locks count their tokens in rows beside the lock, which are lost with it"},
	},
	{
		ID: "mysql-mixed-fair-nonfair", Kind: Violation,
		Title:  "A holder that has not queued up is overlooked by those who queue",
		Tells:  "A client at the head of the queue takes that for the lock. But a client that asked out of turn holds the lock and stands in no queue, so the first client that queues up is at the head.",
		Source: bailongma + "checkOrQueue, called with fair = true while a caller with fair = false holds",
		Setup:  mysqlFair,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				// c2 asks again after 250 ms, while c1 holds. c1 is done long before its lease
				// ends: on a slow machine it would write after that, whatever the lock does.
				script(c1, unfairly(section(0, T/2, 65*T/100))...),
				visit(c2, 2*T/10, T, 3*T/10),
			},
			Hazard: checker.Contended,
			Must:   overlap,
			May:    append([]checker.Property{checker.Ownership}, damage...),
		}},
		Remedy: Remedy{
			Words: "A column for the owner beside that for the queue, whichever way he came.",
			Setup: mysqlFairFixed, Keeps: unharmed,
		},
	},
	{
		ID: "mysql-identity-collision", Kind: Violation,
		Title:  "Two programs have the same id, and both are at the head of the queue",
		Tells:  "A waiter's id is its address and its thread's name. Behind one address, in containers, or where a machine knows only 127.0.1.1, the main threads of two programs are one and the same. Here that is c1, c2 and c3.",
		Source: bailongma + "getQueueId",
		Setup:  Setup{Lock: "mysql-fair", Options: Options{SharedIdentity: true}},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, 8*T/10),
				visit(c2, 2*T/10, T/2, 2*T/10),
				visit(c3, 55*T/100, T/2, T/10),
			},
			Hazard: checker.Contended,
			Must:   stolen,
			// c3 takes c1's row for its own: no server has granted it.
			May: append([]checker.Property{checker.Fairness, checker.Answers}, damage...),
		}},
		Remedy: Remedy{
			Words: "An id that is drawn for each acquisition.",
			Setup: mysqlFairFixed, Keeps: unharmed,
		},
	},
	{
		ID: "mysql-fair-reentrant-release", Kind: Violation,
		Title:  "The release of an inner section frees the lock under the outer one",
		Tells:  "A holder that asks again is at the head, so it is granted the lock; nobody counts how often. The first release takes it out of the queue, and the outer section goes on without the lock.",
		Source: bailongma + "checkOrQueue and unLockByName",
		Setup:  mysqlFair,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, acquire(0, T/2), acquire(T/10, T/20), read(), write(0), release(), workloads.Step{Do: history.Release, At: 9 * T / 10}),
				visit(c2, 5*T/10, T/2, T/10),
			},
			Hazard: checker.Contended,
			Must:   overlap,
			May:    append([]checker.Property{checker.Ownership}, damage...),
		}},
		Remedy: Remedy{
			Words: "Count how often the holder has it; or refuse a client that has it already, as mysql-fair-fixed does.",
			Setup: mysqlFairFixed, Keeps: unharmed,
		},
	},
}

// ahead sets the clock of a client forward by more than a lease.
func ahead(client string) faults.Injection {
	return faults.Injection{Fault: "skew", On: []string{client}, For: 5 * T, Amount: 15 * T / 10}
}

// mysqlCases are the cases of a MySQL server.
var mysqlCases = slices.Concat(rowCases, rowQueueCases, sessionCases)
