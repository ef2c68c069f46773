package bench_test

import (
	"context"
	"errors"
	"net"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/bench"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

const lease = 10 * time.Second

// load returns a short load in sim.
func load(t *testing.T, waiting string, clients int) bench.Load {
	t.Helper()
	return side(t, bench.Contention, waiting, clients, 5*lease)
}

// side returns the load of a side of a contest, in sim.
func side(t *testing.T, c *bench.Contest, name string, clients int, measured time.Duration) bench.Load {
	t.Helper()
	i := slices.IndexFunc(c.Sides, func(s bench.Side) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no side %q of %s", name, c.Name)
	}
	return c.Load(i, clients, lease, measured, 1)
}

func inSim(t *testing.T, l bench.Load) bench.Figures {
	t.Helper()
	f, err := bench.InSim(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEqualLoadsHaveEqualFigures(t *testing.T) {
	for _, l := range []bench.Load{load(t, "random", 8), turns(t, "mysql-fair", 8)} {
		first := inSim(t, l)
		if again := inSim(t, l); !reflect.DeepEqual(first, again) {
			t.Errorf("%+v and then %+v", first, again)
		}
		l.Seed++
		if other := inSim(t, l); reflect.DeepEqual(first, other) {
			t.Errorf("%s: another seed changes nothing", l.Name)
		}
	}
}

// A client alone sends two commands for each acquisition, and waits for nobody.
func TestAloneNothingIsWasted(t *testing.T) {
	for _, w := range bench.Contention.Sides {
		f := inSim(t, load(t, w.Name, 1))
		if each := f.CommandsEach(); each < 1.99 || each > 2.01 {
			t.Errorf("%s: %v commands", w.Name, each)
		}
		if f.Evenness() != 1 || f.Again != f.Total() || f.Longest > 10*time.Millisecond || f.Waiting {
			t.Errorf("%s: %+v", w.Name, f)
		}
	}
}

func TestSpinningSendsMoreThanEveryWait(t *testing.T) {
	const clients = 8
	spin := inSim(t, load(t, "spin", clients))
	for _, w := range bench.Contention.Sides {
		l := load(t, w.Name, clients)
		f := inSim(t, l)
		if f.Failed > 0 || len(f.Grants) != clients {
			t.Errorf("%s: %+v", w.Name, f)
		}
		if held := time.Duration(f.Total()-1) * l.Hold; held > f.For {
			t.Errorf("%s: held for %v within %v: two held at once", w.Name, held, f.For)
		}
		if w.Name != "spin" && spin.CommandsEach() < 5*f.CommandsEach() {
			t.Errorf("%v commands by spinning, %v by %s", spin.CommandsEach(), f.CommandsEach(), w.Name)
		}
	}
}

// Each way to wait has its own figures.
func TestWaysToWaitDiffer(t *testing.T) {
	seen := map[int]string{}
	for _, w := range bench.Contention.Sides {
		f := inSim(t, load(t, w.Name, 4))
		if other, ok := seen[f.Commands]; ok {
			t.Errorf("%s and %s send %d commands each", w.Name, other, f.Commands)
		}
		seen[f.Commands] = w.Name
	}
}

func TestEvenness(t *testing.T) {
	for _, c := range []struct {
		grants []int
		want   float64
	}{
		{[]int{7}, 1},
		{[]int{5, 5, 5, 5}, 1},
		{[]int{9, 0, 0}, 1. / 3},
		{[]int{3, 1}, 16. / 20},
	} {
		f := bench.Figures{Grants: c.grants}
		if got := f.Evenness(); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%v: %v, want %v", c.grants, got, c.want)
		}
	}
}

// A holder that outlasts the measurement leaves no grant to count, and a wait that has
// not ended.
func TestNobodyIsGranted(t *testing.T) {
	l := load(t, "random", 2)
	l.For, l.Hold = lease/10, lease/2
	f, err := bench.InSim(t.Context(), l)
	if !errors.Is(err, bench.ErrIdle) {
		t.Errorf("%v", err)
	}
	if !f.Waiting || f.Longest < l.For || f.Longest > l.For*11/10 {
		t.Errorf("waited %v, to the end: %v", f.Longest, f.Waiting)
	}
}

// Figures come from a history that check accepts, and in which no two clients hold the
// lock at once.
func TestAMeasurementIsAHistory(t *testing.T) {
	l := load(t, "random", 4)
	l.Patience = l.Hold // so that many acquires are refused
	h, err := bench.HistoryInSim(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if err := history.Check(h); err != nil {
		t.Error(err)
	}
	refused, holds := 0, 0
	for _, e := range h.Entries {
		switch {
		case e.Type == history.Fail && e.Error == history.ErrHeld:
			refused++
		case e.Type == history.OK && e.F == history.Acquire:
			holds++
		case e.Type == history.Invoke && e.F == history.Release:
			holds--
		}
		if holds > 1 {
			t.Fatalf("two hold at %v", e.Time)
		}
	}
	if refused == 0 {
		t.Error("no client was refused")
	}
}

func TestInterruptedInSim(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := bench.Contention.Compare("sim", lease).CompareInSim(ctx, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	listener.Close()
	l := load(t, "random", 2)
	l.Lease, l.Hold, l.For = 200*time.Millisecond, time.Millisecond, 100*time.Millisecond
	f, err := bench.OnServer(t.Context(), addr, l)
	if op := (*net.OpError)(nil); !errors.Is(err, bench.ErrIdle) || !errors.As(err, &op) || f.Failed == 0 {
		t.Errorf("%v, %+v", err, f)
	}
}

func TestOnARealServer(t *testing.T) {
	addr := dockertest.Redis(t)
	for i, w := range bench.Contention.Sides {
		f, err := bench.OnServer(t.Context(), addr, bench.Contention.Load(i, 3, time.Second, 2*time.Second, 0))
		if err != nil {
			t.Fatal(err)
		}
		if f.Total() < 3 || f.CommandsEach() < 1.9 || f.Longest <= 0 {
			t.Errorf("%s: %+v", w.Name, f)
		}
	}

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := bench.OnServer(ctx, addr, bench.Contention.Load(2, 3, time.Second, time.Hour, 0)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v", err)
	}
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("interrupted after 50 ms, it ended after %v", took)
	}
}
