package catalogue

import (
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

var (
	lockingFunctions = "MySQL manual, Locking Functions"

	// fencedSession protects the resource where a lock that ends with a session
	// cannot: the tokens are counted in a row, which stays.
	fencedSession = Remedy{
		Words: "Let the resource check a fencing token, counted in a row of the same server: the lock goes with its session, and what was committed stays. If the work can use the same session, let it: then it ends with the lock.",
		Setup: Setup{Lock: "mysql-get-lock", Options: Options{Token: true}, Fencing: history.FencingAll},
		Keeps: fencingKeeps,
	}
	namedLock = Setup{Lock: "mysql-get-lock"}
	rowLock   = Setup{Lock: "mysql-for-update"}
)

// sessionLost has c1 hold when a fault ends its session, while c2 waits.
func sessionLost(name string, in faults.Injection, hazard checker.Counter) Schedule {
	in.At = 3 * T / 10
	return Schedule{
		Name: name,
		Scripts: []workloads.Script{
			visit(c1, 0, T/2, 18*T/10),
			script(c2, insist(2*T/10, 3*T, 3*T/10)...),
		},
		Faults: []faults.Injection{in},
		Hazard: hazard,
		Must:   exclusive,
		May:    delay,
	}
}

// killed is a KILL of the connections of c1.
var killed = faults.Injection{Fault: "session-expiry", On: []string{c1}}

// bothIn are two clients that come one after the other.
func bothIn() []Schedule {
	return []Schedule{{
		Scripts: []workloads.Script{
			visit(c1, 0, T/2, 6*T/10),
			visit(c2, 2*T/10, T, 2*T/10),
		},
		Hazard: checker.Contended,
		Must:   []checker.Property{checker.Exclusion},
		May:    append([]checker.Property{checker.Answers}, damage...),
	}}
}

// sessionCases are the cases of a lock that ends with its session.
var sessionCases = []Case{
	{
		ID: "mysql-getlock-conn-loss", Kind: Violation,
		Title:  "The holder's connection is killed, and with it goes the lock",
		Tells:  "A named lock belongs to its session. When that ends, by KILL, by a time-out or with the connection, the next one has the lock. The holder notices nothing before its next statement, which fails.",
		Source: lockingFunctions + ": released when the session terminates, normally or abnormally",
		Setup:  namedLock,
		Schedules: []Schedule{
			sessionLost("", killed, checker.TouchedBy("session-expiry")),
		},
		Remedy: fencedSession,
	},
	{
		ID: "mysql-getlock-server-restart", Kind: Violation,
		Title:  "The server restarts with all its data, and has no locks",
		Tells:  "Named locks are in memory, and no durability helps: a restart ends every session. Outside the server, the holder goes on as if it still held the lock.",
		Source: lockingFunctions,
		Setup:  namedLock,
		Schedules: []Schedule{
			sessionLost("", faults.Injection{Fault: "restart", On: []string{MySQLName}, For: T / 10}, checker.RestartWithHolder),
		},
		Remedy: fencedSession,
	},
	{
		ID: "mysql-getlock-failover", Kind: Violation,
		Title:  "A replica takes the primary's place, and has heard of no lock",
		Tells:  "Named locks belong to one server, and are not replicated, however well its data are. On the new primary nobody holds anything.",
		Source: lockingFunctions + ": not safe with statement-based replication",
		Setup:  Setup{Lock: "mysql-get-lock", Server: Server{Replicas: 1}},
		Schedules: []Schedule{
			sessionLost("", faults.Injection{Fault: "failover", On: []string{MySQLName}, For: 2 * T}, checker.TouchedBy("failover")),
		},
		Remedy: Remedy{
			Words: "Let the resource check a fencing token, counted in a row: the row is replicated. If that comes too late, the token is lost, too: see mysql-row-failover.",
			Setup: Setup{Lock: "mysql-get-lock", Server: Server{Replicas: 1}, Options: Options{Token: true}, Fencing: history.FencingAll},
			Keeps: fencingKeeps,
		},
	},
	{
		ID: "mysql-getlock-pool", Kind: Violation,
		Title:  "Two tasks of one process share a connection, and with it the lock; or release it on another",
		Tells:  "A pool lends a connection for a statement, and the lock belongs to the session of that connection. A task that is lent the same connection next gets the lock again. A release over another connection frees nothing: the server answers 0, which this code ignores. Then the lock stays for as long as the pool keeps the first connection. The pool opens another one whenever a task asks while the first one is busy, as it is while c2 waits in GET_LOCK. (c1 and c2 are tasks of one process; clients from c3 on belong to another.)",
		Source: "adonisjs/lucid, issue 1153; TryGhost/knex-migrator, issue 466; sanketplus/go-mysql-lock, issue 9; ProxySQL, Multiplexing",
		Setup:  Setup{Lock: "mysql-get-lock-pool"},
		Schedules: []Schedule{
			{
				Name: "shared",
				Scripts: []workloads.Script{
					visit(c1, 0, T/2, 8*T/10),
					visit(c2, 2*T/10, T/2, 2*T/10),
				},
				Hazard: checker.Contended,
				Must:   []checker.Property{checker.Exclusion},
				May:    damage,
			},
			{
				// The wait of c2 puts a second connection into the pool, on top of
				// the first.
				Name: "leaked",
				Scripts: []workloads.Script{
					visit(c1, 2*T/10, T, 4*T/10),
					script(c2, acquire(3*T/10, 3*T/10), release()),
					visit(c3, 0, T/2, 4*T/10),
					visit(c4, 11*T/10, 4*T, T/10),
				},
				Hazard: checker.Contended,
				Must:   starved,
				May:    []checker.Property{checker.Handover, checker.Answers},
			},
		},
		Remedy: Remedy{
			Words: "Keep one connection for as long as the lock is held, look at what RELEASE_LOCK answers, and close the connection if that is not a yes.",
			Setup: namedLock, Keeps: served,
		},
	},
	{
		ID: "mysql-getlock-half-open", Kind: Violation,
		Title:  "The holder's machine is gone without a word, and its session lives on",
		Tells:  "A connection that nobody closes is open. The server waits for the next statement, eight hours by default (wait_timeout), or until TCP's keepalive notices, and so does everybody else.",
		Source: lockingFunctions + "; Server System Variables, wait_timeout",
		Setup:  namedLock,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, 8*T/10),
				visit(c2, 2*T/10, 4*T, T/10),
			},
			Faults: []faults.Injection{{Fault: "poweroff", On: []string{c1}, At: 3 * T / 10}},
			Hazard: checker.KillHitHolder,
			Must:   starved,
			May:    delay,
		}},
		Remedy: Remedy{
			Words: "A short wait_timeout on the sessions that lock, and a heartbeat while they do; or TCP's keepalive.",
			Setup: Setup{Lock: "mysql-get-lock", Options: Options{WaitTimeout: true}}, Keeps: served,
		},
	},
	{
		ID: "mysql-forupdate-missing-row", Kind: Violation,
		Title:  "Both lock a row that is not there, and neither waits for the other",
		Tells:  "Without a row, SELECT … FOR UPDATE locks the gap in its place, so that nobody inserts one. Any number of clients may lock the same gap. At READ COMMITTED nothing is locked at all. At both isolation levels each SELECT finds no row and waits for nobody.",
		Source: "MySQL manual, InnoDB Locking, Gap Locks",
		Setup:  Setup{Lock: "mysql-for-update", Options: Options{RowAbsent: true}},

		Schedules: bothIn(),
		Remedy: Remedy{
			Words: "Make the row before anybody locks it, in a transaction of its own.",
			Setup: rowLock, Keeps: exclusive,
		},
	},
	{
		ID: "mysql-forupdate-autocommit", Kind: Violation,
		Title:  "Nobody has begun a transaction, and the row is free again at once",
		Tells:  "A row lock ends with its transaction. With autocommit, or after a statement that commits implicitly, that is the end of the SELECT itself. It locks the row, and lets it go at once.",
		Source: "MySQL manual, Locking Reads; Statements That Cause an Implicit Commit",
		Setup:  Setup{Lock: "mysql-for-update", Options: Options{Autocommit: true}},

		Schedules: bothIn(),
		Remedy: Remedy{
			Words: "Begin a transaction, and end it only after the work.",
			Setup: rowLock, Keeps: exclusive,
		},
	},
	{
		ID: "mysql-forupdate-conn-loss", Kind: Violation,
		Title:  "The transaction that holds is rolled back, and its client works on elsewhere",
		Tells:  "When a session ends its transaction does, and with it the lock. What was written in the transaction is undone, as it should be; what was written anywhere else is not.",
		Source: "MySQL manual, autocommit, Commit, and Rollback: a session that ends is rolled back",
		Setup:  rowLock,
		Schedules: []Schedule{
			sessionLost("killed", killed, checker.TouchedBy("session-expiry")),
			sessionLost("restart", faults.Injection{Fault: "restart", On: []string{MySQLName}, For: T / 10}, checker.RestartWithHolder),
		},
		Remedy: Remedy{
			Words: "Keep what the lock guards in the transaction; or let the resource check a fencing token, counted in a row that was committed before.",
			Setup: Setup{Lock: "mysql-for-update", Options: Options{Token: true}, Fencing: history.FencingAll},
			Keeps: fencingKeeps,
		},
	},
}
