// Package client is the real Redis behind the port: go-redis, told to say
// honestly what became of a command.
//
// go-redis greets a server with HELLO 2 on every new connection, which cannot
// be turned off; everything else that it would send by itself is.
package client

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// Options says where the server is and how long to wait for it.
type Options struct {
	// Addr is the server's host:port. With Master it is not used.
	Addr string
	// Master is the name by which Sentinels know the server's node: whoever is
	// its master then is the server. "": Addr is.
	Master string
	// Sentinels are the host:port of the Sentinels, as they announce themselves.
	Sentinels []string
	// Links says where to dial what Sentinels announce, masters and Sentinels
	// alike, by host:port; what is not in it cannot be dialed. nil: as announced.
	Links map[string]string
	// Retries is how often a command is sent again after it failed, as
	// go-redis does it: also when the answer was lost, so that a command may
	// be executed more than once and the last answer be taken for the only one.
	// go-redis's default is 3; 0 sends everything once.
	Retries int
	// Timeout is for calls that give none; 0: 3 s.
	Timeout time.Duration
	// DialTimeout is how long a connection may take to be made; 0: 5 s, with
	// Master as Timeout. A call does not wait longer for it than for anything else.
	DialTimeout time.Duration
	// Dialer makes connections; nil: TCP.
	Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
}

// poolSize bounds the connections, of which there are never more than there
// were calls at once. It is large because it is also the number of failed
// dials, ever, after which go-redis stops dialing for calls and tries once a
// second on its own: a client would then be late to see a server come back.
const poolSize = 1 << 12

// ErrClosed is what calls after Close get. It is definite.
var ErrClosed = errors.New("redis client: closed")

// Client is a redis.Transport. It may be used by several goroutines at once;
// if some of them use Wait, see Caller.
type Client struct {
	options Options
	redis   *goredis.Client
	life    context.Context // ends with Close
	end     context.CancelFunc
	nobody  Caller // of calls that name none

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// New returns a client. It does not connect: the first call does.
func New(o Options) *Client {
	if o.Timeout <= 0 {
		o.Timeout = 3 * time.Second
	}
	if o.DialTimeout <= 0 {
		o.DialTimeout = 5 * time.Second
		if o.Master != "" {
			o.DialTimeout = o.Timeout
		}
	}
	if o.Dialer == nil {
		o.Dialer = new(net.Dialer).DialContext
	}
	c := &Client{options: o}
	c.life, c.end = context.WithCancel(context.Background())
	if o.Master != "" {
		c.redis = c.failover()
	} else {
		c.redis = c.plain()
	}
	return c
}

// plain is go-redis's client for one server.
func (c *Client) plain() *goredis.Client {
	return goredis.NewClient(&goredis.Options{
		Addr:                     c.options.Addr,
		Dialer:                   c.dial,
		DialTimeout:              c.options.DialTimeout,
		DialerRetries:            1,
		MaxRetries:               maxRetries(c.options.Retries),
		ReadTimeout:              -1, // a call's context says how long
		WriteTimeout:             -1,
		ContextTimeoutEnabled:    true,
		Protocol:                 2,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		PoolSize:                 poolSize,
		PipelinePoolSize:         -1,
		ReadBufferSize:           4096,
		WriteBufferSize:          4096,
	})
}

// maxRetries is MaxRetries as go-redis wants it: -1 for none.
func maxRetries(n int) int {
	if n <= 0 {
		return -1
	}
	return n
}

// Close closes all connections and waits for the calls that are under way;
// they fail.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	err := c.redis.Close()
	c.calls.Wait()
	return err
}

// Do is redis.Transport's. An error is definite exactly when go-redis has not
// begun to write the command: no connection, none in time, or the context
// ended before. Where time ran out, the error is os.ErrDeadlineExceeded; where
// ctx ended, it is ctx's.
//
// With Retries, timeout is for each attempt and between them are go-redis's
// pauses (8–512 ms): only ctx bounds the whole.
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
	var w way
	if c.options.Retries > 0 {
		w, err = c.any(cmd.Verb, timeout)
	} else {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, timeout, os.ErrDeadlineExceeded)
		defer stop()
		w, err = who.take(c, cmd.Verb)
	}
	if err != nil {
		return redis.Reply{}, locks.Definite(err)
	}

	// go-redis does not look up from a read when its context is cancelled. So
	// it reads in a goroutine of its own, which lives for the timeout at most.
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
		// Nothing was written that a Wait could be about, and the library takes a
		// connection that said READONLY for broken.
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
		<-ctx.Done() // the connection's timer was a little ahead of the context's
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

// dial makes a connection, unless the client is closed first. go-redis goes on
// dialing when the call that asked for it has given up.
func (c *Client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	return c.options.Dialer(ctx, network, addr)
}
