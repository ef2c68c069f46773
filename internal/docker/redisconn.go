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
	op    int64         // index of the operation's invoke; 0: none
	seen  chan struct{} // closed when the server's feed has shown it
}

func (q *request) kind() messageKind {
	if q != nil && isGreeting(q.words) {
		return kindLibrary
	}
	return kindEffect
}

// reach implements farServer.
func (s *server) reach(ctx context.Context, client string) (*net.TCPConn, dialect, error) {
	r, err := s.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	return r.conn, &redisTalk{route: r, server: s, client: client}, nil
}

func (s *server) serverName() string { return s.name }

func (s *server) drop(format string, args ...any) { s.ledger.drop(format, args...) }

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

func (t *redisTalk) reply() (parcel, error) {
	raw, err := readReply(t.replies)
	if len(raw) == 0 || err != nil && !errors.Is(err, errNotRESP) {
		return parcel{}, err
	}
	p := parcel{raw: raw}
	if raw[0] == '>' {
		return p, nil
	}
	q := t.nextAnswered()
	p.kind = q.kind()
	if q != nil && t.feed != nil {
		p.pass = func(<-chan struct{}) {
			if err := t.feed.waitShown(q); err != nil {
				t.server.drop("%v (%s)", err, q.words[0])
			}
		}
	}
	return p, nil
}

// nextAnswered removes and returns the request that the next reply answers.
func (t *redisTalk) nextAnswered() *request {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.unanswered) == 0 {
		return nil
	}
	q := t.unanswered[0]
	t.unanswered = t.unanswered[1:]
	return q
}
