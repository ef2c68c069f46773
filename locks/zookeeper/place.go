package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// place is a place in the queue of a recipe: at its head it is the grant.
type place struct {
	lock    *recipe
	session *session
	parent  string
	prefix  string // of its node's name; no other place has it
	node    string // its node's name; "": there is none, or see doubt
	number  int32
	told    bool             // where it is in the queue
	doubt   bool             // a create got no answer: there may be a node
	tried   bool             // a delete got no answer: there may be none
	czxids  map[string]int64 // of the nodes of the queue, as far as they are known
	drawn   uint64
	reader  locks.Task // of the session's events; nil: not held
}

// infix stands between the string that nobody else has and the number.
const infix = "-lock-"

// waiter is a node of the queue.
type waiter struct {
	node string
	at   int64 // its number, or the transaction that made it
}

// Token is what was drawn with the grant; 0: none was asked for.
func (p *place) Token() uint64 { return p.drawn }

// fence draws it, unless the order of the queue has told it already.
func (p *place) fence(ctx context.Context) (err error) {
	if at, ok := p.czxids[p.node]; ok && p.lock.Token {
		p.drawn = uint64(at)
		return nil
	}
	p.drawn, err = p.lock.token(ctx, p.session, p.parent+"/"+p.node, p.number)
	return err
}

// make makes the node, or adopts the one that it made without learning it.
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
		p.own(strings.TrimPrefix(path, p.parent+"/"))
	}
	if !p.lock.Czxid {
		p.tell(int64(p.number))
	}
	return nil
}

func (p *place) own(node string) {
	p.node, p.told = node, false
	p.number, _ = numberOf(strings.TrimPrefix(node, p.prefix))
}

// tell reports where the node is in the queue, once.
func (p *place) tell(at int64) {
	if !p.told {
		p.told = true
		p.lock.queued(at)
	}
}

// adopt finds out what became of a create without an answer: its node is there
// now, or never will be. A server that lags might not know of it yet, so it
// catches up first.
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
			p.own(name)
		}
	}
	return nil
}

// names is the children of the lock's node; without it there are none.
func (p *place) names(ctx context.Context) ([]string, error) {
	names, err := p.session.GetChildren(ctx, p.lock.Timeout, p.parent, false)
	if errors.Is(err, zookeeper.NoNode) {
		return nil, nil
	}
	return names, err
}

// queue is the nodes of all who wait, in order. What is not of this recipe
// does not queue.
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
	// A counter at its end gives all the same number: their names are an order
	// then that is the same for everybody, and not that in which they came.
	slices.SortFunc(queue, func(a, b waiter) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node, b.node)) })
	return queue, nil
}

// czxid is the transaction that made a node, and false if it is gone. It is
// asked for once.
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

// remove deletes the node until an answer comes, or the session has ended. When
// there is no time for more a task goes on with it, and the error is not
// definite. The session is free then.
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

// insist is what goes on with it.
func (p *place) insist(ctx context.Context) {
	for {
		if answered, _ := p.erase(); answered || p.pause(ctx) != nil {
			return
		}
	}
}

// erase tries once. Answered, nothing of this place is left: ErrLost, if it went
// with its session; ErrNotHeld, if somebody else has deleted it. Who finds it
// gone after a delete without an answer may have deleted it, and says so.
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

// pause comes before asking again what got no answer: the library looks for
// another server meanwhile.
func (p *place) pause(ctx context.Context) error {
	return p.lock.host.Backoff(ctx, p.lock.TTL/100, 3*p.lock.TTL/100)
}
