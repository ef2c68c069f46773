package lockstest

import (
	"context"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/locks"
)

// Host is the locks.Host of a client.
type Host struct {
	Name   string
	Skew   time.Duration   // of its wall clock from the right time
	Away   bool            // it is paused
	Lost   []time.Duration // the times of reports of a lost grant
	Places []int64         // reported places in the queue

	desk    *Desk
	dead    bool
	uniques int
	life    context.Context
}

var _ locks.Host = (*Host)(nil)

// Host returns a new host of the desk: c1, c2, …
func (d *Desk) Host() *Host {
	d.hosts++
	h := &Host{desk: d, Name: fmt.Sprintf("c%d", d.hosts)}
	life, end := context.WithCancel(context.Background())
	d.T.Cleanup(end)
	h.life = life
	return h
}

// Now returns the wall clock's reading, which begins at 1,000 s.
func (h *Host) Now() time.Time { return time.Unix(1000, 0).Add(h.desk.Time + h.Skew) }

// Mono returns the desk's time.
func (h *Host) Mono() time.Duration { return h.desk.Time }

// Mark does nothing: it is for the simulator.
func (h *Host) Mark(string, ...int64) {}

// Life returns a context that ends with the test.
func (h *Host) Life() context.Context { return h.life }

// Rand returns 0, the least possible value.
func (h *Host) Rand(string, int64) int64 { return 0 }

// Unique returns c1-1, c1-2, …
func (h *Host) Unique() string {
	h.uniques++
	return fmt.Sprintf("%s-%d", h.Name, h.uniques)
}

// Report stores the news.
func (h *Host) Report(n locks.News) {
	if n.Queued != 0 {
		h.Places = append(h.Places, n.Queued-1)
		return
	}
	h.Lost = append(h.Lost, h.desk.Time)
}

// Left returns the time until the end of ctx, as set by Ends.
func (h *Host) Left(ctx context.Context) (time.Duration, bool) {
	return max(0, EndOf(ctx)-h.desk.Time), EndOf(ctx) != Never
}

// Sleep waits for t or until ctx ends.
func (h *Host) Sleep(ctx context.Context, t time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if k := h.desk.Running; k != nil {
		k.Asleep = true
	}
	h.desk.Pass(min(h.desk.Time+max(t, 0), EndOf(ctx)))
	return ctx.Err()
}

// Backoff waits for the shortest allowed time.
func (h *Host) Backoff(ctx context.Context, shortest, _ time.Duration) error {
	return h.Sleep(ctx, shortest)
}

// Go starts a task, like Start.
func (h *Host) Go(body func(context.Context)) locks.Task { return h.Start(body) }

// Does runs f as a task of the host while d passes. It must have ended then.
func (h *Host) Does(d time.Duration, f func(context.Context)) {
	h.desk.T.Helper()
	k := h.Start(f)
	if h.desk.Pass(h.desk.Time + d); !k.Done {
		h.desk.T.Fatal("the task does not end")
	}
}

// Kill ends the host's tasks but not its sessions.
func (h *Host) Kill() {
	h.dead = true
	for _, k := range h.desk.tasks {
		if k.host == h {
			k.kill()
		}
	}
}

// Ends returns a context that ends at that time.
func (d *Desk) Ends(at time.Duration) context.Context {
	return deadline{context.WithValue(context.Background(), deadlineKey{}, at), d, at}
}

type deadlineKey struct{}

type deadline struct {
	context.Context
	desk *Desk
	at   time.Duration
}

func (c deadline) Err() error {
	if c.desk.Time >= c.at {
		return context.DeadlineExceeded
	}
	return nil
}

// EndOf returns the end of a context from Ends, or Never for others.
func EndOf(ctx context.Context) time.Duration {
	if at, ok := ctx.Value(deadlineKey{}).(time.Duration); ok {
		return at
	}
	return Never
}
