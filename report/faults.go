package report

import (
	"slices"
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
}

// pause is the fault that a story has to know by name: a holder that wakes up
// goes on where it stood.
const pause = "pause"

// vocabulary is how a kind of fault is told and drawn. In its phrases {on} and
// {to} are what the fault acts on, {for} and {lasting} say how long, {by}
// and {amount} how far, {what} which messages.
type vocabulary struct {
	label  string // of its lane
	past   string // for the sentences
	now    string // for the list of moments
	over   string // its end, for the list; "": not worth a line
	deadly bool   // its client does nothing any more
	once   bool   // a point on the axis: over at once, or armed to strike once
}

// vocabularies are the faults known by name. Any other is told by its name.
var vocabularies = map[string]vocabulary{
	pause: {
		label: "paused",
		past:  "{on} was paused{for}",
		now:   "{on} is paused{for}",
		over:  "{on} wakes up",
	},
	"hang": {
		label: "hangs",
		past:  "a task of {on} hung{for}",
		now:   "a task of {on} hangs{for}",
	},
	"kill": {
		past: "{on} was killed",
		now:  "{on} is killed", deadly: true, once: true,
	},
	"poweroff": {
		past: "{on} lost its power",
		now:  "{on} loses its power", deadly: true, once: true,
	},
	history.Exit: {
		past: "the process of {on} ended",
		now:  "the process of {on} ends", deadly: true, once: true,
	},
	"restart": {
		label: "down",
		past:  "{on} stopped{lasting}",
		now:   "{on} stops{lasting}",
		over:  "{on} is back",
	},
	"restart-lost": {
		label: "down",
		past:  "{on} lost its power{lasting}",
		now:   "{on} loses its power{lasting}",
		over:  "{on} is back",
	},
	"server-pause": {
		label: "paused",
		past:  "{on} was paused{for}",
		now:   "{on} is paused{for}",
	},
	"server-jump": {
		label: "clock",
		past:  "the clock of {on} jumped {by}",
		now:   "the clock of {on} jumps {by}", once: true,
	},
	"jump": {
		label: "clock",
		past:  "the clock of {on} jumped {by}",
		now:   "the clock of {on} jumps {by}", once: true,
	},
	"partition": {
		label: "cut off",
		past:  "the network cut {on} off from {to}{for}",
		now:   "{on} is cut off from {to}{for}",
		over:  "{on} and {to} are connected again",
	},
	"partition-oneway": {
		label: "cut off",
		past:  "the network held back {what}{for}",
		now:   "the network holds back {what}{for}",
		over:  "the network lets it pass",
	},
	"delay": {
		label: "slow link",
		past:  "the network began to delay {what} by {amount}{lasting}",
		now:   "the network delays {what} by {amount}{lasting}",
	},
	"drop-reply": {
		label: "reply lost",
		past:  "the network was told to lose the next reply of {to} to {on}",
		now:   "the next reply of {to} to {on} will be lost", once: true,
	},
	"kill-connection": {
		label: "reset",
		past:  "the network was told to reset the connection of {on} and {to} at the next message",
		now:   "the next message of {on} and {to} will reset their connection", once: true,
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
	on := strings.Join(f.on, " and ")
	return vocabulary{
		label: f.kind,
		past:  f.kind + " struck " + on + "{for}",
		now:   f.kind + " strikes " + on + "{for}",
	}
}

// fill completes a phrase of the vocabulary.
func (d *digest) fill(f *fault, phrase string) string {
	on, to := f.on[0], ""
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
	length, lasting := "", ""
	if f.end != none {
		d := d.units.span(d.at(f.end) - d.at(f.start))
		length, lasting = " for "+d, ", for "+d
	}
	by := "forward by "
	if f.amount < 0 {
		by = "back by "
	}
	return strings.NewReplacer("{on}", on, "{to}", to, "{what}", what,
		"{for}", length, "{lasting}", lasting,
		"{by}", by+d.units.span(f.amount), "{amount}", d.units.span(f.amount)).Replace(phrase)
}

// where says in words at which point of an operation a fault struck: "before
// its write left". "": it struck at a time.
func (f *fault) where() string {
	head, place, ok := strings.Cut(f.point, ": ")
	who, op, ok2 := strings.Cut(head, " ")
	if !ok || !ok2 {
		return ""
	}
	its := "its " + op
	if len(f.on) == 0 || who != f.on[0] {
		its = possessive(who) + " " + op
	}
	single := op == history.Read || op == history.Write
	when, which, _ := strings.Cut(place, " ")
	switch {
	case place == "after ok":
		return "as soon as " + its + " had succeeded"
	case when == "before" && single:
		return "before " + its + " left"
	case when == "after" && single:
		return "when the answer to " + its + " had come"
	case when == "before":
		return "before the " + ordinal(which) + " of " + its + " left"
	case when == "after":
		return "when the answer to the " + ordinal(which) + " of " + its + " had come"
	}
	return ""
}

// ordinal turns "last" and "request 2" into "last request" and "second request".
func ordinal(which string) string {
	words := []string{"request 1", "request 2", "request 3"}
	if i := slices.Index(words, which); i >= 0 {
		return []string{"first", "second", "third"}[i] + " request"
	}
	if which == "last" {
		return "last request"
	}
	return which
}

// hit tells whether f is known to have touched something, or may have.
func (f *fault) hit() bool { return !f.hits.Set || f.hits.V != 0 }
