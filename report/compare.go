package report

import (
	"io"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// Side is one run of a comparison, and how its story is told.
type Side struct {
	Title    string // "The remedy: redis-set-lua"
	History  *history.History
	Verdicts []checker.Verdict
	Messages *history.Messages // for the page; nil: unknown
	Options
}

// Compare writes the stories of runs one after the other, then their lanes one above the
// other on one time axis, and then the moments of each. Times are since the begin of each
// run. The error is w's.
func Compare(w io.Writer, sides ...Side) error {
	p := &page{}
	plots := make([]*plot, len(sides))
	var all []*plot // those with something to draw
	for i := range sides {
		s := &sides[i]
		p.o = s.Options
		p.text(0, plain, s.Title)
		p.blank()
		var subject *checker.Verdict
		subject, plots[i] = tell(s.History, s.Verdicts, s.Options, StoryEntries)
		p.begin(s.History, s.Verdicts, subject, plots[i])
		p.failures(s.History)
		p.others(s.Verdicts, subject)
		p.blank()
		if untold(plots[i]) == "" {
			all = append(all, plots[i])
		} else {
			plots[i] = nil
		}
	}
	if len(all) == 0 {
		return p.flush(w)
	}
	p.text(0, plain, "Both on one time axis")
	var drawings []*drawing
	each := func(do func(s *plot)) {
		for i, s := range plots {
			if s != nil {
				p.blank()
				p.text(laneName, plain, sides[i].Title)
				do(s)
			}
		}
	}
	a := newAxis(reach(all...))
	each(func(s *plot) {
		d := p.draw(s, a, nil)
		d.absent()
		drawings = append(drawings, d)
	})
	p.legend(drawings...)
	each(p.moments)
	return p.flush(w)
}
