package bench

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/cluster"
	"github.com/lockcheck/lockcheck/cluster/worker"
	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
	redisclient "github.com/lockcheck/lockcheck/stores/redis/client"
)

// OnServer measures with a real server at addr, of the lock's kind, and the real
// client library. The clients share this process and nothing else: each has its
// own connections. ctx ends the measurement, with its error.
func OnServer(ctx context.Context, addr string, l Load) (f Figures, err error) {
	var sent atomic.Int64
	life, die := context.WithCancel(ctx)
	p := &machine{ctx: ctx, clients: map[string]client{}}
	lock := counting(l.Lock, &sent)
	for _, name := range l.names() {
		env := catalogue.Env{Host: worker.NewHost(life), Lease: l.Lease, Options: l.Options}
		conn := redisclient.New(redisclient.Options{Addr: addr, Timeout: l.Lease / 4})
		env.Redis = []redis.Port{{Transport: conn}}
		defer func() { err = errors.Join(err, conn.Close()) }()
		p.clients[name] = &end{ctx: ctx, locker: lock.New(env)}
	}
	defer die()
	m, err := measure(ctx, l, p, &sent)
	return m.figures(err)
}

// machine is this one as a place: a task is a goroutine, and time is real.
type machine struct {
	ctx     context.Context
	start   time.Time
	tasks   []func()
	clients map[string]client
}

func (m *machine) Go(task func())            { m.tasks = append(m.tasks, task) }
func (m *machine) Now() time.Duration        { return time.Since(m.start) }
func (m *machine) client(name string) client { return m.clients[name] }

func (m *machine) Sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-m.ctx.Done():
	}
}

func (m *machine) Run() error {
	m.start = time.Now()
	var group sync.WaitGroup
	for _, task := range m.tasks {
		group.Go(task)
	}
	group.Wait()
	return nil
}

// end is a client on this machine, which has one lease at most.
type end struct {
	ctx    context.Context
	locker locks.Locker
	lease  locks.Lease
}

func (e *end) Acquire(op cluster.Op, timeout time.Duration) (g cluster.Grant, err error) {
	ctx, cancel := context.WithTimeout(e.ctx, timeout)
	defer cancel()
	e.lease, err = e.locker.Acquire(ctx, op.Lock)
	return g, err
}

func (e *end) Release(cluster.Op) error { return e.lease.Release(e.ctx) }
