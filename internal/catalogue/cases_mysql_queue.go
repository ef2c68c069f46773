package catalogue

import (
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/workloads"
)

// inOrder are the properties that a correct queue keeps.
var inOrder = []checker.Property{checker.Fairness, checker.Handover, checker.Exclusion}

// pauseC2 pauses c2 in its nth critical section, from a request of its acquire on.
func pauseC2(nth int, p faults.Point, d time.Duration) []faults.Injection {
	point := of(c2, history.Acquire, p)
	point.Acquisition = nth
	return []faults.Injection{{Fault: "pause", On: []string{c2}, Point: point, For: d}}
}

// dying has n clients that queue up while c1 holds, and die there before c1 releases;
// and one more client behind them.
func dying(name string, n int, must, may []checker.Property) Schedule {
	s := Schedule{
		Name:    name,
		Scripts: []workloads.Script{visit(c1, 0, T/2, 6*T/10)}, // c2 looks every 250 ms, and finds its turn before the lease ends
		Hazard:  checker.KillHitAcquirer,
		Never:   []checker.Counter{checker.AmbiguousReleases}, // c1's place would cost a lease, too
		Must:    must,
		May:     may,
	}
	for i := range n {
		waiter := "c" + strconv.Itoa(i+2)
		s.Scripts = append(s.Scripts, visit(waiter, 15*T/100+time.Duration(i)*T/10, 4*T, T/10))
		s.Faults = append(s.Faults, faults.Injection{Fault: "kill", On: []string{waiter}, At: 5 * T / 10})
	}
	s.Scripts = append(s.Scripts, visit("c"+strconv.Itoa(n+2), 55*T/100, 7*T, T/10))
	return s
}

// fullQueue has as many clients as the queue has room for, the holder included, and
// each asks twice. One more client asks just before the holder releases, so it looks
// again only after the holder has asked again.
func fullQueue() (list []workloads.Script) {
	const room = 21
	for i := range room {
		first := section(time.Duration(i)*T/50, 8*T, T/25)
		if i == 0 {
			first[2].At = 6 * T / 10
		}
		list = append(list, script("c"+strconv.Itoa(i+1), append(first, section(0, 8*T, T/50)...)...))
	}
	return append(list, visit("c"+strconv.Itoa(room+1), 6*T/10-T/200, 20*T, T/50))
}

