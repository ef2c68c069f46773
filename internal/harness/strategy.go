package harness

import (
	"fmt"

	"github.com/lockcheck/lockcheck/internal/env"
)

// The strategies: how the choices of a run in sim follow from its seed.
const (
	Random = ""    // each is drawn
	PCT    = "pct" // latencies follow from priorities of clients, see docs/pct.md
)

// MaxDepth is the largest depth of a run with PCT. What needs more orders than
// that is not found by drawing them.
const MaxDepth = 16

// Decide says how the choices of a run of p in virtual time are made: as p holds
// them, else as its strategy takes them from its seed. With record they can be asked
// for afterwards.
func (p *Plan) Decide(record bool) env.Decisions {
	d := env.Decisions{Seed: p.Seed, Record: record, Replay: p.Choices, Follow: p.Order}
	if p.Strategy == PCT {
		d.Depth, d.Steps = p.Depth, p.steps()
	}
	return d
}

// steps is how many steps a run of p is expected to have: a critical section's
// messages and half as many again, for clients that ask in vain. It is about
// the median. Where they ask more often, change points lie in the front part of
// the run, which is as good as any other.
func (p *Plan) steps() int {
	cfg, _ := p.Config()
	requests := 0
	for _, s := range p.Scripts {
		requests += len(s.Steps)
	}
	if p.Scripts == nil {
		const access = 2 // a read and a write
		requests = len(p.Clients) * p.Acquires * (cfg.Lock.Steps.Acquire + cfg.Lock.Steps.Release + access)
	}
	return requests * 2 * 3 / 2
}

// strategyFits says why p cannot have the strategy that it has.
func (p *Plan) strategyFits() error {
	switch {
	case p.Strategy != Random && p.Strategy != PCT:
		return fmt.Errorf("strategy %q: it can be %s, or missing", p.Strategy, PCT)
	case p.Strategy == PCT && p.On != "sim":
		return fmt.Errorf("strategy %s: nobody decides on %s how long a message takes", PCT, p.On)
	case p.Strategy == PCT && (p.Depth < 1 || p.Depth > MaxDepth):
		return fmt.Errorf("depth %d: with strategy %s it goes from 1 to %d", p.Depth, PCT, MaxDepth)
	case p.Strategy != PCT && p.Depth != 0:
		return fmt.Errorf("depth %d: only strategy %s has one", p.Depth, PCT)
	}
	return nil
}
