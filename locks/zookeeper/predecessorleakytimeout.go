package zookeeper

import (
	"fmt"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// NewPredecessorLeakyTimeout is NewPredecessorRecheck whose waiters can give
// up, when their context ends, and leave their node in the queue. When its turn
// comes nobody enters, and nobody behind it does, for as long as the session
// lives.
//
// Sources: zk-ruby/zk#49, spring-projects/spring-integration#2557, aiozk#34:
// libraries that had it. It is a locks.Runner.
func NewPredecessorLeakyTimeout(h locks.Host, p zookeeper.Port, o Options) locks.Locker {
	return &predecessor{published{locker: newLocker(h, p, o)}, recheck, leak}
}

// leak deletes nothing. Those libraries say no; that would be untrue.
func leak(o *object) error {
	return fmt.Errorf("gave up, and %s stays in the queue", o.thisPath)
}
