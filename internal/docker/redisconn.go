package docker

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// redisTalk is a client's connection to a Redis server.
type redisTalk struct {
	*control
	server   *server
	client   string
	feed     *feed // nil: the server is not observed
	expected *pendingRequests

	mu         sync.Mutex
	unanswered []*request
}

// drop implements farServer. A server without a ledger is never observed.
func (s *server) drop(format string, args ...any) {
	if s.ledger != nil {
		s.ledger.drop(format, args...)
	}
}

// request registers the request with the feed before it is sent, so that the feed
// recognises it.
func (t *redisTalk) request(r *bufio.Reader, op int64) parcel {
	raw, words, err := readRequest(r)
	if err != nil {
		if errors.Is(err, errNotRESP) {
			t.server.drop("client %s does not speak the protocol of Redis", t.client)
		}
		return parcel{raw: raw}
	}
	q := &request{words: words, op: op, seen: make(chan struct{})}
	t.mu.Lock()
	t.unanswered = append(t.unanswered, q)
	t.mu.Unlock()
	p := parcel{raw: raw, kind: q.kind()}
	if t.feed != nil {
		p.pass = func(<-chan struct{}) { t.feed.expect(t.expected, q) }
	}
	return p
}

// reply reads a reply, or a message of a channel. All that a Sentinel writes may name
// servers; data of locks is left as it is.
func (t *redisTalk) reply() (parcel, error) {
	raw, err := readReply(t.replies)
	if len(raw) == 0 || err != nil && !errors.Is(err, errNotRESP) {
		return parcel{}, err
	}
	p := parcel{raw: raw, names: t.server.ledger == nil}
	if raw[0] == '>' {
		return p, nil
	}
	var q *request // that the reply answers
	t.mu.Lock()
	if len(t.unanswered) > 0 {
		q, t.unanswered = t.unanswered[0], t.unanswered[1:]
	}
	t.mu.Unlock()
	p.kind = q.kind()
	p.names = p.names || q != nil && len(q.words) > 0 && isOneOf(q.words[0], "INFO", "ROLE")
	if q != nil && t.feed != nil {
		p.pass = func(<-chan struct{}) {
			if err := t.feed.waitShown(q); err != nil {
				t.server.drop("%v (%s)", err, q.words[0])
			}
		}
	}
	return p, nil
}

// reach implements farServer: it registers the connection with the feed, and waits while
// the server's role changes.
func (s *server) reach(ctx context.Context, client string) (*net.TCPConn, dialect, error) {
	for {
		s.mu.Lock()
		f, up := s.feed, s.up
		s.mu.Unlock()
		switch {
		case !up:
			return nil, nil, errDown
		case f == nil && s.ledger != nil:
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			time.Sleep(time.Millisecond)
			continue
		}
		t, err := s.connect(ctx, client, f)
		switch {
		case err == nil:
			return t.conn, t, nil
		case f == nil || ctx.Err() != nil || s.current() == f && !f.isOver():
			return nil, nil, err
		}
		time.Sleep(time.Millisecond)
	}
}

// connect connects to the server, whose feed is f; nil: none.
func (s *server) connect(ctx context.Context, client string, f *feed) (*redisTalk, error) {
	c, err := connect(s.Addr)
	if err != nil {
		return nil, err
	}
	c.gate = &s.gate
	t := &redisTalk{control: c, server: s, client: client, feed: f}
	if f == nil {
		return t, nil
	}
	defer context.AfterFunc(ctx, func() { c.close() })()
	if t.expected, err = f.add(c); err != nil {
		c.close()
		return nil, err
	}
	return t, nil
}
