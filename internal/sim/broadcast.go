package sim

import (
	"slices"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

// propose sends a transaction to the followers. The message m requested it from
// the member origin; both are nil if no client did.
func (e *ensemble) propose(t model.Txn, origin *member, m *message) {
	l := logEntry{t, origin, m}
	e.leader.log = append(e.leader.log, l)
	for _, x := range e.members {
		if x.serves && x != e.leader {
			p := x.down.parcel(proposal)
			p.entry = l
			x.down.send(p)
		}
	}
}

// count commits the transactions that a majority has in its logs.
func (e *ensemble) count() {
	l := e.leader
	for len(l.log) > 0 {
		zxid, have := l.log[0].txn.Zxid, 1
		for _, x := range e.members {
			if x.serves && x != l && x.acked >= zxid {
				have++
			}
		}
		if !e.isMajority(have) {
			return
		}
		l.commitTo(zxid)
		e.decides.Committed(zxid)
		for _, x := range e.members {
			if x.serves && x != l {
				p := x.down.parcel(commit)
				p.zxid = zxid
				x.down.send(p)
			}
		}
		e.syncs = slices.DeleteFunc(e.syncs, func(m *message) bool {
			if m.zk.zxid > zxid {
				return false
			}
			e.answer(m)
			return true
		})
	}
}

// request makes the leader decide on a client's request to a member.
func (e *ensemble) request(origin *member, m *message) {
	k, now := m.zk, e.leader.mono()
	owner := e.owners[k.session]
	switch {
	case k.ask == hello && k.session == 0:
		t := e.decides.Open(now, m.op, k.length)
		e.owners[t.Session] = origin
		e.propose(t, origin, m)
		e.arm()
	case k.ask == hello:
		// The leader answers a returning client at once that its session has
		// ended, even before this is committed and the nodes are gone: ZooKeeper
		// asks only the tracker of sessions.
		if k.ended = k.life != e.life || !e.decides.Touch(now, k.session); !k.ended {
			e.owners[k.session] = origin
		}
		e.answer(m)
	case owner != nil && owner != origin:
		k.moved = true // requests on a connection that the client left have no effect
		e.answer(m)
	case k.ask == farewell:
		t, ok := e.decides.Close(now, k.session, m.op)
		e.proposeIf(t, ok, m)
	case k.command.Verb == zookeeper.Sync:
		e.answerInTurn(m)
	default:
		t, ok := e.decides.Propose(now, k.session, m.op, k.command)
		e.proposeIf(t, ok, m)
	}
}

// proposeIf proposes a transaction. Without one the session has ended or is
// about to.
func (e *ensemble) proposeIf(t model.Txn, ok bool, m *message) {
	if ok {
		e.propose(t, m.conn.server.member.(*member), m)
		return
	}
	m.zk.ended = true
	e.answerInTurn(m)
}

// answerInTurn answers after all earlier decisions are committed.
func (e *ensemble) answerInTurn(m *message) {
	if m.zk.zxid = e.decides.Zxid(); len(e.leader.log) > 0 {
		e.syncs = append(e.syncs, m)
		return
	}
	e.answer(m)
}

// answer returns a request to the member that received it, after everything sent
// to that member before.
func (e *ensemble) answer(m *message) {
	x := m.conn.server.member.(*member) // it has asked
	if x == e.leader {
		x.finish(m)
		return
	}
	p := x.down.parcel(answered)
	p.message = m
	x.down.send(p)
}

// close ends a session; the request comes from no client of the run.
func (e *ensemble) close(session int64) {
	if e.leader == nil {
		e.closing = append(e.closing, session)
		return
	}
	if t, ok := e.decides.Close(e.leader.mono(), session, 0); ok {
		e.propose(t, nil, nil)
	}
}
