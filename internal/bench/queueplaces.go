package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/sim"
	zkclient "github.com/lockcheck/lockcheck/internal/stores/zookeeper/client"
	"github.com/lockcheck/lockcheck/internal/worker"
	"github.com/lockcheck/lockcheck/locks"
)

// QueueInSim measures in virtual time: equal queues have equal changes.
func QueueInSim(ctx context.Context, q Queue) (c Changes, err error) {
	l := newLine(ctx, q)
	w := sim.New(env.Config{
		Lock: l.ports.counted(q.Lock), Lease: q.Lease, Clients: q.names(), Names: []string{queueName}, Seed: q.Seed,
	}, twice{line: l}, env.Decisions{Seed: q.Seed})
	defer func() { err = errors.Join(err, w.Close()) }()
	return l.measure(virtual{w})
}

// twice is an observer. It keeps a client that enters a second time in the lock until
// its first hold ends.
type twice struct {
	nobody
	line *line
}

func (t twice) Enter(string, env.Grant) env.Op {
	return env.Op{Index: t.line.index(), Lock: queueName}
}

func (t twice) Section(client string, _ env.Op) {
	t.line.await(func() bool { return !t.line.holder[client] })
}

// QueueOnEnsemble measures with real ZooKeeper servers at addrs and the real client
// library. The clients run in this process, but share nothing else: each has a session
// of its own, on any of the servers. When ctx ends, the measurement ends with its
// error.
func QueueOnEnsemble(ctx context.Context, addrs []string, q Queue) (c Changes, err error) {
	l := newLine(ctx, q)
	life, die := context.WithCancel(context.Background())
	defer die()
	m := &machine{ctx: l.ctx, clients: map[string]client{}}
	lock := l.ports.counted(q.Lock)
	for _, name := range q.names() {
		host := worker.NewHost(life)
		library := zkclient.New(zkclient.Options{Addrs: addrs, Shuffle: rand.Shuffle, Timeout: q.Lease, Life: life})
		locker := lock.New(catalogue.Env{
			Host: host, Lease: q.Lease,
			ZooKeeper: worker.ZooKeeperOf(host, library),
		})
		defer func() { // the end of its session removes its nodes
			if e := locker.Close(life); e != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", name, e))
			}
		}()
		if r, ok := locker.(locks.Runner); ok {
			m.clients[name] = &visitor{ctx: l.ctx, host: host, runner: r}
		} else {
			m.clients[name] = &end{ctx: l.ctx, locker: locker}
		}
	}
	return l.measure(m)
}

// visitor is a client on this machine for a lock that calls the critical section
// itself. Each call blocks until the caller releases.
type visitor struct {
	ctx    context.Context
	host   locks.Host
	runner locks.Runner

	leave func()     // lets the critical section return
	ended chan error // receives the error of Run
}

// errNeverEntered is the error if Run returns without a call of the critical section.
var errNeverEntered = errors.New("the lock has not called the critical section")

func (v *visitor) Acquire(op env.Op, timeout time.Duration) (g env.Grant, err error) {
	waits, giveUp := context.WithTimeout(v.ctx, timeout)
	held, leave := context.WithCancel(v.ctx)
	ended, entered := make(chan error, 1), make(chan struct{})
	v.leave, v.ended = leave, ended
	var first sync.Once
	go func() {
		defer giveUp()
		ended <- v.runner.Run(waits, op.Lock, func(context.Context, locks.Lease) {
			first.Do(func() { close(entered) })
			_ = v.host.Sleep(held, timeout) // lets the client's other tasks run
		})
	}()
	select {
	case <-entered:
		return g, nil
	case err := <-ended:
		leave()
		if err == nil {
			err = errNeverEntered
		}
		return g, err
	}
}

func (v *visitor) Release(env.Op) error {
	v.leave()
	return <-v.ended
}
