package clients

import (
	"bufio"
	"errors"
	"sync"
)

// Redis is a client's connection to a Redis server or a Sentinel.
type Redis struct {
	Replies *bufio.Reader // from the server
	// Names: everything that the server writes may name servers, as with a Sentinel. Data
	// of locks is left as it is.
	Names bool
	// Begin is called for each request of the client, in operation op. sent is called just
	// before the request leaves, answered before its answer is delivered. nil: nothing to do.
	Begin func(words []string, op int64) (sent, answered func(stop <-chan struct{}))
	// Foreign is called if the client does not speak the protocol; nil: nothing to do.
	Foreign func()

	mu         sync.Mutex
	unanswered []redisRequest
}

// redisRequest is a request without an answer.
type redisRequest struct {
	words    []string
	answered func(stop <-chan struct{})
}

func (q *redisRequest) kind() Kind {
	if isGreeting(q.words) {
		return Library
	}
	return Effect
}

// Request implements Dialect.
func (t *Redis) Request(r *bufio.Reader, op int64) Parcel {
	raw, words, err := ReadRequest(r)
	if err != nil {
		if errors.Is(err, ErrNotRESP) && t.Foreign != nil {
			t.Foreign()
		}
		return Parcel{Raw: raw}
	}
	q := redisRequest{words: words}
	p := Parcel{Raw: raw, Kind: q.kind()}
	if t.Begin != nil {
		p.Pass, q.answered = t.Begin(words, op)
	}
	t.mu.Lock()
	t.unanswered = append(t.unanswered, q)
	t.mu.Unlock()
	return p
}

// Reply implements Dialect: it reads a reply, or a message of a channel.
func (t *Redis) Reply() (Parcel, error) {
	raw, err := ReadReply(t.Replies)
	if len(raw) == 0 || err != nil && !errors.Is(err, ErrNotRESP) {
		return Parcel{}, err
	}
	p := Parcel{Raw: raw, Names: t.Names}
	if raw[0] == '>' {
		return p, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.unanswered) == 0 {
		return p, nil
	}
	q := t.unanswered[0] // that the reply answers
	t.unanswered = t.unanswered[1:]
	p.Kind, p.Pass = q.kind(), q.answered
	p.Names = p.Names || len(q.words) > 0 && IsOneOf(q.words[0], "INFO", "ROLE")
	return p, nil
}
