package zookeeper

import (
	"context"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

type children struct{ published }

// NewChildren makes every waiter watch the whole queue. After each change all of
// them list it again, and the head enters, even while it is already inside: the
// event thread enters beside the main thread. The first check enters only if the
// client is alone: two clients that come together may both wait until a third one
// comes. It promises exclusion only if no client comes during a hold.
//
// In the source a client that has finished continues to list at every change,
// until its program ends; here that ends with Run.
//
// Source: Distributed locks with ZooKeeper (in Chinese), DistributedClient2. It is
// a locks.Runner.
func NewChildren(h locks.Host, p zookeeper.Port, o Options) locks.Locker {
	return &children{published{locker: newLocker(h, p, o)}}
}

// Run is the main thread with the event thread beside it. After the main thread
// it waits in the event thread, so that ctx can end the wait.
func (l *children) Run(ctx context.Context, name string, critical func(context.Context, locks.Lease)) error {
	o, err := l.object(ctx, name, critical)
	if err != nil {
		return err
	}
	over := false     // the main thread is done
	watching := false // before that, an event belongs to a watch that an earlier Run has left
	process := func(e zookeeper.Event) error {
		if !watching || e.Type != zookeeper.NodeChildrenChanged || e.Path != o.groupNode {
			return nil
		}
		list, err := o.children(ctx, true)
		if err != nil || o.index(list) != 0 {
			return err
		}
		return o.doSomething(ctx)
	}
	thread := l.host.Go(func(stopped context.Context) {
		for !over && o.callback(stopped, process) == nil {
		}
	})
	err = o.create(ctx)
	if err == nil {
		watching = true
		err = o.alone(ctx)
	}
	over = true
	if o.inside == 0 { // else the entry continues to its end
		thread.Stop()
	}
	thread.Wait()
	if err == nil {
		err = o.untilEntered(ctx, process)
	}
	return o.end(ctx, err, leave)
}

// alone is the rest of the main thread.
func (o *object) alone(ctx context.Context) error {
	list, err := o.children(ctx, true)
	if err != nil || len(list) != 1 {
		return err
	}
	return o.doSomething(ctx)
}
