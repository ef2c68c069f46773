package client

import (
	"context"
	"errors"
	"fmt"
	"sync"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// request is one command under way. It knows whether an attempt may have been
// sent, because go-redis asks it for its last word just before the command is
// complete. After giveUp it refuses that word.
type request struct {
	verb redis.Verb
	cmd  *goredis.Cmd
	last string

	mu      sync.Mutex
	written bool // an attempt was complete: it may have been sent
	over    bool // the caller has given up: nothing may be sent
}

var (
	errVerb   = errors.New("redis client: no such command")
	errGaveUp = errors.New("redis client: the call was given up")
)

func newRequest(c redis.Command) (*request, error) {
	args := c.Args()
	if args == nil {
		return nil, errVerb
	}
	q := &request{verb: c.Verb, last: args[len(args)-1]}
	words := make([]any, len(args))
	for i, a := range args {
		words[i] = a
	}
	words[len(words)-1] = q
	q.cmd = goredis.NewCmd(context.Background(), words...)
	return q, nil
}

// MarshalBinary returns the last word of the request for go-redis. Without it the
// words before are no command.
func (q *request) MarshalBinary() ([]byte, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over {
		return nil, errGaveUp
	}
	q.written = true
	return []byte(q.last), nil
}

// giveUp ends the request: nothing is sent from now on. It returns err, marked as
// definite if nothing was sent.
func (q *request) giveUp(err error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	if !q.written {
		return locks.Definite(fmt.Errorf("redis client: not sent: %w", err))
	}
	return fmt.Errorf("redis client: sent, but no answer: %w", err)
}

// reply returns the server's answer, or err if that is the client's own error.
// err comes from Process. go-redis does not distinguish a status from a bulk
// string; the command does.
func (q *request) reply(err error) (redis.Reply, error) {
	var server goredis.Error
	switch {
	case errors.Is(err, goredis.Nil):
		return redis.Reply{Kind: redis.Nil}, nil
	case errors.As(err, &server):
		return redis.Reply{Kind: redis.Error, Str: server.Error()}, nil
	case err != nil:
		return redis.Reply{}, err
	}
	switch v := q.cmd.Val().(type) {
	case int64:
		return redis.Reply{Kind: redis.Int, Int: v}, nil
	case string:
		kind := redis.Bulk
		if q.verb == redis.Set {
			kind = redis.Status
		}
		return redis.Reply{Kind: kind, Str: v}, nil
	}
	return redis.Reply{}, redis.ErrProtocol
}
