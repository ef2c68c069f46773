package catalogue

import (
	"math"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

// Here T is the session timeout: how long a session lasts without a sign of life.

var (
	zkRecipe = Setup{Lock: "zk-recipe"}

	// zkPublished is the source of the flawed locks.
	zkPublished = "Distributed locks with ZooKeeper (in Chinese), "
)

// zookeeperCases are the cases of an ensemble.
var zookeeperCases = []Case{
	{
		ID: "zk-no-recheck", Kind: Violation,
		Title:  "A waiter dies, and the one behind it enters while another holds",
		Tells:  "A waiter watches the node before its own, and treats its removal as the grant. But a node goes, too, when its owner dies waiting: then the one behind it is let in, whoever holds.",
		Source: zkPublished + "DistributedClient, which says so itself",
		Setup:  Setup{Lock: "zk-predecessor"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, 4*T, 35*T/10),
				visit(c2, 3*T/10, 4*T, T/10),
				visit(c3, 6*T/10, 4*T, T/2),
			},
			Faults: []faults.Injection{{Fault: "kill", On: []string{c2}, At: 9 * T / 10}},
			Hazard: checker.KillHitAcquirer,
			Must:   []checker.Property{checker.Exclusion},
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "After every wake-up list the queue again, and enter only with the smallest node of all.",
			Setup: zkRecipe, Keeps: exclusive,
		},
	},
	{
		ID: "zk-exists-null-enters", Kind: Violation,
		Title:  "A waiter finds that the node before its own has gone meanwhile, and enters while another holds",
		Tells:  "The repair lists the queue again, and watches the node that is before its own now. If that one goes between the list and the watch there is nothing to watch; that is no grant, for others may be before it.",
		Source: zkPublished + "the repair of DistributedClient",
		Setup:  Setup{Lock: "zk-predecessor-recheck"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, 4*T, 4*T),
				visit(c2, 2*T/10, 5*T, T/10),
				visit(c3, 4*T/10, 5*T, T/10),
				visit(c4, 6*T/10, 5*T, T/2),
			},
			Faults: []faults.Injection{
				{Fault: "kill", On: []string{c3}, At: 9 * T / 10},
				{Fault: "session-expiry", On: []string{c2}, Point: of(c4, history.Acquire, faults.Point{After: true, Request: 4, Exact: true})},
				{Fault: "hang", On: []string{c4}, Point: of(c4, history.Acquire, faults.Point{After: true, Request: 4, Exact: true}), For: T / 10},
			},
			Hazard: checker.TouchedBy("hang"),
			Must:   []checker.Property{checker.Exclusion},
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "Nothing to watch means: list the queue again. Enter only with the smallest node of all.",
			Setup: zkRecipe, Keeps: exclusive,
		},
	},
	{
		ID: "zk-getdata-gap", Kind: Violation,
		Title:  "The holder leaves before its successor watches it, and nobody ever gets the lock again",
		Tells:  "Between the list and the watch the node before one's own goes. The watch fails and so does the acquire, but its session goes on: its node is the head of the queue, and has no waiter. The published repair has it as well.",
		Source: zkPublished + "DistributedClient, getData, which fails without a node and then watches nothing",
		Setup:  Setup{Lock: "zk-predecessor-recheck"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, 4*T, 8*T/10),
				visit(c2, 3*T/10, 2*T, T/10),
				visit(c3, 5*T/10, 55*T/10, T/10),
			},
			Faults: []faults.Injection{{Fault: "hang", On: []string{c2}, Point: of(c2, history.Acquire, faults.Point{After: true, Request: 2}), For: 9 * T / 10}},
			Hazard: checker.TouchedBy("hang"),
			Must:   starved,
			May:    delay,
		}},
		Remedy: Remedy{
			Words: "A watch that finds no node lists the queue again; and whoever gives up deletes his node.",
			Setup: zkRecipe, Keeps: served,
		},
	},
	{
		ID: "zk-create-connloss-orphan", Kind: Violation,
		Title:  "The answer to a create is lost, and a node stands in the queue of which nobody knows",
		Tells:  "The connection ends before the answer comes, and the program gives up. But a session outlives its connection: the library takes it up again on another one. So the node stays, and everybody behind it waits.",
		Source: "Apache ZooKeeper, Recipes, Recoverable Errors and the GUID; ZOOKEEPER-1262",
		Setup:  Setup{Lock: "zk-predecessor-recheck"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, 4*T, 8*T/10),
				visit(c2, 3*T/10, T, T/10),
				visit(c3, 5*T/10, 55*T/10, T/10),
			},
			Faults: ofEnsemble(faults.Injection{
				Fault: "kill-connection", On: []string{c2}, Direction: faults.ToClient,
				Point: of(c2, history.Acquire, faults.Point{Request: 1}), For: T / 10,
			}),
			Hazard: checker.TouchedBy("kill-connection"),
			Must:   starved,
			May:    delay,
		}},
		Remedy: Remedy{
			Words: "A GUID in the name of the node: list the queue, and take the node that bears it for one's own.",
			Setup: zkRecipe, Keeps: served,
		},
	},
	{
		ID: "zk-session-expiry-holder", Kind: Violation,
		Title:  "The session of a paused client ends, and the write that it had begun replaces another's",
		Tells:  "A session is a lease: the ensemble ends it when it has heard nothing for long enough, and its client learns of that last of all. A client that merely loses its connection can stop in time; one that is paused cannot.",
		Source: "Apache Curator, Tech Note 10; CURATOR-206; docker/libkv, issue 156",
		Setup:  zkRecipe,
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, 4*T, 0),
				script(c2, acquire(3*T/10, 4*T), read(), write(0), workloads.Step{Do: history.Release, Wait: 15 * T / 10}),
			},
			Faults: pauseC1(writing(), 22*T/10),
			Hazard: checker.LeaseExpiredWhileHeld,
			Must:   lateWrite,
			May:    delay,
		}},
		Remedy: Remedy{
			Words: "Stop at the first sign of a lost connection; and let the resource check a fencing token: a number that grows with each node of the queue.",
			Setup: Setup{Lock: "zk-recipe", Options: Options{Token: true}, Fencing: history.FencingAll}, Keeps: fencingKeeps,
		},
	},
	{
		ID: "zk-event-thread-blocked", Kind: Violation,
		Title:  "A holder that works in the event thread hears too late that its connection is lost",
		Tells:  "The library tells of a lost connection in time, before the session can end. But the event waits in a queue that one thread reads, and that thread is in the critical section.",
		Source: zkPublished + "doSomething, which Watcher.process calls",
		Setup:  Setup{Lock: "zk-predecessor-recheck"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, 4*T, 6*T/10),
				script(c2, acquire(3*T/10, T), read(), leased(write(3*T)), release()), // unless it hears in time
				visit(c3, 5*T/10, 5*T, T/2),
			},
			Faults: ofEnsemble(faults.Injection{
				Fault: "partition", On: []string{c2}, Point: of(c2, history.Acquire, faults.Point{After: true, OK: true}), For: 25 * T / 10,
			}),
			Hazard: checker.TouchedBy("partition"),
			Must:   []checker.Property{checker.Exclusion},
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "Never work in the event thread. And write nothing more once it says that the connection is lost.",
			Setup: zkRecipe, Keeps: exclusive,
		},
	},
	{
		ID: "zk-herd-double-entry", Kind: Violation,
		Title:  "Somebody joins the queue, and the holder enters once more",
		Tells:  "Every client watches the whole queue, also while it is in. When a second one comes the first finds that its node is the smallest, and enters again.",
		Source: zkPublished + "DistributedClient2",
		Setup:  Setup{Lock: "zk-children"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, 4*T, T),
				visit(c2, T/2, 3*T, T/2),
			},
			Hazard: checker.Contended,
			Must:   []checker.Property{checker.Exclusion},
			May:    damage,
		}},
		Remedy: Remedy{
			Words: "Remember that one is in, and look at no event until one is out; better, watch the node before one's own.",
			Setup: zkRecipe, Keeps: exclusive,
		},
	},
	{
		ID: "zk-herd-missing-initial-min", Kind: Violation,
		Title:  "Two clients are in the queue before either looks, and each waits for the other",
		Tells:  "At first a client enters only if it is alone in the queue. If two nodes are there before either client looks, neither enters, and no change follows that a watch could report. Between its node and its look the published program sleeps 10 ms; here c1 hangs there for longer.",
		Source: zkPublished + "DistributedClient2, which asks for a list of one",
		Setup:  Setup{Lock: "zk-children"},
		Schedules: []Schedule{{
			// No fault is needed if both clients begin within the 10 ms that the
			// source sleeps before it looks. That is too short to rely on in real
			// time, so the first client is paused there until the second one is
			// there.
			Scripts: []workloads.Script{
				visit(c1, 0, 5*T, T/20),
				visit(c2, T/2, 5*T, T/20),
			},
			Faults: []faults.Injection{{Fault: "hang", On: []string{c1}, Point: at(history.Acquire, faults.Point{After: true, Request: 3, Exact: true}), For: 9 * T / 10}},
			Hazard: checker.TouchedBy("hang"),
			Must:   starved,
			May:    delay,
		}},
		Remedy: Remedy{
			Words: "Enter when one's own node is the smallest, from the first look on.",
			Setup: zkRecipe, Keeps: served,
		},
	},
	{
		ID: "zk-herd-effect", Kind: Figures,
		Title:  "Every change of the queue wakes everybody in it",
		Tells:  "A release wakes all waiters. Each asks for the whole list, and only one can go on. A waiter that watches only the node before its own wakes once. (The first client also enters twice here: see zk-herd-double-entry.)",
		Source: zkPublished + "the last paragraph; Apache ZooKeeper, Recipes, Locks",
		Setup:  Setup{Lock: "zk-children"},
		Schedules: []Schedule{{
			// The first client holds when the others come. Otherwise they might all
			// wait for ever, see zk-herd-missing-initial-min.
			Scripts: append([]workloads.Script{visit(c1, 0, T/2, 3*T/10)}, crowd(20, section(T/10, 3*T, T/50))[1:]...),
			Hazard:  checker.Contended,
			May:     []checker.Property{checker.Exclusion, checker.Resource, checker.Liveness, checker.Handover},
		}},
		Figure: &Figure{Of: RequestsPerGrant, AtLeast: 10, AtMost: 6},
		Remedy: Remedy{
			Words: "Watch only the node before one's own.",
			Setup: zkRecipe, Keeps: []checker.Property{checker.Exclusion, checker.Handover, checker.Liveness},
		},
		NotOn: map[string]string{"docker": "the requests are counted in sim"},
	},
	{
		ID: "zk-timeout-leaves-node", Kind: Violation,
		Title:  "A waiter gives up and leaves its node, and nobody ever gets the lock again",
		Tells:  "A node in the queue is a claim. A client that stops waiting, and lives on, keeps its turn, and everybody behind it waits.",
		Source: "zk-ruby/zk, issue 49; spring-projects/spring-integration, issue 2557; aiozk, issue 34",
		Setup:  Setup{Lock: "zk-predecessor-leaky-timeout"},
		Schedules: []Schedule{{
			Scripts: []workloads.Script{
				visit(c1, 0, 4*T, 15*T/10),
				visit(c2, 3*T/10, 6*T/10, T/10),
				visit(c3, 5*T/10, 5*T, T/10),
			},
			Hazard: checker.Contended,
			Must:   starved,
			May:    delay,
		}},
		Remedy: Remedy{
			Words: "A client that gives up deletes its node, and repeats that until an answer comes. With this, c2 does that, and c3 is next.",
			Setup: zkRecipe, Keeps: served,
		},
	},
	{
		ID: "zk-sequence-overflow", Kind: Violation,
		Title:  "The numbers have come to their end, and all who queue up get the same one",
		Tells:  "A node counts its children, and the counter stops at 2147483647. Adding one would make it negative, and a server does not replace its counter by a smaller one. The manual says that -2147483648 comes next, but a server gives that number only to a request that comes before the last one is committed. So all nodes have the same number, and the rest of the name decides who is first. That is random (here: the client's name).",
		Source: "Apache ZooKeeper, Programmer's Guide, Sequence Nodes, and DataTree.createNode, which keeps the greater counter",
		Setup:  Setup{Lock: "zk-recipe", Server: Server{Sequence: math.MaxInt32}},
		Schedules: []Schedule{{
			// Here the names of nodes begin with those of their clients: c1 comes
			// last, and is first in the order.
			Scripts: []workloads.Script{
				visit(c1, T/2, 4*T, T/2),
				visit(c2, 0, T/2, 15*T/10),
				visit(c3, 2*T/10, 4*T, T/10),
			},
			Hazard: checker.Contended,
			Must:   []checker.Property{checker.Exclusion, checker.Fairness},
			May:    []checker.Property{checker.Resource},
		}},
		Remedy: Remedy{
			Words: "Order the queue by the transactions that made its nodes (czxid), not by their numbers; or make its parent anew while nobody is in it. With this, all three still have the number 2147483647, and enter in the order in which they came.",
			Setup: Setup{Lock: "zk-recipe", Options: Options{Czxid: true}, Server: Server{Sequence: math.MaxInt32}},
			Keeps: append([]checker.Property{checker.Liveness, checker.Fairness}, exclusive...),
		},
		NotOn: map[string]string{"docker": "the numbers of an ensemble begin with 0 there; in the suite of the port real servers whose numbers end are held against the model"},
	},
}

// ofEnsemble applies a fault to the links of its client to all members: the client is
// connected to one of them, and the schedule cannot choose which.
func ofEnsemble(in faults.Injection) []faults.Injection {
	return each(in, "zk-1", "zk-2", "zk-3")
}
