// Package history says what happened in a run: what every client asked and was
// told, which faults were active, and what the servers did.
//
// A history is a header and a list of entries. The order of entries is the
// order of events: an invoke stands before its request could leave, a
// completion after its answer had arrived. So a hold that the entries show may
// be shorter than the real one, and is never longer. Times serve leases and
// bounds only.
//
// The package knows nothing of locks, clusters or checkers.
package history

import (
	"slices"
	"time"
)

// Format is the version of the file format that this package writes and reads.
const Format = 1

// A History is one run.
type History struct {
	Header  Header
	Entries []Entry
}

// Add appends an entry. Entries are large, and append alone would copy a long
// list of them many times.
func (h *History) Add(e Entry) {
	if n := len(h.Entries); n == cap(h.Entries) {
		h.Entries = slices.Grow(h.Entries, max(n, 64))
	}
	h.Entries = append(h.Entries, e)
}

// CutOff reports whether lockcheck recorded the run and its end is missing: it was
// killed before it could write its last line. Histories that others record need no
// such line.
func (h *History) CutOff() bool {
	if n := len(h.Entries); n > 0 {
		return h.Header.CutOff(&h.Entries[n-1])
	}
	return h.Header.CutOff(nil)
}

// Header is the first line of a file. Only Format must be there; a history
// that somebody else recorded may say nothing else.
type Header struct {
	Format  int    `json:"lockcheck"`
	Version string `json:"version,omitempty"` // of the lockcheck that wrote it
	Lock    string `json:"lock,omitempty"`    // the lock under test
	Options string `json:"options,omitempty"` // its options, as "token,spin"
	On      string `json:"on,omitempty"`      // the place: sim, docker
	Case    string `json:"case,omitempty"`    // the scripted case, if it is one
	Seed    uint64 `json:"seed,omitempty"`
	// Workload is what clients did, where it is not the usual.
	Workload string `json:"workload,omitempty"`

	LeaseMS  int64    `json:"lease_ms,omitempty"` // T: lease or session time-out
	Promises []string `json:"promises,omitempty"` // the properties that must hold; none: all that apply
	Fencing  Fencing  `json:"fencing"`
	Faults   []string `json:"faults,omitempty"` // the kinds that are to be injected

	// Order says that the lock promises to grant in the order of its queue.
	Order bool `json:"order,omitempty"`
	// HandoverMS is how long the lock says that it may take from a release to
	// the next grant; 0: it says nothing, and T/2 is the bound.
	HandoverMS int64 `json:"handover_ms,omitempty"`
	// Nodes is how many servers the lock asks that know nothing of one another, where
	// a majority of them grants it; 0: it says nothing.
	Nodes int `json:"nodes,omitempty"`
	// Observes says what the place could see of the servers: "ownership" and
	// "answers" cannot be judged where the entry is missing. In a file that was
	// written while the run went on it is empty where only the end of the run
	// tells.
	Observes []string `json:"observes,omitempty"`
}

// Lease is T.
func (h *Header) Lease() time.Duration { return time.Duration(h.LeaseMS) * time.Millisecond }

// CutOff is that of a history with this header and this last line; nil: there is none.
func (h *Header) CutOff(last *Entry) bool {
	ended := last != nil && last.Process.Name == Nemesis && last.F == Ended
	return h.Version != "" && h.On != "" && !ended
}

// Fencing says which accesses to the guarded resource carry a token. In JSON
// it is false, true or "writes".
type Fencing string

// The settings of fencing.
const (
	FencingOff    Fencing = ""
	FencingAll    Fencing = "all"
	FencingWrites Fencing = "writes" // only writes carry the token
)

// Type says what an entry is about.
type Type uint8

// The types of entries, as Jepsen names them, and Event: something that a
// server or the resource did.
const (
	Invoke Type = iota + 1
	OK          // it happened
	Fail        // it did not happen
	Info        // it may have happened, or may happen later
	Event
)

// The operations of clients.
const (
	Acquire = "acquire"
	Try     = "try"
	Release = "release"
	Extend  = "extend"
	Read    = "read"
	Write   = "write"
	CAS     = "cas" // writes Value if Was is in place
)

// What a client reports between its operations.
const (
	Queued = "queued" // it has a place in the queue
	Lost   = "lost"   // the lock noticed that it no longer holds
	Valid  = "valid"  // to ValidUntil: renewed in the background, or its clock runs at another rate
	Late   = "late"   // an answer after the deadline; it changes no verdict
)

