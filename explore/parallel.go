package explore

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/lockcheck/lockcheck/internal/env"
)

// inParallel does n things, so many at once (0: one for each core), each with
// the memory of whoever does it. An error ends its worker, and the others do the
// rest; it returns the first of their errors, or that ctx has ended.
func inParallel(ctx context.Context, sim env.Simulator, n, jobs int, do func(i int, buffer *buffer) error) error {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, jobs)
	for w := range jobs {
		group.Go(func() {
			buffer := newBuffer(sim)
			defer buffer.Close() // of memory: nothing that can fail
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
	for _, err := range append(errs, ctx.Err()) {
		if err != nil {
			return err
		}
	}
	return nil
}
