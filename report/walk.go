package report

import (
	"fmt"
	"slices"
	"strings"

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

// stepLines is the largest number of lines of a step: with its heading and the keys below
// it, it fits a terminal of 24 lines.
const stepLines = 20

// step writes a moment of the walk: the picture, what happened, and what everybody knew. It
// leaves out what has no room: first the legend, then blank lines, then lanes and states
// from the last one on.
func (p *page) step(s *plot, i int) {
	m := &s.moments[i]
	d := p.draw(s, newAxis(reach(s)), m)
	picture := p.lines()
	p.legend(d)
	legend := p.lines()
	p.moment(s, i, 0)
	happened := p.lines()
	for _, x := range alike(s.states(m)) {
		tone := style(max(slices.Index(tones[:], x.Tone), 0))
		p.beside(laneName, tone, p.narrow(x.Who, laneLeft-1-laneName), laneLeft, x.What)
	}
	known := p.lines()
	gap := []string{"\n"}
	room := stepLines - len(picture) - len(happened) - len(known)
	if room < len(legend)+2 {
		legend = nil
	}
	if room < 2 {
		gap = nil
	}
	left := max(stepLines-len(happened), 0)
	known = known[:min(len(known), max(left/2, left-len(picture)))]
	picture = picture[:min(len(picture), left-len(known))]
	p.b.WriteString(strings.Join(slices.Concat(picture, legend, gap, happened, gap, known), ""))
}

// lines returns the lines that were written, and removes them.
func (p *page) lines() []string {
	text := p.b.String()
	p.b.Reset()
	return slices.Collect(strings.Lines(text))
}

// alike joins the states that are the same to one.
func alike(all []state) (list []state) {
	same := map[state][]string{} // the others, by what the first one has
	for _, x := range all {
		what := state{What: x.What, Tone: x.Tone}
		if _, seen := same[what]; !seen {
			list, same[what] = append(list, x), []string{}
			continue
		}
		same[what] = append(same[what], x.Who)
	}
	for i := range list {
		x := &list[i]
		if others := same[state{What: x.What, Tone: x.Tone}]; len(others) > mostAlike {
			x.What += fmt.Sprintf("; the same: %d others", len(others))
		} else if len(others) > 0 {
			x.What += "; the same: " + strings.Join(others, ", ")
		}
	}
	return list
}

// mostAlike is how many clients and servers with the same state a step names.
const mostAlike = 5
