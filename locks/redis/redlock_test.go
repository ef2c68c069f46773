package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
)

var redlocks = map[string]makeRedlock{
	"redlock":                  redislocks.NewRedlock,
	"redlock-seed":             redislocks.NewRedlockSeed,
	"redlock-continue":         redislocks.NewRedlockContinue,
	"redlock-flawed-quorum":    redislocks.NewRedlockFlawedQuorum,
	"redlock-flawed-timeout":   redislocks.NewRedlockFlawedTimeout,
	"redlock-flawed-wallclock": redislocks.NewRedlockFlawedWallClock,
	"redlock-flawed-seconds":   redislocks.NewRedlockFlawedSeconds,
	"redlock-flawed-validity":  redislocks.NewRedlockFlawedValidity,
	"redlock-flawed-release":   redislocks.NewRedlockFlawedRelease,
}

// Every node gets the request for the lock and the release, at once or one after
// the other, each with its timeout.
func TestRedlockRecipes(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name    string
		set     string
		asking  time.Duration // duration of the requests to all nodes
		timeout time.Duration
		until   time.Duration
	}{
		{"redlock", "SET a id1 NX PX 10000", ms, 250 * ms, 10*time.Second - 102*ms},
		{"redlock-seed", "SET a id1 NX PX 10000", 5 * ms, 250 * ms, 10 * time.Second},
		{"redlock-continue", "script a id1  10000", 5 * ms, 2500 * ms, 10*time.Second + 5*ms - 102*ms},
		{"redlock-flawed-quorum", "SET a id1 NX PX 10000", ms, 250 * ms, 10*time.Second - 102*ms},
		{"redlock-flawed-timeout", "SET a id1 NX PX 10000", 5 * ms, time.Hour, 10*time.Second - 102*ms},
		{"redlock-flawed-wallclock", "SET a id1 NX PX 10000", ms, 250 * ms, 10*time.Second - 102*ms},
		{"redlock-flawed-seconds", "SET a id1 NX PX 10000", ms, 250 * ms, 10*time.Second + ms - 102*ms},
		{"redlock-flawed-validity", "SET a id1 NX PX 10000", ms, 250 * ms, 10*time.Second + ms - 102*ms},
		{"redlock-flawed-release", "SET a id1 NX PX 10000", ms, 250 * ms, 10*time.Second - 102*ms},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newNodes(t, 5)
			lease := take(t, redlocks[tt.name](d, d.ports(), tenSeconds))
			if d.Time != tt.asking || until(lease) != tt.until {
				t.Errorf("granted at %v until %v, want at %v until %v", d.Time, until(lease), tt.asking, tt.until)
			}
			must(t, lease.Release(t.Context()))
			var want []string
			for _, request := range []string{tt.set, "script a id1"} {
				for n := range d.nodes {
					want = append(want, fmt.Sprintf("%d: %s", n+1, request))
				}
			}
			if !slices.Equal(d.sent, want) || d.Time != 2*tt.asking {
				t.Errorf("sent %q by %v, want %q", d.sent, d.Time, want)
			}
			if slices.ContainsFunc(d.timeouts, func(got time.Duration) bool { return got != tt.timeout }) {
				t.Errorf("timeouts %v, want %v", d.timeouts, tt.timeout)
			}
		})
	}
}

// answers sets the nodes' answers to the first request: + grants, - has another's
// key, x is unreachable, ? never gets it, o grants without an answer, ! returns
// an error.
func answers(d *desk, text string) *desk {
	for i, a := range text {
		n := d.nodes[i]
		switch a {
		case '-':
			n.holds("other", 0)
		case 'x':
			n.answers = []any{errNever, errNever}
		case '?':
			n.answers = []any{silence{}}
		case 'o':
			n.answers = []any{noAnswer{}}
		case '!':
			n.answers = []any{locks.Definite(errors.New("MOVED 1 redis-2:6379"))}
		}
	}
	return d
}

