// Package zookeeper has the locks that use a ZooKeeper ensemble: one file for
// each, which reads like the recipe that it implements. The flawed ones are
// exactly as flawed as their source.
//
// A lock called a is the node /a. A client that wants it creates a child of that
// node, which ends with the session and has a number; the numbers are the order
// of the queue. The node itself is created by the first client that finds it
// missing, and stays.
package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// Options of a lock. The zero value is the lock as published.
type Options struct {
	TTL time.Duration // T: the length of a session without a sign of life
	// Timeout of one request; 0: T. The libraries have none: a request ends with
	// its connection, which they give up after 2/3 T of silence. So T leaves them
	// time for that, and ends only requests that they leave open.
	Timeout time.Duration
	Token   bool // each grant has the number of its node as a fencing token
	// Czxid uses the transaction that created a node instead of its number: as
	// the token, and in zk-recipe also for the order of the queue. The number
	// overflows, and restarts with a new parent; the transaction does not.
	Czxid bool
}

// locker is the common part of the locks: a client's data.
type locker struct {
	Options
	host locks.Host
	port zookeeper.Port
}

func newLocker(h locks.Host, p zookeeper.Port, o Options) locker {
	o.Timeout = cmp.Or(o.Timeout, o.TTL)
	return locker{o, h, p}
}

// session is a session and its state.
type session struct {
	zookeeper.Handle
	*fate
}

// fate is the state of a session as far as its client knows it.
type fate struct {
	over bool // it has ended and its nodes are gone
	cut  bool // it has no connection for now
}

// sessionWithFate is a session that records its fate.
type sessionWithFate struct {
	zookeeper.Session
	*fate
}

// open opens a session. Its errors are definite: a session that is granted later
// owns nothing.
func (l *locker) open(ctx context.Context) (*session, error) {
	h, err := l.port.Open(ctx, l.Timeout, l.TTL)
	switch {
	case err == nil:
		f := &fate{}
		return &session{zookeeper.Handle{Session: sessionWithFate{h.Session, f}}, f}, nil
	case ctx.Err() != nil:
		return nil, locks.ErrNotAcquired
	}
	return nil, locks.Definite(err)
}

func (t sessionWithFate) Do(ctx context.Context, timeout time.Duration, c zookeeper.Command) (zookeeper.Reply, error) {
	r, err := t.Session.Do(ctx, timeout, c)
	t.learn(err)
	return r, err
}

func (t sessionWithFate) Next(ctx context.Context, timeout time.Duration) (zookeeper.Event, error) {
	e, err := t.Session.Next(ctx, timeout)
	t.learn(err)
	if err == nil {
		switch e.Type {
		case zookeeper.Expired, zookeeper.Closed:
			t.over = true
		case zookeeper.Disconnected:
			t.cut = true
		case zookeeper.Connected:
			t.cut = false
		}
	}
	return e, err
}

func (f *fate) learn(err error) {
	if errors.Is(err, zookeeper.ErrSessionExpired) || errors.Is(err, zookeeper.ErrClosed) {
		f.over = true
	}
}

// join creates a child of the lock's node and returns its path. It also creates
// the lock's node if it is missing.
func (l *locker) join(ctx context.Context, s *session, parent, child string) (string, error) {
	const mode = zookeeper.Ephemeral | zookeeper.Sequential
	path, err := s.Create(ctx, l.Timeout, parent+"/"+child, "", mode)
	if !errors.Is(err, zookeeper.NoNode) {
		return path, err
	}
	_, err = s.Create(ctx, l.Timeout, parent, "", zookeeper.Persistent)
	if err != nil && !errors.Is(err, zookeeper.NodeExists) {
		// No client waits for a missing parent.
		return "", locks.Definite(fmt.Errorf("%s is missing: %w", parent, err))
	}
	return s.Create(ctx, l.Timeout, parent+"/"+child, "", mode)
}

// reportPlace reports the place of a node in the queue. Numbers are an order only
// until they overflow: then they may return to earlier values.
func (l *locker) reportPlace(at int64) {
	if at >= 0 {
		l.host.Report(locks.News{Queued: at + 1})
	}
}

// token returns the token of the node at path with that number, or 0 without the
// option.
func (l *locker) token(ctx context.Context, s *session, path string, number int32) (uint64, error) {
	switch {
	case !l.Token:
		return 0, nil
	case !l.Czxid:
		// As an unsigned number it continues to grow after an overflow. The first
		// one is 0, which would mean no token.
		return uint64(uint32(number)) + 1, nil
	}
	stat, ok, err := s.Exists(ctx, l.Timeout, path, false)
	if err == nil && !ok {
		err = locks.Definite(zookeeper.NoNode)
	}
	return uint64(stat.Czxid), err
}

// numberOf reads the number that the ensemble has appended to a node's name: a
// Java int in ten digits, with a sign after an overflow.
func numberOf(digits string) (int32, bool) {
	n, err := strconv.ParseInt(digits, 10, 32)
	return int32(n), err == nil
}
