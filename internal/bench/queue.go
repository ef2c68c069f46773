package bench

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

// Queue describes one measurement of a lock with a queue: Waiters wait behind a holder.
// The holder leaves, and one waiter enters. When all are at rest, the first client
// comes again, to the end of the queue. When all are at rest again, the new holder
// leaves, and so on. So every hand-over finds the same number of waiters.
type Queue struct {
	Lock    catalogue.Lock // of an ensemble
	Waiters int
	Lease   time.Duration // T, the session timeout
	For     time.Duration // measured time, after the first hand-overs
	Seed    uint64        // only sim can repeat a measurement
}

// Change is the traffic and time that one client causes by leaving or coming, until all
// are at rest again.
type Change struct {
	Traffic
	Enters time.Duration // until another client entered; 0: none did
	Rests  time.Duration // until the last answer or notification
}

// Changes are the results of a measurement, in order of time.
type Changes struct {
	Left []Change // hand-overs: the holder leaves
	Came []Change // a client comes to the end of the queue
}

// Measured reports whether there are changes of both kinds.
func (c *Changes) Measured() bool { return len(c.Left) > 0 && len(c.Came) > 0 }

// rest is how long no port may have traffic before all clients count as at rest. No
// client has a request under way then, and a notification takes less time.
const rest = 100 * time.Millisecond

// warmUp is the number of hand-overs that do not count: that of the first holder. In
// zk-children it enters a second time when others come, and deletes its node twice.
const warmUp = 1

// queueName is the name of the lock.
const queueName = "herd"

// names returns the names of the clients: one more than there are waiters.
func (q *Queue) names() []string { return clientNames(q.Waiters + 1) }

// ErrNoHandOver is the error of a measurement that ended before the first hand-over
// that counts.
var ErrNoHandOver = errors.New("no hand-over was measured")

// line is one measurement in one environment.
type line struct {
	Queue
	ctx   context.Context // ends it early
	stop  func()          // ends the environment
	place place
	ports ports

	mu        sync.Mutex
	ops       int
	came      int             // number of times that a client has come
	out       int             // clients that neither wait nor hold
	holder    map[string]bool // names of clients that hold
	entries   int             // so far
	handOvers int             // so far
	begin     time.Duration   // start of the measured time
	turned    time.Duration   // start of the last change, or the last entry
	change    *Change         // the current change; nil: it does not count
	began     time.Duration   // start of the current change
	before    Traffic         // traffic before the current change
	changes   Changes
	over      bool
	err       error
}

func newLine(ctx context.Context, q Queue) *line {
	l := &line{Queue: q, out: q.Waiters + 1, holder: map[string]bool{}}
	l.ctx, l.stop = context.WithCancel(ctx)
	return l
}

// measure lets the clients queue up in an environment, and returns the changes.
func (l *line) measure(where place) (Changes, error) {
	defer l.stop()
	l.place, l.ports.now = where, where.Now
	for i, name := range l.names() {
		where.Go(func() { l.play(i, name, where.client(name)) })
	}
	err := errors.Join(where.Run(), l.err)
	if err == nil {
		err = l.ctx.Err()
	}
	if err == nil && !l.changes.Measured() {
		err = ErrNoHandOver
	}
	return l.changes, err
}

// play runs one client. The clients come one after the other; otherwise those connected
// to the leader would be first. The second client waits until the first one has
// entered. In zk-children only a client that is alone can enter at first, so all might
// wait for ever otherwise.
func (l *line) play(n int, name string, c client) {
	l.await(func() bool { return l.came == n && l.joined() && (n == 0 || l.entries > 0) })
	for !l.ended() {
		op := env.Op{Index: l.comes(), Lock: queueName}
		if _, err := c.Acquire(op, l.limit()-l.place.Now()); err != nil {
			l.fail(err)
			return
		}
		l.enters(name)
		l.await(func() bool { return l.out == 0 && l.still() })
		op.Acquire = op.Index
		entries, counts := 0, false
		op.Index, entries, counts = l.leaves(name)
		if err := c.Release(op); err != nil && (counts || !errors.Is(err, locks.ErrNotHeld)) {
			l.fail(err)
			return
		}
		l.await(func() bool { return l.entries > entries && l.still() })
	}
}

