package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// request is a request in the library. It cannot be cancelled, so it waits in a
// goroutine of its own. An answer after its caller has given up is dropped.
type request struct {
	zookeeper.Command
	settled chan struct{} // closed when it has been sent or dropped
	answer  chan answer
	// Guarded by the session's mutex:
	sent    bool
	dropped bool // it must not be sent
}

type answer struct {
	reply zookeeper.Reply
	err   error
}

// Do implements zookeeper.Session.
func (s *session) Do(ctx context.Context, timeout time.Duration, c zookeeper.Command) (zookeeper.Reply, error) {
	switch {
	case c.Verb < zookeeper.Create || c.Verb > zookeeper.Sync:
		return zookeeper.Reply{}, locks.Definite(errVerb)
	case ctx.Err() != nil:
		return zookeeper.Reply{}, locks.Definite(ctx.Err())
	}
	give, cancel := s.o.limit(timeout)
	defer cancel()
	for {
		q := &request{Command: c, settled: make(chan struct{}), answer: make(chan answer, 1)}
		if err := s.make(ctx, give, q); err != nil {
			return zookeeper.Reply{}, err
		}
		var a answer
		select {
		case a = <-q.answer:
		case <-give.Done():
			select {
			case a = <-q.answer:
			default:
				return zookeeper.Reply{}, zookeeper.ErrTimeout
			}
		}
		r, err := a.read()
		s.mu.Lock()
		sent, end := q.sent, s.endErr()
		s.mu.Unlock()
		switch {
		case sent || err == nil:
			return r, err
		case end != nil:
			return zookeeper.Reply{}, end
		case !errors.Is(err, zookeeper.ErrConnectionLoss):
			return zookeeper.Reply{}, locks.Definite(err)
		}
		// The connection ended before the request was sent: it may wait for the
		// next one.
	}
}

// make waits for its turn and a connection and passes a request to the library.
// It returns when the request has been sent or the library has returned it. Any
// error is definite.
func (s *session) make(ctx, give context.Context, q *request) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return locks.Definite(ctx.Err())
	case <-give.Done():
		return zookeeper.ErrNotConnected
	}
	var over error
	err := s.await(ctx, give, func() bool {
		if over = s.endErr(); over == nil && s.up {
			s.making = q
		}
		return over != nil || s.up
	})
	switch {
	case errors.Is(err, errTime):
		err = zookeeper.ErrNotConnected
	case err == nil:
		err = over
	}
	if err != nil {
		<-s.turn
		return err
	}
	go func() {
		r, err := send(s.conn, q.Command)
		s.mu.Lock()
		s.settle(q)
		s.mu.Unlock()
		q.answer <- answer{r, err}
	}()
	select {
	case <-q.settled:
		return nil
	case <-ctx.Done():
		err = locks.Definite(ctx.Err())
	case <-give.Done():
		err = zookeeper.ErrNotConnected
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.sent {
		return nil
	}
	q.dropped = true
	return err
}

// settle ends the turn of a request, if it has it. The caller holds the session's
// mutex.
func (s *session) settle(q *request) {
	if q != nil && s.making == q {
		s.making = nil
		close(q.settled)
		<-s.turn
	}
}

var errVerb = errors.New("zookeeper client: no such request")

// send makes the library send c, without its watch (see wire.Write), and waits for the
// answer.
func send(z *zk.Conn, c zookeeper.Command) (r zookeeper.Reply, err error) {
	var data []byte
	var st *zk.Stat
	switch c.Verb {
	case zookeeper.Create:
		r.Path, err = z.Create(c.Path, []byte(c.Data), int32(c.Mode), zk.WorldACL(zk.PermAll))
	case zookeeper.Delete:
		err = z.Delete(c.Path, c.Version)
	case zookeeper.Exists:
		var there bool
		if there, st, err = z.Exists(c.Path); err == nil && !there {
			return zookeeper.Reply{Code: zookeeper.NoNode}, nil
		}
	case zookeeper.GetData:
		data, st, err = z.Get(c.Path)
	case zookeeper.SetData:
		st, err = z.Set(c.Path, []byte(c.Data), c.Version)
	case zookeeper.GetChildren:
		r.Children, st, err = z.Children(c.Path)
	case zookeeper.Sync:
		_, err = z.Sync(c.Path)
	}
	r.Data, r.Stat = string(data), stat(st)
	return r, err
}

func stat(s *zk.Stat) zookeeper.Stat {
	if s == nil {
		return zookeeper.Stat{}
	}
	return zookeeper.Stat{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Pzxid: s.Pzxid, Version: s.Version, CVersion: s.Cversion,
		Owner: s.EphemeralOwner, DataLength: s.DataLength, NumChildren: s.NumChildren,
	}
}

// codes are the refusals for which the library has errors. It checks paths itself
// and sends no path that the server would refuse.
var codes = map[error]zookeeper.Code{
	zk.ErrInvalidPath:             zookeeper.BadArguments,
	zk.ErrBadArguments:            zookeeper.BadArguments,
	zk.ErrNoNode:                  zookeeper.NoNode,
	zk.ErrBadVersion:              zookeeper.BadVersion,
	zk.ErrNoChildrenForEphemerals: zookeeper.NoChildrenForEphemerals,
	zk.ErrNodeExists:              zookeeper.NodeExists,
	zk.ErrNotEmpty:                zookeeper.NotEmpty,
}

// read converts the answer to the port's types.
func (a answer) read() (zookeeper.Reply, error) {
	var broken net.Error
	switch {
	case a.err == nil:
		return a.reply, nil
	case codes[a.err] != 0:
		return zookeeper.Reply{Code: codes[a.err]}, nil
	case errors.Is(a.err, zk.ErrSessionExpired):
		return zookeeper.Reply{}, zookeeper.ErrSessionExpired
	case errors.Is(a.err, zk.ErrConnectionClosed), errors.Is(a.err, zk.ErrNoServer), errors.Is(a.err, zk.ErrClosing),
		errors.Is(a.err, net.ErrClosed), errors.Is(a.err, io.EOF), errors.As(a.err, &broken):
		return zookeeper.Reply{}, zookeeper.ErrConnectionLoss
	}
	return zookeeper.Reply{}, fmt.Errorf("%w: %w", zookeeper.ErrProtocol, a.err)
}
