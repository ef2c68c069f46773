package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
)

// pct is the strategy of Burckhardt et al., "A Randomized Scheduler with
// Probabilistic Guarantees of Finding Bugs" (ASPLOS 2010), as a policy that
// chooses latencies. A message that is sent gets none: it flies, and may arrive
// at any instant that one of the run's latencies could give it. Which chain
// goes next is decided by priorities, and whatever is decided comes out as
// latencies in the end. So the record of such a run is one like any other, and
// is replayed by a World that knows of no strategy.
//
// A chain is a client with the messages of its connections, in both directions.
// The clock is one more: its step is whatever happens if time just goes on,
// which is the next timer, or a message that may fly no longer.
type pct struct {
	rng      *rand.Rand
	changes  []int      // before these steps the chain that is about to go is demoted
	steps    int        // so far: times at which more than one chain could go
	expected int        // how many it will be
	priority []int      // of each client's chain, and of the clock's
	ready    []arrival  // of each client: the one that its chain would go with
	flying   [][]flight // by client, in the order of sending
}

// flight is a message under way whose latency is not decided yet.
type flight struct {
	message *message
	seq     uint64 // as if it had been put into the queue when it was sent
	// earliest and latest are when it would arrive with the least latency and
	// with the longest, if nothing were before it on its connection.
	earliest, latest time.Duration
	last             *time.Duration // when the last message of its direction arrived
	choice           int            // the place of its latency in the record
}

// arrival is an instant at which a flight could end.
type arrival struct {
	event
	flight int
}

// prioritized makes choices from a seed, as draw does, but for the latencies: they
// follow from priorities that change depth-1 times, at steps drawn evenly from
// as many as are expected.
func prioritized(seed uint64, depth, steps int, record bool) *choices {
	c := draw(seed, record)
	c.pct = &pct{rng: rand.New(rand.NewPCG(seed, 0x706374)), expected: max(1, steps)}
	for range depth - 1 {
		c.pct.changes = append(c.pct.changes, 1+c.pct.rng.IntN(c.pct.expected))
	}
	return c
}

// begin draws the priorities. The lowest are left to the change points: the
// chain that is demoted at the i-th gets i, as in the paper.
func (p *pct) begin(clients int) {
	p.priority = p.rng.Perm(clients + 1)
	for i := range p.priority {
		p.priority[i] += len(p.changes)
	}
	p.ready = make([]arrival, clients)
	p.flying = make([][]flight, clients)
}

// send lets a message fly. slow is what disturbances add to its latency.
func (p *pct) send(w *World, m *message, name env.Name, slow time.Duration) {
	w.seq++
	f := flight{
		message:  m,
		seq:      laterSeq + w.seq,
		earliest: w.now + latencyMin + slow,
		last:     &m.conn.down,
		// What never arrives in this run arrives too late in a replay of it.
		choice: w.choices.reserve(name, w.latencies-1),
	}
	f.latest = f.earliest + time.Duration(w.latencies-1)*time.Microsecond
	if m.toUp {
		f.last = &m.conn.up
	}
	p.flying[m.conn.client.n] = append(p.flying[m.conn.client.n], f)
}

// next decides what happens next. If it is an arrival, it puts it into the
// queue, where it is before everything else.
//
// Events of the queue are in order of their instant, and those of one instant
// in the order in which they were made; a replay keeps to that. So a flight
// may end only before the queue's next event and before any other flight has
// to end: then, and only then, the order here is the order there.
func (p *pct) next(w *World) {
	if p.priority == nil {
		p.begin(len(w.clients))
	}
	goesOn := event{at: never, seq: math.MaxUint64}
	if len(w.queue.events) > 0 {
		goesOn = w.queue.events[0]
	}
	ends, flight := -1, -1 // the client and the flight with which time goes on, if it is one
	for c := range p.flying {
		p.ready[c].at = never
		for i := range p.flying[c] {
			f := &p.flying[c][i]
			if !p.first(c, i) {
				continue
			}
			if e := f.end(); e.before(&goesOn) {
				goesOn, ends, flight = e, c, i
			}
			if e := f.soonest(w.now); e.before(&p.ready[c].event) {
				p.ready[c] = arrival{e, i}
			}
		}
	}
	if goesOn.at > w.now {
		if c := p.choose(&goesOn); c >= 0 {
			p.arrive(w, c, p.ready[c].flight, p.ready[c].at)
			return
		}
	}
	if ends >= 0 {
		p.arrive(w, ends, flight, goesOn.at)
	}
}

// choose returns the client whose chain goes, or -1: the clock.
func (p *pct) choose(goesOn *event) int {
	best, alone := p.highest(goesOn)
	if alone {
		return best
	}
	p.steps++
	for i, step := range p.changes {
		if step == p.steps {
			p.priority[p.chain(best)] = i
			best, _ = p.highest(goesOn)
		}
	}
	return best
}

// highest returns the chain of the highest priority among those that can go
// before time has gone on, and whether the clock's is the only one.
func (p *pct) highest(goesOn *event) (best int, alone bool) {
	best, alone = -1, true
	for c := range p.ready {
		if p.ready[c].before(goesOn) {
			alone = false
			if p.priority[c] > p.priority[p.chain(best)] {
				best = c
			}
		}
	}
	return best, alone
}

// chain is the place of a client's priority, or of the clock's for -1.
func (p *pct) chain(client int) int {
	if client < 0 {
		return len(p.priority) - 1
	}
	return client
}

// first tells whether no message is before this one in its direction of its connection.
func (p *pct) first(client, flight int) bool {
	for i := range flight {
		if p.flying[client][i].last == p.flying[client][flight].last {
			return false
		}
	}
	return true
}

// end is the last instant at which f may arrive: at once, if what was before
// it came later than that.
func (f *flight) end() event { return event{at: max(f.latest, *f.last), seq: f.seq} }

// soonest is the first instant that is still to come at which f may arrive.
func (f *flight) soonest(now time.Duration) event {
	at := f.earliest
	if at <= now {
		at += (now-at)/time.Microsecond*time.Microsecond + time.Microsecond
	}
	return event{at: min(at, f.end().at), seq: f.seq}
}

// arrive ends a flight. Its latency is known now.
func (p *pct) arrive(w *World, client, flight int, at time.Duration) {
	f := p.flying[client][flight]
	p.flying[client] = append(p.flying[client][:flight], p.flying[client][flight+1:]...)
	*f.last = at
	w.choices.settle(f.choice, int64((min(at, f.latest)-f.earliest)/time.Microsecond))
	w.queue.push(event{at: at, seq: f.seq, what: f.message})
}
