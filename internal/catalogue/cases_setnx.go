package catalogue

import (
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

// serverTime is the remedy for clients that measure the lease themselves.
var serverTime = Remedy{
	Words: "Let the server count the time, and nobody else: SET NX PX.",
	Setup: setLua, Keeps: unharmed,
}

// skewed has c2 ask while c1 holds, and the clock of one of them is wrong.
func skewed(client string, by time.Duration) Schedule {
	return Schedule{
		Scripts: []workloads.Script{
			visit(c1, 0, T/2, 8*T/10),
			visit(c2, T/10, 2*T, T/2),
		},
		Faults: []faults.Injection{{Fault: "skew", On: []string{client}, For: 5 * T, Amount: by}},
		Hazard: checker.ClockOffWithHolder,
		Must:   overlap,
		// The release of the published lock leaves a key that has not expired.
		May: []checker.Property{checker.Resource, checker.Ownership, checker.Handover, checker.Answers},
	}
}

// sameEnd has c1 die, and c2 and c3 find that its time has passed. c3 is paused
// before it acts on that.
var sameEnd = Schedule{
	Scripts: []workloads.Script{
		visit(c1, 0, T/2, T/20),
		visit(c2, 125*T/100, T/2, 65*T/100),
		visit(c3, 12*T/10, T, T/10),
	},
	Faults: []faults.Injection{
		{Fault: "kill", On: []string{c1}, Point: granted()},
		{Fault: "pause", On: []string{c3}, Point: of(c3, history.Acquire, faults.Point{After: true, Request: 2, Exact: true}), For: 2 * T / 10},
	},
	Hazard: checker.PauseHitWaiter,
	Must:   stolen,
	May:    damage,
}

// setnxCases are the cases of a key that holds the time at which the lock ends.
var setnxCases = []Case{
	{
		ID: "redis-setnx-stale-del-race", Kind: Violation,
		Title:     "Two clients remove a stale lock, and the second removes the first one's",
		Tells:     "A client that reads a time in the past from the key deletes the key, and takes the lock with SETNX. Another client that has read the same time does so a little later, and deletes the new lock.",
		Source:    "Redis manual, SETNX, Handling deadlocks, the trace of C1, C2 and C3",
		Setup:     Setup{Lock: "redis-setnx-del-stale"},
		Schedules: []Schedule{sameEnd},
		Remedy: Remedy{
			Words: "Replace the old time with GETSET, and take the lock only if what came back had passed. Who gets a time that has not passed back waits. Better, let the server count the time: SET NX PX.",
			Setup: Setup{Lock: "redis-setnx-getset-fixed"}, Keeps: append([]checker.Property{checker.Resource}, overlap...),
		},
	},
	{
		ID: "redis-setnx-getset-blind", Kind: Violation,
		Title:     "Two clients replace the expiry time of a stale lock, and neither looks at what it replaced",
		Tells:     "Between GET and GETSET another client may take the stale lock. GETSET replies with that client's new time. A client that ignores the reply takes the lock over from a holder.",
		Source:    "imcoderlemon, Three ways to lock with Redis (in Chinese), the first way, the note on the reply of GETSET",
		Setup:     Setup{Lock: "redis-setnx-getset-unread"},
		Schedules: []Schedule{sameEnd},
		Remedy: Remedy{
			Words: "Take the lock only if the time that GETSET replaced had passed. Who gets a time that has not passed back waits. Better, let the server count the time: SET NX PX.",
			Setup: Setup{Lock: "redis-setnx-getset-fixed"}, Keeps: append([]checker.Property{checker.Resource}, overlap...),
		},
	},
	{
		ID: "redis-setnx-unlock-inverted", Kind: Figures,
		Title:  "A release that only deletes what has expired: every hand-over waits for the end of the lease",
		Tells:  "As it is published, the release deletes the key if its time has passed. A client that works in time therefore never gives its lock back, and the next one waits until the lease is over.",
		Source: "imcoderlemon, Three ways to lock with Redis (in Chinese), the first way, its release; the Redis manual's page on SETNX says the opposite",
		Setup:  Setup{Lock: "redis-setnx-getset"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, 3*T/10),
				visit(c2, T/10, 3*T, 3*T/10),
				visit(c3, 2*T/10, 5*T, 3*T/10),
			},
			Hazard: checker.Contended,
			Must:   []checker.Property{checker.Handover, checker.Answers},
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
				visit(c2, 12*T/10, T/2, 7*T/10),
				visit(c3, 15*T/10, 2*T, T/10),
			},
			Faults: pauseC1(at(history.Release, faults.Point{After: true, Request: 1}), 3*T/10),
			Hazard: checker.TouchedBy("pause"),
			Must:   stolen,
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "A value that nobody else has, compared and deleted in one script.",
			Setup: setLua, Keeps: stolen,
		},
	},
	{
		ID: "redis-setnx-unlock-unowned", Kind: Violation,
		Title:  "The repaired release deletes another client's lock, which has not expired",
		Tells:  "The article's release deletes a key whose time has passed. The obvious repair deletes a key whose time has not passed, and does not look whose time that is. A client that was paused beyond its lease deletes its successor's key. It takes no race.",
		Source: "Redis manual, SETNX, Handling deadlocks, the note on a late DEL, which asks the holder to look at its own timeout. The lock is our repair of imcoderlemon, Three ways to lock with Redis (in Chinese), the first way",
		Setup:  Setup{Lock: "redis-setnx-getset-fixed"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, 0),
				visit(c2, 115*T/100, T/2, 75*T/100),
				visit(c3, 14*T/10, T, T/10),
			},
			Faults: pauseC1(granted(), 13*T/10),
			Hazard: checker.PauseHitHolder,
			Must:   stolenLate,
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "A value that nobody else has, compared and deleted in one script.",
			Setup: setLua, Keeps: []checker.Property{checker.Ownership, checker.LeaseExclusion},
		},
	},
	{
		ID: "redis-setnx-client-skew-ahead", Kind: Violation,
		Title:     "A client whose clock is ahead takes over a lock that has not expired",
		Tells:     "One client writes the time; another compares it with its own clock. If the second clock is ahead by more than what is left of the lease, the second client gets the lock. (The release of this lock deletes only what has expired: see redis-setnx-unlock-inverted.)",
		Source:    "imcoderlemon, Three ways to lock with Redis (in Chinese), the first way, which does not mention clocks",
		Setup:     Setup{Lock: "redis-setnx-getset"},
		Schedules: []Schedule{skewed(c2, 15*T/10)},
		Remedy:    serverTime,
	},
	{
		ID: "redis-setnx-client-skew-behind", Kind: Violation,
		Title:     "A client whose clock is behind holds a lock that is born expired",
		Tells:     "The holder writes down when its lease ends, by its own clock. If that is behind by more than the lease, everybody else finds that it has ended. (The release of this lock deletes only what has expired: see redis-setnx-unlock-inverted.)",
		Source:    "imcoderlemon, Three ways to lock with Redis (in Chinese), the first way, which does not mention clocks",
		Setup:     Setup{Lock: "redis-setnx-getset"},
		Schedules: []Schedule{skewed(c1, -15*T/10)},
		Remedy:    serverTime,
	},
}
