package report

import (
	"slices"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// Steps returns a walk through a run. Its begin has the verdict and identifies the run.
// Each step is one moment: the lanes with a line at its time, what happened, and what
// each client believed and each server knew after it. Without a story there are no steps,
// and begin has the reason.
func Steps(h *history.History, verdicts []checker.Verdict, o Options) (begin string, steps []string) {
	p := &page{o: o}
	subject, plot := tell(h, verdicts, o, StoryEntries)
	p.headline(h, verdicts, subject, plot.title)
	p.run(h)
	if why := untold(plot); why != "" {
		p.blank()
		p.text(2, plain, why)
		return p.b.String(), nil
	}
	begin = p.b.String()
	for i := range plot.moments {
		p.b.Reset()
		p.step(plot, i)
		steps = append(steps, p.b.String())
	}
	return begin, steps
}

// step writes a moment of the walk.
func (p *page) step(s *plot, i int) {
	m := &s.moments[i]
	p.legend(p.draw(s, newAxis(reach(s)), m))
	p.blank()
	p.moment(s, i, 0)
	p.blank()
	for _, x := range s.states(m) {
		tone := style(max(slices.Index(tones[:], x.Tone), 0))
		p.beside(laneName, tone, p.narrow(x.Who, laneLeft-1-laneName), laneLeft, x.What)
	}
}
