package sim

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
)

func TestARequestArrivesAfterItsClientGaveUp(t *testing.T) {
	s := newScene(set, "c1")
	s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToServer, Action: faults.Slow, Delay: 5 * time.Second})
	s.Go(func() { s.Sleep(10 * time.Second) })
	want(t, s.run(t, time.Minute), "2.5s c1 ends: no answer in time", "5s grant by 1")
}

func TestAPartitionHoldsAndDeliversInOrder(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		for range 3 {
			// Each uses the same connection only if the one before was answered.
			if err := set(e, ctx); err != nil {
				return err
			}
		}
		return nil
	}, "c1", "c2")
	s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Action: faults.Hold})
	s.After(time.Second, func() {
		if hits, _ := s.Restore(1); hits != 1 {
			t.Errorf("%d messages were held", hits)
		}
	})
	want(t, s.run(t, time.Minute),
		"0s grant by 2", "0s c2 ends: <nil>", "1s c1 ends: <nil>")
}

func TestASwallowedReplyLeavesTheConnectionSilent(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		first := set(e, ctx)
		if _, err := e.Redis[0].Del(ctx, 0, "a"); err != nil { // on a connection of its own
			return err
		}
		return first
	}, "c1")
	s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToClient, Action: faults.Swallow})
	want(t, s.run(t, time.Minute), "0s grant by 1", "2.5s remove by 1", "2.5s c1 ends: no answer in time")
}

func TestAResetConnectionIsAnUncertainAnswerAtOnce(t *testing.T) {
	for direction, effects := range map[faults.Direction][]string{
		faults.ToServer: {"0s c1 ends: connection reset by peer"},
		faults.ToClient: {"0s grant by 1", "0s c1 ends: connection reset by peer"},
	} {
		s := newScene(set, "c1")
		s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: direction, Action: faults.Reset})
		want(t, s.run(t, time.Minute), effects...)
	}
}

// A restored link delivers held messages in order.
func TestRestoreDeliversInOrder(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		set(e, ctx) // slow: no task waits for it when it is held
		_, err := e.Redis[0].Del(ctx, 0, "a")
		return err
	}, "c1")
	must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToServer, Action: faults.Slow, Delay: 4 * time.Second}))
	s.After(time.Second, func() { s.Restore(1) })
	s.After(2500*time.Millisecond+5*latencyMin/2, func() { // with the DEL under way
		must(t, s.Impair(2, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToServer, Action: faults.Hold}))
	})
	s.After(4500*time.Millisecond, func() {
		if hits, err := s.Restore(2); hits != 2 || err != nil {
			t.Errorf("%d messages were held, and %v", hits, err)
		}
	})
	// The DEL was held first and finds nothing: in the other order it would
	// remove the grant.
	want(t, s.run(t, time.Minute), "4.5s grant by 1", "4.5s c1 ends: <nil>")
}

// A held message comes before a later one of its connection, even if that one
// arrives at the instant of Restore.
func TestWhatWasHeldComesBeforeWhatWasSentLater(t *testing.T) {
	s := newScene(set, "c1")
	must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToClient, Action: faults.Hold}))
	s.After(time.Second+latencyMin/2, func() { must(t, s.Stop("redis-1", false)) })
	s.After(time.Second+3*latencyMin/2, func() { s.Restore(1) })
	want(t, s.run(t, time.Minute), "0s grant by 1", "1s c1 ends: <nil>")
}

func TestAConnectionIsInOrder(t *testing.T) {
	// The reply is slow, and the reset that follows it is fast.
	s := newSceneWith(catalogue.Options{}, []env.Choice{{Name: env.Name{What: "latency", Who: "c1→redis-1", N: 2}, Value: 4000}}, set, "c1")
	s.After(time.Millisecond, func() { must(t, s.Stop("redis-1", false)) })
	s.Go(func() { s.Sleep(time.Second) })
	want(t, s.run(t, time.Minute), "0s grant by 1", "4ms c1 ends: <nil>")
	if s.find("c1").conns[0].open {
		t.Error("the reset did not arrive")
	}
}

// Messages on two connections have no order.
func TestTwoConnectionsHaveNoOrder(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		set(e, ctx)
		_, err := e.Redis[0].Del(ctx, 0, "a")
		return err
	}, "c1")
	must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToServer, Action: faults.Slow, Delay: 5 * time.Second}))
	s.After(time.Second, func() { s.Restore(1) })
	s.Go(func() { s.Sleep(10 * time.Second) })
	want(t, s.run(t, time.Minute), "2.5s c1 ends: <nil>", "5s grant by 1")
}

