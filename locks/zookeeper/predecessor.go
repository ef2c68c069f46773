package zookeeper

import (
	"context"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// predecessor is the locks that watch the node before their own. They differ in
// their reaction when it is gone, and in how a waiter gives up.
type predecessor struct {
	published
	gone   func(context.Context, *object) error
	giveUp func(*object) error
}

// NewPredecessor queues and waits until the node before its own is deleted. Then
// it enters without listing the queue, but a node is also deleted when its owner
// dies waiting. And if the predecessor goes between the list and the watch, the
// program ends while its node stays at the head of the queue until its session
// ends. It promises exclusion as long as no waiter dies.
//
// The critical section runs in the event thread, so a client does not learn of
// session events before its end.
//
// Source: Distributed locks with ZooKeeper (in Chinese), DistributedClient. It is
// a locks.Runner.
func NewPredecessor(h locks.Host, p zookeeper.Port, o Options) locks.Locker {
	return &predecessor{published{locker: newLocker(h, p, o)}, enter, leave}
}

// enter treats the deletion of the predecessor as the grant.
func enter(ctx context.Context, o *object) error { return o.doSomething(ctx) }

// Run is the main thread, and after it the event thread. Setting the watch is the
// last action of the main thread, so there are no callbacks before.
func (l *predecessor) Run(ctx context.Context, name string, critical func(context.Context, locks.Lease)) error {
	o, err := l.object(ctx, name, critical)
	if err != nil {
		return err
	}
	err = o.queue(ctx)
	if err == nil {
		err = o.untilEntered(ctx, func(e zookeeper.Event) error {
			if e.Type == zookeeper.NodeDeleted && e.Path == o.waitPath {
				return l.gone(ctx, o)
			}
			return nil
		})
	}
	return o.end(ctx, err, l.giveUp)
}

// queue is the main thread. It assumes that a list of one node has only its own.
// A list without its node "never happened": the program waits for nothing.
func (o *object) queue(ctx context.Context) error {
	if err := o.create(ctx); err != nil {
		return err
	}
	list, err := o.children(ctx, false)
	if err != nil {
		return err
	}
	index := o.index(list)
	switch {
	case len(list) == 1, index == 0:
		return o.doSomething(ctx)
	case index > 0:
		o.waitPath = o.groupNode + "/" + list[index-1]
		_, _, err = o.session.GetData(ctx, o.Timeout, o.waitPath, true)
	}
	return err
}