// What a server does with the entry of a lock. Grant names the grant acted on,
// Op the acquire that made it, By the invoke whose request did it.
const (
	Granted  = "grant"    // the entry came into being
	Remove   = "remove"   // a command removed it
	Takeover = "takeover" // a command gave it to another acquire: Grant and Op are the loser's
	Shorten  = "shorten"  // a command brought its expiry nearer
	Prolong  = "prolong"  // a command moved its expiry away
	Expire   = "expire"   // its time was over, by the server's clock
	Lose     = "lose"     // the server lost it: a restart, an eviction, a failover
)

// SessionOver is the Text of a Lose that a session's end brought about.
const SessionOver = "session-over"

// Promote is a replica that becomes the master of its node. Text names the
// master that it takes the place of.
const Promote = "promote"

// What the guarded resource does. Read and Write are shared with clients.
const Refuse = "refuse" // the token was stale

// Processes that are no client.
const (
	Nemesis  = "nemesis"  // injects faults: see EndSuffix
	Resource = "resource" // what the lock guards
)

// What the nemesis says of a fault after its first entry F, with the same ID:
// F+EndSuffix when it begins to heal. Where time is real an effect comes after its
// entry: then F+DoneSuffix and F+EndSuffix+DoneSuffix follow when it is certain.
const (
	EndSuffix  = "-end"
	DoneSuffix = "-done"
)

// What the nemesis says beside its faults.
const (
	Stall = "stall" // the machine that everything runs on stood still for Amount, up to now: nobody's fault
	Exit  = "exit"  // a client's process ended by itself: its holds end here
	// Budget: the run was ended here, as it had used up its budget of events or
	// memory; Text says which.
	Budget = "budget"
	Ended  = "ended" // the run is over: nothing was observed from here on
)

// Errors of completions that are known to mean something. A Fail with Error
// Held was refused because somebody else holds; StaleToken was refused by the
// resource. Any other text may stand there.
const (
	ErrHeld       = "held"
	ErrNotHeld    = "not-held"
	ErrLost       = "lost"
	ErrStaleToken = "stale-token"
	ErrTimeout    = "timeout" // no answer in time
	ErrCrashed    = "crashed" // the client was killed, or its worker died
	ErrBudget     = "budget"  // the operation used up its budget of port calls
)

// Process is who an entry belongs to: a client's process by its number, or a
// named one (Nemesis, Resource, a server).
type Process struct {
	N    int
	Name string // "" for a client's process
}

// Client tells whether p is a process of a client.
func (p Process) Client() bool { return p.Name == "" }

// Opt is an integer that may be absent.
type Opt struct {
	V   int64
	Set bool
}

// Some is v, present.
func Some(v int64) Opt { return Opt{V: v, Set: true} }

// Entry is one line: an operation's invoke or completion, a fault, or what a
// server or the resource did.
type Entry struct {
	Index   int           // unique and growing; other entries refer to it
	Time    time.Duration // since the start of the run, on the harness's monotonic clock
	Client  string        // for processes of clients; the process number's client stays the same
	Process Process
	Type    Type
	F       string
	Lock    string // "" where there is but one, unnamed
	Shared  bool   // of acquire and try: a reader's, which others may share

	Grant      int           // unique in the run; 0: none
	Token      uint64        // fencing token; 0: none
	ValidUntil time.Duration // on the clock of Time: when the client's own clock reaches its deadline; 0: it says nothing
	Value      Opt           // read or written
	Was        Opt           // of the resource's write: the value that was replaced; of a cas: the one it replaces

	Error string // of Fail and Info: a short, stable word
	Text  string // for people

	// Of servers and the resource.
	Key string
	By  Opt // index of the invoke whose request did it; absent: nobody's
	// Op is the index of the acquire that made the entry acted on. On an acquire's
	// ok: of the acquire of the same client whose entries the grant stands on,
	// where that is another one.
	Op Opt

	// Of the nemesis.
	ID     int           // joins a fault with its end
	On     []string      // clients, servers; client and server for a link
	Point  string        // the place in an operation where it struck, as "c1 release: before last"
	Amount time.Duration // of a clock's jump, of a delay
	Hits   Opt           // at its end: how many messages or tasks it touched
}
