package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// Queued are the locks in the comparison. Every waiter of the first watches the whole
// queue, every waiter of the second only the place before its own.
var Queued = []string{"zk-children", "zk-recipe"}

// HerdMeasure is one figure of each queue.
type HerdMeasure struct {
	ID     string // name for programs
	Name   string
	About  string // its unit, or how to read it
	Counts bool   // it counts messages, not time, so it is the same in every environment
	Of     func(*Changes) float64
}

// HerdMeasures are the figures to show, in order. The first four are drawn.
var HerdMeasures = []HerdMeasure{
	{
		ID: "notified_by_hand_over", Name: "Notifications for each hand-over", About: "of watches; one is needed",
		Counts: true, Of: func(c *Changes) float64 { return mean(c.Left, notified) },
	},
	{
		ID: "listed_by_hand_over", Name: "Children listed for each hand-over", About: "names in answers to getChildren",
		Counts: true, Of: func(c *Changes) float64 { return mean(c.Left, listed) },
	},
	{
		ID: "hand_over_ms", Name: "The time of a hand-over", About: "from the delete to the next entry; median, ms",
		Of: func(c *Changes) float64 { return median(c.Left, func(c *Change) time.Duration { return c.Enters }) },
	},
	{
		ID: "rest_ms", Name: "The time until all are at rest", About: "from the delete to the last answer; median, ms",
		Of: func(c *Changes) float64 { return median(c.Left, func(c *Change) time.Duration { return c.Rests }) },
	},
	{
		ID: "notified_by_arrival", Name: "Notifications for each arrival", About: "of watches; 0 are needed",
		Counts: true, Of: func(c *Changes) float64 { return mean(c.Came, notified) },
	},
	{
		ID: "listed_by_arrival", Name: "Children listed for each arrival", About: "names in answers to getChildren",
		Counts: true, Of: func(c *Changes) float64 { return mean(c.Came, listed) },
	},
}

func notified(c *Change) int { return c.Notified }
func listed(c *Change) int   { return c.Listed }

// Text returns the figure as tables show it; "-" if a queue was not measured.
func (m *HerdMeasure) Text(c *Changes) string {
	if !c.Measured() {
		return "-"
	}
	v := m.Of(c)
	if v == float64(int(v)) {
		return strconv.Itoa(int(v))
	}
	return rounded(v)
}

// Herd measures queues of more and more waiters, for each lock.
type Herd struct {
	On      string        // the environment: sim, or one with a real ensemble
	Lease   time.Duration // T, the session timeout
	For     time.Duration // measured time of each queue
	Seed    uint64        // of every queue, in sim
	Waiters []int
	Cores   int // of the machine, where time is real
	// Load is the machine's load before and after, with other programs; 0: unknown.
	Load [2]float64

	Cells [][]Changes // by Queued, and by Waiters
}

// HerdLease is the default T. No session should end here, and the ensembles of docker
// allow no longer one.
const HerdLease = 10 * time.Second

// HerdServers is the number of servers in an ensemble.
const HerdServers = 3

// NewHerd returns the default comparison in an environment.
func NewHerd(on string) *Herd {
	c := &Herd{On: on, Lease: HerdLease, For: HerdLease, Waiters: []int{2, 4, 8, 16, 32, 64}}
	if on == "sim" {
		c.Seed = 1
		c.Waiters = append(c.Waiters, 128, 256)
	} else {
		c.Cores = runtime.NumCPU()
	}
	return c
}

// queue returns the queue of a lock with a number of waiters, both by index.
func (h *Herd) queue(lock, waiters int) Queue {
	l, _ := catalogue.FindLock(Queued[lock])
	return Queue{Lock: l, Waiters: h.Waiters[waiters], Lease: h.Lease, For: h.For, Seed: h.Seed}
}

// CompareInSim measures the cells of h in virtual time, as (*Comparison).CompareInSim does.
func (h *Herd) CompareInSim(ctx context.Context, jobs int, done func(int)) error {
	var queues []Queue
	for i := range Queued {
		for k := range h.Waiters {
			queues = append(queues, h.queue(i, k))
		}
	}
	changes, err := all(queues, jobs, done, func(q Queue) (Changes, error) { return QueueInSim(ctx, q) })
	h.Cells = slices.Collect(slices.Chunk(changes, len(h.Waiters)))
	return err
}

// rounds is how often each cell on a real ensemble is measured, each time for a part of
// its time, so that other load on the machine affects all cells.
const rounds = 3

// CompareOnEnsemble measures the cells of h with real ZooKeeper servers, one after the
// other. It stops at the first error, and keeps the cells measured so far.
func (h *Herd) CompareOnEnsemble(ctx context.Context, addrs []string, done func(int)) error {
	h.Load[0] = load()
	defer func() { h.Load[1] = load() }()
	h.Cells = make([][]Changes, len(Queued))
	for i := range h.Cells {
		h.Cells[i] = make([]Changes, len(h.Waiters))
	}
	for round := range rounds {
		for k, n := range h.Waiters {
			for i, lock := range Queued {
				q := h.queue(i, k)
				q.For /= rounds
				changes, err := QueueOnEnsemble(ctx, addrs, q)
				if err != nil {
					return fmt.Errorf("%s, %d waiters: %w", lock, n, err)
				}
				c := &h.Cells[i][k]
				c.Left, c.Came = append(c.Left, changes.Left...), append(c.Came, changes.Came...)
				if done != nil {
					done((round*len(h.Waiters)*len(Queued) + k*len(Queued) + i + 1) / rounds)
				}
			}
		}
	}
	return nil
}

// load returns the load average of the machine over the last minute, or 0 if it is
// unknown.
func load() (v float64) {
	text, _ := os.ReadFile("/proc/loadavg")
	fmt.Sscan(string(text), &v) // without a number, v stays 0
	return v
}

// Growth returns the k for which N^k, with N waiters, fits a figure of a lock best. ok
// is false if no k fits.
func (h *Herd) Growth(lock int, m *HerdMeasure) (k float64, ok bool) {
	var xs, ys []float64
	for i, n := range h.Waiters {
		xs, ys = append(xs, float64(n)), append(ys, m.Of(&h.Cells[lock][i]))
	}
	return Growth(xs, ys)
}