func TestQuorum(t *testing.T) {
	for _, tt := range []struct {
		nodes   string
		lock    string
		granted bool
	}{
		{"+++++", "redlock", true},
		{"+++--", "redlock", true},
		{"++---", "redlock", false},
		{"++xxx", "redlock", false},
		{"+++x?", "redlock", true},
		{"!!+++", "redlock", true},
		{"!!!++", "redlock", false},
		{"+++?-", "redlock-seed", true},
		{"++?--", "redlock-seed", false},
		{"++-", "redlock-continue", true},
		{"+--", "redlock-continue", false},
		{"++-", "redlock", true},
		{"++--", "redlock", false},
		{"+", "redlock", true},
		{"++xxx", "redlock-flawed-quorum", true},
		{"++-xx", "redlock-flawed-quorum", true},
		{"+--xx", "redlock-flawed-quorum", false},
		{"+xxxx", "redlock-flawed-quorum", true},
		{"xxxxx", "redlock-flawed-quorum", false},
		{"++???", "redlock-flawed-quorum", true},
	} {
		d := answers(newNodes(t, len(tt.nodes)), tt.nodes)
		d.endEarly = true
		if _, err := redlocks[tt.lock](d, d.ports(), tenSeconds).Acquire(t.Context(), "a"); (err == nil) != tt.granted {
			t.Errorf("%s with %s: %v", tt.lock, tt.nodes, err)
		}
	}
}

// A failed round is undone on every node, even after the end of the caller's time
// and on nodes that refused. The error is definite only if no key can be left.
func TestAFailedRoundIsUndone(t *testing.T) {
	for _, tt := range []struct {
		name     string
		nodes    string // see answers
		undo     []any  // each node's answer to the script
		definite bool
	}{
		{"a minority granted", "+--", nil, true},
		{"no node granted", "---", nil, true},
		{"no node is reachable", "xxx", nil, true},
		{"the granting node does not answer", "+--", []any{errLost, nil, nil}, false},
		{"the granting node is unreachable", "+--", []any{errNever, nil, nil}, false},
		{"a refusing node does not answer", "+--", []any{nil, nil, errLost}, false},
		{"a refusing node is unreachable", "+--", []any{nil, nil, errNever}, true},
		{"one node never got the request", "--?", nil, false},
		{"one node granted without an answer", "--o", nil, true},
		{"one node granted and never answers", "--o", []any{nil, nil, errLost}, false},
	} {
		for _, lock := range []string{"redlock", "redlock-seed"} {
			d := answers(newNodes(t, 3), tt.nodes)
			d.endEarly = true
			for i, undo := range tt.undo {
				n := d.nodes[i]
				n.answers = append(n.answers, slices.Repeat([]any{nil}, 1-len(n.answers))...)
				n.answers = append(n.answers, undo)
			}
			_, err := redlocks[lock](d, d.ports(), tenSeconds).Acquire(t.Context(), "a")
			if err == nil || locks.IsDefinite(err) != tt.definite || tt.definite && !errors.Is(err, locks.ErrNotAcquired) {
				t.Errorf("%s, %s: %v, definite %v", lock, tt.name, err, locks.IsDefinite(err))
			}
			for i := range d.nodes {
				if !slices.Contains(d.sent, fmt.Sprintf("%d: script a id1", i+1)) {
					t.Errorf("%s, %s: node %d got no delete: %q", lock, tt.name, i+1, d.sent)
				}
			}
		}
	}
}

// The flawed release and the flawed undo send the delete only to nodes that
// answered yes.
func TestOnlyGrantorsGetTheDelete(t *testing.T) {
	for nodes, told := range map[string][]string{
		"+++oo": {"1: script a id1", "2: script a id1", "3: script a id1"},
		"++ooo": {"1: script a id1", "2: script a id1"},
	} {
		d := answers(newNodes(t, 5), nodes)
		d.endEarly = true
		if lease, err := redislocks.NewRedlockFlawedRelease(d, d.ports(), tenSeconds).Acquire(t.Context(), "a"); err == nil {
			if err := lease.Release(t.Context()); err != nil {
				t.Errorf("%s: %v", nodes, err)
			}
		}
		got := slices.DeleteFunc(d.sent, func(s string) bool { return !strings.Contains(s, "script") })
		if !slices.Equal(got, told) {
			t.Errorf("%s: sent %q, want %q", nodes, got, told)
		}
	}
}

// An uncertain round makes the final error uncertain.
func TestADoubtStays(t *testing.T) {
	d := answers(newNodes(t, 3), "?--")
	_, err := redislocks.NewRedlock(d, d.ports(), tenSeconds).Acquire(d.Ends(time.Second), "a")
	if err == nil || locks.IsDefinite(err) || strings.Count(strings.Join(d.sent, "\n"), "1: SET") < 2 {
		t.Errorf("%v after %q", err, d.sent)
	}
}

