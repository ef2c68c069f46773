package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// newPCTScene returns a scene in which priorities decide the latencies.
func newPCTScene(seed uint64, depth, steps int, acquire func(catalogue.Env, context.Context) error, clients ...string) *scene {
	s := newScene(acquire, clients...)
	d := env.Decisions{Seed: seed, Depth: depth, Steps: steps, Record: true}
	s.choices = newChoices(d)
	s.pct = newPCT(d, len(clients), s.choices)
	return s
}

// asks sends five requests, one after the other.
func asks(e catalogue.Env, ctx context.Context) error {
	for range 5 {
		if err := set(e, ctx); err != nil {
			return err
		}
	}
	return nil
}

// Two clients ask five times each. With depth 1 the same client is always first
// when both have a message, so it is done before the other has asked twice. The
// seed decides the order of the clients and the clock.
func TestPrioritiesDecideWhoGoes(t *testing.T) {
	ends := map[string]int{}
	for seed := range uint64(300) {
		s := newPCTScene(seed, 1, 1, asks, "c1", "c2")
		s.run(t, time.Minute)
		highest := "the clock"
		if p := s.pct.priority; p[2] != 2 {
			highest = fmt.Sprintf("c%d", 1+slices.Index(p, 2))
		}
		var order []string
		for _, line := range s.seen {
			if strings.HasSuffix(line, "ends: <nil>") {
				order = append(order, strings.Fields(line)[1])
			}
		}
		ends[highest]++
		if highest != "the clock" && order[0] != highest {
			t.Errorf("seed %d: %s has the highest priority, and they end in the order %v", seed, highest, order)
		}
		for _, c := range s.choices.made {
			least, longest := c.Value == 0 || c.Value == 1, c.Value == s.latencies-1
			switch who := c.Name.Who[:2]; {
			case highest == "the clock" && !longest:
				t.Errorf("seed %d: time goes on first, and %v is %d", seed, c.Name, c.Value)
			case who == highest && !least:
				t.Errorf("seed %d: %s goes first, and %v is %d", seed, highest, c.Name, c.Value)
			}
		}
	}
	if len(ends) != 3 || min(ends["c1"], ends["c2"], ends["the clock"]) < 50 {
		t.Errorf("the highest were %v", ends)
	}
}

// At a change point the next chain falls below the others: with depth 2 a client
// that was first may be overtaken half way.
func TestAChangePointDemotes(t *testing.T) {
	overtaken := 0
	for seed := range uint64(300) {
		s := newPCTScene(seed, 2, 20, asks, "c1", "c2")
		s.run(t, time.Minute)
		quick := map[string]int{} // requests with the least latency, before the first with another
		slow := map[string]bool{}
		for _, c := range s.choices.made {
			who := c.Name.Who[:2]
			if c.Value > 1 {
				slow[who] = true
			} else if !slow[who] {
				quick[who]++
			}
		}
		if quick["c1"] > 1 && slow["c1"] || quick["c2"] > 1 && slow["c2"] {
			overtaken++
		}
		at := s.pct.changes[0]
		if taken := s.pct.steps; at <= taken && !slices.Contains(s.pct.priority, 0) {
			t.Errorf("seed %d: no chain was demoted at step %d of %d", seed, at, taken)
		}
	}
	if overtaken < 50 {
		t.Errorf("only %d of 300 runs have a client that was demoted on its way", overtaken)
	}
}

// No latency is outside its bounds whatever the priorities: a message that is
// never chosen arrives at its latest. A replay with impairments and server
// crashes is identical to the line and the nanosecond.
func TestARecordNeedsNoPriorities(t *testing.T) {
	for seed := range uint64(500) {
		disturb := func(s *scene) {
			s.After(700*time.Microsecond, func() {
				s.Impair(1, faults.Impairment{Client: "c1", Server: "redis-1", Action: faults.Slow, Delay: 7 * time.Millisecond})
			})
			s.After(2*time.Millisecond, func() {
				s.Impair(2, faults.Impairment{Client: "c2", Server: "redis-1", Action: faults.Hold})
			})
			s.After(5*time.Millisecond, func() { s.Restore(1) })
			s.After(9*time.Millisecond, func() { s.Restore(2) })
			// A crash's resets come after the answers that are under way.
			s.After(10*time.Millisecond, func() {
				s.Impair(3, faults.Impairment{Client: "c3", Server: "redis-1", Direction: faults.ToClient, Action: faults.Slow, Delay: 7 * time.Millisecond})
			})
			s.After(11900*time.Microsecond, func() { s.Restore(3) })
			s.After(12*time.Millisecond, func() { s.Stop("redis-1", true) })
			s.After(14*time.Millisecond, func() { s.Start("redis-1") })
			s.After(3*time.Millisecond, func() { s.Pause("c3") })
			s.After(11*time.Millisecond, func() { s.Resume("c3") })
		}
		again := func(e catalogue.Env, ctx context.Context) error {
			for range 12 {
				e.Host.(*host).sched.observer.(*scene).note("%s at %v: %v", e.Host.(*host).name, e.Host.Mono(), set(e, ctx))
			}
			return nil
		}
		first := newPCTScene(seed, 1+int(seed%4), 40, again, "c1", "c2", "c3")
		disturb(first)
		first.run(t, time.Minute)
		record := first.choices.made
		for _, c := range record {
			if c.Value < 0 || c.Value >= first.latencies {
				t.Fatalf("seed %d: %v is %d", seed, c.Name, c.Value)
			}
		}
		replayed := newSceneWith(catalogue.Options{}, record, again, "c1", "c2", "c3")
		disturb(replayed)
		want(t, replayed.run(t, time.Minute), first.seen...)
		if replayed.Now() != first.Now() || replayed.Events() != first.Events() || !slices.Equal(replayed.choices.made, record) {
			t.Fatalf("seed %d: %d events until %v, and when replayed %d until %v", seed, first.Events(), first.Now(), replayed.Events(), replayed.Now())
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
