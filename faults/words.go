package faults

// Words are how a story tells a fault. In its phrases {on} and {to} are what the
// fault acts on, {clock} is the clock of {on}, {for} and {until} say how long, {by},
// {ahead} and {amount} how far, {each} in how much time, {gained} and {gains} what a
// clock does that runs fast or slow, {what} which messages, {message} which of them is
// the next, {did} that there was one, {arrived} whether its request got through, {since}
// from when on nothing was heard, {tampered} and {tampers} what an operator did to
// which entry, and {replaced} that another has become the master. Of
// "was|were" the second is for several.
type Words struct {
	Lane string // the label of its lane
	Past string // for the sentences
	Now  string // for the list of moments
	Over string // its end, for the list; "": not worth a line
}
