package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// recipe keeps the unused sessions. A hold or a wait has a session to itself, so
// that its events have one reader. A client that takes one lock at a time has one
// session.
type recipe struct {
	locker
	idle   []*session
	closed bool
}

// NewRecipe is the lock of ZooKeeper's manual, implemented correctly. A node's
// name has a unique string, so that the client recognises it after a create
// without an answer. It lists the queue again after every wake-up. It watches
// only the node before its own. It deletes an unneeded node until an answer
// comes, or until the session has ended and removed it.
//
// It grants in the order of the queue. It promises exclusion for as long as the
// session lives. A client that loses its connection cannot know that, and is
// notified at once that the lock is lost. A paused client learns it late: the
// resource is safe only with fencing tokens.
//
// Sources: Apache ZooKeeper, Recipes, "Locks" and "Recoverable Errors and the
// GUID"; Apache Curator, LockInternals and Tech Note 10; CURATOR-498, for a name
// that does not outlive its session.
func NewRecipe(h locks.Host, p zookeeper.Port, o Options) locks.Locker {
	return &recipe{locker: newLocker(h, p, o)}
}

// Acquire queues, and queues again if its session ends, which removes its node. A
// caller that gives up leaves no node: if that is not certain yet, the error says
// so, and a task continues to delete.
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

// Close ends the unused sessions. Sessions with leases end with these.
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

// take returns an unused session.
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

// put takes back an unused session.
func (l *recipe) put(s *session) {
	switch {
	case s.over:
	case l.closed:
		_ = s.Close(l.host.Life(), l.Timeout) // without an answer it expires
	default:
		l.idle = append(l.idle, s)
	}
}

// wait returns when the place is at the head of the queue.
func (p *place) wait(ctx context.Context) error {
	for {
		p.lock.host.Mark("queue", int64(p.number), p.session.ID())
		before, err := p.look(ctx)
		switch {
		case err != nil:
		case before != "":
			err = p.watch(ctx, before)
		case p.isQuiet(ctx):
			return nil
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case p.session.over:
			return zookeeper.ErrSessionExpired
		case err == nil:
			continue
		case isFinal(err):
			return err
		}
		if err := p.pause(ctx); err != nil {
			return err
		}
	}
}

// look returns the node before the client's own, or "". It creates the own node
// if it is missing.
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
		p.reportPlace(queue[own].at)
	}
	if own > 0 {
		return p.parent + "/" + queue[own-1].node, nil
	}
	if own == 0 {
		err = p.fence(ctx)
	}
	if own < 0 || errors.Is(err, zookeeper.NoNode) {
		p.node, err = "", errGone // the next look creates another
	}
	return "", err
}

// errGone: another client has deleted the own node.
var errGone = errors.New("zookeeper: the node has gone from the queue")

// isFinal reports whether a retry would get the same answer.
func isFinal(err error) bool {
	_, ok := errors.AsType[zookeeper.Code](err)
	return ok
}

// watch returns when the node at path may be gone. It ignores the session's first
// connection, and lost connections: without one there is no server to ask.
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

// isQuiet reports whether no connection was lost before the last answer; otherwise
// the queue must be listed again. So the reader of a grant's events does not
// report an earlier loss.
func (p *place) isQuiet(ctx context.Context) bool {
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

// glance is the timeout for events that are already in the queue. 0 would mean
// for ever.
const glance = time.Nanosecond

// listen reads the events of a grant. At the first doubtful one it notifies the
// client that the lock is lost: its session may have ended already.
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

// Release deletes the node. ErrLost: it was removed with its session. ErrNotHeld:
// another client has deleted it.
func (p *place) Release(ctx context.Context) error {
	if p.reader == nil {
		return locks.ErrNotHeld
	}
	p.reader.Stop()
	p.reader.Wait()
	p.reader = nil
	return p.remove(func() bool { return ctx.Err() == nil })
}

// giveUp leaves the queue. It tries for up to T, although its caller's time is
// over.
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
