package explore

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/lockcheck/lockcheck/internal/env"
)

// inParallel calls do for 0 to n-1, in jobs workers (0: one for each core), each with
// its own buffer. An error ends its worker, and the others do the rest. inParallel
// returns the first error, or that of ctx.
func inParallel(ctx context.Context, sim env.Simulator, n, jobs int, do func(i int, buffer *buffer) error) error {
	jobs = Workers(jobs)
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, jobs)
	for w := range jobs {
		group.Go(func() {
			buffer := newBuffer(sim)
			defer buffer.Close() // it closes memory only, so it cannot fail
			for errs[w] == nil && ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				errs[w] = do(i, buffer)
			}
		})
	}
	group.Wait()
	return cmp.Or(cmp.Or(errs...), ctx.Err())
}