// The answer to an abandoned request does not answer the next one.
func TestALateAnswerIsIgnored(t *testing.T) {
	for name, second := range map[string]func(catalogue.Env, context.Context) error{
		"on another connection": func(e catalogue.Env, ctx context.Context) error {
			_, _, err := e.Redis[0].Get(ctx, 0, "a") // a late reply to SET would be of the wrong kind
			return err
		},
		"in a sleep": func(e catalogue.Env, ctx context.Context) error { return e.Host.Sleep(ctx, 2*time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(func(e catalogue.Env, ctx context.Context) error {
				set(e, ctx)
				return second(e, ctx)
			}, "c1")
			slow := faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToClient, Action: faults.Slow, Delay: 3 * time.Second}
			must(t, s.Impair(1, slow))
			s.After(2*time.Second, func() {
				s.Restore(1)
				slow.Delay = time.Second // so that the second reply is under way when the first one comes
				must(t, s.Impair(2, slow))
			})
			seen := s.run(t, time.Minute)
			want(t, seen, "0s grant by 1", "4.5s c1 ends: <nil>")
		})
	}
}

// No message arrives on a connection that has swallowed one, not even a reset.
func TestASwallowedMessagesConnectionIsNotReset(t *testing.T) {
	for _, direction := range []faults.Direction{faults.ToServer, faults.ToClient} {
		s := newScene(set, "c1")
		must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: direction, Action: faults.Swallow}))
		s.After(time.Second, func() { must(t, s.Stop("redis-1", false)) })
		seen := s.run(t, time.Minute)
		want(t, seen[len(seen)-1:], "2.5s c1 ends: no answer in time")
	}
}

// That includes a reset that is already on its way.
func TestASwallowedMessagesConnectionIsSilentAtOnce(t *testing.T) {
	s := newSceneWith(catalogue.Options{}, []env.Choice{{Name: env.Name{What: "latency", Who: "c1→redis-1", N: 2}, Value: 4000}}, set, "c1")
	must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToClient, Action: faults.Swallow}))
	s.After(time.Millisecond, func() { must(t, s.Stop("redis-1", false)) })
	want(t, s.run(t, time.Minute), "0s grant by 1", "2.5s c1 ends: no answer in time")
}

// A request that arrives after its connection's reset causes another reset. It
// must not count as the answer to the client's next request.
func TestASecondResetIsIgnored(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		if err := set(e, ctx); !errors.Is(err, errReset) {
			t.Errorf("the first request returns %v", err)
		}
		if err := e.Host.Sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
		return set(e, ctx)
	}, "c1")
	must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToServer, Action: faults.Slow, Delay: time.Second}))
	s.After(500*time.Millisecond, func() { must(t, s.Stop("redis-1", false)) })
	s.After(600*time.Millisecond, func() { must(t, s.Start("redis-1")) })
	want(t, s.run(t, time.Minute), "2.7s grant by 1", "2.7s c1 ends: <nil>")
}

// Swallow and Reset strike one message. The next connection works.
func TestOnlyOneMessageIsSwallowed(t *testing.T) {
	for action, effects := range map[faults.Action]string{faults.Swallow: "2.5s c1 ends: <nil>", faults.Reset: "0s c1 ends: <nil>"} {
		s := newScene(func(e catalogue.Env, ctx context.Context) error {
			set(e, ctx)
			return set(e, ctx)
		}, "c1")
		must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToClient, Action: action}))
		want(t, s.run(t, time.Minute), "0s grant by 1", effects)
		if hits, err := s.Restore(1); hits != 1 || err != nil {
			t.Errorf("%d messages were touched, and %v", hits, err)
		}
	}
}

func TestALinkThatDoesNotExistIsAnError(t *testing.T) {
	s := newScene(set, "c1")
	for _, im := range []faults.Impairment{{Client: "c2", Server: "redis-1"}, {Client: "c1", Server: "redis-2"}} {
		if err := s.Impair(1, im); err == nil || !strings.HasPrefix(err.Error(), "sim: ") {
			t.Errorf("a link between %s and %s is disturbed: %v", im.Client, im.Server, err)
		}
	}
	if _, err := s.Restore(1); err == nil {
		t.Error("an unknown disturbance was restored")
	}
}
