package redis_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
)

// A third of three seconds is one second.
var threeSeconds = redislocks.Options{TTL: 3 * time.Second}

func TestAWatchdogRenewsEveryThird(t *testing.T) {
	d := newDesk(t)
	lease := take(t, redislocks.NewWatchdog(d, d.port(), threeSeconds))
	d.Pass(3500 * time.Millisecond)
	// The acquire took 1 ms, and so does each renewal.
	want := []locks.News{{Until: 4001 * time.Millisecond}, {Until: 5002 * time.Millisecond}, {Until: 6003 * time.Millisecond}}
	if !slices.Equal(d.news, want) || until(lease) != want[2].Until {
		t.Errorf("news %v, until %v; want %v", d.news, until(lease), want)
	}
	if got := d.sent[1:]; !slices.Equal(got, slices.Repeat([]string{"script a id1 3000"}, 3)) {
		t.Errorf("sent %q", got)
	}
	must(t, lease.Release(t.Context()))
	sent := len(d.sent)
	d.Pass(time.Minute)
	if len(d.sent) != sent || d.nodes[0].value() != "" {
		t.Errorf("after its release: %q", d.sent[sent:])
	}
}

// A renewal under way does not come after the release.
func TestAReleaseWaitsForTheRenewal(t *testing.T) {
	d := newDesk(t, nil, slowReply(200*time.Millisecond))
	lease := take(t, redislocks.NewWatchdog(d, d.port(), threeSeconds))
	d.Pass(1050 * time.Millisecond)
	must(t, lease.Release(t.Context()))
	if want := 1202 * time.Millisecond; d.Time != want || len(d.news) != 0 {
		t.Errorf("released at %v with news %v, want it at %v with none", d.Time, d.news, want)
	}
}

func TestAWatchdogReportsALoss(t *testing.T) {
	const ms = time.Millisecond
	cut := []any{nil, silence{}, silence{}, silence{}, silence{}, silence{}}
	for _, tt := range []struct {
		name    string
		answers []any
		news    []locks.News
		at      time.Duration // time of the check
		sent    int           // number of renewals
	}{
		{"the key is another's", []any{nil, nil, reply(0)}, []locks.News{{Until: 4001 * ms}, {}}, 2100 * ms, 2},
		{"no answer at all", cut, []locks.News{{}}, 3001 * ms, 3},
		{"no answer twice", cut[:3], []locks.News{{Until: 5621 * ms}}, 2700 * ms, 3},
		{"the server returns an error", []any{nil, errNever}, []locks.News{{Until: 4062 * ms}}, 1100 * ms, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, tt.answers...)
			take(t, redislocks.NewWatchdog(d, d.port(), threeSeconds))
			d.Pass(tt.at)
			if !slices.Equal(d.news, tt.news) || len(d.sent)-1 != tt.sent {
				t.Errorf("news %v and %d renewals, want %v and %d", d.news, len(d.sent)-1, tt.news, tt.sent)
			}
			if lost := d.news[len(d.news)-1] == (locks.News{}); lost {
				d.Pass(time.Minute)
				if len(d.sent)-1 != tt.sent {
					t.Errorf("a lost lock is renewed: %q", d.sent)
				}
			}
		})
	}
}

// The rest of the lease limits the last renewal: the client is notified of the
// loss when it happens, not later.
func TestALossIsReportedWhenTheLeaseEnds(t *testing.T) {
	d := newDesk(t, nil, silence{}, silence{}, silence{})
	take(t, redislocks.NewWatchdog(d, d.port(), threeSeconds))
	d.Pass(2999 * time.Millisecond)
	if len(d.news) != 0 {
		t.Errorf("reported early: %v", d.news)
	}
	d.Pass(3000 * time.Millisecond)
	if len(d.news) != 1 {
		t.Errorf("not reported: %v", d.timeouts)
	}
}

func TestACappedWatchdogStops(t *testing.T) {
	o := threeSeconds
	o.Cap = true
	d := newDesk(t)
	lease := take(t, redislocks.NewWatchdog(d, d.port(), o))
	d.Pass(time.Minute)
	if end := until(lease); len(d.news) != 5 || end < 7*time.Second || end >= 8*time.Second {
		t.Errorf("%d renewals, the last until %v: want 4 and the loss, until less than 3 T after the grant", len(d.news), end)
	}
	if err := lease.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("released long after its end: %v", err)
	}
}

func TestABlindWatchdogRenewsWhoseverKeyItIs(t *testing.T) {
	d := newDesk(t)
	take(t, redislocks.NewWatchdogBlind(d, d.port(), threeSeconds))
	d.nodes[0].holds("another's", time.Second*2)
	d.Pass(20 * time.Second)
	if d.nodes[0].value() != "another's" || len(d.news) != 19 || d.news[18].Until < 20*time.Second {
		t.Errorf("the key is gone, or it does not believe that it holds: %v", d.news)
	}
	for _, sent := range d.sent[1:] {
		if !strings.HasPrefix(sent, "PEXPIRE a 3000") {
			t.Errorf("sent %q", sent)
		}
	}
}
