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
	Skew   time.Duration   // of its wall clock
	Away   bool            // it stands still
	Lost   []time.Duration // when it was told of a loss
	Places []int64         // in the queue that it was told of

	desk    *Desk
	dead    bool
	uniques int
	life    context.Context
}

var _ locks.Host = (*Host)(nil)

// Host is another host of the desk: c1, c2, …
func (d *Desk) Host() *Host {
	d.hosts++
	h := &Host{desk: d, Name: fmt.Sprintf("c%d", d.hosts)}
	life, end := context.WithCancel(context.Background())
	d.T.Cleanup(end)
	h.life = life
	return h
}

// Now is the wall clock, which began at 1,000 s.
func (h *Host) Now() time.Time { return time.Unix(1000, 0).Add(h.desk.Time + h.Skew) }

// Mono is the desk's time.
func (h *Host) Mono() time.Duration { return h.desk.Time }

// Mark is for the simulator.
func (h *Host) Mark(string, ...int64) {}

// Life ends with the test.
func (h *Host) Life() context.Context { return h.life }

// Rand is the least there can be.
func (h *Host) Rand(string, int64) int64 { return 0 }

// Unique is c1-1, c1-2, …
func (h *Host) Unique() string {
	h.uniques++
	return fmt.Sprintf("%s-%d", h.Name, h.uniques)
}

// Report keeps the news.
func (h *Host) Report(n locks.News) {
	if n.Queued != 0 {
		h.Places = append(h.Places, n.Queued-1)
		return
	}
	h.Lost = append(h.Lost, h.desk.Time)
}

// Left is what there is until the end that Ends has given ctx.
func (h *Host) Left(ctx context.Context) (time.Duration, bool) {
	return max(0, EndOf(ctx)-h.desk.Time), EndOf(ctx) != Never
}

// Sleep lasts for t, or until ctx ends.
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

// Backoff is the shortest there can be.
func (h *Host) Backoff(ctx context.Context, shortest, _ time.Duration) error {
	return h.Sleep(ctx, shortest)
}

// Go is Start.
func (h *Host) Go(body func(context.Context)) locks.Task { return h.Start(body) }

// Kill is the end of the host's tasks, and of nothing else: its sessions live on.
func (h *Host) Kill() {
	h.dead = true
	for _, k := range h.desk.tasks {
		if k.host == h {
			k.kill()
		}
	}
}

// Ends is a context that ends then.
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

// EndOf is when Ends has ctx end; Never, where it does not.
func EndOf(ctx context.Context) time.Duration {
	if at, ok := ctx.Value(deadlineKey{}).(time.Duration); ok {
		return at
	}
	return Never
}
