package worker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	mathrand "math/rand/v2"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// host is the locks.Host of a client: this machine, with the client's own clocks.
type host struct{ *client }

// Now is the client's wall clock.
func (h host) Now() time.Time { return h.clock.now() }

// Mono is the client's monotonic clock since the worker's start.
func (h host) Mono() time.Duration { return h.clock.mono() }

// Left returns the time until ctx ends, at the present rate of the client's clocks.
func (h host) Left(ctx context.Context) (time.Duration, bool) {
	end, ok := ctx.Deadline()
	switch {
	case ctx.Err() != nil:
		return 0, true
	case !ok:
		return 0, false
	}
	return h.clock.clientTime(max(0, time.Until(end))), true
}

// Sleep waits for d, or until ctx or the worker ends.
func (h host) Sleep(ctx context.Context, d time.Duration) (err error) {
	h.away(func() { err = h.clock.sleep(ctx, h.server.life, d) })
	return err
}

// Backoff waits for a random time.
func (h host) Backoff(ctx context.Context, shortest, spread time.Duration) error {
	if spread > 0 {
		shortest += time.Duration(h.Rand("backoff", int64(spread)))
	}
	return h.Sleep(ctx, shortest)
}

// Mark does nothing: only searches in sim use marks.
func (h host) Mark(string, ...int64) {}

// Rand draws from a source of this machine: runs on real machines do not repeat.
func (h host) Rand(_ string, n int64) int64 { return mathrand.Int64N(n) }

// Unique is 128 random bits.
func (h host) Unique() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: it ends the process instead
	return hex.EncodeToString(b[:])
}

// Go starts a task of the client. The worker waits for its end.
func (h host) Go(run func(context.Context)) locks.Task { return h.start(run) }

// Life ends with the worker.
func (h host) Life() context.Context { return h.server.life }

// Report reports what the lock has learnt about the grant of the task's operation, or
// about its place in the queue.
func (h host) Report(n locks.News) { h.learn(h.task.op, n) }

// NewHost returns the host of a client without a worker. Its first task is the caller's
// goroutine; tasks that the lock starts run while the caller waits in the host or in a
// port. It ends with life.
func NewHost(life context.Context) locks.Host {
	c := &client{server: &server{life: life}, clock: newClock(time.Now())}
	c.take(&task{client: c, op: &operation{over: true}})
	return host{c}
}

// ZooKeeperOf returns the port to an ensemble for the client of h, which NewHost made.
// Its requests have no points.
func ZooKeeperOf(h locks.Host, t zookeeper.Transport) zookeeper.Port {
	return zookeeper.Port{Transport: ensemble{h.(host).client, t}}
}

// MySQLOf returns the port to a MySQL server for the client of h, which NewHost made
// and which is alone in its process. Its requests have no points.
func MySQLOf(h locks.Host, t mysql.Transport) mysql.Port {
	return mysql.Port{Transport: pool{h.(host).client, t}}
}

// Setup holds what a Factory needs.
type Setup struct {
	Client string
	Init   Request
	Host   locks.Host
	client *client
}

// points returns the client, whose requests have points from now on.
func (s Setup) points() *client {
	s.client.points = true
	return s.client
}

// Redis adds the points of operations to the transport of a server. The transport
// must return when its call is cancelled.
func (s Setup) Redis(next redis.Transport) redis.Port {
	return redis.Port{Transport: transport{s.points(), next, true}}
}

// Tokens does the same for the server of the tokens. Its requests are not the
// lock's own and have no points.
func (s Setup) Tokens(next redis.Transport) redis.Port {
	return redis.Port{Transport: transport{s.client, next, false}}
}

// ZooKeeper does the same for an ensemble. The sessions of the transport must end,
// on the client's side, with Host.Life.
func (s Setup) ZooKeeper(next zookeeper.Transport) zookeeper.Port {
	return zookeeper.Port{Transport: ensemble{s.points(), next}}
}

// MySQL does the same for the pool of the process; open opens it for the first
// client. Calls of the transport must end with the worker.
func (s Setup) MySQL(open func() (mysql.Transport, error)) (mysql.Port, error) {
	worker := s.client.server
	if worker.pool == nil {
		next, err := open()
		if err != nil {
			return mysql.Port{}, err
		}
		worker.pool = next
	}
	return mysql.Port{Transport: pool{s.points(), worker.pool}}, nil
}

// Factory makes a client's lock. close closes its connections.
type Factory func(Setup) (l locks.Locker, close func() error, err error)
