package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// recipe keeps the sessions that no acquisition uses. One that is held or
// waited for has its session to itself, so that its events have one reader. A
// client that takes one lock at a time has one session.
type recipe struct {
	locker
	idle   []*session
	closed bool
}

// NewRecipe is the lock of ZooKeeper's manual, done right. A node's name holds a
// string that nobody else has, so that it is known again when the answer to the
// create was lost. After every wake-up the queue is listed again. Only the node
// before the own is watched. A node that is not needed is deleted until an answer
// comes, or its session has ended and taken it along.
//
// It grants in the order of the queue. It promises exclusion for as long as the
// session lives; a client that loses its connection cannot know that, and is told
// at once that the lock is lost. Who is paused learns it late: what the lock
// guards is safe only with fencing tokens.
//
// Sources: Apache ZooKeeper, Recipes, "Locks" and "Recoverable Errors and the
// GUID"; Apache Curator, LockInternals and Tech Note 10; CURATOR-498, for a name
// that does not outlive its session.
func NewRecipe(h locks.Host, p zookeeper.Port, o Options) locks.Locker {
	return &recipe{locker: newLocker(h, p, o)}
}

// Acquire queues up, and anew when its session has ended: its node went with
// that. A caller that gives up leaves no node: where that is not sure yet, the
// error says so, and a task goes on deleting.
func (l *recipe) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	for ctx.Err() == nil {
		s, err := l.take(ctx)
		if err != nil {
			return nil, err
		}
		p := &place{lock: l, session: s, parent: "/" + name, prefix: l.host.Unique() + "-lock-"}
		err = p.wait(ctx)
		switch {
		case err == nil:
			p.reader = l.host.Go(p.listen)
			return p, nil
		case s.over:
			continue
		}
		return nil, p.giveUp(ctx, err)
	}
	return nil, locks.ErrNotAcquired
}

// Close ends the sessions that nobody uses. Those of leases end with them.
func (l *recipe) Close(ctx context.Context) error {
	var errs []error
	for _, s := range l.idle {
		if err := s.Close(ctx, l.Timeout); err != nil && !s.over {
			errs = append(errs, err)
		}
	}
	l.idle, l.closed = nil, true
	return errors.Join(errs...)
}

// take is a session that nobody uses.
func (l *recipe) take(ctx context.Context) (*session, error) {
	for n := len(l.idle) - 1; n >= 0; n-- {
		s := l.idle[n]
		l.idle = l.idle[:n]
		if !s.over {
			return s, nil
		}
	}
	return l.open(ctx)
}

// put gives a session back that is not used any more.
func (l *recipe) put(s *session) {
	switch {
	case s.over:
	case l.closed:
		_ = s.Close(l.host.Life(), l.Timeout) // without an answer it expires
	default:
		l.idle = append(l.idle, s)
	}
}

// wait returns when the place is the head of the queue.
func (p *place) wait(ctx context.Context) error {
	for {
		p.lock.host.Mark("queue", int64(p.number), p.session.ID())
		before, err := p.look(ctx)
		switch {
		case err != nil:
		case before != "":
			err = p.watch(ctx, before)
		case p.quiet(ctx):
			return nil
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case p.session.over:
			return zookeeper.ErrSessionExpired
		case err == nil:
			continue
		case refused(err):
			return err
		}
		if err := p.pause(ctx); err != nil {
			return err
		}
	}
}

// look finds the node before the own, "" if there is none. It makes the own
// one, unless there is one.
func (p *place) look(ctx context.Context) (before string, err error) {
	if err := p.make(ctx); err != nil {
		return "", err
	}
	queue, err := p.queue(ctx)
	if err != nil {
		return "", err
	}
	own := slices.IndexFunc(queue, func(w waiter) bool { return w.node == p.node })
	if own >= 0 {
		p.tell(queue[own].at)
	}
	if own > 0 {
		return p.parent + "/" + queue[own-1].node, nil
	}
	if own == 0 {
		err = p.fence(ctx)
	}
	if own < 0 || errors.Is(err, zookeeper.NoNode) {
		p.node, err = "", errGone // the next look makes another
	}
	return "", err
}

// errGone: somebody has deleted the own node.
var errGone = errors.New("zookeeper: the node has gone from the queue")

// refused tells whether asking again would bring the same answer.
func refused(err error) bool {
	_, ok := errors.AsType[zookeeper.Code](err)
	return ok
}

// watch returns when the node at path may be gone. The session's first
// connection is no news, and while it has none there is nothing to ask.
func (p *place) watch(ctx context.Context, path string) error {
	_, there, err := p.session.Exists(ctx, p.lock.Timeout, path, true)
	for there && err == nil {
		cut, e := p.session.cut, zookeeper.Event{}
		e, err = p.session.Next(ctx, 0)
		if e.Type != zookeeper.Disconnected && (e.Type != zookeeper.Connected || cut) {
			break
		}
	}
	return err
}

// quiet tells whether no connection was lost before the last answer came; else
// the queue has to be listed once more. So who reads the events of a grant does
// not take an old loss for one of its own.
func (p *place) quiet(ctx context.Context) bool {
	for quiet := true; ; {
		e, err := p.session.Next(ctx, glance)
		switch {
		case errors.Is(err, zookeeper.ErrNoEvent):
			return quiet
		case err != nil:
			return false
		case e.Type == zookeeper.Disconnected || p.session.over:
			quiet = false
		}
	}
}

// glance is how long a look takes at the events that are there already: 0 would
// be for ever.
const glance = time.Nanosecond

// listen reads the events of a grant. At the first that makes it doubtful the
// client is told that it is lost: its session may have ended already.
func (p *place) listen(ctx context.Context) {
	for {
		e, err := p.session.Next(ctx, 0)
		switch {
		case err != nil && ctx.Err() != nil:
			return
		case err != nil || p.session.over || e.Type == zookeeper.Disconnected:
			p.lock.host.Report(locks.News{})
			return
		}
	}
}

// Release deletes the node. ErrLost: it went with its session; ErrNotHeld:
// somebody else has deleted it.
func (p *place) Release(ctx context.Context) error {
	if p.reader == nil {
		return locks.ErrNotHeld
	}
	p.reader.Stop()
	p.reader.Wait()
	p.reader = nil
	return p.remove(func() bool { return ctx.Err() == nil })
}

// giveUp leaves the queue. It waits for that for T, since its caller has no time
// left to give.
func (p *place) giveUp(ctx context.Context, cause error) error {
	end := p.lock.host.Mono() + p.lock.TTL
	err := p.remove(func() bool { return p.lock.host.Mono() < end })
	switch {
	case err != nil && !locks.IsDefinite(err):
		return fmt.Errorf("%v; %v", cause, err)
	case ctx.Err() != nil:
		return locks.ErrNotAcquired
	}
	return locks.Definite(cause)
}
