package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// stream is the replication from a server to one replica: first a copy of
// everything, then every write, in order and some time later. Writes that an
// isolation holds back arrive when it ends, as with TCP. A replica that was down
// gets a full copy.
type stream struct {
	from, to *server
	synced   bool // it has got a full copy
	syncing  bool
	turn     int // of synced: messages of an earlier turn are void
	link     link
	arrives  time.Duration // when the last message arrives
	held     []batch
	acked    int64 // the writes that to has, as far as from knows
}

// batch is some writes, and the number of all writes up to them.
type batch struct {
	writes []model.Write
	total  int64
	noted  int // see message.noted
}

// follow makes s a replica of master. It needs a full copy first.
func (s *server) follow(master *server) *stream {
	st := &stream{from: master, to: s, link: link{name: s.net.text.join(master.name, "→", s.name)}}
	master.streams = append(master.streams, st)
	s.source = master
	return st
}

// unfollow ends the replication from the master of s.
func (s *server) unfollow() {
	s.source.streams = slices.DeleteFunc(s.source.streams, func(st *stream) bool {
		if st.to == s {
			st.turn++
		}
		return st.to == s
	})
	s.source = nil
	s.written = s.got
}

// detach notes that s has lost its connections to other servers.
func (s *server) detach() {
	s.waits = s.waits[:0]
	for _, n := range s.node.members {
		for _, st := range n.streams {
			if st.from == s || st.to == s {
				st.restart()
			}
		}
	}
}

// restart makes st begin with a full copy.
func (st *stream) restart() {
	for i := range st.held {
		st.from.net.lost(st.held[i].noted)
	}
	st.synced, st.syncing, st.held, st.acked = false, false, nil, 0
	st.turn++
}

// flow makes every stream of the node go on if it can.
func (n *node) flow() {
	for _, m := range n.members {
		for _, st := range m.streams {
			if !st.open() {
				continue
			}
			if !st.synced {
				st.sync()
				continue
			}
			held := st.held
			st.held = nil
			for _, b := range held {
				st.send(b)
			}
			st.acknowledge()
		}
		m.answerWaits()
	}
}

// open reports whether messages can pass now.
func (st *stream) open() bool {
	return st.from.runs() && st.to.runs() && !st.from.net.isSeparated(st.from, st.to)
}

// sync sends a full copy, which arrives a moment later.
func (st *stream) sync() {
	if st.syncing {
		return
	}
	st.syncing = true
	turn, w := st.turn, st.from.net
	noted := w.between(st.from, st.to, "a copy of everything")
	st.after(func() {
		if st.turn != turn {
			w.lost(noted)
			return
		}
		st.syncing = false
		if !st.open() {
			w.lost(noted)
			return // look calls sync again
		}
		w.reached(noted)
		st.synced = true
		st.turn++
		st.copy()
		st.acknowledge()
	})
}

// copy copies everything from the master to the replica.
func (st *stream) copy() {
	s := st.to
	s.redis.CopyFrom(s.wall(), st.from.redis)
	s.got = st.from.written
	s.reportDropped()
	s.before = nil
}

// finish sends all writes to the replicas that s reaches: a server that is shut
// down waits for them (Redis manual, SHUTDOWN).
func (s *server) finish() {
	for _, st := range s.streams {
		if st.synced && st.open() {
			st.copy()
		}
	}
}

// reportDropped reports entries that an old master held alone and has now dropped. The
// other servers have reported the rest.
func (s *server) reportDropped() {
	effects := s.redis.Effects()
	for i := range effects {
		f := &effects[i]
		if maker, had := s.before[f.Key]; s.before != nil && !(had && maker == f.Maker) {
			s.effect(f)
		}
	}
}

// reportExpired reports the expired entries of the node, after s has come up as its
// master or was promoted. Other entries of a replica had ended before.
func (s *server) reportExpired() {
	effects := s.redis.Effects()
	for i := range effects {
		f := &effects[i]
		if f.Kind == model.Expired && s.node.entries[f.Key] == f.Maker {
			s.effect(f)
		}
	}
}

// replicate sends the new writes of s to its replicas.
func (s *server) replicate() {
	if s.node == nil || !s.node.hasReplicas() {
		return
	}
	writes := s.redis.Writes()
	if len(writes) == 0 {
		return
	}
	s.written += int64(len(writes))
	if len(s.streams) == 0 {
		return
	}
	b := batch{writes: slices.Clone(writes), total: s.written}
	for _, st := range s.streams {
		if st.synced {
			st.send(b)
		}
	}
}

// send sends b.
func (st *stream) send(b batch) {
	if w := st.from.net; w.record != nil && b.noted == 0 {
		b.noted = w.between(st.from, st.to, b.words())
	}
	if !st.open() {
		st.held = append(st.held, b)
		return
	}
	st.fly(b)
}

// fly sends b to the replica, which it may not reach in time.
func (st *stream) fly(b batch) {
	turn := st.turn
	st.after(func() {
		w := st.from.net
		switch {
		case st.turn != turn:
			w.lost(b.noted)
		case !st.open() || len(st.held) > 0:
			st.held = append(st.held, b)
		default:
			w.reached(b.noted)
			st.take(b)
		}
	})
}

// take applies b to the replica.
func (st *stream) take(b batch) {
	for _, w := range b.writes {
		st.to.redis.Replicate(st.to.wall(), w)
	}
	st.to.got = b.total
	st.acknowledge()
}

// acknowledge tells the master, a moment later, how many writes its replica has.
func (st *stream) acknowledge() {
	turn, got := st.turn, st.to.got
	noted := st.from.net.between(st.to, st.from, "acknowledges the writes that it has")
	st.after(func() {
		if st.turn != turn || !st.open() {
			st.from.net.lost(noted)
			return
		}
		st.from.net.reached(noted)
		if got > st.acked {
			st.acked = got
			st.from.answerWaits()
		}
	})
}

// after calls f when a message that is sent now arrives.
func (st *stream) after(f func()) {
	n := st.from.net
	st.arrives = max(n.now+n.latency(&st.link), st.arrives)
	n.push(event{at: st.arrives, what: action(f)})
}

// acknowledgement is a WAIT without an answer yet.
type acknowledgement struct {
	message *message
	total   int64
	until   time.Duration
}

// words returns the writes in short.
func (b *batch) words() string {
	words := make([]string, len(b.writes))
	for i, w := range b.writes {
		words[i] = w.What()
	}
	return strings.Join(words, "; ")
}

// await executes WAIT: the answer comes when enough replicas have all the
// master's writes, or at the timeout.
func (s *server) await(m *message) {
	a := &acknowledgement{message: m, total: s.written, until: never}
	if m.command.TTL > 0 {
		a.until = s.net.now + m.command.TTL
		s.net.push(event{at: a.until, what: action(s.answerWaits)})
	}
	s.waits = append(s.waits, a)
	s.answerWaits()
}

func (s *server) answerWaits() {
	if !s.runs() || len(s.waits) == 0 {
		return
	}
	s.waits = slices.DeleteFunc(s.waits, func(a *acknowledgement) bool {
		got := int64(0)
		for _, st := range s.streams {
			if st.acked >= a.total && st.synced {
				got++
			}
		}
		if got < a.message.command.N && s.net.now < a.until {
			return false
		}
		a.message.reply = redis.Reply{Kind: redis.Int, Int: got}
		s.net.send(a.message)
		return true
	})
}