// The undo of a round may be late: it does not delete the key of the next round.
func TestARoundIsNotUndoneByTheOneBefore(t *testing.T) {
	for _, lock := range []string{"redlock", "redlock-seed"} {
		d := newNodes(t, 3)
		for _, n := range d.nodes[1:] {
			n.holds("other", time.Second)
		}
		lease := take(t, redlocks[lock](d, d.ports(), tenSeconds))
		if !slices.Contains(d.sent, "1: script a id1") {
			t.Fatalf("%s: the first round was not undone: %q", lock, d.sent)
		}
		for i, p := range d.ports() {
			if again, err := p.CompareAndDelete(t.Context(), time.Second, "a", "id1"); again || err != nil {
				t.Errorf("%s: the undo of the first round deletes the key of node %d: %v", lock, i+1, err)
			}
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Errorf("%s: %v", lock, err)
		}
	}
}

// A round that leaves nothing of the lease fails.
func TestARoundThatTookTooLong(t *testing.T) {
	slow := func(d *desk, each time.Duration) *desk {
		for _, n := range d.nodes {
			n.answers = []any{slowReply(each)}
		}
		return d
	}
	for _, tt := range []struct {
		lock    string
		each    time.Duration
		jump    time.Duration // of the wall clock during the round
		until   time.Duration // 0: it fails
		granted bool
	}{
		{"redlock", 9 * time.Second, 0, 10*time.Second - 102*time.Millisecond, true},
		{"redlock", 9899 * time.Millisecond, 0, 0, false},
		{"redlock", 15 * time.Second, -15 * time.Second, 0, false},
		{"redlock-seed", 1999 * time.Millisecond, 0, 10 * time.Second, true},
		{"redlock-seed", 2 * time.Second, 0, 0, false},
		{"redlock-seed", 3 * time.Second, -15 * time.Second, 25 * time.Second, true},
		{"redlock-flawed-wallclock", 8 * time.Second, -8 * time.Second, 18*time.Second - 102*time.Millisecond, true},
		{"redlock-flawed-validity", 6 * time.Second, 0, 16*time.Second - 102*time.Millisecond, true},
		{"redlock-flawed-validity", 9899 * time.Millisecond, 0, 0, false},
		{"redlock-flawed-seconds", 900 * time.Millisecond, 0, 10900*time.Millisecond - 102*time.Millisecond, true},
		{"redlock-flawed-seconds", 1100 * time.Millisecond, 0, 10100*time.Millisecond - 102*time.Millisecond, true},
	} {
		d := slow(newNodes(t, 5), tt.each)
		d.endEarly = true
		d.Go(func(ctx context.Context) {
			d.Sleep(ctx, tt.each/2)
			d.Skew = tt.jump
		})
		lease, err := redlocks[tt.lock](d, d.ports(), tenSeconds).Acquire(t.Context(), "a")
		if (err == nil) != tt.granted || tt.granted && until(lease) != tt.until {
			t.Errorf("%s, %v each: %v, %v, want it until %v", tt.lock, tt.each, lease, err, tt.until)
		}
	}
}

func TestWhatAReleaseOfManyNodesKnows(t *testing.T) {
	for _, tt := range []struct {
		nodes    string // + has the key, - does not, ? does not answer, x is never asked
		want     error
		definite bool // for other errors
	}{
		{"+++++", nil, true},
		{"+++??", nil, true},
		{"+++--", nil, true},
		{"++---", nil, true},
		{"+----", nil, true},
		{"-----", locks.ErrNotHeld, true},
		{"++-??", errors.ErrUnsupported, false},
		{"----?", errors.ErrUnsupported, false},
		{"++xxx", errors.ErrUnsupported, false},
	} {
		d := newNodes(t, 5)
		lease := take(t, redislocks.NewRedlock(d, d.ports(), tenSeconds))
		for i, a := range tt.nodes {
			switch n := d.nodes[i]; a {
			case '-':
				n.holds("other", 0)
			case '?':
				n.answers = []any{errLost}
			case 'x':
				n.answers = []any{errNever}
			}
		}
		err := lease.Release(t.Context())
		if known := err == nil || locks.IsDefinite(err); known != tt.definite || known && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, definite %v", tt.nodes, err, known)
		}
	}
}
