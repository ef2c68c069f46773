package sim

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// stream is what a replica gets from the server that it follows: first all that
// this holds, then every write, in order and some time later. What an isolation
// holds back arrives when it ends, as it does with TCP; who was down gets
// everything anew.
type stream struct {
	from, to *server
	synced   bool // it has got everything once
	syncing  bool
	turn     int // of synced: what was sent in an earlier one is void
	link     link
	arrives  time.Duration // when what was sent last does
	held     []batch
	acked    int64 // how much from knows that to has got
}

// batch is some writes, and how many there were with them.
type batch struct {
	writes []model.Write
	total  int64
}

// follow makes s a replica of master, which has to send it everything.
func (s *server) follow(master *server) *stream {
	st := &stream{from: master, to: s, link: link{name: s.world.memory.join(master.name, "→", s.name)}}
	master.streams = append(master.streams, st)
	s.source = master
	return st
}

// unfollow ends that.
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

// restart makes st start again with everything.
func (st *stream) restart() {
	st.synced, st.syncing, st.held, st.acked = false, false, nil, 0
	st.turn++
}

// flow lets every stream of the node go on that can.
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

// open tells whether something can pass now.
func (st *stream) open() bool {
	return st.from.runs() && st.to.runs() && !st.from.world.parted(st.from, st.to)
}

// sync copies everything, a moment later.
func (st *stream) sync() {
	if st.syncing {
		return
	}
	st.syncing = true
	turn := st.turn
	st.after(func() {
		if st.turn != turn {
			return
		}
		st.syncing = false
		if !st.open() {
			return // look comes again
		}
		st.synced = true
		st.turn++
		st.copy()
		st.acknowledge()
	})
}

// copy lets the replica have all that the master has.
func (st *stream) copy() {
	s := st.to
	s.redis.CopyFrom(s.wall(), st.from.redis)
	s.got = st.from.written
	s.forget()
	s.before = nil
}

// finish lets the replicas that s reaches have all that it has written: a server
// that is asked to end waits for them (Redis manual, SHUTDOWN).
func (s *server) finish() {
	for _, st := range s.streams {
		if st.synced && st.open() {
			st.copy()
		}
	}
}

// forget tells what a server that is the master no more held by itself, and has
// dropped. What else became of its entries was told by the others.
func (s *server) forget() {
	effects := s.redis.Effects()
	for i := range effects {
		f := &effects[i]
		if maker, had := s.before[f.Key]; s.before != nil && !(had && maker == f.Maker) {
			s.world.effect(s, f)
		}
	}
}

// expired tells what has run out of what its node holds, now that s is up again
// as its master, or has become that. What else a replica still had was over.
func (s *server) expired() {
	effects := s.redis.Effects()
	for i := range effects {
		f := &effects[i]
		if f.Kind == model.Expired && s.node.entries[f.Key] == f.Maker {
			s.world.effect(s, f)
		}
	}
}

// replicate sends what s has written to those that follow it.
func (s *server) replicate() {
	if s.node == nil || !s.node.replicated() {
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
	b := batch{slices.Clone(writes), s.written}
	for _, st := range s.streams {
		if st.synced {
			st.send(b)
		}
	}
}

// send puts b on its way.
func (st *stream) send(b batch) {
	if !st.open() {
		st.held = append(st.held, b)
		return
	}
	turn := st.turn
	st.after(func() {
		switch {
		case st.turn != turn:
		case !st.open() || len(st.held) > 0:
			st.held = append(st.held, b)
		default:
			st.take(b)
		}
	})
}

// take lets the replica have b.
func (st *stream) take(b batch) {
	for _, w := range b.writes {
		st.to.redis.Replicate(st.to.wall(), w)
	}
	st.to.got = b.total
	st.acknowledge()
}

// acknowledge tells the master, a moment later, how much its replica has got.
func (st *stream) acknowledge() {
	turn, got := st.turn, st.to.got
	st.after(func() {
		if st.turn == turn && st.open() && got > st.acked {
			st.acked = got
			st.from.answerWaits()
		}
	})
}

// after calls f when something that is sent now arrives.
func (st *stream) after(f func()) {
	w := st.from.world
	latency := latencyMin + time.Duration(w.choose(&st.link, w.latencies))*time.Microsecond
	st.arrives = max(w.now+latency, st.arrives)
	w.push(event{at: st.arrives, what: action(f)})
}

// acknowledgement is a WAIT that has not been answered.
type acknowledgement struct {
	message *message
	total   int64
	until   time.Duration
}

// await serves WAIT: it is answered when enough replicas have got all that the
// master had written, or its time is over.
func (s *server) await(m *message) {
	a := &acknowledgement{message: m, total: s.written, until: never}
	if m.command.TTL > 0 {
		a.until = s.world.now + m.command.TTL
		s.world.push(event{at: a.until, what: action(s.answerWaits)})
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
		if got < a.message.command.N && s.world.now < a.until {
			return false
		}
		a.message.reply = redis.Reply{Kind: redis.Int, Int: got}
		s.world.send(a.message)
		return true
	})
}
