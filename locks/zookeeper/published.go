package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// published is what the programs of the one source share: Distributed locks
// with ZooKeeper (in Chinese). Each is a class whose constructor queues up in
// the main thread, and whose watcher is called back in the event thread; both
// call the critical section.
//
// Where the source prints an exception and goes on, so do these. Three things
// are not the source's. It opens a session for each use; here a client keeps
// one until it ends. It expects that the lock's node exists. And it waits for
// ever: a caller that gives up here has its node deleted.
//
// The source wants thisPath and waitPath to be volatile, because two threads use
// them. What a thread does not see without that cannot be shown here: one
// task runs at a time, and each sees what the one before wrote.
type published struct {
	locker
	session *session
}

// Acquire cannot be had: see Run.
func (l *published) Acquire(context.Context, string) (locks.Lease, error) {
	return nil, locks.Definite(errors.ErrUnsupported)
}

// Close ends the session.
func (l *published) Close(ctx context.Context) error {
	s := l.session
	l.session = nil
	if s == nil || s.over {
		return nil
	}
	return s.Close(ctx, l.Timeout)
}

// sub is how the source calls its nodes.
const sub = "sub"

// object is one object of the source's class, with the names that it has there.
type object struct {
	*published
	groupNode string // "/locks" in the source
	thisPath  string // "": not yet
	waitPath  string
	critical  func(context.Context, locks.Lease)
	entries   int
	inside    int   // how many threads are in
	err       error // of the entries; the worst
}

func (l *published) object(ctx context.Context, name string, critical func(context.Context, locks.Lease)) (*object, error) {
	if l.session == nil || l.session.over {
		s, err := l.open(ctx)
		if err != nil {
			return nil, err
		}
		l.session = s
	}
	return &object{published: l, groupNode: "/" + name, critical: critical}, nil
}

// create makes thisPath, and waits a little, "to make the result clearer". If
// no answer comes the program ends, and the node may be there.
func (o *object) create(ctx context.Context) error {
	path, err := o.join(ctx, o.session, o.groupNode, sub)
	if err != nil {
		return err
	}
	o.thisPath = path
	o.queued(int64(o.number()))
	return o.host.Sleep(ctx, 10*time.Millisecond)
}

// number is that of thisPath.
func (o *object) number() int32 {
	number, _ := numberOf(strings.TrimPrefix(o.thisPath, o.groupNode+"/"+sub))
	return number
}

// children is the list, sorted as the source sorts it: as strings.
func (o *object) children(ctx context.Context, watch bool) ([]string, error) {
	list, err := o.session.GetChildren(ctx, o.Timeout, o.groupNode, watch)
	slices.Sort(list)
	return list, err
}

// index is where thisPath stands in the list; -1: nowhere.
func (o *object) index(list []string) int {
	return slices.Index(list, strings.TrimPrefix(o.thisPath, o.groupNode+"/"))
}

// doSomething is the critical section, and the delete behind it.
func (o *object) doSomething(ctx context.Context) error {
	token, err := o.token(ctx, o.session, o.thisPath, o.number())
	if err != nil {
		return err
	}
	o.entries++
	e := entry{o, token}
	o.inside++
	o.critical(o.host.Life(), e)
	o.err = worse(o.err, e.Release(o.host.Life()))
	o.inside--
	return nil
}

// entry is one entry into the critical section.
type entry struct {
	*object
	token uint64
}

func (e entry) Token() uint64 { return e.token }

// Release is the delete: of whatever the node's fate was meanwhile.
func (e entry) Release(ctx context.Context) error {
	err := e.session.Delete(ctx, e.Timeout, e.thisPath, zookeeper.AnyVersion)
	switch {
	case errors.Is(err, zookeeper.NoNode):
		return locks.ErrNotHeld
	case errors.Is(err, zookeeper.ErrSessionExpired):
		return locks.ErrLost
	case err != nil:
		return fmt.Errorf("%s may still be there: %v", e.thisPath, err)
	}
	return nil
}

// worse is the one of two errors that knows less.
func worse(a, b error) error {
	if a == nil || b != nil && !locks.IsDefinite(b) {
		return b
	}
	return a
}

// callback is what the event thread does again and again: it takes an event,
// and calls back. An error says that no event will come, or that stopped ended.
func (o *object) callback(stopped context.Context, process func(zookeeper.Event) error) error {
	e, err := o.session.Next(stopped, 0)
	if err == nil {
		_ = process(e) // which prints it
	}
	return err
}

// untilEntered is the event thread of who has not entered yet.
func (o *object) untilEntered(ctx context.Context, process func(zookeeper.Event) error) (err error) {
	for o.entries == 0 && err == nil {
		err = o.callback(ctx, process)
	}
	return err
}

// end is what Run returns: err is why the program ended, if it was not by a
// critical section that has come to its end.
func (o *object) end(ctx context.Context, err error, giveUp func(*object) error) error {
	switch {
	case o.entries > 0:
		return o.err
	case o.thisPath == "" && locks.IsDefinite(err) && ctx.Err() != nil:
		return locks.ErrNotAcquired
	case o.thisPath == "" || o.session.over:
		return err // nothing of ours is there, or nobody knows its name
	case ctx.Err() != nil:
		return giveUp(o)
	}
	return fmt.Errorf("%s stays in the queue: %v", o.thisPath, err)
}

// leave deletes the node of a waiter that gives up.
func leave(o *object) error {
	err := o.session.Delete(o.host.Life(), o.Timeout, o.thisPath, zookeeper.AnyVersion)
	if err == nil || errors.Is(err, zookeeper.NoNode) || o.session.over {
		return locks.ErrNotAcquired
	}
	return fmt.Errorf("gave up, and %s may still be in the queue: %v", o.thisPath, err)
}
