package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
)

// NoFault is the name of the cells in which nothing goes wrong.
const NoFault = "none"

// Code is a way in which a lock breaks, as tables write it.
type Code string

// The codes. F, unfair, comes with the property that judges it.
const (
	Safe         Code = "S"  // nothing goes wrong
	Overlap      Code = "U"  // mutual exclusion broken: a defect, or durability that is missing
	LeaseOverlap Code = "Uf" // broken in the way that is inherent to leases: safe with fencing only
	Stolen       Code = "R"  // a release frees somebody else's lock
	Starved      Code = "L"  // somebody waits, and nobody is ever granted it
	Slow         Code = "l"  // a slow hand-over
)

// CodeMeaning is what a code stands for.
type CodeMeaning struct {
	Code       Code
	Means      string
	Properties []checker.Property // that are violated where it is found
}

// Codes are all codes, in the order in which they are shown.
var Codes = []CodeMeaning{
	{Safe, "safe", nil},
	{Overlap, "two hold at once", []checker.Property{checker.Exclusion, checker.LeaseExclusion}},
	{LeaseOverlap, "two hold at once, one of them beyond its lease", []checker.Property{checker.Exclusion}},
	{Stolen, "a release frees another's lock", []checker.Property{checker.Ownership}},
	{Starved, "somebody waits for ever", []checker.Property{checker.Liveness}},
	{Slow, "a slow hand-over", []checker.Property{checker.Handover}},
}

// Properties are those that are violated where c is found. Grants without a
// lease have no lease-exclusion: there U is exclusion alone.
func (c Code) Properties() []checker.Property {
	for _, k := range Codes {
		if k.Code == c {
			return k.Properties
		}
	}
	return nil
}

// Expectation is what is known of a lock under a fault: what is found when one
// looks, what may be, and that nothing else is.
type Expectation struct {
	Codes string // as the table writes it: "U R?"
	Must  []Code
	May   []checker.Property // all that may be violated, those of Must included
	Why   string             // the mechanism, where it does not speak for itself
}

// Holds tells whether nothing has to be found.
func (e *Expectation) Holds() bool { return len(e.Must) == 0 }

// HoldsSlowly tells whether nothing has to be found but a slow hand-over.
func (e *Expectation) HoldsSlowly() bool {
	return !slices.ContainsFunc(e.Must, func(c Code) bool { return c != Slow })
}

// cell is some faults under which a lock does the same.
type cell struct {
	faults string
	codes  string
	why    string
}

// Mechanisms that several locks share.
const (
	robbed    = "A late DEL takes the key of a holder whose lease still runs, and lets a third one in: more than the overlap that leases cannot avoid."
	neverSent = "SETNX is answered after the caller's deadline, so PEXPIRE is not sent, and the key has no expiry."
	unknown   = "A SETNX that its client has given up sets a key of which nobody knows that it is his, so nobody deletes it."
	neverDel  = "A DEL that is lost with its connection is not sent again, and nothing else removes the key."
	lostDel   = "A release that is lost with its connection is not sent again: the next holder waits for the lease to end."
	forgotten = "The holder whose key was lost deletes that of the next."
	onceReset = "What is lost with a connection is lost: nothing arrives late. Only the lease of a lost release has to be waited for."
	onceSent  = "The server has executed what was not answered, and nobody sends it again: no DEL comes late."
	allGone   = "A jump ends every lease that it reaches, and every holder lives and releases: nobody waits for long. A jump back takes a dead holder as well."
	jumped    = "The holder whose lease was cut short deletes the key of the next."
	outlasts  = "A request is given up after T/4 and an undisturbed section takes less than T/3: a lease outlasts whatever a link can do to its holder, and a late release compares."
)

