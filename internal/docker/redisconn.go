package docker

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"
)

// redisTalk is a client's connection to a Redis server.
type redisTalk struct {
	*route
	server *server
	client string

	mu         sync.Mutex
	unanswered []*request
}

// request is one request on its way.
type request struct {
	words []string
	op    int64         // index of the operation's invoke; 0: it belongs to none
	seen  chan struct{} // closed when the server's feed has shown it
}

func (q *request) sort() sort {
	if q != nil && isGreeting(q.words) {
		return besides
	}
	return works
}

// reach is far's.
func (s *server) reach(ctx context.Context, client string) (*net.TCPConn, dialect, error) {
	r, err := s.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	return r.conn, &redisTalk{route: r, server: s, client: client}, nil
}

func (s *server) called() string { return s.name }

func (s *server) drop(format string, args ...any) { s.ledger.drop(format, args...) }

// request tells the feed of it before it leaves, so that the feed knows the
// request when the server shows it.
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
	p := parcel{raw: raw, sort: q.sort()}
	if t.feed != nil {
		p.pass = func(<-chan struct{}) { t.feed.expect(t.expected, q) }
	}
	return p
}

func (t *redisTalk) reply() (parcel, error) {
	raw, err := readReply(t.replies)
	if len(raw) == 0 || err != nil && !errors.Is(err, errNotRESP) {
		return parcel{}, err
	}
	p := parcel{raw: raw}
	if raw[0] == '>' {
		return p, nil
	}
	q := t.answered()
	p.sort = q.sort()
	if q != nil && t.feed != nil {
		p.pass = func(<-chan struct{}) {
			if err := t.feed.shown(q); err != nil {
				t.server.drop("%v (%s)", err, q.words[0])
			}
		}
	}
	return p, nil
}

// answered is the request that the next reply answers.
func (t *redisTalk) answered() *request {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.unanswered) == 0 {
		return nil
	}
	q := t.unanswered[0]
	t.unanswered = t.unanswered[1:]
	return q
}
