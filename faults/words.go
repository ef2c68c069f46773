package faults

// Words are how a story tells a fault. In its phrases {on} and {to} are what the
// fault acts on, {clock} is the clock of {on}, {for} and {until} say how long, {by},
// {ahead} and {amount} how far, {each} in how much time, {gained} and {gains} what a
// clock does that runs fast or slow, {what} which messages, {message} which of them is
// the next, {did} that there was one, {arrived} whether its request got through, {since}
// from when on nothing was heard, and {replaced} that another has become the master. Of
// "was|were" the second is for several.
type Words struct {
	Lane string // the label of its lane
	Past string // for the sentences
	Now  string // for the list of moments
	Over string // its end, for the list; "": not worth a line
}

// The words that faults on clients and on servers share.
var (
	skewed = Words{
		Lane: "clock",
		Past: "{clock} was|were set {ahead}{for}",
		Now:  "{clock} is|are set {ahead}{for}",
		Over: "{clock} is|are right again",
	}
	rated = Words{
		Lane: "clock",
		Past: "{clock} {gained} {amount}{each}{for}",
		Now:  "{clock} {gains} {amount}{each}{for}",
		Over: "{clock} runs|run as it|they should again",
	}
	jumped = Words{
		Lane: "clock",
		Past: "the clock|clocks of {on} jumped {by}",
		Now:  "the clock|clocks of {on} jumps|jump {by}",
	}
)
