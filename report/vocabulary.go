package report

import "github.com/lockcheck/lockcheck/history"

// vocabulary is how a kind of fault is told and drawn. In its phrases {on} and
// {to} are what the fault acts on, {clock} is the clock of {on}, {for} and {until}
// say how long, {by}, {ahead} and {amount} how far, {each} in how much time,
// {gained} and {gains} what a clock does that runs fast or slow, {what} which
// messages, {did} that there was one, {since} from when on nothing was heard, and
// {replaced} that another has become the master. Of "was|were" the second is for
// several.
type vocabulary struct {
	label  string // of its lane
	past   string // for the sentences
	now    string // for the list of moments
	over   string // its end, for the list; "": not worth a line
	deadly bool   // its client does nothing any more
	once   bool   // a point on the axis: over at once, or armed to strike once
	link   bool   // it acts on a client and what it talks to
	down   bool   // its server is gone until its end
	amount bool   // how far it goes is drawn, too
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
		past:  "{on} hung{for}, all but its|their background tasks",
		now:   "{on} hangs|hang{for}, all but its|their background tasks",
		over:  "{on} goes|go on",
	},
	"skew":        skewed,
	"server-skew": skewed,
	"rate":        rated,
	"server-rate": rated,
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
		over:  "{on} is|are back", down: true,
	},
	"restart-lost": {
		label: "down",
		past:  "{on} lost power{for}",
		now:   "{on} loses|lose power{for}",
		over:  "{on} is|are back", down: true,
	},
	"failover": {
		label: "down",
		past:  "{on} lost power{for}",
		now:   "{on} loses|lose power{for}",
		over:  "{on} is|are back{replaced}", down: true,
	},
	"session-expiry": {
		label: "session",
		past:  "the session|sessions of {on} was|were closed from elsewhere",
		now:   "the session|sessions of {on} is|are closed from elsewhere", once: true,
	},
	"server-pause": {
		label: "paused",
		past:  "{on} was|were paused{for}",
		now:   "{on} is|are paused{for}",
		over:  "{on} goes|go on",
	},
	"evict": {
		label: "full",
		past:  "{on} ran out of memory{for}",
		now:   "{on} runs|run out of memory{for}",
	},
	"server-jump": {
		label: "clock",
		past:  "the clock|clocks of {on} jumped {by}",
		now:   "the clock|clocks of {on} jumps|jump {by}", once: true, amount: true,
	},
	"jump": {
		label: "clock",
		past:  "the clock|clocks of {on} jumped {by}",
		now:   "the clock|clocks of {on} jumps|jump {by}", once: true, amount: true,
	},
	"partition": {
		label: "cut off", link: true,
		past: "the network cut {on} off from {to}{for}",
		now:  "{on} is|are cut off from {to}{for}",
		over: "{on} and {to} are connected again",
	},
	"partition-servers": {
		label: "cut off",
		past:  "{on} was|were cut off from the other servers{for}",
		now:   "{on} is|are cut off from the other servers{for}",
		over:  "{on} reaches|reach the other servers again",
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

// skewed is a wall clock that is wrong for a while, rated are all clocks that
// run fast or slow.
var (
	skewed = vocabulary{
		label: "clock", amount: true,
		past: "{clock} was|were set {ahead}{for}",
		now:  "{clock} is|are set {ahead}{for}",
		over: "{clock} is|are right again",
	}
	rated = vocabulary{
		label: "clock", amount: true,
		past: "{clock} {gained} {amount}{each}{for}",
		now:  "{clock} {gains} {amount}{each}{for}",
		over: "{clock} runs|run as it|they should again",
	}
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
