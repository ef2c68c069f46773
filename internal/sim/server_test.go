package sim

import (
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/locks"
)

func TestAStoppedServerRefusesConnections(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		if err := e.Host.Sleep(ctx, time.Second); err != nil {
			return err
		}
		err := set(e, ctx)
		if !locks.IsDefinite(err) {
			t.Errorf("the request was never sent, and its error %v is not definite", err)
		}
		if err := e.Host.Sleep(ctx, 5*time.Second); err != nil {
			return err
		}
		return set(e, ctx)
	}, "c1")
	s.After(0, func() { s.Stop("redis-1", true) })
	s.After(2*time.Second, func() { s.Start("redis-1") })
	want(t, s.run(t, time.Minute), "6s grant by 1", "6s c1 ends: <nil>")
}

func TestAnEntryExpiresOnTimeByTheServersClock(t *testing.T) {
	for name, c := range map[string]struct {
		jump time.Duration
		want string
	}{
		"right":        {0, "5.001s expire by 0"},
		"set forward":  {3 * time.Second, "2.001s expire by 0"},
		"set far":      {time.Hour, "1s expire by 0"},
		"set backward": {-2 * time.Second, "7.001s expire by 0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(func(e catalogue.Env, ctx context.Context) error {
				_, err := e.Redis[0].SetIfAbsent(ctx, 0, "a", "v", 5*time.Second)
				return err
			}, "c1")
			s.After(time.Second, func() { s.Jump("redis-1", c.jump) })
			s.Go(func() { s.Sleep(10 * time.Second) })
			want(t, s.run(t, time.Minute), "0s grant by 1", "0s c1 ends: <nil>", c.want)
		})
	}
}

func TestAClockThatIsSetBackKeepsEntriesLonger(t *testing.T) {
	at := func(seconds float64, f func(*scene) error) func(*testing.T, *scene) {
		return func(t *testing.T, s *scene) {
			s.After(time.Duration(seconds*float64(time.Second)), func() { must(t, f(s)) })
		}
	}
	jump := func(by time.Duration) func(*scene) error {
		return func(s *scene) error { return s.Jump("redis-1", by) }
	}
	for name, c := range map[string]struct {
		do   []func(*testing.T, *scene)
		want string
	}{
		"before it was set":  {[]func(*testing.T, *scene){at(1, jump(-time.Hour))}, "1h0m5.001s expire by 0"},
		"there and back":     {[]func(*testing.T, *scene){at(1, jump(3*time.Second)), at(1.5, jump(-3*time.Second))}, "5.001s expire by 0"},
		"back and there":     {[]func(*testing.T, *scene){at(1, jump(-3*time.Second)), at(6, jump(3*time.Second))}, "6s expire by 0"},
		"a little at a time": {[]func(*testing.T, *scene){at(1, jump(-time.Second)), at(2, jump(-time.Second)), at(6.5, jump(-time.Second))}, "8.001s expire by 0"},
		"while it is down": {[]func(*testing.T, *scene){
			at(1, func(s *scene) error { return s.Stop("redis-1", false) }),
			at(2, jump(-2*time.Second)),
			at(6, func(s *scene) error { return s.Start("redis-1") }),
		}, "7.001s expire by 0"},
		"while it is down, by no more than that": {[]func(*testing.T, *scene){
			at(1, func(s *scene) error { return s.Stop("redis-1", false) }),
			at(2, jump(-time.Second)),
			at(8, func(s *scene) error { return s.Start("redis-1") }),
		}, "8s expire by 0"},
		"forward while it is down": {[]func(*testing.T, *scene){
			at(1, func(s *scene) error { return s.Stop("redis-1", false) }),
			at(2, jump(time.Hour)),
			at(3, func(s *scene) error { return s.Start("redis-1") }),
		}, "3s expire by 0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(func(e catalogue.Env, ctx context.Context) error {
				_, err := e.Redis[0].SetIfAbsent(ctx, 0, "a", "v", 5*time.Second)
				return err
			}, "c1")
			for _, do := range c.do {
				do(t, s)
			}
			s.Go(func() { s.Sleep(2 * time.Hour) })
			want(t, s.run(t, time.Minute), "0s grant by 1", "0s c1 ends: <nil>", c.want)
		})
	}
}

