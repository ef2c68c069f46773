// Package zookeeper holds the locks that live on a ZooKeeper ensemble: one file
// for each, which reads like the recipe that it implements. The flawed ones are
// exactly as flawed as their source.
//
// A lock called a is the node /a. Who wants it makes a child of that node,
// which goes with the session and has a number; the numbers are the queue. The
// node itself is made by who finds it missing, and stays.
package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// Options of a lock. The zero value is the lock as published.
type Options struct {
	TTL time.Duration // T: how long a session lasts of which the ensemble hears nothing
	// Timeout of one request; 0: T. The libraries have none: a request ends with
	// its connection, which they give up when 2/3 T have passed without a word.
	// So T leaves them the time to do so, and ends only what they leave open.
	Timeout time.Duration
	Token   bool // each grant carries the number of its node, as a fencing token
	// Czxid, the transaction that made a node, stands in for its number: as the
	// token, and in zk-recipe also as the order of the queue. The number
	// overflows, and starts again when the parent is made anew; this does not.
	Czxid bool
}

// locker is what the locks share: a client's end.
type locker struct {
	Options
	host locks.Host
	port zookeeper.Port
}

func newLocker(h locks.Host, p zookeeper.Port, o Options) locker {
	if o.Timeout == 0 {
		o.Timeout = o.TTL
	}
	return locker{o, h, p}
}

// session is a session, and what has become of it.
type session struct {
	zookeeper.Handle
	*fate
}

// fate of a session, as far as its client has learnt of it.
type fate struct {
	over bool // it has ended, and what it owned is gone
	cut  bool // no server carries it for now
}

// told is a session that keeps its fate.
type told struct {
	zookeeper.Session
	*fate
}

// open opens a session. Its errors are certain: a session that was granted
// nevertheless owns nothing.
func (l *locker) open(ctx context.Context) (*session, error) {
	h, err := l.port.Open(ctx, l.Timeout, l.TTL)
	switch {
	case err == nil:
		f := &fate{}
		return &session{zookeeper.Handle{Session: told{h.Session, f}}, f}, nil
	case ctx.Err() != nil:
		return nil, locks.ErrNotAcquired
	}
	return nil, locks.Definite(err)
}

func (t told) Do(ctx context.Context, timeout time.Duration, c zookeeper.Command) (zookeeper.Reply, error) {
	r, err := t.Session.Do(ctx, timeout, c)
	t.learn(err)
	return r, err
}

func (t told) Next(ctx context.Context, timeout time.Duration) (zookeeper.Event, error) {
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

// join makes a child of the lock's node, and returns its path; and the lock's
// node, if it is missing.
func (l *locker) join(ctx context.Context, s *session, parent, child string) (string, error) {
	const mode = zookeeper.Ephemeral | zookeeper.Sequential
	path, err := s.Create(ctx, l.Timeout, parent+"/"+child, "", mode)
	if !errors.Is(err, zookeeper.NoNode) {
		return path, err
	}
	_, err = s.Create(ctx, l.Timeout, parent, "", zookeeper.Persistent)
	if err != nil && !errors.Is(err, zookeeper.NodeExists) {
		// Nobody waits behind a parent.
		return "", locks.Definite(fmt.Errorf("%s is missing: %w", parent, err))
	}
	return s.Create(ctx, l.Timeout, parent+"/"+child, "", mode)
}

// queued reports the place of a node in the queue. Numbers tell the order only
// until they overflow: then they may come back to where they were.
func (l *locker) queued(at int64) {
	if at >= 0 {
		l.host.Report(locks.News{Queued: at + 1})
	}
}

// token is the one that the node at path, whose number is given, stands for; 0:
// none was asked for.
func (l *locker) token(ctx context.Context, s *session, path string, number int32) (uint64, error) {
	switch {
	case !l.Token:
		return 0, nil
	case !l.Czxid:
		// As a number without a sign it goes on growing where it overflows. The
		// first one is 0, which would be no token.
		return uint64(uint32(number)) + 1, nil
	}
	stat, ok, err := s.Exists(ctx, l.Timeout, path, false)
	if err == nil && !ok {
		err = locks.Definite(zookeeper.NoNode)
	}
	return uint64(stat.Czxid), err
}

// numberOf reads the number that the ensemble has put at the end of a node's
// name: a Java int in ten digits, with a sign once it has overflowed.
func numberOf(digits string) (int32, bool) {
	n, err := strconv.ParseInt(digits, 10, 32)
	return int32(n), err == nil
}
