package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/locks"
)

// runs is a lock that calls the critical section as its field run does. critical takes
// the token of the grant.
type runs struct {
	Setup
	fake
	name string // the lock of the last run
	run  func(r *runs, ctx context.Context, critical func(token uint64)) error
}

func (r *runs) Run(ctx context.Context, name string, critical func(context.Context, locks.Lease)) error {
	r.name = name
	return r.run(r, ctx, func(token uint64) {
		critical(r.Host.Life(), fakeLease{token: token, until: r.lease.until})
	})
}

// serveRuns starts a worker with a lock of type runs.
func serveRuns(t *testing.T, run func(r *runs, ctx context.Context, critical func(token uint64)) error) *pair {
	return serveLock(t, func(s Setup) locks.Locker { return &runs{Setup: s, run: run} }, `,"run"`)
}

const runA = `{"id":2,"op":"run","client":"c1","lock":"a"}`

// A run is answered when it has ended. Until then the critical section reads and writes
// with the token of its entry.
func TestRun(t *testing.T) {
	t.Parallel()
	p := serveRuns(t, func(_ *runs, _ context.Context, critical func(uint64)) error {
		critical(34)
		return locks.ErrNotHeld
	})
	p.say(runA)
	p.want(`{"id":2,"token":34,"do":"enter","entry":1}`)
	p.say(`{"id":3,"op":"read","client":"c1","lock":"a","run":2,"entry":1}`)
	p.want(`{"id":3,"token":34,"do":"resource.read"}`)
	p.say(`{"id":3,"value":16}`)
	p.want(`{"id":3,"ok":true,"value":16}`)
	p.say(`{"id":4,"op":"write","client":"c1","lock":"a","run":2,"entry":2,"value":17}`)
	p.want(`{"id":4,"ok":false,"error":"bad-request","text":"run 2 is not in entry 2"}`)
	p.say(`{"id":2,"entry":1}`)
	p.want(`{"id":2,"ok":false,"error":"not-held","text":"lock not held"}`)
	p.say(`{"id":5,"op":"read","client":"c1","lock":"a","run":2,"entry":1}`)
	p.want(`{"id":5,"ok":false,"error":"bad-request","text":"run 2 is not in entry 1"}`)
}

// Two tasks may be in the critical section at once, each with its own grant. Each lets
// the other run.
func TestTwoEntriesAtOnce(t *testing.T) {
	t.Parallel()
	p := serveRuns(t, func(r *runs, _ context.Context, critical func(uint64)) error {
		inside := 0 // guarded by the baton alone: the race detector checks that
		second := r.Host.Go(func(ctx context.Context) {
			for inside == 0 {
				r.Host.Sleep(ctx, 100*time.Microsecond)
			}
			inside++
			critical(2)
			inside--
		})
		inside++
		critical(1)
		inside--
		second.Wait()
		if inside != 0 {
			return errors.New("another task is still in the critical section")
		}
		return nil
	})
	p.say(runA)
	p.want(`{"id":2,"token":1,"do":"enter","entry":1}`)
	p.want(`{"id":2,"token":2,"do":"enter","entry":2}`)
	p.say(`{"id":3,"op":"read","client":"c1","lock":"a","run":2,"entry":1}`)
	p.want(`{"id":3,"token":1,"do":"resource.read"}`)
	p.say(`{"id":4,"op":"read","client":"c1","lock":"a","run":2,"entry":2}`)
	p.want(`{"id":4,"token":2,"do":"resource.read"}`)
	p.say(`{"id":5,"op":"read","client":"c1","lock":"a","run":2,"entry":2}`)
	p.want(`{"id":5,"ok":false,"error":"bad-request","text":"the client has not answered its last request yet"}`)
	p.say(`{"id":4,"value":4}`)
	p.want(`{"id":4,"ok":true,"value":4}`)
	p.say(`{"id":3,"value":3}`)
	p.want(`{"id":3,"ok":true,"value":3}`)
	p.say(`{"id":2,"entry":2}`)
	p.say(`{"id":2,"entry":1}`)
	p.want(`{"id":2,"ok":true}`)
}

// An abandoned run goes on beside the next one, and may enter later. Abandon only ends
// its context.
func TestAbandonedRunsGoOn(t *testing.T) {
	t.Parallel()
	p := serveRuns(t, func(r *runs, ctx context.Context, critical func(uint64)) error {
		if r.name == "b" {
			critical(2)
			return nil
		}
		if err := r.Host.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
			return err
		}
		critical(1)
		return locks.ErrNotAcquired
	})
	p.say(runA)
	p.say(`{"id":3,"op":"run","client":"c1","lock":"b"}`)
	p.want(`{"id":3,"token":2,"do":"enter","entry":1}`)
	p.say(`{"id":4,"op":"abandon","client":"c1","run":2}`)
	p.want(`{"id":4,"ok":true}`)
	p.want(`{"id":2,"token":1,"do":"enter","entry":1}`)
	p.say(`{"id":2,"entry":1}`)
	p.want(`{"id":2,"ok":false,"error":"held","text":"lock not acquired"}`)
	p.say(`{"id":4,"op":"abandon","client":"c1","run":2}`)
	p.want(`{"id":4,"ok":true}`)
	p.say(`{"id":3,"entry":1}`)
	p.want(`{"id":3,"ok":true}`)
}