// A replaced timer does nothing when it fires. It does not queue a third one.
func TestTimersDoNotPileUp(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		_, err := e.Redis[0].SetIfAbsent(ctx, 0, "a", "v", time.Hour)
		return err
	}, "c1")
	const jumps = 100
	for i := range jumps {
		s.After(time.Duration(1+i)*time.Second, func() { must(t, s.Jump("redis-1", time.Second)) })
	}
	s.After(2*jumps*time.Second, func() { must(t, s.Jump("redis-1", -jumps*time.Second)) })
	s.Go(func() { s.Sleep(2 * time.Hour) })
	want(t, s.run(t, 3*time.Hour), "0s grant by 1", "0s c1 ends: <nil>", "1h0m0.001s expire by 0")
	if limit := 2*jumps + 20; s.Events() > limit {
		t.Errorf("%d events, want no more than %d", s.Events(), limit)
	}
}

// A restarted server does not know the connections of the process before it.
func TestARestartedServerServesNoConnectionOfItsPredecessor(t *testing.T) {
	slow := faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToServer, Action: faults.Slow, Delay: 5 * time.Second}
	deaf := faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToClient, Action: faults.Hold}
	later := func(e catalogue.Env, ctx context.Context) error {
		if err := e.Host.Sleep(ctx, 3*time.Second); err != nil {
			return err
		}
		return set(e, ctx)
	}
	for name, c := range map[string]struct {
		lock        func(catalogue.Env, context.Context) error
		stop, start time.Duration
		at          func(*scene) error
		want        []string
	}{
		"an abandoned request": {
			set, 3 * time.Second, 4 * time.Second,
			func(s *scene) error { return s.Impair(1, slow) },
			[]string{"2.5s c1 ends: no answer in time"},
		},
		"a request with a waiting client": {
			set, latencyMin / 4, latencyMin / 2,
			func(*scene) error { return nil },
			[]string{"0s c1 ends: connection reset by peer"},
		},
		"a connection before its reset arrives": {
			later, time.Second, 2 * time.Second,
			func(s *scene) error { return s.Impair(1, deaf) },
			[]string{"5.5s c1 ends: no answer in time"},
		},
		"a connection after its reset": {
			later, time.Second, 2 * time.Second,
			func(*scene) error { return nil },
			[]string{"3s grant by 1", "3s c1 ends: <nil>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(c.lock, "c1")
			must(t, c.at(s))
			s.After(c.stop, func() { must(t, s.Stop("redis-1", false)) })
			s.After(c.start, func() { must(t, s.Start("redis-1")) })
			s.Go(func() { s.Sleep(10 * time.Second) })
			want(t, s.run(t, time.Minute), c.want...)
		})
	}
}

// A connection belongs to the process that accepts it.
func TestAServerStopsWhileAConnectionIsDialled(t *testing.T) {
	const reconnect = 3 * time.Second // when the client begins to dial
	for name, c := range map[string]struct {
		stop, start time.Duration // after that
		paused      bool          // from before the answer to the dial until the reset
		deaf        bool          // the reset is held
		want        []string
	}{
		// The new process accepts a dial that the old one did not receive.
		"before it arrives": {stop: latencyMin / 4, start: latencyMin / 2, want: []string{"3s grant by 1", "3s c1 ends: <nil>"}},
		// The old one has accepted, and its reset follows its answer.
		"after it was accepted":             {stop: 3 * latencyMin / 2, start: 7 * latencyMin / 4, want: []string{"3s c1 ends: connection reset by peer"}},
		"after it was accepted, reset held": {stop: 3 * latencyMin / 2, start: 7 * latencyMin / 4, deaf: true, want: []string{"5.5s c1 ends: no answer in time"}},
		// The client finds a dead connection and has sent nothing.
		"while its client is paused": {stop: 3 * latencyMin / 2, start: 7 * latencyMin / 4, paused: true, want: []string{"4s c1 ends: cannot connect"}},
		// The kernel has the open connection, though its client does not know
		// that yet.
		"while its client is paused, after the answer": {stop: 5 * latencyMin / 2, start: 11 * latencyMin / 4, paused: true, want: []string{"4s c1 ends: cannot connect"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(func(e catalogue.Env, ctx context.Context) error {
				if err := e.Host.Sleep(ctx, reconnect); err != nil {
					return err
				}
				return set(e, ctx)
			}, "c1")
			s.After(0, func() { must(t, s.Stop("redis-1", false)) })
			s.After(time.Second, func() { must(t, s.Start("redis-1")) })
			s.After(reconnect+c.stop, func() { must(t, s.Stop("redis-1", false)) })
			s.After(reconnect+c.start, func() { must(t, s.Start("redis-1")) })
			if c.paused {
				s.After(reconnect+latencyMin/8, func() { must(t, s.Pause("c1")) })
				s.After(reconnect+time.Second, func() { must(t, s.Resume("c1")) })
			}
			if c.deaf {
				s.After(reconnect+9*latencyMin/4, func() {
					must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToClient, Action: faults.Hold}))
				})
			}
			s.Go(func() { s.Sleep(10 * time.Second) })
			want(t, s.run(t, time.Minute), c.want...)
		})
	}
}

