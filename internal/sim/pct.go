package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
)

// pct is the strategy of Burckhardt et al., "A Randomized Scheduler with
// Probabilistic Guarantees of Finding Bugs" (ASPLOS 2010), as a policy that
// chooses latencies. A message has no latency when it is sent: it flies, and may
// arrive at any instant that one of the run's latencies allows. Priorities decide
// which chain goes next, and each decision becomes a latency in the end. So the
// record of such a run is an ordinary one, and a World without this strategy can
// replay it.
//
// A chain is a client with the messages of its connections, in both directions.
// The clock is one more chain. Its step is the next event without any decision:
// the next timer, or a message that has reached its longest latency.
type pct struct {
	choices  *choices // the record of the latencies
	rng      *rand.Rand
	changes  []int      // before these steps the priority of the next chain is lowered
	steps    int        // so far: instants at which more than one chain could go
	expected int        // expected number of steps
	priority []int      // of each client's chain and of the clock's
	ready    []arrival  // of each client: the next arrival of its chain
	flying   [][]flight // by client, in the order of sending
}

// flight is a message under way whose latency is still undecided.
type flight struct {
	message handler
	seq     uint64 // as if it had been queued when it was sent
	// earliest and latest are the arrival times with the least and the greatest
	// latency if no message is before it on its connection.
	earliest, latest time.Duration
	last             *time.Duration // when the last message of its direction arrived
	choice           int            // the index of its latency in the record
}

// arrival is a possible end of a flight.
type arrival struct {
	event
	flight int
}

// newPCT returns the strategy that d describes for this many clients, or nil.
// Latencies follow from priorities that change Depth-1 times, at steps drawn evenly
// from the expected number. The record of the latencies is in c.
//
// The lowest priorities are reserved: the chain that is demoted at the i-th change
// point gets i, as in the paper.
func newPCT(d env.Decisions, clients int, c *choices) *pct {
	if d.Depth == 0 || d.Pick != nil || d.Follow != nil || d.Replay != nil {
		return nil
	}
	p := &pct{
		choices: c, rng: rand.New(rand.NewPCG(d.Seed, 0x706374)), expected: max(1, d.Steps),
		ready: make([]arrival, clients), flying: make([][]flight, clients),
	}
	for range d.Depth - 1 {
		p.changes = append(p.changes, 1+p.rng.IntN(p.expected))
	}
	p.priority = p.rng.Perm(clients + 1)
	for i := range p.priority {
		p.priority[i] += len(p.changes)
	}
	return p
}

// fly starts a flight of a client's chain, with one of that many latencies, which
// gets that name in the record. If the message does not arrive in this run it arrives
// too late in a replay.
func (p *pct) fly(client int, f flight, name env.Name, latencies int64) {
	f.choice = p.choices.reserve(name, latencies-1)
	f.latest = f.earliest + time.Duration(latencies-1)*time.Microsecond
	p.flying[client] = append(p.flying[client], f)
}

// next decides what happens next. It puts an arrival into the queue, before
// everything else.
//
// The queue orders events by time, and those of one instant by their creation; a
// replay uses the same order. So a flight may end only before the queue's next
// event and before the latest end of every other flight. Exactly then the order
// here equals that of a replay.
func (p *pct) next(q *queue, now time.Duration) {
	goesOn := event{at: never, seq: math.MaxUint64}
	if len(q.events) > 0 {
		goesOn = q.events[0]
	}
	ends, flight := -1, -1 // the client and the flight with which time advances, if any
	for c := range p.flying {
		p.ready[c].at = never
		for i := range p.flying[c] {
			f := &p.flying[c][i]
			if !p.isFirst(c, i) {
				continue
			}
			if e := f.end(); e.before(&goesOn) {
				goesOn, ends, flight = e, c, i
			}
			if e := f.soonest(now); e.before(&p.ready[c].event) {
				p.ready[c] = arrival{e, i}
			}
		}
	}
	if goesOn.at > now {
		if c := p.choose(&goesOn); c >= 0 {
			p.arrive(q, c, p.ready[c].flight, p.ready[c].at)
			return
		}
	}
	if ends >= 0 {
		p.arrive(q, ends, flight, goesOn.at)
	}
}

// choose returns the client whose chain goes, or -1 for the clock.
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

// highest returns the chain with the highest priority among those that can go
// before time advances, and whether the clock's is the only one.
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

// chain returns the index of a client's priority, or of the clock's for -1.
func (p *pct) chain(client int) int {
	if client < 0 {
		return len(p.priority) - 1
	}
	return client
}

// isFirst reports whether the flight is the oldest of its direction and connection.
func (p *pct) isFirst(client, flight int) bool {
	for i := range flight {
		if p.flying[client][i].last == p.flying[client][flight].last {
			return false
		}
	}
	return true
}

// end returns the latest arrival of f. After a late predecessor that is the
// predecessor's arrival.
func (f *flight) end() event { return event{at: max(f.latest, *f.last), seq: f.seq} }

// soonest returns the first possible arrival of f from now on.
func (f *flight) soonest(now time.Duration) event {
	at := f.earliest
	if at <= now {
		at += (now-at)/time.Microsecond*time.Microsecond + time.Microsecond
	}
	return event{at: min(at, f.end().at), seq: f.seq}
}

// arrive ends a flight and settles its latency.
func (p *pct) arrive(q *queue, client, flight int, at time.Duration) {
	f := p.flying[client][flight]
	p.flying[client] = append(p.flying[client][:flight], p.flying[client][flight+1:]...)
	*f.last = at
	p.choices.settle(f.choice, int64((min(at, f.latest)-f.earliest)/time.Microsecond))
	q.push(event{at: at, seq: f.seq, what: f.message})
}
