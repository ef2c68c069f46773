package harness

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// hastyEnvironment is an environment whose client reports of each grant, before its ok is
// recorded, first that it lasts and then that it is lost.
type hastyEnvironment struct {
	*fakeEnvironment
	fakeClient
	observer env.Observer
}

func (p hastyEnvironment) Client(string) env.Client { return p }

func (p hastyEnvironment) Acquire(op env.Op, _ time.Duration) (env.Grant, error) {
	e := history.Entry{Client: "c1", Lock: op.Lock, Op: history.Some(int64(op.Index))}
	for _, e.F = range []string{history.Valid, history.Lost} {
		p.observer.Report(e)
	}
	return env.Grant{}, nil
}

// In real time a grant may be lost before its ok is recorded. The loss is recorded
// after the ok and ends the hold; the ok already has the deadline.
func TestALossIsRecordedAfterItsGrant(t *testing.T) {
	p := randomPlan("redis-set-lua", "pause", 1)
	p.Clients, p.Acquires, p.Faults = []string{"c1"}, 2, nil
	h, err := Run(p, func(_ env.Config, o env.Observer) (env.Environment, error) {
		return hastyEnvironment{fakeEnvironment: &fakeEnvironment{start: time.Now()}, observer: o}, nil
	}, nil, nil)
	must(t, err)
	granted, lost := 0, 0
	for _, e := range h.Entries {
		switch {
		case e.F == history.Acquire && e.Type == history.OK:
			granted = e.Grant
		case e.F == history.Lost && e.Grant == granted && granted > 0:
			lost++
		case e.F == history.Lost || e.F == history.Valid:
			t.Errorf("line %d is %s of grant %d, after the ok of grant %d", e.Index, e.F, e.Grant, granted)
		}
	}
	if lost != 2 {
		t.Errorf("%d losses of 2 are recorded", lost)
	}
}