// ErrStuck is the error of a measurement that takes much longer than it should.
var ErrStuck = errors.New("the queue does not come to rest, or stands still")

// limit returns the longest time of a measurement.
func (q *Queue) limit() time.Duration { return 10*q.For + time.Minute }

// await returns when so returns true, or when the measurement is over. It calls so with
// the mutex held.
func (l *line) await(so func() bool) {
	for {
		l.mu.Lock()
		enough := l.over || so()
		l.mu.Unlock()
		switch {
		case enough || l.ctx.Err() != nil:
			return
		case l.place.Now() >= l.limit():
			l.fail(ErrStuck)
			return
		}
		l.place.Sleep(rest / 4)
	}
}

// joined reports whether all clients that have come are in the queue.
func (l *line) joined() bool {
	t, _, _ := l.ports.sum()
	return t.Joined >= l.came
}

// still reports whether all clients are at rest.
func (l *line) still() bool {
	_, last, asked := l.ports.sum()
	return l.joined() && asked == 0 && l.place.Now()-max(last, l.turned) >= rest
}

// ended reports whether no client comes again.
func (l *line) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over || l.ctx.Err() != nil
}

// fail ends the measurement for all.
func (l *line) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.err == nil && l.ctx.Err() == nil { // otherwise the error is a consequence of that one
		l.err = err
	}
	l.stop()
}

// comes notes that a client comes, and returns the index of its acquire.
func (l *line) comes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.came++
	l.out--
	l.turn(&l.changes.Came)
	l.ops++
	return l.ops
}

// index returns the index of an operation that no client asked for.
func (l *line) index() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ops++
	return l.ops
}

// enters notes that a client has entered.
func (l *line) enters(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder[name] = true
	l.entries++
	l.turned = l.place.Now()
	if l.change != nil && l.change.Enters == 0 {
		l.change.Enters = l.turned - l.began
	}
}

// leaves notes that the holder leaves. It returns the index of its release, the number
// of entries so far, and whether the change counts. When the measured time is over it
// ends the measurement, and the queue drains.
func (l *line) leaves(name string) (index, entries int, counts bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out++
	delete(l.holder, name)
	if l.handOvers == warmUp {
		l.begin = l.place.Now()
	}
	l.handOvers++
	counts = l.handOvers > warmUp
	l.over = l.over || counts && l.place.Now() >= l.begin+l.For
	l.turn(&l.changes.Left)
	l.ops++
	return l.ops, l.entries, counts
}

// turn ends the current change, and begins one of the given kind.
func (l *line) turn(kind *[]Change) {
	now := l.place.Now()
	sum, last, _ := l.ports.sum()
	if c := l.change; c != nil {
		c.Traffic = sum.minus(l.before)
		c.Rests = max(0, last-l.began)
	}
	l.change, l.turned = nil, now
	if l.over || l.handOvers <= warmUp {
		return
	}
	*kind = append(*kind, Change{})
	l.change = &(*kind)[len(*kind)-1]
	l.began, l.before = now, sum
}

// mean returns the mean of a figure of changes, or 0 without any.
func mean(changes []Change, of func(*Change) int) float64 {
	sum := 0
	for i := range changes {
		sum += of(&changes[i])
	}
	return float64(sum) / float64(max(1, len(changes)))
}

// median returns the median of a duration of changes in milliseconds, or 0 if there are
// none.
func median(changes []Change, of func(*Change) time.Duration) float64 {
	var all []float64
	for i := range changes {
		all = append(all, of(&changes[i]).Seconds()*1000)
	}
	return middle(all)
}
