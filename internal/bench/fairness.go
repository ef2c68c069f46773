package bench

import (
	"slices"
	"time"
)

// Poll is how long the published locks on MySQL sleep between two tries, for any lease.
const Poll = 250 * time.Millisecond

// Fairness compares locks on MySQL that have a queue with one that has none.
var Fairness = &Contest{
	Name:    "fairness",
	Heading: "Fairness",
	Subject: "Turns at a lock",
	Server:  "a real MySQL server",
	Sides: []Side{
		{Name: "mysql-optimistic", Does: "no queue: whoever finds the lock free has it", Lock: "mysql-optimistic"},
		{Name: "mysql-fair", Does: "a queue in a column of the lock's row", Lock: "mysql-fair"},
		{Name: "mysql-fair, late", Does: "the same, given back 125 ms before its lease ends", Lock: "mysql-fair", hold: func(lease time.Duration) time.Duration { return lease - Poll/2 }},
		{Name: "mysql-fair-fixed", Does: "a queue done right", Lock: "mysql-fair-fixed"},
	},
	Measures: []Measure{
		{
			Name: "Acquisitions out of turn", About: "in percent; somebody waited who had asked before",
			Of:    func(f *Figures) float64 { return percent(f.OutOfTurn, f.Total()) },
			Ticks: percents, show: whole,
		},
		{
			Name: "The longest wait for one acquisition", About: "in T",
			Of:  func(f *Figures) float64 { return f.Longest.Seconds() / f.Lease.Seconds() },
			Log: true, show: rounded, bound: true,
		},
		{
			Name: "The least served client", About: "acquisitions, in percent of the most served client",
			Of:    func(f *Figures) float64 { return percent(slices.Min(f.Grants), slices.Max(f.Grants)) },
			Ticks: percents, show: whole,
		},
		perSecond,
		{
			Name: "Overtaken, the client most often", About: "for each acquisition; in all if it got none",
			Of:   func(f *Figures) float64 { return slices.Max(f.overtakenEach()) },
			show: rounded,
		},
		{
			Name: "Overtaken, the median client", About: "for each acquisition it got",
			Of:   func(f *Figures) float64 { return middle(f.overtakenEach()) },
			show: rounded,
		},
		{Name: "Statements for each acquisition", About: "of all clients", Of: commandsEach.Of, show: rounded},
	},

	Least:    4 * Poll,
	Shortest: 3, // enough for a grant to each side
	Most:     128,

	// A client that gives up may lose its place in a queue. In sim one operation may
	// send up to 3,000 requests, and sends about 5 for each Poll, or in T/40.
	patience: func(lease time.Duration) time.Duration { return min(50*lease, 500*time.Second) },
	virtual:  extent{[]int{2, 4, 8, 16, 32}, 100},
	real:     extent{[]int{2, 4, 8, 16, 32}, 8},
	beside:   true,
}

// overtakenEach returns how often each client was overtaken for each of its grants,
// which does not depend on the measured time.
func (f *Figures) overtakenEach() (each []float64) {
	for i, n := range f.Overtaken {
		each = append(each, float64(n)/float64(max(1, f.Grants[i])))
	}
	return each
}
