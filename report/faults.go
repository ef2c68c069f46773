package report

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// fault is one use of a fault, as the nemesis wrote it down.
type fault struct {
	id         int
	kind       string
	on         []string
	start, end int // positions; none: it never ended
	point      string
	text       string
	amount     time.Duration
	hits       history.Opt
	heard      int // of an exit: the last sign of life before it
}

// pause is the fault that a story has to know by name: a holder that wakes up
// goes on where it stood.
const pause = "pause"

// vocabulary is how a kind of fault is told and drawn. In its phrases {on} and
// {to} are what the fault acts on, {for} and {until} say how long, {by}
// and {amount} how far, {what} which messages, {did} that there was one, and
// {since} from when on nothing was heard. Of "was|were" the second is for several.
type vocabulary struct {
	label  string // of its lane
	past   string // for the sentences
	now    string // for the list of moments
	over   string // its end, for the list; "": not worth a line
	deadly bool   // its client does nothing any more
	once   bool   // a point on the axis: over at once, or armed to strike once
	link   bool   // it acts on a client and what it talks to
}

// vocabularies are the faults known by name. Any other is told by its name.
var vocabularies = map[string]vocabulary{
	pause: {
		label: "paused",
		past:  "{on} was|were paused{for}",
		now:   "{on} is|are paused{for}",
		over:  "{on} wakes|wake up",
	},
	"hang": {
		label: "hangs",
		past:  "a task of {on} hung{for}",
		now:   "a task of {on} hangs{for}",
	},
	"kill": {
		past: "{on} was|were killed",
		now:  "{on} is|are killed", deadly: true, once: true,
	},
	"poweroff": {
		past: "{on} lost power",
		now:  "{on} loses|lose power", deadly: true, once: true,
	},
	history.Exit: {
		past: "{on} was|were found dead{since}",
		now:  "{on} is|are found dead{since}", deadly: true, once: true,
	},
	"restart": {
		label: "down",
		past:  "{on} was|were stopped{for}",
		now:   "{on} is|are stopped{for}",
		over:  "{on} is|are back",
	},
	"restart-lost": {
		label: "down",
		past:  "{on} lost power{for}",
		now:   "{on} loses|lose power{for}",
		over:  "{on} is|are back",
	},
	"server-pause": {
		label: "paused",
		past:  "{on} was|were paused{for}",
		now:   "{on} is|are paused{for}",
	},
	"server-jump": {
		label: "clock",
		past:  "the clock|clocks of {on} jumped {by}",
		now:   "the clock|clocks of {on} jumps|jump {by}", once: true,
	},
	"jump": {
		label: "clock",
		past:  "the clock|clocks of {on} jumped {by}",
		now:   "the clock|clocks of {on} jumps|jump {by}", once: true,
	},
	"partition": {
		label: "cut off", link: true,
		past: "the network cut {on} off from {to}{for}",
		now:  "{on} is cut off from {to}{for}",
		over: "{on} and {to} are connected again",
	},
	"partition-oneway": {
		label: "cut off", link: true,
		past: "the network held back {what}{for}",
		now:  "the network holds back {what}{for}",
		over: "the network lets it pass",
	},
	"delay": {
		label: "slow link", link: true,
		past: "the network began to delay {what} by {amount}{until}",
		now:  "the network delays {what} by {amount}{until}",
	},
	"drop-reply": {
		label: "reply lost", link: true,
		past: "the network was set to lose the next reply of {to} to {on}{did}",
		now:  "the next reply of {to} to {on} will be lost", once: true,
	},
	"kill-connection": {
		label: "reset", link: true,
		past: "the network was set to reset the connection of {on} and {to} at the next message{did}",
		now:  "the next message of {on} and {to} will reset their connection", once: true,
	},
}

// The directions in which a link can be disturbed, as the nemesis writes them.
const (
	toServer = "to-server"
	toClient = "to-client"
)

func (f *fault) words() vocabulary {
	if v, ok := vocabularies[f.kind]; ok {
		return v
	}
	return vocabulary{
		label: f.kind,
		past:  f.kind + " struck {on}{for}",
		now:   f.kind + " strikes {on}{for}",
	}
}

// victims are those whose lanes show f: of a link its client.
func (f *fault) victims() []string {
	if f.words().link {
		return f.on[:1]
	}
	return f.on
}

