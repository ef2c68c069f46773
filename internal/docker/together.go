package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// upLimit is how long a server may take to answer after its start. It is generous:
// three JVMs take 3 s on an idle machine, and have taken 15 s on a machine with ten
// times too much load.
const upLimit = time.Minute

// together calls do for several servers in parallel. It reports equal errors once.
func together[S any](servers []S, do func(S) error) error {
	errs := make([]error, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() { errs[i] = do(s) })
	}
	all.Wait()
	said := map[string]bool{}
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool {
		again := err != nil && said[err.Error()]
		if err != nil {
			said[err.Error()] = true
		}
		return again
	})...)
}

// final is an error that no wait changes.
type final struct{ error }

// await repeats so until it returns true or a final error, for upLimit at most.
func await(ctx context.Context, what string, so func() (bool, error)) error {
	for limit := time.Now().Add(upLimit); ; time.Sleep(20 * time.Millisecond) {
		ok, err := so()
		last, over := errors.AsType[final](err)
		switch {
		case ok:
			return nil
		case over:
			return final{fmt.Errorf("docker: never: %s: %w", what, last.error)}
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(limit):
			return errors.Join(fmt.Errorf("docker: not within %v: %s", upLimit, what), err)
		}
	}
}
