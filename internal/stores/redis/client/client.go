// Package client connects the port to a real Redis server: go-redis, configured
// so that errors are honest about a command's outcome.
//
// go-redis sends HELLO 2 on every new connection. That cannot be turned off. All
// other commands that it would send by itself are turned off.
package client

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// Options describe the server's address and the timeouts.
type Options struct {
	// Addr is the server's host:port. It is ignored with Master.
	Addr string
	// Master is the name of the node in the Sentinels' configuration: the client
	// uses its present master. "": the client uses Addr.
	Master string
	// Sentinels are the host:port addresses of the Sentinels.
	Sentinels []string
	// Retries is how often go-redis repeats a failed command. It also does so
	// after a lost answer, so a command may be executed more than once, and the
	// last answer is reported as the only one. go-redis's default is 3; 0 sends
	// everything once.
	Retries int
	// Timeout is the default of calls without one; 0: 3 s.
	Timeout time.Duration
	// Dialer makes connections; nil: TCP.
	Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
}

// poolSize limits the connections. There are never more than simultaneous calls.
// It is large because it is also a limit of failed dials: after that many
// go-redis no longer dials for calls but only once a second, so a client would
// notice a returned server late.
const poolSize = 1 << 12

// ErrClosed is the error of calls after Close. It is definite.
var ErrClosed = errors.New("redis client: closed")

// Client is a redis.Transport. Several goroutines may use it at once. If some of
// them use Wait, see Caller.
type Client struct {
	options Options
	redis   *goredis.Client
	life    context.Context // ends with Close
	end     context.CancelFunc
	nobody  Caller // for calls without a Caller

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// New returns a client. It does not connect: the first call does.
func New(o Options) *Client {
	if o.Timeout <= 0 {
		o.Timeout = 3 * time.Second
	}
	if o.Dialer == nil {
		o.Dialer = new(net.Dialer).DialContext
	}
	c := &Client{options: o}
	c.life, c.end = context.WithCancel(context.Background())
	if o.Master != "" {
		c.redis = c.failover()
	} else {
		c.redis = goredis.NewClient(c.library().Simple())
	}
	return c
}

// library returns go-redis's options for both kinds of clients. A call's own timeout
// limits the time to make a connection, too.
func (c *Client) library() *goredis.UniversalOptions {
	return &goredis.UniversalOptions{
		Addrs:                    []string{c.options.Addr},
		Dialer:                   c.dial,
		DialTimeout:              5 * time.Second,
		DialerRetries:            1,
		MaxRetries:               cmp.Or(c.options.Retries, -1), // -1: none
		ReadTimeout:              -1,                            // a call's context has the deadline
		WriteTimeout:             -1,
		ContextTimeoutEnabled:    true,
		Protocol:                 2,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		PoolSize:                 poolSize,
		PipelinePoolSize:         -1,
		ReadBufferSize:           4096,
		WriteBufferSize:          4096,
	}
}

// Close closes all connections and waits for the calls under way, which fail.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	err := c.redis.Close()
	c.calls.Wait()
	return err
}

// Do implements redis.Transport. An error is definite exactly if go-redis has not
// begun to write the command: no connection, none in time, or the context had
// ended before. The error is os.ErrDeadlineExceeded after a timeout, and ctx's
// after the end of ctx.
//
// With Retries, timeout applies to each attempt, and go-redis pauses for 8–512 ms
// between attempts: only ctx limits the whole call.
func (c *Client) Do(ctx context.Context, timeout time.Duration, cmd redis.Command) (redis.Reply, error) {
	if timeout <= 0 {
		timeout = c.options.Timeout
	}
	q, err := newRequest(cmd)
	if err != nil {
		return redis.Reply{}, locks.Definite(err)
	}
	who := c.caller(ctx)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.life, func() { cancel(ErrClosed) })()
	var w processor
	switch {
	case c.options.Retries > 0 && cmd.Verb == redis.Wait:
		err = errRetries
	case c.options.Retries > 0:
		w = c.redis.WithTimeout(timeout) // another connection may carry the second attempt
	default:
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, timeout, os.ErrDeadlineExceeded)
		defer stop()
		w, err = who.nextProcessor(c, cmd.Verb)
	}
	if err != nil {
		return redis.Reply{}, locks.Definite(err)
	}

	// go-redis ignores the cancellation of its context during a read. So it reads
	// in a goroutine of its own, which lives for the timeout at most.
	answered := make(chan error, 1)
	if !c.begin(func() { answered <- w.Process(ctx, q.cmd) }) {
		return redis.Reply{}, locks.Definite(ErrClosed)
	}
	select {
	case err = <-answered:
	case <-ctx.Done():
		who.keep(c, nil)
		c.begin(func() { <-answered; giveBack(w) })
		return redis.Reply{}, q.giveUp(context.Cause(ctx))
	}
	r, err := q.reply(err)
	if err == nil && r.Kind == redis.Error {
		// Nothing was written, so a Wait would have nothing to wait for. The
		// library considers a connection broken after READONLY.
		giveBack(w)
		return r, nil
	}
	if err == nil {
		who.keep(c, w)
		return r, nil
	}
	giveBack(w)
	who.keep(c, nil)
	if d, ok := ctx.Deadline(); ok && !time.Now().Before(d) {
		<-ctx.Done() // the connection's timer fired a little before the context's
	}
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case c.life.Err() != nil:
		err = ErrClosed
	}
	return redis.Reply{}, q.giveUp(err)
}

// begin runs call in a goroutine that Close waits for, unless c is closed.
func (c *Client) begin(call func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.calls.Go(call)
	}
	return !c.closed
}

// dial makes a connection. Close ends it, because go-redis continues to dial
// after the requesting call has given up.
func (c *Client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	return c.options.Dialer(ctx, network, addr)
}
