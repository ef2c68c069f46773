package client

import (
	"context"
	"errors"
	"sync"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// Caller is one user of a shared client who makes one call at a time. Its Wait
// uses the same connection as its command before: Wait concerns the writes of its
// connection alone, and on another one it returns at once (Redis manual, WAIT). A
// pool does not guarantee that, so a connection stays out of the pool after an
// answer until its caller's next command. If the connection is lost, Wait is not
// sent.
//
// Calls without a Caller in the context share one. The zero value is ready.
type Caller struct {
	mu   sync.Mutex
	kept map[*Client]*goredis.Conn // nil: the connection is lost
}

type callerKey struct{}

// WithCaller returns a context with a Caller for Do.
func WithCaller(ctx context.Context, who *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// caller returns the Caller in ctx, or the default one.
func (c *Client) caller(ctx context.Context) *Caller {
	if who, ok := ctx.Value(callerKey{}).(*Caller); ok {
		return who
	}
	return &c.nobody
}

// Close returns the kept connections to the pool. The caller may make further
// calls.
func (who *Caller) Close() {
	who.mu.Lock()
	defer who.mu.Unlock()
	for _, conn := range who.kept {
		if conn != nil {
			conn.Close()
		}
	}
	clear(who.kept)
}

// processor carries a command: a *goredis.Conn, or any connection of a client.
type processor interface {
	Process(context.Context, goredis.Cmder) error
}

var (
	errGone    = errors.New("redis client: WAIT not sent: the connection of the previous command is lost")
	errRetries = errors.New("redis client: WAIT not sent: with retries, the connection of the previous command is unknown")
)

// nextProcessor returns the processor of who's next command. It first returns the kept
// connection to the pool, which checks it and lends the last returned one.
func (who *Caller) nextProcessor(c *Client, v redis.Verb) (processor, error) {
	who.mu.Lock()
	defer who.mu.Unlock()
	conn, before := who.kept[c]
	switch {
	case v == redis.Wait && before && conn == nil:
		return nil, errGone
	case v == redis.Wait && before:
		delete(who.kept, c)
		return conn, nil
	case conn != nil:
		conn.Close()
	}
	delete(who.kept, c)
	return c.redis.Conn(), nil
}

// keep keeps w for a Wait. w is nil if no answer came and the connection is lost.
func (who *Caller) keep(c *Client, w processor) {
	conn, ok := w.(*goredis.Conn)
	if !ok && w != nil {
		return
	}
	who.mu.Lock()
	defer who.mu.Unlock()
	if old := who.kept[c]; old != nil {
		old.Close() // two calls without a Caller at the same time
	}
	if who.kept == nil {
		who.kept = map[*Client]*goredis.Conn{}
	}
	who.kept[c] = conn
}

// giveBack returns w's connection to the pool. No command may be under way on
// it.
func giveBack(w processor) {
	if conn, ok := w.(*goredis.Conn); ok {
		conn.Close()
	}
}
