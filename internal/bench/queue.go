package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

// Queue is what one measurement of a lock with a queue does: Waiters wait behind
// a holder. It leaves, and one of them enters. When all are at rest it comes
// again, to the end of the queue; when all are at rest that one leaves, and so
// on. So every hand-over finds as many waiting.
type Queue struct {
	Lock    catalogue.Lock // of an ensemble
	Waiters int
	Lease   time.Duration // T: how long a session lasts of which the ensemble hears nothing
	For     time.Duration // how long it is measured, after the first hand-overs
	Seed    uint64        // only sim can repeat a measurement
}

// Change is what one client's leaving, or coming, brought about until all were
// at rest again.
type Change struct {
	Traffic
	Enters time.Duration // until another client was in; 0: that is no part of it
	Rests  time.Duration // until the last answer, or notification
}

// Changes are what a measurement found, in the order in which they happened.
type Changes struct {
	Left []Change // hand-overs: the holder leaves
	Came []Change // somebody comes to the end of the queue
}

// Measured tells whether there is something of both.
func (c *Changes) Measured() bool { return len(c.Left) > 0 && len(c.Came) > 0 }

// rest is how long nothing passes any port before all are taken to be at rest.
// Nobody has a request under way then, and a notification takes less.
const rest = 100 * time.Millisecond

// warmUp is how many hand-overs do not count: that of the first holder. In
// zk-children it enters once more when others come, and deletes its node twice.
const warmUp = 1

// queueName is the lock that is queued up for.
const queueName = "herd"

// names are the clients': one more than those who wait.
func (q *Queue) names() (names []string) {
	for i := range q.Waiters + 1 {
		names = append(names, fmt.Sprintf("c%d", i+1))
	}
	return names
}

// ErrNoHandOver is a measurement that has ended before the first hand-over that
// counts.
var ErrNoHandOver = errors.New("no hand-over was measured")

// line is one measurement in one place.
type line struct {
	Queue
	ctx   context.Context // ends it early
	stop  func()          // does so
	place place
	ports ports

	mu        sync.Mutex
	ops       int
	came      int             // how often somebody has come
	out       int             // clients that neither wait nor hold
	holder    map[string]bool // by name: who is in
	entries   int             // so far
	handOvers int             // so far
	begin     time.Duration   // of what counts
	turned    time.Duration   // when the last change began, or somebody entered
	change    *Change         // that goes on; nil: none that counts
	began     time.Duration   // it did
	before    Traffic         // it began
	changes   Changes
	over      bool
	err       error
}

func newLine(ctx context.Context, q Queue) *line {
	l := &line{Queue: q, out: q.Waiters + 1, holder: map[string]bool{}}
	l.ctx, l.stop = context.WithCancel(ctx)
	return l
}

// measure has the clients queue up there.
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

// play is what one client does. They come one after the other, or those whose
// server is the leader would be first. The second one comes when the first is in:
// in zk-children, where at first only who is alone enters, all might wait for ever
// otherwise.
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

// ErrStuck is a measurement that goes on for much longer than it should.
var ErrStuck = errors.New("the queue does not come to rest, or stands still")

// limit is how long all of it may take.
func (q *Queue) limit() time.Duration { return 10*q.For + time.Minute }

// await returns when so holds, which is asked with the mutex, or the measurement
// is over.
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

// joined tells whether who has come is in the queue.
func (l *line) joined() bool {
	t, _, _ := l.ports.sum()
	return t.Joined >= l.came
}

// still tells whether all are at rest.
func (l *line) still() bool {
	_, last, asked := l.ports.sum()
	return l.joined() && asked == 0 && l.place.Now()-max(last, l.turned) >= rest
}

// ended tells whether nobody comes again.
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
	if l.err == nil && l.ctx.Err() == nil { // else it follows from that
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

// index is that of an operation that nobody has asked for.
func (l *line) index() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ops++
	return l.ops
}

// enters notes that a client is in.
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

// leaves notes that the holder leaves, and returns the index of its release, how
// many had entered, and whether it counts. When it was measured for long enough
// it is over: then the queue drains.
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

// turn ends the change that goes on, and begins one of that kind.
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

// mean is the mean of a figure of changes; of none it is 0.
func mean(changes []Change, of func(*Change) int) float64 {
	sum := 0
	for i := range changes {
		sum += of(&changes[i])
	}
	return float64(sum) / float64(max(1, len(changes)))
}

// median is the median of a length of changes, in milliseconds; of none it is 0.
func median(changes []Change, of func(*Change) time.Duration) float64 {
	var all []float64
	for i := range changes {
		all = append(all, of(&changes[i]).Seconds()*1000)
	}
	return middle(all)
}
