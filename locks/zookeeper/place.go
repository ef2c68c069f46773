package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// place is an entry in the queue of a recipe. At the head it is the grant.
type place struct {
	lock    *recipe
	session *session
	parent  string
	prefix  string // of its node's name; unique to this place
	node    string // its node's name; "": none, or see doubt
	number  int32
	told    bool             // its position has been reported
	doubt   bool             // a create got no answer: there may be a node
	tried   bool             // a delete got no answer: the node may be gone
	czxids  map[string]int64 // of the known nodes in the queue
	drawn   uint64
	reader  locks.Task // of the session's events; nil: no hold
}

// infix is between the unique string and the number.
const infix = "-lock-"

// waiter is a node of the queue.
type waiter struct {
	node string
	at   int64 // its number, or the transaction that created it
}

// Token returns the token of the grant, or 0 without the option.
func (p *place) Token() uint64 { return p.drawn }

// fence draws the token, unless it is known from the order of the queue.
func (p *place) fence(ctx context.Context) (err error) {
	if at, ok := p.czxids[p.node]; ok && p.lock.Token {
		p.drawn = uint64(at)
		return nil
	}
	p.drawn, err = p.lock.token(ctx, p.session, p.parent+"/"+p.node, p.number)
	return err
}

// make creates the node, or adopts one whose creation got no answer.
func (p *place) make(ctx context.Context) error {
	if p.doubt {
		if err := p.adopt(ctx); err != nil {
			return err
		}
	}
	if p.node == "" {
		path, err := p.lock.join(ctx, p.session, p.parent, p.prefix)
		if err != nil {
			p.doubt = !locks.IsDefinite(err)
			return err
		}
		p.setNode(strings.TrimPrefix(path, p.parent+"/"))
	}
	if !p.lock.Czxid {
		p.reportPlace(int64(p.number))
	}
	return nil
}

func (p *place) setNode(node string) {
	p.node, p.told = node, false
	p.number, _ = numberOf(strings.TrimPrefix(node, p.prefix))
}

// reportPlace reports the node's position in the queue, once.
func (p *place) reportPlace(at int64) {
	if !p.told {
		p.told = true
		p.lock.reportPlace(at)
	}
}

// adopt finds the result of a create without an answer: its node exists now, or
// never will. A server that lags may not know it yet, so it catches up first.
func (p *place) adopt(ctx context.Context) error {
	if err := p.session.Sync(ctx, p.lock.Timeout, p.parent); err != nil {
		return err
	}
	names, err := p.names(ctx)
	if err != nil {
		return err
	}
	p.doubt = false
	for _, name := range names {
		if strings.HasPrefix(name, p.prefix) {
			p.setNode(name)
		}
	}
	return nil
}

// names returns the children of the lock's node, which may be missing.
func (p *place) names(ctx context.Context) ([]string, error) {
	names, err := p.session.GetChildren(ctx, p.lock.Timeout, p.parent, false)
	if errors.Is(err, zookeeper.NoNode) {
		return nil, nil
	}
	return names, err
}

// queue returns the nodes of all waiters, in order. Nodes of other recipes are
// ignored.
func (p *place) queue(ctx context.Context) ([]waiter, error) {
	names, err := p.names(ctx)
	if err != nil {
		return nil, err
	}
	queue := make([]waiter, 0, len(names))
	for _, name := range names {
		_, digits, _ := strings.Cut(name, infix)
		number, ok := numberOf(digits)
		at := int64(number)
		if ok && p.lock.Czxid {
			at, ok, err = p.czxid(ctx, name)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			queue = append(queue, waiter{name, at})
		}
	}
	// A counter at its end gives all nodes the same number. Their names are then
	// an order that is the same for all clients, but not the order of arrival.
	slices.SortFunc(queue, func(a, b waiter) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node, b.node)) })
	return queue, nil
}

// czxid returns the transaction that created a node, or false if the node is
// gone. It asks the server once for each node.
func (p *place) czxid(ctx context.Context, name string) (int64, bool, error) {
	if at, ok := p.czxids[name]; ok {
		return at, true, nil
	}
	stat, ok, err := p.session.Exists(ctx, p.lock.Timeout, p.parent+"/"+name, false)
	if ok {
		if p.czxids == nil {
			p.czxids = map[string]int64{}
		}
		p.czxids[name] = stat.Czxid
	}
	return stat.Czxid, ok, err
}

// remove deletes the node until an answer comes or the session has ended. When
// more returns false a task continues, and the error is not definite. The session
// is free afterwards.
func (p *place) remove(more func() bool) error {
	defer p.lock.put(p.session)
	for {
		answered, err := p.erase()
		switch {
		case answered:
			return err
		case !more():
			p.lock.host.Go(p.insist)
			return fmt.Errorf("%s/%s… may stay in the queue for a while: %v", p.parent, p.prefix, err)
		}
		if err := p.pause(p.lock.host.Life()); err != nil {
			return err
		}
	}
}

// insist continues the removal.
func (p *place) insist(ctx context.Context) {
	for {
		if answered, _ := p.erase(); answered || p.pause(ctx) != nil {
			return
		}
	}
}

// erase tries to delete the node once. With answered true no node is left.
// ErrLost: it was removed with its session. ErrNotHeld: another client has
// deleted it. After a delete without an answer a missing node counts as deleted
// by this client.
func (p *place) erase() (answered bool, err error) {
	ctx := p.lock.host.Life()
	p.lock.host.Mark("delete", int64(p.number), p.session.ID())
	if p.doubt && !p.session.over {
		err = p.adopt(ctx)
	}
	if err == nil && !p.session.over {
		if p.node == "" {
			return true, nil
		}
		err = p.session.Delete(ctx, p.lock.Timeout, p.parent+"/"+p.node, zookeeper.AnyVersion)
		p.tried = p.tried || err != nil && !locks.IsDefinite(err)
	}
	gone := errors.Is(err, zookeeper.NoNode)
	switch {
	case !p.session.over && !gone:
		return err == nil, err
	case p.tried:
		return true, nil
	case gone:
		return true, locks.ErrNotHeld
	}
	return true, locks.ErrLost
}

// pause waits before a request is repeated: the library connects to another
// server meanwhile.
func (p *place) pause(ctx context.Context) error {
	return p.lock.host.Backoff(ctx, p.lock.TTL/100, 3*p.lock.TTL/100)
}
