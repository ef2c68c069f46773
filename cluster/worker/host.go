package worker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"math/big"
	"sync"
	"time"
)

// baton sees to it that of one client's tasks exactly one runs: a task holds it
// all the time but for its waits, in its host and in the port of its store.
type baton struct{ mu sync.Mutex }

// away lets other tasks run while wait does.
func (b *baton) away(wait func()) {
	b.mu.Unlock()
	defer b.mu.Lock()
	wait()
}

// host is the locks.Host of a client: this machine.
type host struct {
	*baton
	life  context.Context // ends with the worker
	start time.Time       // where Mono begins
}

// Now is this machine's wall clock.
func (h *host) Now() time.Time { return time.Now() }

// Mono is this machine's monotonic clock since the worker's start.
func (h *host) Mono() time.Duration { return time.Since(h.start) }

// Sleep waits for d, or until ctx or the worker ends.
func (h *host) Sleep(ctx context.Context, d time.Duration) (err error) {
	h.away(func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-h.life.Done():
			err = h.life.Err()
		case <-timer.C:
			err = ctx.Err() // both at once: the context's end comes first
		}
	})
	return err
}

// Backoff waits for a random time.
func (h *host) Backoff(ctx context.Context, shortest, spread time.Duration) error {
	if spread > 0 {
		shortest += time.Duration(h.Rand("backoff", int64(spread)))
	}
	return h.Sleep(ctx, shortest)
}

// Mark is for searches: real machines have none.
func (h *host) Mark(string, ...int64) {}

// Rand draws from the system's source: runs on real machines do not repeat.
func (h *host) Rand(_ string, n int64) int64 {
	v, err := rand.Int(rand.Reader, big.NewInt(n))
	if err != nil {
		return 0
	}
	return v.Int64()
}

// Unique is 128 random bits.
func (h *host) Unique() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: it ends the process instead
	return hex.EncodeToString(b[:])
}
