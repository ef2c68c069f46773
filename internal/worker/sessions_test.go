package worker

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// members is an ensemble that answers at once, with the events from tell.
type members struct {
	tell chan zookeeper.Event
}

func (m members) Open(context.Context, time.Duration, time.Duration) (zookeeper.Session, error) {
	return m, nil
}
func (members) ID() int64              { return 1 }
func (members) Timeout() time.Duration { return time.Second }
func (members) Do(_ context.Context, _ time.Duration, c zookeeper.Command) (zookeeper.Reply, error) {
	return zookeeper.Reply{Path: c.Path}, nil
}

func (m members) Next(ctx context.Context, timeout time.Duration) (zookeeper.Event, error) {
	give := make(<-chan time.Time)
	if timeout > 0 {
		give = time.After(timeout)
	}
	select {
	case e := <-m.tell:
		return e, nil
	case <-ctx.Done():
		return zookeeper.Event{}, ctx.Err()
	case <-give:
		return zookeeper.Event{}, zookeeper.ErrNoEvent
	}
}
func (members) Close(context.Context, time.Duration) error { return nil }

// The requests of a session have points, in order. Requests that the library makes by
// itself or does not send have none.
func TestPointsOfSessions(t *testing.T) {
	t.Parallel()
	p := serve(t, func(s Setup) *fake {
		port := s.ZooKeeper(members{})
		return &fake{acquire: func(ctx context.Context) error {
			h, err := port.Open(ctx, 0, time.Second)
			if err != nil {
				return err
			}
			_, invalid := h.Create(ctx, 0, "no path", "", zookeeper.Ephemeral)
			_, first := h.Create(ctx, 0, "/a/n", "", zookeeper.Ephemeral)
			second := h.Sync(ctx, 0, "/a")
			return errors.Join(invalid, first, second, h.Close(ctx, 0))
		}}
	})
	p.arm(`"f":"acquire","request":1,"onward":true`)
	p.say(acquireA)
	p.want(`{"event":"at","client":"c1","at":1,"f":"acquire","request":1,"sends":"create"}`)
	p.say(`{"go":1}`)
	p.want(`{"event":"at","client":"c1","at":2,"f":"acquire","request":2,"sends":"sync","sent":"create"}`)
	p.say(`{"go":2}`)
	p.want(`{"id":2,"ok":true}`)
}

// Other tasks run while one waits for an event. A stopped task stops waiting. A short
// timeout on a fast clock does not become an endless one.
func TestEventsLetOtherTasksRun(t *testing.T) {
	t.Parallel()
	m := members{tell: make(chan zookeeper.Event, 1)}
	var seen []string
	p := serve(t, func(s Setup) *fake {
		port := s.ZooKeeper(m)
		return &fake{acquire: func(ctx context.Context) error {
			h, err := port.Open(ctx, 0, time.Second)
			if err != nil {
				return err
			}
			if _, err := h.Next(ctx, 1); !errors.Is(err, zookeeper.ErrNoEvent) {
				return err
			}
			reader := s.Host.Go(func(ctx context.Context) {
				for {
					e, err := h.Next(ctx, 0)
					if err != nil {
						seen = append(seen, err.Error())
						return
					}
					seen = append(seen, e.Path)
				}
			})
			s.Host.Sleep(ctx, time.Millisecond) // the reader waits by now, or soon
			seen = append(seen, "others run")
			m.tell <- zookeeper.Event{Type: zookeeper.NodeDeleted, Path: "/a/n"}
			for len(seen) < 2 {
				s.Host.Sleep(ctx, time.Millisecond)
			}
			reader.Stop()
			reader.Wait()
			return nil
		}}
	})
	p.say(`{"id":8,"op":"clock-set","client":"c1","ppm":900000}`)
	p.want(`{"id":8,"ok":true}`)
	p.say(acquireA)
	p.want(`{"id":2,"ok":true}`)
	if want := []string{"others run", "/a/n", "context canceled"}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
}

// An ended context sends nothing.
func TestAnEndedContextSendsNothing(t *testing.T) {
	t.Parallel()
	var sent atomic.Bool
	p := serve(t, func(s Setup) *fake {
		port := s.ZooKeeper(members{})
		return &fake{acquire: func(ctx context.Context) error {
			h, err := port.Open(ctx, 0, time.Second)
			if err != nil {
				return err
			}
			task := s.Host.Go(func(ctx context.Context) {
				s.Host.Sleep(ctx, time.Hour)
				err = h.Sync(ctx, 0, "/a")
				sent.Store(err == nil || !locks.IsDefinite(err))
			})
			task.Stop()
			task.Wait()
			_, err = port.Open(stopped(), 0, time.Second)
			sent.Store(sent.Load() || !locks.IsDefinite(err) || !locks.IsDefinite(h.Close(stopped(), 0)))
			return nil
		}}
	})
	p.say(acquireA)
	p.want(`{"id":2,"ok":true}`)
	if sent.Load() {
		t.Error("the request was sent")
	}
}

// stopped returns an ended context.
func stopped() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
