package mysql_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
	mysqllocks "github.com/lockcheck/lockcheck/locks/mysql"
)

// fixed starts a client that acquires the fixed lock.
func (d *desk) fixed(works, end time.Duration) *run {
	c := d.client()
	return c.wants(c.lock(mysqllocks.NewFairFixed, token), works, end)
}

// line starts a holder and n waiters, T/10 apart.
func (d *desk) line(works time.Duration, n int) (runs []*run) {
	for range n {
		runs = append(runs, d.fixed(works, 10*lease))
		d.Pass(d.Time + second)
	}
	return runs
}

func TestTheQueueIsInOrder(t *testing.T) {
	d := newDesk(t)
	runs := d.line(5*second, 4)
	d.Pass(10 * lease)
	d.Story("c1 in", "c1 out", "c2 in", "c2 out", "c3 in", "c3 out", "c4 in", "c4 out")
	for i, r := range runs {
		if len(r.Places) != 1 || i > 0 && r.Places[0] <= runs[i-1].Places[0] {
			t.Errorf("%s got the places %v", r.Name, r.Places)
		}
	}
}

// A dead waiter delays others for less than T/2, a dead holder for at most its
// lease.
func TestTheDeadHoldNobodyUp(t *testing.T) {
	d := newDesk(t)
	runs := d.line(5*second, 4)
	runs[1].Away, runs[2].Away = true, true
	d.Pass(10 * lease)
	d.Story("c1 in", "c1 out", "c4 in", "c4 out")
	if late := runs[3].acquired - 5*second; late > lease/2 {
		t.Errorf("c4 waited for %v after the release", late)
	}

	d = newDesk(t)
	runs = d.line(5*second, 2)
	runs[0].Away = true
	if d.Pass(5 * lease); runs[1].acquired < lease || runs[1].acquired > lease+second {
		t.Errorf("the lock of a dead holder was acquired at %v", runs[1].acquired)
	}
}

// A waiter that returns late keeps its place if no other has passed. Otherwise it
// queues again and reports the new place.
func TestWhoWasAway(t *testing.T) {
	for name, tt := range map[string]struct {
		back  time.Duration
		story []string
		told  int
	}{
		"no other has passed": {7 * second, []string{"c1 in", "c1 out", "c2 in", "c2 out", "c3 in", "c3 out"}, 1},
		"another has passed":  {12 * second, []string{"c1 in", "c1 out", "c3 in", "c3 out", "c2 in", "c2 out"}, 2},
	} {
		d := newDesk(t)
		runs := d.line(8*second, 3)
		runs[1].Away = true
		d.Pass(tt.back)
		runs[1].Away = false
		d.Pass(10 * lease)
		if d.Story(tt.story...); len(runs[1].Places) != tt.told {
			t.Errorf("%s: got the places %v", name, runs[1].Places)
		}
	}
}

// A client that gives up leaves no entry, and its error is definite only if that
// is certain.
func TestWhoGivesUpLeaves(t *testing.T) {
	silent := map[int]fault{}
	for i := 8; i < 15; i++ {
		silent[i] = lostCall
	}
	for name, tt := range map[string]struct {
		faults   map[int]fault
		definite bool
	}{
		"it waited":                        {nil, true},
		"it has never reached the server":  {map[int]fault{1: lostCall, 2: lostCall}, true},
		"its place may come late":          {map[int]fault{2: lateCall}, true},
		"its last statement has no answer": {map[int]fault{8: lostWord}, true},
		"its last statement may come late": {map[int]fault{8: lateCall}, true},
		"no answers for a while":           {silent, false}, // a task continues
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.line(5*lease, 1)
			c := d.client()
			c.faults = tt.faults
			r := c.wants(c.lock(mysqllocks.NewFairFixed), 0, 1500*ms)
			d.Pass(3 * lease)
			if r.err == nil || locks.IsDefinite(r.err) != tt.definite || strings.Contains(d.queue().S, "c2") {
				t.Errorf("%v, definite %v; it leaves %q; sent %q", r.err, locks.IsDefinite(r.err), d.queue().S, c.sent)
			}
		})
	}
}

// The row shows the outcome of a statement without an answer. A place is reported
// once, and a grant has the rest of its lease.
func TestTheRowShowsWhatBecameOfAStatement(t *testing.T) {
	for _, what := range []fault{lostWord, lostCall, lateCall} {
		d := newDesk(t)
		d.line(5*second, 1)
		c := d.client()
		c.faults[2] = what
		r := c.wants(c.lock(mysqllocks.NewFairFixed), 0, lease)
		if d.Pass(2 * lease); r.err != nil || len(c.Places) != 1 {
			t.Errorf("fault %d in the queue: %v, places %v", what, r.err, c.Places)
		}

		d = newDesk(t)
		c = d.client()
		c.faults[2] = what
		r = c.wants(c.lock(mysqllocks.NewFairFixed, token), 0, lease)
		d.Pass(2 * lease)
		if r.err != nil {
			t.Fatalf("fault %d: %v; sent %q", what, r.err, c.sent)
		}
		ends := r.lease.(locks.Deadliner).Until()
		if limit := lease + r.acquired; ends > limit || ends < lease || r.lease.(locks.Fencer).Token() != 1 {
			t.Errorf("fault %d: until %v, token %d", what, ends, r.lease.(locks.Fencer).Token())
		}
		if what == lostWord && ends > lease+2*ms {
			t.Errorf("the lease of a grant that was found later must begin with the grant, not last until %v", ends)
		}
	}
}

