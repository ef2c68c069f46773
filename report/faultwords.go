package report

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

var either = regexp.MustCompile(`(\w+)\|(\w+)`)

// fill completes a phrase of the fault's words.
func (d *digest) fill(f *fault, phrase string) string {
	number := "$1"
	if len(f.victims()) > 1 {
		number = "$2"
	}
	on, to := f.whom(), ""
	if ends := f.on[len(f.victims()):]; len(ends) > 0 {
		to = strings.Replace(list(ends), history.Resource, "the resource", 1)
	}
	what, message, arrived := "everything between "+on+" and "+to, "message of "+on+" and "+to, ""
	switch f.text {
	case toServer:
		what, message, arrived = "everything from "+on+" to "+to, "request of "+on+" to "+to, ": the request was lost"
	case toClient:
		what, message, arrived = "everything from "+to+" to "+on, "reply of "+to+" to "+on, ": the request got through"
	}
	did := ", and later did"
	if f.hits.V == 0 {
		did, arrived = "", ""
	}
	length, until := "", ""
	if f.end != none {
		length = " for " + d.units.span(d.at(f.end)-d.at(f.sure))
		until = ", until " + d.units.at(d.at(f.end))
		if d.lingers(f) {
			until += " at the latest"
		}
		if d.blurred(f) || d.lingers(f) {
			length = until
		}
	} else if d.blurred(f) {
		length, until = ", until the end", ", until the end"
	}
	since := ""
	if len(f.on) == 1 && f.Name == history.Exit && d.at(f.start)-d.at(f.heard) > d.slack() {
		since = ": nothing was heard of it after " + d.units.at(d.at(f.heard))
	}
	by, ahead, gained, gains := "forward by ", " ahead", "gained", "gains|gain"
	if f.amount < 0 {
		by, ahead, gained, gains = "back by ", " back", "lost", "loses|lose"
	}
	each, replaced := "", ""
	if lease := d.h.Header.Lease(); lease > 0 {
		each = " in each " + d.units.span(lease)
	}
	if f.Rate && f.end == none {
		length = " from then on"
	}
	if f.replaced {
		replaced = ", as a replica"
	}
	tampered, tampers := d.tampering(f)
	amount := d.units.span(f.amount)
	return strings.NewReplacer("{on}", on, "{to}", to, "{what}", what, "{message}", message, "{arrived}", arrived,
		"{for}", length, "{until}", until, "{did}", did, "{since}", since,
		"{clock}", f.clock(), "{by}", by+amount, "{ahead}", amount+ahead, "{amount}", amount, "{each}", each,
		"{tampered}", tampered, "{tampers}", tampers,
		"{gained}", gained, "{gains}", either.ReplaceAllString(gains, number), "{replaced}", replaced).
		Replace(either.ReplaceAllString(phrase, number))
}

// extent returns the size of f as it is drawn, such as "+15 s", or "" if it is not
// drawn.
func (d *digest) extent(f *fault) string {
	if f.amount == 0 || !f.Clock && !f.Rate {
		return ""
	}
	text := "+" + d.units.span(f.amount)
	if f.amount < 0 {
		text = "-" + d.units.span(f.amount)
	}
	if lease := d.h.Header.Lease(); lease > 0 && f.Rate {
		text += "/" + d.units.span(lease)
	}
	return text
}

// clause is a phrase of the fault's words as subject and predicate.
func (d *digest) clause(f *fault, phrase string) (who, did string) {
	text := d.fill(f, phrase)
	for _, who := range []string{f.clock(), f.whom(), "the network", "an operator"} {
		if did, ok := strings.CutPrefix(text, who+" "); ok {
			return who, did
		}
	}
	who, did, _ = strings.Cut(text, " ")
	return who, did
}

// tampering returns what an operator did to an entry, in the past tense and in the present
// tense.
func (d *digest) tampering(f *fault) (past, now string) {
	did, does, want := "removed", "removes", "remove"
	if f.Operator == faults.Overwriting {
		did, does, want = "changed", "changes", "change"
	}
	s, pos := d.tampered(f)
	switch {
	case f.Operator == "":
		return "", ""
	case s == nil && len(d.stays) == 0: // the history shows no entries
		return did + " an entry", does + " an entry"
	case s == nil:
		return "found no entry to " + want, "finds no entry to " + want
	case d.h.Entries[pos].F == history.Lose:
		what := " " + s.owner() + " connection"
		return "killed" + what, "kills" + what
	}
	what := " " + s.owner() + " entry"
	if d.queue {
		what = " " + s.owner() + " node"
	}
	return did + what, does + what
}

// tampered returns the entry on which an operator acted, and the position of the line that
// shows it; nil: none. In an ensemble the leader reports what another member was asked for.
func (d *digest) tampered(f *fault) (*stay, int) {
	if f.Operator == "" {
		return nil, none
	}
	for _, s := range d.stays {
		for _, pos := range append(slices.Clone(s.changed), s.to) {
			if d.fromOutside(pos) && d.tamperer(s, pos) == f {
				return s, pos
			}
		}
	}
	return nil, none
}

// tamperer returns the fault of an operator who acted on s at pos: the last one of its kind
// before that. A session may also have ended for another reason.
func (d *digest) tamperer(s *stay, pos int) (last *fault) {
	did, how := d.h.Entries[pos].F, faults.Removal
	if did == history.Takeover || did == history.Change {
		how = faults.Overwriting
	}
	for _, f := range d.faults {
		if f.Operator == how && f.begins < pos && (d.queue || f.strikes(s.server)) && (last == nil || last.begins < f.begins) &&
			(did != history.Lose || d.at(pos)-d.at(f.sure) <= d.slack()) {
			last = f
		}
	}
	return last
}

// fromOutside reports whether the line at pos shows that somebody who is no client removed or
// changed an entry, or ended its session.
func (d *digest) fromOutside(pos int) bool {
	if pos == none {
		return false
	}
	e := &d.h.Entries[pos]
	switch e.F {
	case history.Remove, history.Takeover, history.Change:
		return !e.By.Set
	case history.Lose:
		return !e.By.Set && e.Text == history.SessionOver
	}
	return false
}
