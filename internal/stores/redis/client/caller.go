package client

import (
	"context"
	"errors"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck/stores/redis"
)

// Caller is one of several who share a client, and who makes one call at a
// time. A Wait of its goes over the connection that its command before went
// over: to a server, Wait is about the writes of that connection alone, and on
// another one it says yes at once (Redis manual, WAIT). A pool promises nothing
// of the kind, so a connection that has answered is kept from the pool until
// its caller's next command. Where the connection is gone Wait is not sent.
//
// Calls that name no caller count as one caller's. The zero value is ready.
type Caller struct {
	mu   sync.Mutex
	kept map[*Client]*goredis.Conn // nil: it is gone
}

type callerKey struct{}

// WithCaller names the caller in a context for Do.
func WithCaller(ctx context.Context, who *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// caller is who ctx names.
func (c *Client) caller(ctx context.Context) *Caller {
	if who, ok := ctx.Value(callerKey{}).(*Caller); ok {
		return who
	}
	return &c.nobody
}

// Close gives back the connections that are kept. The caller may call again.
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

// way is what a command goes over: a *goredis.Conn, or any connection.
type way interface {
	Process(context.Context, goredis.Cmder) error
}

var (
	errGone    = errors.New("redis client: the connection of the command before is gone, and with it what to wait for")
	errRetries = errors.New("redis client: one that sends again does not know which connection to wait on")
)

// any is the way of a client that sends again: another connection may carry
// the second attempt.
func (c *Client) any(v redis.Verb, timeout time.Duration) (way, error) {
	if v == redis.Wait {
		return nil, errRetries
	}
	return c.redis.WithTimeout(timeout), nil
}

// take is the way of who's next command. What is kept goes back to the pool
// first, which looks whether it still stands, and hands out the last it got.
func (who *Caller) take(c *Client, v redis.Verb) (way, error) {
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

// keep keeps w for a Wait; nil: the answer did not come, and w is gone.
func (who *Caller) keep(c *Client, w way) {
	conn, ok := w.(*goredis.Conn)
	if !ok && w != nil {
		return
	}
	who.mu.Lock()
	defer who.mu.Unlock()
	if old := who.kept[c]; old != nil {
		old.Close() // of two calls at once, which name no caller
	}
	if who.kept == nil {
		who.kept = map[*Client]*goredis.Conn{}
	}
	who.kept[c] = conn
}

// giveBack gives a way back to the pool, or what is left of it. Nothing may be
// under way on it.
func giveBack(w way) {
	if conn, ok := w.(*goredis.Conn); ok {
		conn.Close()
	}
}
