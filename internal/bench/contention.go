package bench

import (
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// Contention compares ways to wait for a lock that another client holds.
var Contention = &Contest{
	Name:    "contention",
	Heading: "Contention",
	Subject: "Waiting for a lock",
	Server:  "a real Redis server",
	Sides: []Side{
		{Name: "spin", Does: "asks again at once", Lock: Contended, Options: catalogue.Options{Spin: true}},
		{Name: "fixed", Does: "waits T/50", Lock: Contended, Options: catalogue.Options{FixedWait: true}},
		{Name: "random", Does: "waits T/100 to T/25, drawn each time", Lock: Contended},
		{Name: "exponential", Does: "waits a random time that doubles, from T/1000 to T/10", Lock: Contended, Options: catalogue.Options{ExponentialWait: true}},
	},
	Measures: []Measure{
		commandsEach,
		perSecond,
		{
			Name: "The longest wait for one acquisition", About: "in seconds",
			Of:  func(f *Figures) float64 { return f.Longest.Seconds() },
			Log: true, show: rounded, bound: true,
		},
		{
			Name: "Acquisitions by the client that just had it", About: "in percent; the others wait",
			Of:    func(f *Figures) float64 { return percent(f.Again, f.Total()) },
			Ticks: percents, show: whole,
		},
		{
			Name: "How evenly all were spread", About: "1: each client got as many",
			Of: (*Figures).Evenness, show: func(v float64) string { return decimal(v, 2) },
		},
	},

	Shortest: 1,
	Most:     1000,

	// In sim one operation may send up to 3,000 requests, and a spinning one sends
	// about 200 a second.
	patience: func(lease time.Duration) time.Duration { return min(lease, 10*time.Second) },
	virtual:  extent{[]int{2, 4, 8, 16, 32, 64}, 20},
	// More than 16 clients on one machine would measure how the machine shares its
	// cores.
	real: extent{[]int{2, 4, 8, 16}, 2},
}

// Contended is the lock of the contest: its sources allow it to spin.
const Contended = "redis-set-lua"