// Others may have queued behind a grant before its holder finds it.
func TestAGrantThatIsFoundLateHasItsPlace(t *testing.T) {
	d := newDesk(t)
	a := d.client()
	a.faults[2] = lostWord
	first := a.wants(a.lock(mysqllocks.NewFairFixed), second, lease)
	d.Pass(100 * ms)
	second := d.fixed(0, lease)
	if d.Pass(2 * lease); first.err != nil || first.Places[0] >= second.Places[0] {
		t.Errorf("%v, places %v, %v", first.err, first.Places, second.Places)
	}
}

// A grant without an answer keeps the place that it came from.
func TestAGrantWithoutAnAnswerKeepsItsPlace(t *testing.T) {
	d := newDesk(t)
	d.line(5*second, 1)
	c := d.client()
	c.unanswered = "owner=c2-1"
	r := c.wants(c.lock(mysqllocks.NewFairFixed), 0, lease)
	if d.Pass(lease); r.err != nil || c.unanswered != "" || len(c.Places) != 1 {
		t.Errorf("%v, places %v", r.err, c.Places)
	}
}

// Tokens grow with the grants in all cases.
func TestVersionsNeverRestart(t *testing.T) {
	d := newDesk(t)
	last := uint64(0)
	for _, r := range d.line(2*second, 4) {
		d.Pass(d.Time + lease)
		if got := r.lease.(locks.Fencer).Token(); got <= last {
			t.Errorf("token %d after %d", got, last)
		} else {
			last = got
		}
	}
	if row := d.rows["a"]; row.Owner.Valid || row.Expires != 0 || row.Version < 4 {
		t.Errorf("the free row is %+v", row)
	}
}

// A release without an answer is repeated, and never releases another's grant.
func TestAReleaseIsSentAgain(t *testing.T) {
	for _, what := range []fault{refused, lostCall, lostWord} {
		d := newDesk(t)
		c := d.client()
		g := c.take(c.lock(mysqllocks.NewFairFixed))
		c.faults[len(c.sent)+1] = what
		if err := c.release(g); err != nil || d.rows["a"].Owner.Valid {
			t.Errorf("fault %d: %v, and the owner is %v", what, err, d.rows["a"].Owner)
		}
		if err := c.release(g); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("fault %d: a second release: %v", what, err)
		}
	}
	d := newDesk(t)
	c := d.client()
	g := c.take(c.lock(mysqllocks.NewFairFixed))
	for i := range 50 {
		c.faults[len(c.sent)+1+i] = lostCall
	}
	if err := c.release(g); err == nil || locks.IsDefinite(err) || len(c.sent) > 15 {
		t.Errorf("%v after %q", err, c.sent)
	}
}

// Wrong calls do no harm.
func TestMisuse(t *testing.T) {
	d := newDesk(t)
	a, b := d.client(), d.client()
	own, other := a.lock(mysqllocks.NewFairFixed), b.lock(mysqllocks.NewFairFixed)
	a.take(own)
	if err := b.releaseName(other); !errors.Is(err, locks.ErrNotHeld) || !d.rows["a"].Owner.Valid {
		t.Errorf("a release without a grant: %v, the owner %v", err, d.rows["a"].Owner)
	}
	nested := a.wants(own, 0, lease)
	if d.Pass(d.Time + second); !errors.Is(nested.err, mysqllocks.ErrHeld) || !locks.IsDefinite(nested.err) {
		t.Errorf("a nested acquire: %v", nested.err)
	}
	if err := a.releaseName(own); err != nil || d.rows["a"].Owner.Valid {
		t.Errorf("a release by name: %v, the owner %v", err, d.rows["a"].Owner)
	}
	a.take(own)
	d.Pass(3 * lease)
	a.take(own) // an expired grant does not block the next
	d.Pass(6 * lease)
	b.take(other)
	_ = a.wants(own, 0, d.Time)
	d.Pass(d.Time + second)
	before := len(a.sent)
	if err := a.releaseName(own); !errors.Is(err, locks.ErrNotHeld) || len(a.sent) > before {
		t.Errorf("a release of an expired grant after another acquire: %v after %q", err, a.sent[before:])
	}
}

// A client takes the place of an expired entry in a full queue. Without one it
// waits until there is room.
func TestAFullQueue(t *testing.T) {
	id := strings.Repeat("x", 54) // the queue has room for sixteen entries
	for _, away := range []bool{false, true} {
		d := newDesk(t)
		until := d.clock(lease)
		if away {
			until = d.clock(0)
		}
		d.Pass(second)
		entry := id + ":" + strconv.FormatInt(until, 36) + ","
		d.row(8*second, mysql.Some(strings.Repeat(entry, mysql.QueueLength/len(entry))))
		row := d.rows["a"]
		row.Owner, row.Version = mysql.Some("x"), 1
		d.rows["a"] = row
		r := d.fixed(0, 10*lease)
		d.Pass(3 * second)
		if (len(r.Places) == 1) != away {
			t.Errorf("away %v: places %v", away, r.Places)
		}
		if d.Pass(10 * lease); r.err != nil {
			t.Errorf("away %v: %v", away, r.err)
		}
	}
}

// clock returns the server's clock at that time.
func (d *desk) clock(at time.Duration) int64 { return time.Unix(1000, 0).Add(at).UnixMilli() }

// Clients' clocks do not matter.
func TestClocksOfClientsDoNotMatter(t *testing.T) {
	d := newDesk(t)
	runs := d.line(5*second, 3)
	runs[1].Skew, runs[2].Skew = 10*lease, -10*lease
	d.Pass(10 * lease)
	d.Story("c1 in", "c1 out", "c2 in", "c2 out", "c3 in", "c3 out")
	if got := slices.Concat(runs[0].Places, runs[1].Places, runs[2].Places); len(got) != 3 {
		t.Errorf("places %v", got)
	}
}
