package report

import (
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// fault is one use of a fault, as the nemesis wrote it down.
type fault struct {
	faults.Fault
	lines      checker.Injection
	on         []string
	mates      int  // of a link: the number of clients that share it with the first
	start, end int  // positions of its lines; none: it never ended
	begins     int  // position of its first line: start, if there is one only
	sure       int  // position by which it has certainly struck: the instant that a story tells
	heals      int  // position from which it may be over: end, if that has one line only
	latest     int  // of a death: position by which it is certain; the story has it at start, as the judge does
	bounded    bool // only a client's answer shows that it had struck by sure
	point      string
	text       string
	amount     time.Duration
	hits       history.Opt
	heard      int   // of an exit: the last sign of life before it
	merged     []int // the first lines of the faults in the same sentence
	replaced   bool  // a replica has replaced its server
}

// pause is the fault that stories treat specially: a holder that wakes up goes on
// where it stopped.
const pause = "pause"

// partition is the fault that cuts clients off from servers in both directions.
const partition = "partition"

// cutOff is the fault after which a replaced master may not know that it was
// replaced.
const cutOff = "partition-servers"

// The directions in which a link can be disturbed, as the nemesis writes them.
const (
	toServer = "to-server"
	toClient = "to-client"
)

// victims returns the names of the lanes that show f. For a link these are its client
// and the clients that share its process.
func (f *fault) victims() []string {
	if f.link() {
		return f.on[:1+f.mates]
	}
	return f.on
}

// strikes reports whether name is one of the victims.
func (f *fault) strikes(name string) bool { return slices.Contains(f.victims(), name) }

// whom returns the victims, in words.
func (f *fault) whom() string { return list(f.victims()) }

// link reports whether f acts on the links between clients and servers.
func (f *fault) link() bool { return f.On == faults.OnLink }

// clock returns the clock that f changes: "c2's clock", "the clocks of c1 and c2".
func (f *fault) clock() string {
	if len(f.victims()) > 1 {
		return "the clocks of " + f.whom()
	}
	return possessive(f.whom()) + " clock"
}

// struckAt returns the parts of the point of an operation at which f struck: "c1 release",
// "before request 2", "DEL" and "GET", which is the request before that.
func (f *fault) struckAt() (operation, place, sends, sent string) {
	operation, place, _ = strings.Cut(f.point, ": ")
	place, commands, _ := strings.Cut(place, ", ")
	sends, sent, _ = strings.Cut(commands, " after ")
	return operation, place, sends, sent
}

// where returns in words at which point of an operation a fault struck: "before its
// write left", "between the GET and the DEL of its release"; subject is the subject
// of the sentence. It returns "" if the fault struck at a time.
//
// The words use the client's name of the request, or else its number: the fault's
// line does not show whether another request followed.
func (f *fault) where(subject string, nodes int) string {
	operation, place, sends, sent := f.struckAt()
	who, op, ok := strings.Cut(operation, " ")
	if !ok {
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
		return "once " + its + " had succeeded"
	case when == "before" && single:
		return "before " + its + " left"
	case when == "after" && single:
		return "when the answer to " + its + " had come"
	case when == "before" && sent != "" && sent != sends:
		return "between the " + sent + " and the " + sends + " of " + its
	case when == "before":
		return "just before " + f.request(which, sends, nodes) + " of " + its
	case when == "after":
		return "just after the answer to " + f.request(which, sends, nodes) + " of " + its
	}
	return ""
}

// next returns which request of an operation, "c1 release", comes after the point at which
// f struck it. It returns "" if f struck elsewhere, or before the first request.
func (f *fault) next(operation string) string {
	where, place, sends, sent := f.struckAt()
	switch {
	case where != operation || place == "before request 1" || place == afterOK:
		return ""
	case strings.HasPrefix(place, "before") && sends != sent && sends != "":
		return "the " + sends
	}
	return "the rest"
}

// afterOK is a point that the moment before it already shows.
const afterOK = "after ok"

// samePoint is said of a fault that strikes at the same point as the one before.
const samePoint = "at the same point"

// request turns "request 1" with the command GET into "the GET", "request 2" into
// "request 2, a GET", and without a command into "request 2". In older histories
// "last" is the last request of an undisturbed operation. With several nodes the
// first requests leave together; a fault of several links strikes each before its own.
func (f *fault) request(which, sends string, nodes int) string {
	switch {
	case which == "last":
		return "what is usually the last request"
	case sends == "":
		return which
	case which == "request 1" && f.link() && len(f.on)-len(f.victims()) > 1:
		return "the first " + sends + "s"
	case which == "request 1" && nodes > 1:
		return "one of the first " + sends + "s"
	case which == "request 1":
		return "the " + sends
	}
	return which + " (" + sends + ")"
}

// hit reports whether f is known to have touched an operation, or may have.
func (f *fault) hit() bool { return !f.hits.Set || f.hits.V != 0 }
