package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// mostMessages is how many messages a page has. Of more it has the lost and late ones, and
// those closest to the moments of the story.
const mostMessages = 2000

// messages are those that a page can show between lanes.
type messages struct {
	// Rows are lists, which are short: the places of the two lanes in the picture; where the
	// message was sent and where it arrived; "", "late", "lost" or "open" (on its way when
	// the run ended); and the message in words.
	Rows       [][]any
	Lost, Late int // of the rows
	Left       int // how many messages are left out
}

// addMessages adds messages between lanes of the picture, of which the first is lane number
// first: those of one run.
func (pic *picture) addMessages(p *plot, m *history.Messages, f *frame, first int) {
	if m == nil {
		return
	}
	if pic.Messages == nil {
		pic.Messages = &messages{}
	}
	d := &draw{plot: p, pic: pic}
	lanes := map[string]int{}
	for i, l := range pic.Lanes[first:] {
		if l.Kind == "title" {
			break
		}
		if _, there := lanes[l.Name]; !there {
			lanes[l.Name] = first + i
		}
	}
	var list []*history.Message
	for i := range m.List {
		x := &m.List[i]
		_, from := lanes[name(x.From)]
		_, to := lanes[name(x.To)]
		if from && to && x.Sent <= f.to && (x.Arrived == 0 || x.Arrived >= f.from) {
			list = append(list, x)
		}
	}
	pic.Messages.Left += m.Left + max(0, len(list)-mostMessages)
	for _, x := range p.closest(list) {
		from, to, kind := d.x(x.Sent), d.x(x.Arrived), ""
		when := p.d.units.exact(x.Sent) + " to " + p.d.units.exact(x.Arrived)
		switch {
		case x.Lost:
			kind, to, when = "lost", from, p.d.units.exact(x.Sent)+", lost"
			pic.Messages.Lost++
		case x.Arrived == 0:
			kind, to, when = "open", 100, p.d.units.exact(x.Sent)+", on its way when the run ended"
		case x.Late:
			kind, when = "late", when+", too late: nobody waited for it"
			pic.Messages.Late++
		}
		label := shown(x.From) + " → " + shown(x.To) + ": " + shown(x.Text) + ", " + when
		pic.Messages.Rows = append(pic.Messages.Rows, []any{lanes[name(x.From)], lanes[name(x.To)], round(from), round(to), kind, label})
	}
}

// round leaves out digits that nobody sees.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// closest returns mostMessages messages at most, in their order.
func (p *plot) closest(list []*history.Message) []*history.Message {
	if len(list) <= mostMessages {
		return list
	}
	away := func(x *history.Message) time.Duration {
		if x.Lost || x.Late {
			return -1
		}
		least := time.Duration(math.MaxInt64)
		for i := range p.moments {
			least = min(least, max(p.moments[i].at-x.Sent, x.Sent-p.moments[i].at))
		}
		return least
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *history.Message) int { return cmp.Compare(away(a), away(b)) })
	list = list[:mostMessages]
	slices.SortStableFunc(list, func(a, b *history.Message) int { return cmp.Compare(a.Sent, b.Sent) })
	return list
}