// A run is an acquire up to its first entry, and a release after an entry, with the
// points armed for that entry.
func TestPointsOfRuns(t *testing.T) {
	t.Parallel()
	p := serveRuns(t, func(r *runs, ctx context.Context, critical func(uint64)) error {
		port := r.Redis(echo{})
		ask := func() { port.Incr(ctx, 0, "k") }
		ask()
		second := r.Host.Go(func(context.Context) { // it sends nothing before the first entry
			critical(2)
			ask()
		})
		critical(1)
		ask()
		ask()
		second.Wait()
		return nil
	})
	p.arm(`"f":"acquire","request":1,"onward":true`)
	p.say(runA)
	p.want(`{"run":2,"event":"at","client":"c1","at":1,"f":"acquire","request":1,"sends":"INCR"}`)
	p.say(`{"go":1}`)
	p.want(`{"id":2,"token":1,"do":"enter","entry":1}`)
	p.want(`{"id":2,"token":2,"do":"enter","entry":2}`)
	p.arm(`"run":2,"entry":1,"f":"release","request":2`)
	p.say(`{"id":3,"op":"arm","client":"c1","run":2,"entry":3,"f":"release","request":1}`)
	p.want(`{"id":3,"ok":false,"error":"bad-request","text":"run 2 is not in entry 3"}`)
	p.say(`{"id":2,"entry":2}`)
	p.say(`{"id":2,"entry":1}`)
	p.want(`{"run":2,"event":"at","client":"c1","at":2,"f":"release","request":2,"sends":"INCR","sent":"INCR"}`)
	p.say(`{"go":2}`)
	p.want(`{"id":2,"ok":true}`)
}

// News from before the first entry is reported for that entry, after it. Setting the
// clock reports the deadline of each open entry.
func TestNewsOfRuns(t *testing.T) {
	t.Parallel()
	p := serveRuns(t, func(r *runs, _ context.Context, critical func(uint64)) error {
		r.lease.until = r.Host.Mono() + time.Hour
		r.Host.Report(locks.News{})
		critical(0)
		critical(0)
		return nil
	})
	hear := func(event string, entry int64) {
		t.Helper()
		line := p.hear()
		a, err := parse([]byte(line))
		if err != nil || a.Do+a.Event != event || a.Entry != entry || a.Run != 2 && a.ID != 2 || (event == EventLost) != (a.ValidMS == nil) {
			t.Errorf("got %s, want %s of entry %d", line, event, entry)
		}
	}
	p.say(runA)
	hear(DoEnter, 1)
	hear(EventLost, 1)
	p.say(`{"id":2,"entry":1}`)
	hear(DoEnter, 2)
	p.say(`{"id":8,"op":"clock-set","client":"c1","ppm":10000}`)
	hear(EventExtended, 2)
	p.want(`{"id":8,"ok":true}`)
	p.say(`{"id":2,"entry":2}`)
	p.want(`{"id":2,"ok":true}`)
	p.say(`{"id":8,"op":"clock-set","client":"c1"}`)
	p.want(`{"id":8,"ok":true}`)
}

// The end of a worker ends the critical section; the lock's later requests have no
// effect.
func TestAWorkerEndsWithinAnEntry(t *testing.T) {
	t.Parallel()
	var sent error
	p := serveRuns(t, func(r *runs, ctx context.Context, critical func(uint64)) error {
		critical(0)
		_, sent = r.Redis(echo{}).Incr(r.Host.Life(), 0, "k")
		return nil
	})
	p.say(runA)
	p.want(`{"id":2,"do":"enter","entry":1}`)
	p.in.Close()
	for p.lines.Scan() {
	}
	if err := <-p.ended; err != nil || !locks.IsDefinite(sent) {
		t.Errorf("%v; what it sent afterwards: %v", err, sent)
	}
}

// A lock that is no Runner has no runs.
func TestRunNeedsARunner(t *testing.T) {
	t.Parallel()
	p := serve(t, func(Setup) *fake { return &fake{} })
	p.say(runA)
	p.want(`{"id":2,"ok":false,"error":"unsupported","text":"the lock does not call the critical section itself"}`)
}

// A place in the queue within a run names the run.
func TestARunsPlaceInTheQueue(t *testing.T) {
	t.Parallel()
	p := serveRuns(t, func(r *runs, _ context.Context, critical func(uint64)) error {
		r.Host.Report(locks.News{Queued: 8})
		critical(34)
		return nil
	})
	p.say(runA)
	p.want(`{"run":2,"event":"queued","client":"c1","lock":"a","position":7}`)
	p.want(`{"id":2,"token":34,"do":"enter","entry":1}`)
	p.say(`{"id":2,"entry":1}`)
	p.want(`{"id":2,"ok":true}`)
}
