package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// published is the common part of the programs of one source: Distributed locks
// with ZooKeeper (in Chinese). Each is a class whose constructor queues in the
// main thread and whose watcher is called back in the event thread. Both call the
// critical section.
//
// If the source prints an exception and continues, so does this code. Three
// things differ from the source. It opens a session for each use; here a client
// keeps one until it ends. It expects that the lock's node exists. And it waits
// for ever; here the node of a caller that gives up is deleted.
//
// In the source thisPath and waitPath must be volatile, because two threads use
// them. The effects of a missing volatile cannot be shown here: one task runs at
// a time, and each sees the writes of the one before.
type published struct {
	locker
	session *session
}

// Acquire is not supported: use Run.
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

// sub is the prefix of the source's nodes.
const sub = "sub"

// object is one object of the source's class, with the source's names.
type object struct {
	*published
	groupNode string // "/locks" in the source
	thisPath  string // "": not known yet
	waitPath  string
	critical  func(context.Context, locks.Lease)
	entries   int
	inside    int   // number of threads inside
	err       error // of the entries; the least certain one
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

// create creates thisPath and waits a little, "to make the result clearer". If no
// answer comes the program ends, and the node may exist.
func (o *object) create(ctx context.Context) error {
	path, err := o.join(ctx, o.session, o.groupNode, sub)
	if err != nil {
		return err
	}
	o.thisPath = path
	o.reportPlace(int64(o.number()))
	return o.host.Sleep(ctx, 10*time.Millisecond)
}

// number returns the number of thisPath.
func (o *object) number() int32 {
	number, _ := numberOf(strings.TrimPrefix(o.thisPath, o.groupNode+"/"+sub))
	return number
}

// children returns the list, sorted as the source sorts it: as strings.
func (o *object) children(ctx context.Context, watch bool) ([]string, error) {
	list, err := o.session.GetChildren(ctx, o.Timeout, o.groupNode, watch)
	slices.Sort(list)
	return list, err
}

// index returns the index of thisPath in the list, or -1.
func (o *object) index(list []string) int {
	return slices.Index(list, strings.TrimPrefix(o.thisPath, o.groupNode+"/"))
}

// doSomething is the critical section and the delete after it.
func (o *object) doSomething(ctx context.Context) error {
	token, err := o.token(ctx, o.session, o.thisPath, o.number())
	if err != nil {
		return err
	}
	o.entries++
	e := entry{o, token}
	o.inside++
	o.critical(o.host.Life(), e)
	o.err = lessCertain(o.err, e.Release(o.host.Life()))
	o.inside--
	return nil
}

// entry is one entry into the critical section.
type entry struct {
	*object
	token uint64
}

func (e entry) Token() uint64 { return e.token }

// Release deletes the node, whatever has happened to it meanwhile.
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

// lessCertain returns the less certain of two errors.
func lessCertain(a, b error) error {
	if a == nil || b != nil && !locks.IsDefinite(b) {
		return b
	}
	return a
}

// callback is one step of the event thread: it takes an event and calls back. An
// error means that events have ended, or that stopped has ended.
func (o *object) callback(stopped context.Context, process func(zookeeper.Event) error) error {
	e, err := o.session.Next(stopped, 0)
	if err == nil {
		_ = process(e) // which prints it
	}
	return err
}

// untilEntered is the event thread of a client that has not entered yet.
func (o *object) untilEntered(ctx context.Context, process func(zookeeper.Event) error) (err error) {
	for o.entries == 0 && err == nil {
		err = o.callback(ctx, process)
	}
	return err
}

// end returns the result of Run. err is why the program ended, or nil after the
// end of a critical section.
func (o *object) end(ctx context.Context, err error, giveUp func(*object) error) error {
	switch {
	case o.entries > 0:
		return o.err
	case o.thisPath == "" && locks.IsDefinite(err) && ctx.Err() != nil:
		return locks.ErrNotAcquired
	case o.thisPath == "" || o.session.over:
		return err // there is no node, or its name is unknown
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
