package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// A client without a worker can have tasks: one reads events while another sleeps or
// asks the ensemble.
func TestTasksWithoutAWorker(t *testing.T) {
	t.Parallel()
	h := NewHost(t.Context())
	m := members{tell: make(chan zookeeper.Event, 1)}
	s, err := ZooKeeperOf(h, m).Open(t.Context(), 0, time.Second)
	must(t, err)
	var seen []zookeeper.Event
	var last error
	reader := h.Go(func(ctx context.Context) {
		h.Report(locks.News{}) // outside any operation
		for last == nil {
			var e zookeeper.Event
			if e, last = s.Next(ctx, 0); last == nil {
				seen = append(seen, e)
			}
		}
	})
	m.tell <- zookeeper.Event{Type: zookeeper.NodeDeleted, Path: "/a/n"}
	for end := time.Now().Add(time.Minute); len(seen) == 0 && time.Now().Before(end); {
		must(t, errors.Join(s.Sync(t.Context(), 0, "/a"), h.Sleep(t.Context(), time.Millisecond)))
	}
	reader.Stop()
	reader.Wait()
	if len(seen) != 1 || seen[0].Path != "/a/n" || !errors.Is(last, context.Canceled) {
		t.Errorf("%v, and then %v", seen, last)
	}
}

// Left is on the client's own clock.
func TestTimeLeft(t *testing.T) {
	t.Parallel()
	h := NewHost(t.Context()).(host)
	h.clock.set(time.Hour, 500_000)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	end, _ := ctx.Deadline()
	most := time.Until(end)
	left, ends := h.Left(ctx)
	if least := time.Until(end); left < least*3/2-time.Millisecond || left > most*3/2+time.Millisecond || !ends {
		t.Errorf("%v is left of %v to %v at half as fast again; it ends: %v", left, least, most, ends)
	}
	cancel()
	if left, ends := h.Left(ctx); left != 0 || !ends {
		t.Errorf("%v is left when it has ended", left)
	}
	if _, ends := h.Left(t.Context()); ends {
		t.Error("a context without a deadline has an end")
	}
}