// A late answer does not open a connection that the client has left.
func TestAConnectionThatIsAcceptedTooLateIsNotUsed(t *testing.T) {
	s := newScene(func(e catalogue.Env, ctx context.Context) error {
		if err := e.Host.Sleep(ctx, time.Second); err != nil {
			return err
		}
		if err := set(e, ctx); !locks.IsDefinite(err) {
			t.Errorf("the request was never sent, and its error %v is not definite", err)
		}
		if err := e.Host.Sleep(ctx, 5*time.Second); err != nil {
			return err
		}
		return set(e, ctx)
	}, "c1")
	s.After(0, func() { must(t, s.Stop("redis-1", false)) })
	s.After(time.Millisecond, func() { must(t, s.Start("redis-1")) })
	s.After(time.Second/2, func() {
		must(t, s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Direction: faults.ToServer, Action: faults.Slow, Delay: 4 * time.Second}))
	})
	s.After(5500*time.Millisecond, func() { s.Restore(1) }) // the dial has an answer by then
	want(t, s.run(t, time.Minute), "8.5s grant by 1", "8.5s c1 ends: <nil>")
	if got, wanted := s.servers[0].links[0].n, 1+2*3; got != wanted { // the reset; the late dial, another, the request, each with its answer
		t.Errorf("%d messages were sent, want %d", got, wanted)
	}
}

func TestFaultsOnUnknownHostsAreErrors(t *testing.T) {
	down := func(s *scene) { s.servers[0].up = false }
	for name, c := range map[string]struct {
		before func(*scene)
		do     func(*scene) error
	}{
		"pause of an unknown host":       {do: func(s *scene) error { return s.Pause("c9") }},
		"resume of an unknown host":      {do: func(s *scene) error { return s.Resume("c9") }},
		"kill of an unknown client":      {do: func(s *scene) error { return s.Kill("c9") }},
		"power-off of an unknown client": {do: func(s *scene) error { return s.PowerOff("c9") }},
		"stop of an unknown server":      {do: func(s *scene) error { return s.Stop("redis-9", true) }},
		"start of an unknown server":     {do: func(s *scene) error { return s.Start("redis-9") }},
		"jump of an unknown server":      {do: func(s *scene) error { return s.Jump("redis-9", time.Second) }},
		"stop of the resource":           {do: func(s *scene) error { return s.Stop(history.Resource, true) }},
		"start of the resource":          {do: func(s *scene) error { return s.Start(history.Resource) }},
		"jump of the resource":           {do: func(s *scene) error { return s.Jump(history.Resource, time.Second) }},
		"stop of a stopped server":       {before: down, do: func(s *scene) error { return s.Stop("redis-1", true) }},
		"start of a running server":      {do: func(s *scene) error { return s.Start("redis-1") }},
	} {
		s := newScene(set, "c1")
		if c.before != nil {
			c.before(s)
		}
		if c.do(s) == nil {
			t.Errorf("no error: %s", name)
		}
	}
}

// A refused stop loses no data.
func TestASecondStopChangesNothing(t *testing.T) {
	s := newScene(set, "c1")
	s.After(time.Second, func() { must(t, s.Stop("redis-1", false)) })
	s.After(2*time.Second, func() {
		if s.Stop("redis-1", true) == nil {
			t.Error("a stopped server was stopped")
		}
	})
	s.After(3*time.Second, func() { must(t, s.Start("redis-1")) })
	s.Go(func() { s.Sleep(10 * time.Second) })
	want(t, s.run(t, time.Minute), "0s grant by 1", "0s c1 ends: <nil>")
}
