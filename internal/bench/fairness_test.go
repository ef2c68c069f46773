package bench_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/bench"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

// turns returns the load of a side of Fairness, in sim.
func turns(t *testing.T, side string, clients int) bench.Load {
	t.Helper()
	i := slices.IndexFunc(bench.Fairness.Sides, func(s bench.Side) bool { return s.Name == side })
	if i < 0 {
		t.Fatalf("no side %q", side)
	}
	return bench.Fairness.Load(i, clients, lease, 40*lease, 1)
}

// The statements of docs/fairness.md about each lock hold within bounds that no seed
// breaks.
func TestFairnessInSim(t *testing.T) {
	for _, c := range []struct {
		side      string
		clients   int
		from, to  float64 // share of grants out of turn
		atMost    time.Duration
		starves   bool // a client waits for the whole measured time
		sameShare bool // all get the same number of grants, give or take one
	}{
		{side: "mysql-optimistic", clients: 4, from: 0.9, to: 1, atMost: 40 * lease},
		{side: "mysql-fair", clients: 4, from: 0, to: 0.01, atMost: 2 * time.Second, sameShare: true},
		{side: "mysql-fair", clients: 21, from: 0, to: 0.01, atMost: lease, sameShare: true},
		{side: "mysql-fair", clients: 32, from: 0.8, to: 1, atMost: 40 * lease}, // the queue has 21 places for 32 clients
		{side: "mysql-fair, late", clients: 4, from: 0.2, to: 0.8, atMost: 40 * lease},
		{side: "mysql-fair, late", clients: 32, from: 0.8, to: 1, atMost: 44 * lease, starves: true},
		{side: "mysql-fair-fixed", clients: 4, from: 0, to: 0.1, atMost: 4 * time.Second, sameShare: true},
		{side: "mysql-fair-fixed", clients: 32, from: 0, to: 0.25, atMost: 2 * lease},
	} {
		for seed := range uint64(3) {
			l := turns(t, c.side, c.clients)
			l.Seed = seed
			f := inSim(t, l)
			part := float64(f.OutOfTurn) / float64(f.Total())
			least, most := slices.Min(f.Grants), slices.Max(f.Grants)
			if part < c.from || part > c.to || f.Longest > c.atMost || c.starves != (f.Longest >= l.For) ||
				c.sameShare && most-least > max(1, most/20) || f.Failed > 0 {
				t.Errorf("%s, %d clients, seed %d: %+v", c.side, c.clients, seed, f)
			}
		}
	}
}

func TestEqualTurnsHaveEqualFigures(t *testing.T) {
	l := turns(t, "mysql-fair", 8)
	if first, again := inSim(t, l), inSim(t, l); !reflect.DeepEqual(first, again) {
		t.Errorf("%+v and then %+v", first, again)
	}
}

// Sides with one number of clients share a server, but nothing on it.
func TestFairnessOnARealServer(t *testing.T) {
	c := bench.Fairness.Compare("docker", time.Second)
	c.Clients, c.For = []int{3}, 2*time.Second
	if err := c.CompareOnServer(t.Context(), dockertest.MySQL(t).Addr, nil); err != nil {
		t.Fatal(err)
	}
	for i, s := range c.Sides {
		if f := c.Cells[i][0]; f.Total() == 0 || f.CommandsEach() < 3 || f.Failed > 0 || f.Longest <= 0 {
			t.Errorf("%s: %+v", s.Name, f)
		}
	}
	if free, fixed := c.Cells[0][0], c.Cells[3][0]; free.OutOfTurn*fixed.Total() <= 2*fixed.OutOfTurn*free.Total() {
		t.Errorf("out of turn are %d of %d without a queue, and %d of %d with one", free.OutOfTurn, free.Total(), fixed.OutOfTurn, fixed.Total())
	}
}
