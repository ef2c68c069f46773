package zookeeper

import (
	"context"
	"errors"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// NewPredecessorRecheck is NewPredecessor with its published fix: when the node
// before its own is gone it lists again, and if it is not the head it watches the
// node before it now. If that node has gone meanwhile it enters, although others
// may be before it: so two waiters that die one after the other still let two
// clients in. The fix does not cover the start, nor the thread of the critical
// section.
//
// Source: Distributed locks with ZooKeeper (in Chinese), the fix below
// DistributedClient. It is a locks.Runner.
func NewPredecessorRecheck(h locks.Host, p zookeeper.Port, o Options) locks.Locker {
	return &predecessor{published{locker: newLocker(h, p, o)}, recheck, leave}
}

// recheck checks the queue once.
func recheck(ctx context.Context, o *object) error {
	list, err := o.children(ctx, false)
	if err != nil {
		return err
	}
	index := o.index(list)
	switch {
	case index == 0:
		return o.doSomething(ctx)
	case index < 0:
		return errors.New("index out of bounds") // the source's exception
	}
	o.waitPath = o.groupNode + "/" + list[index-1]
	_, there, err := o.session.Exists(ctx, o.Timeout, o.waitPath, true)
	if err != nil || there {
		return err
	}
	return o.doSomething(ctx)
}
