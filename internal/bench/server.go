package bench

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	mysqlclient "github.com/lockcheck/lockcheck/internal/stores/mysql/client"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	redisclient "github.com/lockcheck/lockcheck/internal/stores/redis/client"
	"github.com/lockcheck/lockcheck/internal/worker"
	"github.com/lockcheck/lockcheck/locks"
)

// OnServer measures with a real server at addr, of the lock's kind, and the real client
// library. The clients run in this process, but share nothing else: each has its own
// connections. When ctx ends, the measurement ends with its error.
func OnServer(ctx context.Context, addr string, l Load) (f Figures, err error) {
	if l.Lock.Store == catalogue.StoreMySQL {
		if err := mysqlclient.Create(ctx, mysqlclient.Options{Addr: addr}); err != nil {
			return Figures{}, err
		}
	}
	var sent atomic.Int64
	life, die := context.WithCancel(ctx)
	p := &machine{ctx: ctx, clients: map[string]client{}}
	lock := counting(l.Lock, &sent)
	for _, name := range clientNames(l.Clients) {
		env := catalogue.Env{Host: worker.NewHost(life), Lease: l.Lease, Options: l.Options}
		env.Name(name)
		leave, e := connect(addr, l.Lock.Store, &env)
		if e != nil {
			die()
			return Figures{}, e
		}
		defer func() { err = errors.Join(err, leave()) }()
		p.clients[name] = &end{ctx: ctx, locker: lock.New(env)}
	}
	defer die() // before the first client leaves
	m, err := measure(ctx, l, p, &sent)
	return m.figures(err)
}

// connect connects a client to a server of a kind. leave closes the connections.
func connect(addr string, kind catalogue.Store, env *catalogue.Env) (leave func() error, err error) {
	timeout := env.Lease / 4
	if kind == catalogue.StoreMySQL {
		c, err := mysqlclient.New(mysqlclient.Options{Addr: addr, Timeout: timeout})
		if err != nil {
			return nil, err
		}
		env.MySQL = worker.MySQLOf(env.Host, c)
		return c.Close, nil
	}
	c := redisclient.New(redisclient.Options{Addr: addr, Timeout: timeout})
	env.Redis = []redis.Port{{Transport: c}}
	return c.Close, nil
}

// machine is this machine as an environment: a task is a goroutine, and time is real.
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
	select {
	case <-time.After(d):
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

// end is a client on this machine. It has at most one lease.
type end struct {
	ctx    context.Context
	locker locks.Locker
	lease  locks.Lease
}

func (e *end) Acquire(op env.Op, timeout time.Duration) (g env.Grant, err error) {
	ctx, cancel := context.WithTimeout(e.ctx, timeout)
	defer cancel()
	e.lease, err = e.locker.Acquire(ctx, op.Lock)
	return g, err
}

func (e *end) Release(env.Op) error { return e.lease.Release(e.ctx) }
