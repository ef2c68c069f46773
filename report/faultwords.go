package report

import (
	"regexp"
	"strings"

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
	removed, removes := d.removal(f)
	amount := d.units.span(f.amount)
	return strings.NewReplacer("{on}", on, "{to}", to, "{what}", what, "{message}", message, "{arrived}", arrived,
		"{for}", length, "{until}", until, "{did}", did, "{since}", since,
		"{clock}", f.clock(), "{by}", by+amount, "{ahead}", amount+ahead, "{amount}", amount, "{each}", each,
		"{removed}", removed, "{removes}", removes,
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

// removal returns what an operator did to an entry, in the past tense and in the present
// tense.
func (d *digest) removal(f *fault) (past, now string) {
	s := d.removedBy(f)
	switch {
	case !f.Operator:
		return "", ""
	case s == nil && len(d.stays) == 0: // the history shows no entries
		return "removed an entry", "removes an entry"
	case s == nil:
		return "found no entry to remove", "finds no entry to remove"
	case s.how == history.Lose:
		what := " " + s.owner() + " connection"
		return "killed" + what, "kills" + what
	}
	what := " " + s.owner() + " entry"
	if d.queue {
		what = " " + s.owner() + " node"
	}
	return "removed" + what, "removes" + what
}

// removedBy returns the entry that an operator removed, or nil. In an ensemble the
// leader reports what another member was asked for.
func (d *digest) removedBy(f *fault) *stay {
	if !f.Operator {
		return nil
	}
	for _, s := range d.stays {
		if s.fromOutside(d) && d.remover(s) == f {
			return s
		}
	}
	return nil
}

// remover returns the fault of an operator who removed s: the last one before that. A
// session may also have ended for another reason.
func (d *digest) remover(s *stay) (last *fault) {
	for _, f := range d.faults {
		if f.Operator && f.begins < s.to && (d.queue || f.strikes(s.server)) && (last == nil || last.begins < f.begins) &&
			(s.how == history.Remove || d.at(s.to)-d.at(f.sure) <= d.slack()) {
			last = f
		}
	}
	return last
}

// fromOutside reports whether somebody removed s, or ended its session, who is no client.
func (s *stay) fromOutside(d *digest) bool {
	if s.to == none {
		return false
	}
	e := &d.h.Entries[s.to]
	return !e.By.Set && (s.how == history.Remove || s.how == history.Lose && e.Text == history.SessionOver)
}
