package zookeeper

import (
	"fmt"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// NewPredecessorLeakyTimeout is NewPredecessorRecheck whose waiters can give up
// when their context ends, and leave their node in the queue. When that node is
// the head no client enters until its session ends.
//
// Sources: zk-ruby/zk#49, spring-projects/spring-integration#2557, aiozk#34:
// libraries that had this flaw. It is a locks.Runner.
func NewPredecessorLeakyTimeout(h locks.Host, p zookeeper.Port, o Options) locks.Locker {
	return &predecessor{published{locker: newLocker(h, p, o)}, recheck, leak}
}

// leak deletes nothing. Those libraries report a refusal, which would be untrue.
func leak(o *object) error {
	return fmt.Errorf("gave up, and %s stays in the queue", o.thisPath)
}
