package redis_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
)

// values returns the values on the nodes.
func (d *desk) values() (list []string) {
	for _, n := range d.nodes {
		list = append(list, n.value())
	}
	return list
}

func all(value string) []string { return slices.Repeat([]string{value}, 3) }

// A round replaces the previous round's value, and a task does a round every T/2.
func TestContinueTakesTheLockAgainAndAgain(t *testing.T) {
	d := newNodes(t, 3)
	lease := take(t, redislocks.NewRedlockContinue(d, d.ports(), tenSeconds))
	d.Pass(11 * time.Second)
	want := []string{
		"1: script a id1  10000", "2: script a id1  10000", "3: script a id1  10000",
		"1: script a id2 id1 10000", "2: script a id2 id1 10000", "3: script a id2 id1 10000",
		"1: script a id3 id2 10000", "2: script a id3 id2 10000", "3: script a id3 id2 10000",
	}
	if !slices.Equal(d.sent, want) || len(d.news) != 2 || until(lease) != d.news[1].Until {
		t.Errorf("sent %q, news %v, until %v", d.sent, d.news, until(lease))
	}
	if err := lease.Release(t.Context()); err != nil || !slices.Equal(d.values(), all("")) {
		t.Errorf("released: %v, the nodes hold %q", err, d.values())
	}
}

// With Once there is no task: the lease ends on time.
func TestContinueOnceRenewsNothing(t *testing.T) {
	d := newNodes(t, 3)
	once := tenSeconds
	once.Once = true
	lease := take(t, redislocks.NewRedlockContinue(d, d.ports(), once))
	want := until(lease)
	d.Pass(time.Hour)
	if len(d.sent) != 3 || len(d.news) != 0 || until(lease) != want {
		t.Errorf("sent %q, news %v, until %v, want %v", d.sent, d.news, until(lease), want)
	}
}

// The task is not notified of the release: if it finds the lock free it takes it
// and keeps it.
func TestContinueGoesOnAfterTheRelease(t *testing.T) {
	d := newNodes(t, 3)
	l := redislocks.NewRedlockContinue(d, d.ports(), tenSeconds)
	must(t, take(t, l).Release(t.Context()))
	d.Pass(time.Hour)
	other := redislocks.NewRedlock(d, d.ports(), tenSeconds)
	if _, err := other.Acquire(d.Ends(d.Time+time.Minute), "a"); !errors.Is(err, locks.ErrNotAcquired) {
		t.Errorf("another client: %v; the nodes hold %q", err, d.values())
	}
	take(t, l) // its own client recognises the last round's value
}

func TestContinueEndsWhereTheLockIsTaken(t *testing.T) {
	d := newNodes(t, 3)
	take(t, redislocks.NewRedlockContinue(d, d.ports(), tenSeconds))
	for _, n := range d.nodes {
		n.holds("other", 0)
	}
	d.Pass(time.Hour)
	if rounds := len(d.sent) - 3; rounds != 3*6 || len(d.news) > 0 {
		t.Errorf("%d requests to three nodes, news %v; want three rounds, each undone, and no news", rounds, d.news)
	}
}

// With a lease of one second a renewal fails if a second ends in it, and deletes
// its holder's lock.
func TestContinueDeletesWhatItFailsToRenew(t *testing.T) {
	d := newNodes(t, 3)
	d.Time = 490 * time.Millisecond
	oneSecond := redislocks.Options{TTL: time.Second}
	d.nodes[0].answers = []any{nil, slowReply(10 * time.Millisecond)}
	lease := take(t, redislocks.NewRedlockContinue(d, d.ports(), oneSecond)) // renewed from 993 ms to 1005
	d.Pass(1010 * time.Millisecond)
	take(t, redislocks.NewRedlock(d, d.ports(), oneSecond))
	if end := until(lease); d.Time >= end || len(d.news) != 0 {
		t.Errorf("another holds at %v; the first believed that it holds until %v, news %v", d.Time, end, d.news)
	}
}

// Two rounds of a client overlap: the failed one replaces the value, and the
// client no longer recognises its lock.
func TestContinueForgetsItsLock(t *testing.T) {
	d := newNodes(t, 3)
	l := redislocks.NewRedlockContinue(d, d.ports(), tenSeconds)
	must(t, take(t, l).Release(t.Context()))
	d.Pass(5*time.Second + 2500*time.Microsecond) // half a millisecond before the task's round
	lease := take(t, l)
	d.Pass(d.Time + 10*time.Millisecond)
	if !slices.Equal(d.values(), all("id2")) {
		t.Fatalf("the nodes hold %q", d.values())
	}
	if err := lease.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) || !slices.Equal(d.values(), all("id2")) {
		t.Errorf("released: %v; the nodes hold %q", err, d.values())
	}
}

// The nodes were slow, but within one second: the round seems to take no time.
func TestContinueCountsSeconds(t *testing.T) {
	d := newNodes(t, 3)
	oneSecond := redislocks.Options{TTL: time.Second}
	d.nodes[1].answers = []any{slowReply(200 * time.Millisecond)}
	d.nodes[2].answers = []any{silence{}}
	lease := take(t, redislocks.NewRedlockContinue(d, d.ports(), oneSecond))
	if want := (1 + 200 + 250 + 1000 - 12) * time.Millisecond; until(lease) != want {
		t.Errorf("until %v, want %v", until(lease), want)
	}
}
