package bench_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/bench"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

// turns returns the load of a side of Fairness, in sim.
func turns(t *testing.T, name string, clients int) bench.Load {
	t.Helper()
	return side(t, bench.Fairness, name, clients, 40*lease)
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
