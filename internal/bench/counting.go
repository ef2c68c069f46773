package bench

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// counting returns lock with a counter of its commands.
func counting(lock catalogue.Lock, sent *atomic.Int64) catalogue.Lock {
	made := lock.New
	lock.New = func(e catalogue.Env) locks.Locker {
		ports := make([]redis.Port, len(e.Redis))
		for i, p := range e.Redis {
			ports[i].Transport = counter{p.Transport, sent}
		}
		e.Redis = ports
		if e.Tokens.Transport != nil {
			e.Tokens.Transport = counter{e.Tokens.Transport, sent}
		}
		e.MySQL.Transport = statements{e.MySQL.Transport, sent}
		return made(e)
	}
	return lock
}

// counter counts the commands sent. It waits for the answer to a command whatever
// happens to the caller's context, as redis.Transport demands.
type counter struct {
	redis.Transport
	sent *atomic.Int64
}

func (c counter) Do(ctx context.Context, timeout time.Duration, cmd redis.Command) (redis.Reply, error) {
	if err := ctx.Err(); err != nil {
		return redis.Reply{}, locks.Definite(err)
	}
	c.sent.Add(1)
	return c.Transport.Do(context.WithoutCancel(ctx), timeout, cmd)
}

// statements counts the statements that go through a connection pool. Statements on a
// client's own connection are not counted.
type statements struct {
	mysql.Transport
	sent *atomic.Int64
}

func (s statements) Do(ctx context.Context, timeout time.Duration, cmd mysql.Command) (mysql.Reply, error) {
	if ctx.Err() == nil {
		s.sent.Add(1)
	}
	return s.Transport.Do(ctx, timeout, cmd)
}
