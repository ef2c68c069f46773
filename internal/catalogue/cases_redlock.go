package catalogue

import (
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

var (
	redlock       = Setup{Lock: "redlock"}
	redlockFenced = Setup{Lock: "redlock", Options: Options{OwnToken: true}, Fencing: history.FencingAll}

	// The sources that several cases share.
	redlockManual = "Redis manual, Distributed Locks with Redis"
	kleppmann     = "M. Kleppmann, How to do distributed locking, 2016"
)

// unreachable cuts a client off from servers for a while.
func unreachable(client string, d time.Duration, servers ...string) []faults.Injection {
	return each(faults.Injection{Fault: "partition", On: []string{client}, For: d}, servers...)
}

// bareMajority lets c1 reach three of five nodes until T/2, after a fault has struck
// one of them, or all three.
func bareMajority(happens ...faults.Injection) []faults.Injection {
	return append(unreachable(c1, T/2, "redis-4", "redis-5"), happens...)
}

// scattered places each of n clients near one node: messages between it and the other
// nodes take d longer.
func scattered(n int, d time.Duration) (list []faults.Injection) {
	for client := range n {
		for node := range n {
			if node != client {
				list = append(list, faults.Injection{
					Fault: "delay", On: []string{"c" + strconv.Itoa(client+1), "redis-" + strconv.Itoa(node+1)},
					For: 2 * T, Amount: d,
				})
			}
		}
	}
	return list
}

// redlockCases are the cases of a lock on several nodes.
var redlockCases = []Case{
	{
		ID: "redlock-gc-after-acquire", Kind: Violation,
		Title:     "A majority of five does not help a client that sleeps beyond its lease",
		Tells:     "Redlock is a lease as well. Its holder has looked at the time, then it is paused, and when it goes on another one holds.",
		Source:    kleppmann + ", Breaking Redlock with bad timings; S. Sanfilippo, Is Redlock safe?, 2016",
		Setup:     redlock,
		Schedules: []Schedule{sleepingWriter},
		Remedy: Remedy{
			Words: "Fencing, with tokens from a source of its own: Redlock has none.",
			Setup: redlockFenced, Keeps: fencingKeeps,
		},
	},
	{
		ID: "redlock-gc-during-acquire", Kind: Control,
		Title:  "A client sleeps after the last answer, and does not enter while another holds",
		Tells:  "The answers have come, and the client sleeps until the lease is over. Redlock reads the clock after the last answer: a lease of which nothing is left is no grant. So c1 asks again.",
		Source: kleppmann + ", against S. Sanfilippo, Is Redlock safe?, 2016, the third step",
		Setup:  redlock,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, 4*T, T/10),
				visit(c2, 11*T/10, T, T/2),
			},
			Faults: pauseC1(at(history.Acquire, faults.Point{After: true, Last: true}), 13*T/10),
			Hazard: checker.PauseHitVoted,
			Must:   append([]checker.Property{checker.Resource, checker.Ownership}, overlap...),
		}},
		Remedy: Remedy{None: "this is the remedy"},
	},
	{
		ID: "redlock-clock-jump", Kind: Violation,
		Title:  "One node's clock jumps, and two clients have a majority at once",
		Tells:  "Each node counts the lease by its own wall clock. If only a bare majority granted, one jump lets another client get a majority.",
		Source: kleppmann + ", Breaking Redlock with bad timings; S. Sanfilippo, Is Redlock safe?, 2016, concedes clock jumps",
		Setup:  redlock,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, T/20, T/2, 8*T/10),
				visit(c2, 4*T/10, T, T/2),
			},
			Faults: bareMajority(faults.Injection{Fault: "server-jump", On: []string{"redis-3"}, At: 3 * T / 10, Amount: 2 * T}),
			Hazard: checker.JumpWithHolder,
			Must:   twoWrite,
			May:    delay,
		}},
		Remedy: Remedy{
			Words: "Slew clocks instead of setting them, which cannot be run here. And fencing, with tokens from a source of its own: that protects the data; the lock still fails.",
			Setup: redlockFenced, Keeps: fencingKeeps,
		},
	},
	{
		ID: "redlock-crash-no-persist", Kind: Violation,
		Title:  "One node restarts empty, and grants the lock once more",
		Tells:  "The node has forgotten that it has granted. With a bare majority that is enough.",
		Source: redlockManual + ", Performance, Crash Recovery and fsync; " + kleppmann,
		Setup:  redlock,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, T/20, T/2, 8*T/10),
				visit(c2, 4*T/10, T, T/2),
			},
			Faults: bareMajority(faults.Injection{Fault: "restart-lost", On: []string{"redis-3"}, At: 2 * T / 10, For: T / 10}),
			Hazard: checker.RestartWithHolder,
			Must:   overlap,
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "appendfsync always on every node; or keep a node that has crashed down for longer than any lease: see redlock-delayed-restart.",
			Setup: Setup{Lock: "redlock", Server: Server{Fsync: FsyncAlways}},
			Keeps: unharmed,
		},
	},
	{
		ID: "redlock-delayed-restart", Kind: Control,
		Title:  "A node that comes back empty after the longest lease does no harm",
		Tells:  "What the node has forgotten has ended by the time it is back. While it is away a client finds two free nodes, and two are no majority. (If the requests of c1 to these two are still on their way, they arrive later, and set keys that c1's release deletes.)",
		Source: redlockManual + ", Performance, Crash Recovery and fsync: delayed restarts",
		Setup:  redlock,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				// c1 holds for nearly all of its lease, and c3 comes when the node is back.
				visit(c1, T/20, T/2, 8*T/10),
				visit(c2, 4*T/10, 2*T, T/5),
				visit(c3, 16*T/10, T, T/10),
			},
			Faults: bareMajority(faults.Injection{Fault: "restart-lost", On: []string{"redis-3"}, At: 2 * T / 10, For: 11 * T / 10}),
			Hazard: checker.RestartWithHolder,
			Must:   append([]checker.Property{checker.Resource, checker.Ownership}, overlap...),
		}},
		Remedy: Remedy{None: "this is the remedy"},
	},
	{
		ID: "redlock-node-failover", Kind: Violation,
		Title:  "One node's master is replaced by a replica that has not heard of the lock",
		Tells:  "Replicas make a node more available, and Redlock less safe: a node that fails over is a node that forgets.",
		Source: "sewenew/redis-plus-plus, issue 44; mike-marcacci/node-redlock, issue 16",
		Setup:  Setup{Lock: "redlock", Server: replicated},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, T/20, T/2, 85*T/100),
				script(c2, insist(2*T/10, 2*T, T/2)...),
			},
			Faults: bareMajority(
				faults.Injection{Fault: "partition-servers", On: []string{"redis-3"}, For: 2 * T},
				faults.Injection{Fault: "failover", On: []string{"redis-3"}, For: 2 * T, Point: granted()},
			),
			Hazard: checker.EntryLostWhileHeld,
			Must:   twoWrite,
			May:    forgets,
		}},
		Remedy: Remedy{
			Words: "Nodes without replicas. Where they have some, fencing, with tokens from a source of its own: that protects the data; the lock still fails.",
			Setup: Setup{Lock: "redlock", Server: replicated, Options: Options{OwnToken: true}, Fencing: history.FencingAll},
			Keeps: fencingKeeps,
		},
		NotOn: map[string]string{"docker": "it takes fifteen servers and three Sentinels; redis-failover-lost-key shows the same on one node"},
	},
	{
		ID: "redlock-on-redis-cluster", Kind: Violation,
		Title:  "On the masters of one Redis Cluster there is never a majority",
		Tells:  "A cluster keeps each key on one of its masters; the others answer that it has moved. Redlock needs servers that know nothing of one another.",
		Source: "imcoderlemon, Three ways to lock with Redis (in Chinese), which offers Redlock for a cluster; Redis manual, Cluster specification, MOVED redirection",
		Setup:  Setup{Lock: "redlock", Server: Server{Nodes: 3, Cluster: true}},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, 4*T, T/20),
				visit(c2, T/10, 4*T, T/20),
			},
			Must: starved,
			May:  delay,
		}},
		Remedy: Remedy{
			Words: "Servers that know nothing of one another.",
			Setup: Setup{Lock: "redlock", Server: Server{Nodes: 3}}, Keeps: served,
		},
		NotOn: map[string]string{"docker": "no Redis Cluster is started there; the conformance suite holds MOVED against a real one"},
	},
	{
		ID: "redlock-dynamic-quorum", Kind: Violation,
		Title:  "A majority of those who answer is no majority",
		Tells:  "A client that reaches two of five nodes is content with these two. Another one gets the other three.",
		Source: "SPSCommerce/redlock-py, issue 6",
		Setup:  Setup{Lock: "redlock-flawed-quorum"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, T/20, T/2, 8*T/10),
				visit(c2, 3*T/10, T, T/2),
			},
			Faults: unreachable(c1, 12*T/10, "redis-3", "redis-4", "redis-5"),
			Hazard: checker.TouchedBy("partition"),
			Must:   overlap,
			May:    []checker.Property{checker.Resource, checker.Handover, checker.Ownership, checker.Answers},
		}},
		Remedy: Remedy{
			Words: "A majority of all nodes that there are.",
			Setup: redlock, Keeps: append([]checker.Property{checker.Ownership}, overlap...),
		},
	},
	{
		ID: "redlock-no-node-timeout", Kind: Violation,
		Title:  "One node hangs, and so does everybody",
		Tells:  "The client asks one node after another and has no time-out. It waits for the second node, and meanwhile does not ask the other three. (In virtual time it waits for an hour for the answer to its SET, and for another hour for the answer to the DEL of what it may have set. A run with real servers ends before that.)",
		Source: redlockManual + ", The Redlock Algorithm, the second step; jacket-code/redlock-cpp, AddServerUrl",
		Setup:  Setup{Lock: "redlock-flawed-timeout"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, T/4, 4*T, T/20),
				visit(c2, 3*T/10, 4*T, T/20),
			},
			Faults: []faults.Injection{{Fault: "server-pause", On: []string{"redis-2"}}},
			Hazard: checker.TouchedBy("server-pause"),
			Must:   starved,
			May:    delay,
		}},
		Remedy: Remedy{
			Words: "A time-out for each node, far below the lease, and all nodes at once.",
			Setup: redlock, Keeps: append([]checker.Property{checker.Liveness}, overlap...),
		},
	},
	{
		ID: "redlock-split-vote", Kind: Figures,
		Title:  "Clients that try again in step split the votes again and again",
		Tells:  "Each client is near one node and far from the others. If they ask at the same time each gets one node, and nobody a majority. If they then all wait for the same time they meet again. (Handover counts no time in which links are slow, so it holds.)",
		Source: redlockManual + ", Retry on Failure; imcoderlemon, Three ways to lock with Redis (in Chinese), leaves the random delay out",
		Setup:  Setup{Lock: "redlock", Options: Options{FixedWait: true}},
		Schedules: []Schedule{{
			Scripts: crowd(5, section(0, 4*T, T/50)),
			Faults:  scattered(5, T/100),
			Hazard:  checker.TouchedBy("delay"),
			May:     append([]checker.Property{checker.Handover}, starved...),
		}},
		Figure: &Figure{Of: SplitVotes, AtLeast: 20, AtMost: 10},
		Remedy: Remedy{
			Words: "A random time before the next try.",
			Setup: redlock, Keeps: append([]checker.Property{checker.Handover}, served...),
		},
		LeastLease: 10 * time.Second,
		NotOn:      map[string]string{"docker": "how long clients stay in step depends on the network; sim repeats it"},
	},
	{
		ID: "redlock-no-drift", Kind: Violation,
		Title:  "The clocks of a majority run a hundredth fast, and leases end before their holders think",
		Tells:  "The client's clock counts what is left; the servers' clocks end the lease. Without a margin a little drift is enough.",
		Source: redlockManual + ", The Redlock Algorithm, subtracts the drift; imcoderlemon, Three ways to lock with Redis (in Chinese), the fourth step, does not",
		Setup:  Setup{Lock: "redlock-seed"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				// It writes after the nodes have dropped its keys, while its lease
				// still lasts.
				script(c1, acquire(T/20, T/2), read(), leased(workloads.Step{Do: history.Write, At: 10475 * T / 10000}), release()),
				visit(c2, 10425*T/10000, T, T/2),
			},
			Faults: bareMajority(each(faults.Injection{Fault: "server-rate", For: 3 * T, Amount: T / 100},
				"redis-1", "redis-2", "redis-3")...),
			Hazard: checker.RateWithHolder,
			Must:   overlap,
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "Take a hundredth of the lease and 2 ms off what is left of it, and stop work when the rest is over.",
			Setup: redlock, Keeps: unharmed,
		},
		LeastLease: 10 * time.Second,
		NotOn:      map[string]string{"docker": "the clocks of real servers cannot be made fast"},
	},
	{
		ID: "redlock-wallclock-step", Kind: Violation,
		Title:  "The client's clock is set back while it asks, and the lease looks longer than a new one",
		Tells:  "The time that the round took is the difference of two readings of a clock. If that clock is set back between them, the round has taken less than no time, and the lease is longer than the nodes keep the key.",
		Source: "S. Sanfilippo, Is Redlock safe?, 2016, asks for a monotonic clock; imcoderlemon, Three ways to lock with Redis (in Chinese), takes the current time in milliseconds",
		Setup:  Setup{Lock: "redlock-flawed-wallclock"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, acquire(0, T/2), read(), leased(workloads.Step{Do: history.Write, At: 15 * T / 10}), release()),
				visit(c2, T/2, 2*T, T/2),
			},
			Faults: []faults.Injection{
				{Fault: "jump", On: []string{c1}, Amount: -8 * T / 10, Point: at(history.Acquire, faults.Point{After: true, Request: 1})},
			},
			Hazard: checker.TouchedBy("jump"),
			Must:   overlap,
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "A clock that never jumps; and stop work when the rest of the lease is over.",
			Setup: redlock, Keeps: unharmed,
		},
	},
	{
		ID: "redlock-whole-validity", Kind: Violation,
		Title:  "The acquire took most of the lease, and the client believes in all of it",
		Tells:  "The nodes count from the moment at which each of them set its key. A client that counts a whole lease from the end of its acquire holds on while the nodes grant the lock to another.",
		Source: "imcoderlemon, Three ways to lock with Redis (in Chinese), the third way, the fourth step; " + redlockManual + ", The Redlock Algorithm, the fourth step",
		Setup:  Setup{Lock: "redlock-flawed-validity"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, acquire(0, T), read(), leased(write(7*T/10)), release()),
				visit(c2, T/2, 2*T, T/2),
			},
			Faults: pauseC1(at(history.Acquire, faults.Point{After: true, Last: true}), 6*T/10),
			Hazard: checker.PauseHitVoted,
			Must:   overlap,
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "Take the time of the acquire off the lease, and stop work when the rest is over.",
			Setup: redlock, Keeps: unharmed,
		},
	},
	{
		ID: "redlock-release-granted", Kind: Violation,
		Title:  "A client deletes its key only where it knows of a grant, and the others keep it",
		Tells:  "A node whose yes was lost has set the key. If a majority of nodes keep such a key, nobody gets the lock until it expires: not even its client, which asks with a new value in each round.",
		Source: "imcoderlemon, Three ways to lock with Redis (in Chinese), the third way, the fifth step and the release, which asks all nodes; " + redlockManual + ", Retry on Failure",
		Setup:  Setup{Lock: "redlock-flawed-release"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, 2*T, T/10),
				visit(c2, 2*T/10, 2*T, T/10),
			},
			Faults: each(faults.Injection{
				Fault: "drop-reply", On: []string{c1}, Direction: faults.ToClient,
				Point: at(history.Acquire, faults.Point{Request: 1}), For: T / 10,
			}, "redis-3", "redis-4", "redis-5"),
			Hazard: checker.ReplyDropped,
			Must:   delay,
		}},
		Remedy: Remedy{
			Words: "Delete the key on all nodes, whatever they answered. With this, c1 does that after its first round, in which it heard from a minority only.",
			Setup: redlock, Keeps: append([]checker.Property{checker.Handover}, served...),
		},
	},
	{
		ID: "redlock-continue-once", Kind: Violation,
		Title:  "ContinueLock promises a lock until its release, and the lock ends with its lease",
		Tells:  "The article says that one call of ContinueLock keeps the lock until the release. But the call sets the keys once, and they expire. A client that wants to keep the lock has to call again in time.",
		Source: "imcoderlemon, Three ways to lock with Redis (in Chinese), the third way, ContinueLock; redlock-cpp, CLockExample, which calls it in a loop",
		Setup:  Setup{Lock: "redlock-continue", Options: Options{Once: true}},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, T/2, 16*T/10),
				visit(c2, 2*T/10, 3*T, T/10),
			},
			Hazard: checker.Contended,
			Must:   exclusive,
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "Renew the lease while the work lasts, in a task that ends with the release.",
			Setup: Setup{Lock: "redis-watchdog"}, Keeps: append([]checker.Property{checker.Handover}, unharmed...),
		},
	},
	{
		ID: "redlock-continuous-partitions", Kind: Figures,
		Title:  "A client that is cut off before it releases costs everybody up to a lease, each time",
		Tells:  "A release that does not arrive leaves the keys until they expire. If that happens again and again, the lock is free for hardly any time.",
		Source: redlockManual + ", Liveness Arguments",
		Setup:  redlock,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, append(section(0, T/2, T/20), section(2*T, T, T/20)...)...),
				script(c2, append(section(T/10, 2*T, T/20), section(21*T/10, 2*T, T/20)...)...),
			},
			Faults: append(cutOffAtRelease(1), cutOffAtRelease(2)...),
			Hazard: checker.LeaseExpiredWhileReleasing,
			May:    []checker.Property{checker.Handover, checker.Exclusion, checker.Resource},
		}},
		Figure: &Figure{Of: LongestGap, AtLeast: 0.8},
		Remedy: Remedy{None: "a shorter lease, renewed while the work lasts, would cost less; under the same T it cannot be measured"},
	},
	{
		ID: "redlock-second-clock", Kind: Violation,
		Title:  "A clock of whole seconds says that the round took no time",
		Tells:  "The answers take their time, and the client's clock shows the same second before and after. So it thinks that its lease is longer.",
		Source: "jacket-code/redlock-cpp, redlock.cpp, which takes (int)time(NULL) * 1000",
		Setup:  Setup{Lock: "redlock-flawed-seconds", Server: Server{Nodes: 3}},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				script(c1, acquire(0, T/2), read(), leased(workloads.Step{Do: history.Write, At: 101 * T / 100}), release()),
				visit(c2, 1002*T/1000, T, T/2),
			},
			Faults: append(unreachable(c1, T/2, "redis-3"), each(
				faults.Injection{Fault: "delay", On: []string{c1}, Direction: faults.ToClient, For: T / 10, Amount: 22 * T / 1000},
				"redis-1", "redis-2")...),
			Hazard: checker.TouchedBy("delay"),
			Must:   overlap,
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "A clock that never jumps, in milliseconds; and stop work when the rest of the lease is over.",
			Setup: Setup{Lock: "redlock", Server: Server{Nodes: 3}}, Keeps: unharmed,
		},
		LeastLease: 10 * time.Second,
		NotOn:      map[string]string{"docker": "with a lease of one second a clock of whole seconds shows something else, and the margin is too small for real time"},
	},
}

// cutOffAtRelease cuts c1 off from all nodes just before the release of the section
// with that number.
func cutOffAtRelease(section int) []faults.Injection {
	p := at(history.Release, faults.Point{Request: 1})
	p.Acquisition = section
	return each(faults.Injection{Fault: "partition", On: []string{c1}, For: 12 * T / 10, Point: p},
		"redis-1", "redis-2", "redis-3", "redis-4", "redis-5")
}
