package explore

import (
	"context"
	"errors"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/locks"
)

// elsewhere is the counter of moody: no choice of its run.
var elsewhere atomic.Int64

// moodyLock waits before each acquire for a time that depends on a counter, which goes on
// from run to run.
type moodyLock struct {
	locks.Locker
	host locks.Host
}

func (l moodyLock) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	if err := l.host.Sleep(ctx, time.Duration(elsewhere.Add(1))); err != nil {
		return nil, locks.ErrNotAcquired
	}
	return l.Locker.Acquire(ctx, name)
}

func newMoodyLock() *catalogue.Lock {
	lock, _ := catalogue.FindLock("redis-set-lua")
	inner := lock.New
	lock.ID = "moody"
	lock.New = func(e catalogue.Env) locks.Locker { return moodyLock{inner(e), e.Host} }
	return &lock
}

// A lock that draws from elsewhere is found, and the error has both histories.
func TestARunThatDoesNotRepeatEndsTheBatch(t *testing.T) {
	for _, strategy := range []string{harness.Random, harness.PCT} {
		s := knownFlaw{lock: "moody", fault: "pause", use: newMoodyLock()}.settings(strategy, 1)
		s.Runs, s.Jobs = 1<<40, 2
		_, err := Random(context.Background(), sim.Simulator, s, nil)
		var differs *UnrepeatedError
		if !errors.As(err, &differs) {
			t.Fatalf("the batch ends with %v", err)
		}
		if (differs.Plan.Seed-1)%sampleShare != 0 || differs.Plan.Strategy != strategy {
			t.Errorf("%+v", differs.Plan)
		}
		i := differs.Entry - 1
		if i < 0 || differs.First.Entries[i].Same(&differs.Second.Entries[i]) || i > 0 && !differs.First.Entries[i-1].Same(&differs.Second.Entries[i-1]) {
			t.Errorf("entry %d is not the first difference", differs.Entry)
		}
	}
}

func TestHistoriesAreComparedToTheEnd(t *testing.T) {
	long := &history.History{Entries: []history.Entry{{Index: 1}, {Index: 2}}}
	for _, tt := range []struct {
		name  string
		other history.History
		entry int
		same  bool
	}{
		{"the same", history.History{Entries: []history.Entry{{Index: 1}, {Index: 2}}}, 3, true},
		{"shorter", history.History{Entries: []history.Entry{{Index: 1}}}, 2, false},
		{"another entry", history.History{Entries: []history.Entry{{Index: 1}, {Index: 3}}}, 2, false},
		{"another header", history.History{Header: history.Header{Lock: "b"}, Entries: long.Entries}, 0, false},
	} {
		if entry, same := compare(long, &tt.other); entry != tt.entry || same != tt.same {
			t.Errorf("%s: %d, %v", tt.name, entry, same)
		}
	}
}

// BenchmarkRepeat measures the cost of repetitions: their share of a run's time must
// stay below 2 %.
func BenchmarkRepeat(b *testing.B) {
	s := knownFlaw{lock: "redis-set-lua", fault: "pause"}.settings(harness.Random, 1)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does
	buffer := newBuffer(sim.Simulator)
	defer buffer.Close()
	var took time.Duration
	n := 0
	for b.Loop() {
		plan := s.Plan(n)
		h, err := NewResult().judged(n, plan, buffer)
		must(b, err)
		start := time.Now()
		must(b, s.repeat(sim.Simulator, n, h))
		took += time.Since(start)
		n++
	}
	once := b.Elapsed() - took
	b.ReportMetric(100*float64(took)/float64(once)/sampleShare, "%-of-a-batch")
}

// Porcupine judges one run of 128, the same ones with any number of jobs.
func TestPorcupineJudgesASampleOfTheRuns(t *testing.T) {
	t.Parallel()
	batch := func(jobs int) checker.Second {
		s := anything("redis-set-del", 1)
		s.Runs, s.Jobs, s.Kinds = 2*sampleShare+1, jobs, faults.All()[:1]
		return random(t, s).Porcupine
	}
	one, two := batch(1), batch(2)
	if one.Total() < 3 || one.Total() > 9 || one.Disagreed > 0 || one != two {
		t.Errorf("in a batch of three such runs it judged %+v, and with two at once %+v", one, two)
	}
}
