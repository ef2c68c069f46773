package docker

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// upLimit is how long a server may take to answer after its start. It is generous:
// three JVMs take 3 s on an idle machine, and have taken 15 s on a machine with ten
// times too much load.
const upLimit = time.Minute

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