// truth is what random exploration finds, by lock and fault. A fault that is
// in no row of a lock has no cell, which a test refuses. What is here differs
// from what was first written down of these locks wherever a run was looked
// into and found right; the reason stands beside it.
var truth = map[string][]cell{
	"redis-setnx": {
		{"none pause", "S", "There is no lease that could end."},
		{"kill poweroff", "L", ""},
		{"restart", "L", neverDel},
		{"restart-lost", "U R", forgotten},
		{"server-jump", "S", ""},
		{"partition partition-oneway delay kill-connection", "L", unknown + " Nor is a lost DEL sent again."},
		{"drop-reply", "L", unknown},
	},
	"redis-setnx-expire": {
		{"none", "L?", neverSent},
		{"pause", "U R L", robbed + " " + neverSent},
		{"kill poweroff", "L l", ""},
		{"restart", "L l", "A PEXPIRE that is lost with its connection is not sent again, and the key has no expiry."},
		{"restart-lost", "U R L?", forgotten + " " + neverSent},
		{"server-jump", "U R L?", jumped + " " + allGone + " " + neverSent},
		{"partition partition-oneway delay", "U R L l", robbed + " A SETNX that its client has given up sets a key, and no PEXPIRE follows."},
		{"kill-connection", "L l", onceReset + " A SETNX whose answer is lost has no PEXPIRE, a lost PEXPIRE no second."},
		{"drop-reply", "L l", onceSent + " A SETNX that was not answered has no PEXPIRE."},
	},
	"redis-set-del": {
		{"none", "S", ""},
		{"pause", "U R", robbed},
		{"kill poweroff", "l", ""},
		{"restart", "l", lostDel},
		{"restart-lost", "U R", forgotten},
		{"server-jump", "U R", jumped + " " + allGone},
		{"partition partition-oneway delay", "U R", robbed},
		{"kill-connection", "l", onceReset},
		{"drop-reply", "l", onceSent},
	},
	"redis-set-get-del": {
		{"none", "S", ""},
		{"pause", "U R", robbed},
		{"kill poweroff", "l", ""},
		{"restart", "l", lostDel},
		{"restart-lost", "U", ""},
		{"server-jump", "U R?", "The clock has to jump between the GET and the DEL, one run in 1,500. " + allGone},
		{"partition partition-oneway delay", "U R", robbed},
		{"kill-connection", "l", onceReset},
		{"drop-reply", "l", onceSent},
	},
	"redis-set-lua": {
		{"none", "S", ""},
		{"pause", "Uf", ""},
		{"kill poweroff", "l", ""},
		{"restart", "l", lostDel},
		{"restart-lost", "U", ""},
		{"server-jump", "U", allGone},
		{"partition partition-oneway delay", "S", outlasts},
		{"kill-connection", "l", onceReset},
		{"drop-reply", "l", ""},
	},
}

// Faults are the columns of the table: none, and every fault.
func Faults() []string {
	names := []string{NoFault}
	for _, f := range faults.All() {
		names = append(names, f.Name)
	}
	return names
}

// Expect is what is expected of a lock under a fault, or under none.
func Expect(lock, fault string) (Expectation, error) {
	for _, c := range truth[lock] {
		if slices.Contains(strings.Fields(c.faults), fault) {
			e, err := parse(c.codes, stops(fault))
			e.Why = c.why
			return e, err
		}
	}
	return Expectation{}, fmt.Errorf("nothing is known of %s under %s", lock, fault)
}

// stops tells whether a fault stops or cuts off a client, a server or a
// request, for a while or for good: a hand-over may then be slow. What sets
// a clock does not, nor what is over at once on a server.
func stops(fault string) bool {
	f, ok := faults.Find(fault)
	return ok && f.Need != faults.NeedClock && (f.On != faults.OnServer || f.Heal != nil)
}

// parse reads codes, each of them once, with ? where it may be found. slow
// says whether a slow hand-over may be found besides.
func parse(codes string, slow bool) (Expectation, error) {
	e := Expectation{Codes: codes}
	fields := strings.Fields(codes)
	may := map[checker.Property]bool{checker.Handover: slow}
	seen := map[Code]bool{}
	for _, field := range fields {
		name, perhaps := strings.CutSuffix(field, "?")
		c := Code(name)
		switch {
		case seen[c]:
			return e, fmt.Errorf("codes %q: %s is there twice", codes, c)
		case c == Safe && (perhaps || len(fields) > 1):
			return e, fmt.Errorf("codes %q: %s stands alone", codes, Safe)
		case c != Safe && c.Properties() == nil:
			return e, fmt.Errorf("codes %q: there is no code %q", codes, name)
		}
		seen[c] = true
		if !perhaps && c != Safe {
			e.Must = append(e.Must, c)
		}
		for _, p := range c.Properties() {
			may[p] = true
		}
		switch c {
		case Overlap, LeaseOverlap, Stolen: // what was guarded is at stake
			may[checker.Resource] = true
		case Starved: // who waits for ever waits for long
			may[checker.Handover] = true
		}
	}
	switch {
	case len(fields) == 0:
		return e, fmt.Errorf("no codes; %s is safe", Safe)
	case seen[Overlap] && seen[LeaseOverlap]:
		return e, fmt.Errorf("codes %q: %s says more than %s", codes, Overlap, LeaseOverlap)
	}
	for _, p := range checker.Properties {
		if may[p] {
			e.May = append(e.May, p)
		}
	}
	return e, nil
}
