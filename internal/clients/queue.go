package clients

import (
	"sync"
	"time"
)

// Parcel is a message on its way, or the end of a direction.
type Parcel struct {
	Raw  []byte
	Kind Kind
	due  time.Time
	// Pass is called just before delivery; stop is closed when the connection ends. A
	// request is announced to the observer of the server. A reply waits until that has
	// reported the effects, because a client's completion must not precede its cause.
	// nil: nothing to do.
	Pass  func(stop <-chan struct{})
	reset bool // of an end: a reset
	Names bool // of a reply: it may name servers
}

// queue is unbounded: a link never slows down a sender.
type queue[T any] struct {
	mu    sync.Mutex
	items []T
	more  chan struct{} // holds one element when there are items
}

func newQueue[T any]() *queue[T] { return &queue[T]{more: make(chan struct{}, 1)} }

func (q *queue[T]) push(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, item)
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// pop waits for an item, or for stop.
func (q *queue[T]) pop(stop <-chan struct{}) (item T, ok bool) {
	for {
		q.mu.Lock()
		if len(q.items) > 0 {
			item, q.items = q.items[0], q.items[1:]
			q.mu.Unlock()
			return item, true
		}
		q.mu.Unlock()
		select {
		case <-q.more:
		case <-stop:
			return item, false
		}
	}
}
