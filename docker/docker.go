// Package docker lets the tests of package lockcheck run on real servers, in containers.
// It is imported for that effect only:
//
//	import _ "github.com/lockcheck/lockcheck/docker"
//
// Then go test -lockcheck.on=docker starts Redis, ZooKeeper or MariaDB, and the test
// binary once for each client. A pause is SIGSTOP, a crash SIGKILL.
//
// In the process of a client, which has the environment variable LOCKCHECK_WORKER, the code
// before lockcheck.Test runs as usual, TestMain included. lockcheck.Test never returns
// there, and os.Stdout is os.Stderr.
package docker

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/environments"
	"github.com/lockcheck/lockcheck/internal/gotest"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/userlock"
	"github.com/lockcheck/lockcheck/internal/worker"
)

func init() {
	gotest.Register(gotest.Real{
		Open: func(ctx context.Context, s gotest.Setup) (*batch.Runner, error) {
			dir, err := docker.TempDir()
			if err != nil {
				return nil, err
			}
			pool := new(environments.Pool)
			s.Cleanup(func() {
				if err := pool.Close(context.WithoutCancel(ctx)); err != nil {
					s.Say("lockcheck: lockcheck clean removes what is left: %v\n", err)
				}
			})
			o := environments.Opener{
				Pool: pool,
				Out:  &outdir.Dir{Path: dir}, Log: s.Log, Say: s.Say, Real: func() {}, Worker: s.Worker, Env: s.Env, Yours: s.Yours,
			}
			r, err := o.Open(ctx, s.On, 0)
			if err != nil {
				err = errors.Join(err, os.RemoveAll(dir))
			}
			return r, err
		},
		Serve: func(in io.Reader, out io.Writer, make userlock.Maker) error {
			return worker.Serve(context.Background(), in, out, worker.Own(make))
		},
	})
}