// strikes tells whether name is one of the victims.
func (f *fault) strikes(name string) bool { return slices.Contains(f.victims(), name) }

// whom is who was struck, in words.
func (f *fault) whom() string { return list(f.victims()) }

var either = regexp.MustCompile(`(\w+)\|(\w+)`)

// fill completes a phrase of the vocabulary.
func (d *digest) fill(f *fault, phrase string) string {
	number := "$1"
	if len(f.victims()) > 1 {
		number = "$2"
	}
	on, to := f.whom(), ""
	if len(f.on) > 1 {
		to = f.on[1]
		if to == history.Resource {
			to = "the resource"
		}
	}
	what := "everything between " + on + " and " + to
	switch f.text {
	case toServer:
		what = "everything from " + on + " to " + to
	case toClient:
		what = "everything from " + to + " to " + on
	}
	length, until := "", ""
	if f.end != none {
		length = " for " + d.units.span(d.at(f.end)-d.at(f.start))
		until = ", until " + d.units.at(d.at(f.end))
	}
	did := ""
	if f.hits.V > 0 {
		did = ", and did"
	}
	since := ""
	if len(f.on) == 1 && f.kind == history.Exit && d.at(f.start)-d.at(f.heard) > d.slack() {
		since = ": nothing was heard of it after " + d.units.at(d.at(f.heard))
	}
	by := "forward by "
	if f.amount < 0 {
		by = "back by "
	}
	return strings.NewReplacer("{on}", on, "{to}", to, "{what}", what,
		"{for}", length, "{until}", until, "{did}", did, "{since}", since,
		"{by}", by+d.units.span(f.amount), "{amount}", d.units.span(f.amount)).
		Replace(either.ReplaceAllString(phrase, number))
}

// where says in words at which point of an operation a fault struck: "before
// its write left"; subject is who the sentence is about. "": it struck at a time.
//
// The last request of an operation is said to be its last step: nobody knows
// whether there was another one.
func (f *fault) where(subject string) string {
	head, place, ok := strings.Cut(f.point, ": ")
	who, op, ok2 := strings.Cut(head, " ")
	if !ok || !ok2 {
		return ""
	}
	its := "its " + op
	if who != subject {
		its = possessive(who) + " " + op
	}
	single := op == history.Read || op == history.Write
	when, which, _ := strings.Cut(place, " ")
	switch {
	case place == afterOK:
		return "as soon as " + its + " had succeeded"
	case when == "before" && single:
		return "before " + its + " left"
	case when == "after" && single:
		return "when the answer to " + its + " had come"
	case when == "before":
		return "just before " + ordinal(which) + " of " + its
	case when == "after":
		return "just after " + ordinal(which) + " of " + its
	}
	return ""
}

// afterOK is the place of a point that the moment before it says already.
const afterOK = "after ok"

// ordinal turns "last" and "request 2" into "the last step" and "the second step".
func ordinal(which string) string {
	n, ok := strings.CutPrefix(which, "request ")
	if !ok {
		return "the " + which + " step"
	}
	if i, err := strconv.Atoi(n); err == nil && 1 <= i && i <= 3 {
		return "the " + []string{"first", "second", "third"}[i-1] + " step"
	}
	return "step " + n
}

// hit tells whether f is known to have touched something, or may have.
func (f *fault) hit() bool { return !f.hits.Set || f.hits.V != 0 }

// nemesis takes in a line of the nemesis.
func (d *digest) nemesis(pos int, e *history.Entry) {
	if kind, ok := strings.CutSuffix(e.F, history.EndSuffix); ok {
		for _, f := range slices.Backward(d.faults) {
			if f.id == e.ID && f.kind == kind && f.end == none {
				f.end, f.hits = pos, e.Hits
				return
			}
		}
		return
	}
	switch {
	case e.F == history.Ended || len(e.On) == 0:
		return
	case e.F == history.Exit:
		d.exit(pos, e.On)
		return
	}
	f := &fault{
		id: e.ID, kind: e.F, on: e.On, start: pos, end: none, heard: none,
		point: e.Point, amount: e.Amount, text: e.Text,
	}
	if f.words().deadly {
		d.die(f)
	}
	d.faults = append(d.faults, f)
}
