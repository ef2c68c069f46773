package redis

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/locks"
)

// Get returns the value of key, and whether it exists.
func (p Port) Get(ctx context.Context, timeout time.Duration, key string) (value string, ok bool, err error) {
	r, err := kinds{Bulk, Nil}.check(p.Do(ctx, timeout, Command{Verb: Get, Key: key}))
	return r.Str, r.Kind == Bulk, err
}

// Set gives key a value that expires after ttl (0: never).
func (p Port) Set(ctx context.Context, timeout time.Duration, key, value string, ttl time.Duration) error {
	_, err := kinds{Status, Status}.check(p.Do(ctx, timeout, Command{Verb: Set, Key: key, Value: value, TTL: ttl}))
	return err
}

// SetIfAbsent is SET NX PX: it reports whether it set key.
func (p Port) SetIfAbsent(ctx context.Context, timeout time.Duration, key, value string, ttl time.Duration) (bool, error) {
	r, err := kinds{Status, Nil}.check(p.Do(ctx, timeout, Command{Verb: Set, Key: key, Value: value, TTL: ttl, NX: true}))
	return r.Kind == Status, err
}

// SetNX is the command SETNX, which sets no expiry.
func (p Port) SetNX(ctx context.Context, timeout time.Duration, key, value string) (bool, error) {
	r, err := kinds{Int, Int}.check(p.Do(ctx, timeout, Command{Verb: SetNX, Key: key, Value: value}))
	return r.Int == 1, err
}

// GetSet gives key a value without expiry. It returns the old value and whether
// there was one.
func (p Port) GetSet(ctx context.Context, timeout time.Duration, key, value string) (old string, had bool, err error) {
	r, err := kinds{Bulk, Nil}.check(p.Do(ctx, timeout, Command{Verb: GetSet, Key: key, Value: value}))
	return r.Str, r.Kind == Bulk, err
}

// PExpire makes key expire after ttl, and reports whether key exists.
func (p Port) PExpire(ctx context.Context, timeout time.Duration, key string, ttl time.Duration) (bool, error) {
	r, err := kinds{Int, Int}.check(p.Do(ctx, timeout, Command{Verb: PExpire, Key: key, TTL: ttl}))
	return r.Int == 1, err
}

// PTTL returns the remaining time to live of key: -1 ms if it never expires, -2
// ms if it does not exist.
func (p Port) PTTL(ctx context.Context, timeout time.Duration, key string) (time.Duration, error) {
	r, err := kinds{Int, Int}.check(p.Do(ctx, timeout, Command{Verb: PTTL, Key: key}))
	return time.Duration(r.Int) * time.Millisecond, err
}

// Del removes key, and reports whether it existed.
func (p Port) Del(ctx context.Context, timeout time.Duration, key string) (bool, error) {
	r, err := kinds{Int, Int}.check(p.Do(ctx, timeout, Command{Verb: Del, Key: key}))
	return r.Int == 1, err
}

// Incr adds one to the number in key, 0 if key does not exist, and returns it.
func (p Port) Incr(ctx context.Context, timeout time.Duration, key string) (int64, error) {
	r, err := kinds{Int, Int}.check(p.Do(ctx, timeout, Command{Verb: Incr, Key: key}))
	return r.Int, err
}

// RPush appends value to the list in key and returns the list's length.
func (p Port) RPush(ctx context.Context, timeout time.Duration, key, value string) (int64, error) {
	r, err := kinds{Int, Int}.check(p.Do(ctx, timeout, Command{Verb: RPush, Key: key, Value: value}))
	return r.Int, err
}

// Wait waits until that many replicas have the previous writes of this connection
// in their memory, for at most limit (0: for ever, so that only timeout ends it).
// It returns the number of replicas that have them, which may be fewer or more
// than requested.
//
// Package client sends it on the connection of its caller's previous command. On
// another connection the server would know of no writes to wait for.
func (p Port) Wait(ctx context.Context, timeout time.Duration, replicas int, limit time.Duration) (acknowledged int, err error) {
	r, err := kinds{Int, Int}.check(p.Do(ctx, timeout, Command{Verb: Wait, N: int64(replicas), TTL: limit}))
	return int(r.Int), err
}

// CompareAndDelete removes key if it has value, and reports whether it did.
func (p Port) CompareAndDelete(ctx context.Context, timeout time.Duration, key, value string) (bool, error) {
	r, err := kinds{Int, Int}.check(p.Do(ctx, timeout, Command{Verb: CompareAndDelete, Key: key, Value: value}))
	return r.Int == 1, err
}

// Grant sets key like SetIfAbsent (ttl 0: without expiry) and, in the same step,
// draws a token by incrementing counter. token is 0 if key was not set.
func (p Port) Grant(ctx context.Context, timeout time.Duration, key, value, counter string, ttl time.Duration) (token uint64, err error) {
	r, err := kinds{Int, Int}.check(p.Do(ctx, timeout, Command{Verb: Grant, Key: key, Value: value, Counter: counter, TTL: ttl}))
	return uint64(r.Int), err
}

// Claim is Grant for a caller that may have set key without getting the answer: a
// key that already has value counts as set, and its ttl starts again. Without
// counter, token is 1 if key is set.
func (p Port) Claim(ctx context.Context, timeout time.Duration, key, value, counter string, ttl time.Duration) (token uint64, err error) {
	r, err := kinds{Int, Int}.check(p.Do(ctx, timeout, Command{Verb: Claim, Key: key, Value: value, Counter: counter, TTL: ttl}))
	return uint64(r.Int), err
}

// Extend makes key expire after ttl if it has value, and reports whether it did.
func (p Port) Extend(ctx context.Context, timeout time.Duration, key, value string, ttl time.Duration) (bool, error) {
	r, err := kinds{Int, Int}.check(p.Do(ctx, timeout, Command{Verb: Extend, Key: key, Value: value, TTL: ttl}))
	return r.Int == 1, err
}

// Replace sets key like SetIfAbsent (ttl 0: without expiry), and also if key has
// the value old. That is one atomic step. It reports whether it set key.
func (p Port) Replace(ctx context.Context, timeout time.Duration, key, old, value string, ttl time.Duration) (bool, error) {
	r, err := kinds{Int, Int}.check(p.Do(ctx, timeout, Command{Verb: Replace, Key: key, Value: value, Old: old, TTL: ttl}))
	return r.Int == 1, err
}

// kinds are the kinds of replies that a command can have.
type kinds [2]Kind

// check returns what Do has returned, or an error for an error reply and for a reply of
// another kind. It takes the results of Do, instead of calling it: a caller's stack is
// short then, which matters to the simulator's switches between tasks.
func (k kinds) check(r Reply, err error) (Reply, error) {
	switch {
	case err != nil:
		return Reply{}, err
	case r.Kind == Error:
		return Reply{}, locks.Definite(ServerError(r.Str))
	case r.Kind != k[0] && r.Kind != k[1]:
		return Reply{}, ErrProtocol
	}
	return r, nil
}
