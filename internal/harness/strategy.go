package harness

import (
	"fmt"

	"github.com/lockcheck/lockcheck/internal/env"
)

// Strategies: how the choices of a run in sim follow from its seed.
const (
	Random = ""    // each choice is drawn
	PCT    = "pct" // latencies follow from priorities of clients, see docs/pct.md
)

// MaxDepth is the largest depth of PCT. Random draws do not find bugs that need more
// ordering constraints.
const MaxDepth = 16

// Decide returns how the choices of a run of p in virtual time are made: as recorded in
// p, or by its strategy from its seed. With record the simulation keeps them for
// Decided.
func (p *Plan) Decide(record bool) env.Decisions {
	d := env.Decisions{Seed: p.Seed, Record: record, Replay: p.Choices, Follow: p.Order}
	if p.Strategy == PCT {
		d.Depth, d.Steps = p.Depth, p.steps()
	}
	return d
}

// steps returns the expected number of steps of a run of p: the messages of its
// critical sections and half as many again, for refused requests. It is about the
// median. With more requests, change points lie in the first part of the run, which is
// just as good.
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

// strategyFits returns an error if p cannot have its strategy.
func (p *Plan) strategyFits() error {
	switch {
	case p.Strategy != Random && p.Strategy != PCT:
		return fmt.Errorf("strategy %q: it can be %s, or missing", p.Strategy, PCT)
	case p.Strategy == PCT && p.On != "sim":
		return fmt.Errorf("strategy %s: on %s latencies are not chosen", PCT, p.On)
	case p.Strategy == PCT && (p.Depth < 1 || p.Depth > MaxDepth):
		return fmt.Errorf("depth %d: with strategy %s it goes from 1 to %d", p.Depth, PCT, MaxDepth)
	case p.Strategy != PCT && p.Depth != 0:
		return fmt.Errorf("depth %d: only strategy %s has one", p.Depth, PCT)
	}
	return nil
}