// rowQueueCases are the cases of the queue in such a row.
var rowQueueCases = []Case{
	{
		ID: "mysql-fair-head-updatebyid", Kind: Violation,
		Title:  "The head of the queue is slow, and takes the lock while another holds it",
		Tells:  "A client that finds itself at the head writes a new end of the lease into the row with that id. Meanwhile others may have thrown it out of the queue, or made the row anew. It does not look at how many rows it has changed. (A waiter that gives up keeps its place, so c2 is at the head when it comes back. If it is slow, the next client finds the lease over, and throws c2 out.)",
		Source: bailongma + "checkOrQueue, updateById",
		Setup:  mysqlFair,
		Schedules: []Schedule{
			{
				// c2 queues up, comes back when it is the head, and is paused with
				// its update on the way until the lease has ended and c3 holds.
				Name: "replaced",
				Scripts: []workloads.Script{
					visit(c1, 0, T/2, 6*T/10),
					script(c2, append([]workloads.Step{shortly(2 * T / 10)}, section(9*T/10, 2*T, 2*T/10)...)...),
					visit(c3, 95*T/100, 3*T, 9*T/10),
				},
				Faults: pauseC2(2, faults.Point{Request: 2}, 7*T/10),
				Hazard: checker.PauseHitWaiter,
				Must:   overlap,
				May:    append([]checker.Property{checker.Ownership, checker.Fairness}, damage...),
			},
			{
				// As above, but c3 has released and removed the row; c4's row is a
				// new one.
				Name: "gone",
				Scripts: []workloads.Script{
					visit(c1, 0, T/2, 6*T/10),
					script(c2, append([]workloads.Step{shortly(2 * T / 10)}, section(9*T/10, 2*T, 2*T/10)...)...),
					visit(c3, 95*T/100, 3*T, 0),
					visit(c4, 16*T/10, T, 6*T/10),
				},
				Faults: pauseC2(2, faults.Point{Request: 2}, 85*T/100),
				Hazard: checker.PauseHitWaiter,
				Must:   overlap,
				May:    append([]checker.Property{checker.Answers, checker.Ownership, checker.Fairness}, damage...),
			},
		},
		Remedy: Remedy{
			Words: "Take the lock only if the version is still the one that was read, and check how many rows the update changed.",
			Setup: mysqlFairFixed, Keeps: unharmed,
		},
	},
	{
		ID: "mysql-fair-grant-on-stale-lease", Kind: Violation,
		Title:  "The next one's turn is over before it knows of it, and the one behind it goes first",
		Tells:  "A release takes its holder out of the queue, and leaves the end of the lease as it was. That end may pass before the next client looks. Then that client finds a lock that has expired, and throws out the head of the queue. The head is the client itself, so it queues up again at the end, and the others overtake it. (The next client is c2, and c3 is behind it.)",
		Source: bailongma + "unLockByName and lockByName",
		Setup:  mysqlFair,
		Schedules: []Schedule{{
			// c2 and then c3 queue up in the last moments of the lease, in which c1
			// releases; c2 looks again when the lease is over.
			Scripts: []workloads.Script{
				script(c1, acquire(0, T/2), read(), write(T/2), workloads.Step{Do: history.Release, At: 998 * T / 1000}),
				visit(c2, 9922*T/10000, 2*T, T/10),
				visit(c3, 9957*T/10000, 2*T, T/10),
			},
			Hazard: checker.Contended,
			Must:   []checker.Property{checker.Fairness},
			May:    delay,
		}},
		Remedy: Remedy{
			Words: "A lease begins with the grant, not with the hand-over; and what ends is a place in the queue that nobody comes for, not the turn of who comes.",
			Setup: mysqlFairFixed, Keeps: inOrder,
		},
		LeastLease: 10 * time.Second,
		NotOn:      map[string]string{"docker": "all of it happens within 100 ms, which a machine may take for something else"},
	},
	{
		ID: "mysql-fair-dead-waiters", Kind: Violation,
		Title:  "Each waiter that has died costs those behind it up to a lease",
		Tells:  "Nobody checks whether a client in the queue still lives. When the turn of a dead one comes, the others wait until a lease has ended, throw it out, and wait for the next one. The first dead one goes when the lease of the last holder is over, and each further one a lease later.",
		Source: bailongma + "lockByName and checkOrQueue",
		Setup:  mysqlFair,
		Schedules: []Schedule{
			dying("two", 2, delay, nil),
			dying("four", 4, starved, delay),
		},
		Remedy: Remedy{
			Words: "A place in the queue ends unless its waiter renews it.",
			Setup: mysqlFairFixed, Keeps: append([]checker.Property{checker.Handover}, served...),
		},
	},
	{
		ID: "mysql-fair-timeout-ghost", Kind: Violation,
		Title:  "A waiter gives up and keeps its place in the queue",
		Tells:  "A client that stops waiting stays in the queue. When its turn comes, everybody waits until a lease has ended, and the next one throws it out. If it comes back before that, it passes all clients that came meanwhile.",
		Source: bailongma + "tryLockByName, which leaves without its place",
		Setup:  mysqlFair,
		Schedules: []Schedule{
			{
				Name: "gone",
				Scripts: []workloads.Script{
					visit(c1, 0, T/2, 4*T/10),
					script(c2, shortly(2*T/10)),
					visit(c3, 3*T/10, 3*T, T/10),
				},
				Hazard: checker.Contended,
				Must:   delay,
			},
			{
				Name: "back",
				Scripts: []workloads.Script{
					visit(c1, 0, T/2, 5*T/10),
					script(c2, append([]workloads.Step{shortly(2 * T / 10)}, section(6*T/10, T, T/10)...)...),
					visit(c3, 3*T/10, 3*T, T/10),
				},
				Hazard: checker.Contended,
				Must:   []checker.Property{checker.Fairness},
				May:    delay,
			},
		},
		Remedy: Remedy{
			Words: "Whoever gives up takes his place out of the queue.",
			Setup: mysqlFairFixed, Keeps: inOrder,
		},
	},
	{
		ID: "mysql-fair-queue-bounds", Kind: Figures,
		Title:  "The queue has no room for the 22nd client, and those that come later pass it",
		Tells:  "With 21 in the queue, the holder included, a client is sent away without a place. It asks again 250 ms later; who gives the lock back and asks again at once has the place that came free.",
		Source: bailongma + "checkOrQueue, fairQueueCapacity",
		Setup:  mysqlFair,
		Schedules: []Schedule{{
			Scripts: fullQueue(),
			Hazard:  checker.Contended,
		}},
		Figure: &Figure{Of: PassedBy, AtLeast: 6, AtMost: 5},
		Remedy: Remedy{
			Words: "A queue with room for all: a table of its own, or a column that is long enough.",
			Setup: mysqlFairFixed, Keeps: inOrder,
		},
		LeastLease: 10 * time.Second,
		NotOn:      map[string]string{"docker": "who of 22 processes comes first is a matter of milliseconds, which a machine may take for something else"},
	},
}
