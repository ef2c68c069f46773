// Package history describes a run: the requests and answers of every client, the
// active faults, and the events of servers.
//
// A history is a header and a list of entries. Their order is the order of
// events: an invoke comes before its request was sent, a completion after its
// answer arrived. So a hold in the entries may be shorter than the real one, but
// never longer. Times matter only for leases and bounds.
//
// The package does not depend on locks, clusters or checkers.
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
// list many times.
func (h *History) Add(e Entry) {
	if n := len(h.Entries); n == cap(h.Entries) {
		h.Entries = slices.Grow(h.Entries, max(n, 64))
	}
	h.Entries = append(h.Entries, e)
}

// CutOff reports whether lockcheck recorded the run but its end is missing,
// because lockcheck was killed before the last line. Other recorders need no such
// line.
func (h *History) CutOff() bool {
	if n := len(h.Entries); n > 0 {
		return h.Header.CutOff(&h.Entries[n-1])
	}
	return h.Header.CutOff(nil)
}

// Header is the first line of a file. Only Format is required; a history from
// another recorder may have no other field.
type Header struct {
	Format  int    `json:"lockcheck"`
	Version string `json:"version,omitempty"` // of the lockcheck that wrote it
	Lock    string `json:"lock,omitempty"`    // the lock under test
	Options string `json:"options,omitempty"` // its options, such as "token,spin"
	Servers string `json:"servers,omitempty"` // how its servers are set up, in words, unless it is the default
	On      string `json:"on,omitempty"`      // the environment: sim, docker
	Case    string `json:"case,omitempty"`    // the scripted case, if any
	Seed    uint64 `json:"seed,omitempty"`
	// Workload is the workload, unless it is the default.
	Workload string `json:"workload,omitempty"`

	LeaseMS  int64    `json:"lease_ms,omitempty"` // T: lease or session timeout
	Promises []string `json:"promises,omitempty"` // the properties that must hold; absent: all that apply
	Fencing  Fencing  `json:"fencing"`
	Faults   []string `json:"faults,omitempty"` // the kinds of faults to inject

	// Order means that the lock promises to grant in the order of its queue.
	Order bool `json:"order,omitempty"`
	// HandoverMS is the lock's own bound from a release to the next grant; 0:
	// unknown, and the bound is T/2.
	HandoverMS int64 `json:"handover_ms,omitempty"`
	// Nodes is the number of independent servers of a lock that needs a majority
	// of them; 0: unknown.
	Nodes int `json:"nodes,omitempty"`
	// ReleaseTells means that a release fails with not-held or lost if there was nothing
	// to release.
	ReleaseTells bool `json:"release_tells,omitempty"`
	// Observes lists what the environment recorded about the servers: "ownership"
	// and "answers" cannot be judged if they are missing. A file written during
	// the run has an empty list if only the run's end decides it.
	Observes []string `json:"observes,omitempty"`
}

// Lease returns T.
func (h *Header) Lease() time.Duration { return time.Duration(h.LeaseMS) * time.Millisecond }

// RealTime reports whether lockcheck recorded a run on real servers: there a slow machine can
// delay clients and servers.
func (h *Header) RealTime() bool { return h.On != "" && h.On != "sim" && h.On != "bubble" }

// CutOff reports the same for a history with this header and this last line, or
// nil without lines.
func (h *Header) CutOff(last *Entry) bool {
	ended := last != nil && last.Process.Name == Nemesis && last.F == Ended
	return h.Version != "" && h.On != "" && !ended
}

// Fencing tells which accesses to the guarded resource have a token. In JSON it
// is false, true or "writes".
type Fencing string

// The settings of fencing.
const (
	FencingOff    Fencing = ""
	FencingAll    Fencing = "all"
	FencingWrites Fencing = "writes" // only writes have the token
)

// Type is the type of an entry.
type Type uint8

// These are the types of entries, with Jepsen's names, and Event for an event of
// a server or the resource.
const (
	Invoke Type = iota + 1
	OK          // it took effect
	Fail        // it did not take effect
	Info        // it may have taken effect, or may later
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
	CAS     = "cas" // writes Value if the present value is Was
)

// These are the reports of a client between its operations.
const (
	Queued = "queued" // it has a place in the queue
	Lost   = "lost"   // the lock noticed that it has lost the grant
	Valid  = "valid"  // until ValidUntil: a renewal in the background, or a new rate of its clock
	Late   = "late"   // an answer after the deadline; it does not affect verdicts
	// Started: the client was killed, and runs again as a new process. It is for readers:
	// verdicts follow from the next lines.
	Started = "started"
)

// These are a server's events about the entry of a lock. Grant is the grant
// concerned, Op the acquire that made it, By the invoke whose request caused the
// event.
const (
	Granted  = "grant"    // the entry was created
	Remove   = "remove"   // a command removed it
	Takeover = "takeover" // a command gave it to another acquire: Grant and Op are the old one's
	Shorten  = "shorten"  // a command brought its expiry nearer
	Prolong  = "prolong"  // a command moved its expiry away
	Change   = "change"   // a command gave it another value, and it is still Op's
	Expire   = "expire"   // its time was over, by the server's clock
	Lose     = "lose"     // the server lost it: a restart, an eviction, a failover
)

// SessionOver is the Text of a Lose caused by the end of a session.
const SessionOver = "session-over"

// Promote is the promotion of a replica to the master of its node. Text names the
// old master.
const Promote = "promote"

// This is an event of the guarded resource. It also has Read and Write, like
// clients.
const Refuse = "refuse" // the token was stale

// These are processes that are not clients.
const (
	Nemesis  = "nemesis"  // injects faults; see EndSuffix
	Resource = "resource" // the guarded resource
)

// These are suffixes of a fault's later entries with the same ID. F+EndSuffix
// marks the beginning of its end. In real time effects come after their entries:
// F+DoneSuffix and F+EndSuffix+DoneSuffix follow when the effects are certain.
const (
	EndSuffix  = "-end"
	DoneSuffix = "-done"
)

// These are the nemesis' entries beside its faults.
const (
	Stall = "stall" // the test machine stood still for Amount, up to now; not an injected fault
	Exit  = "exit"  // a client's process ended by itself: its holds end here
	// Budget: the run was ended here because it had used up its budget of events
	// or memory; Text names it.
	Budget = "budget"
	Ended  = "ended" // the run is over: nothing was observed after this
)

// These errors of completions have a meaning. A Fail with Held was refused
// because another client holds the lock; one with StaleToken was refused by the
// resource. Other texts are possible.
const (
	ErrHeld       = "held"
	ErrNotHeld    = "not-held"
	ErrLost       = "lost"
	ErrStaleToken = "stale-token"
	ErrTimeout    = "timeout" // no answer in time
	ErrCrashed    = "crashed" // the client was killed, or its worker died
	ErrBudget     = "budget"  // the operation used up its budget of port calls
)

// Process is the process of an entry: a client's process by its number, or a
// named one (Nemesis, Resource, a server).
type Process struct {
	N    int
	Name string // "" for a client's process
}

// Client reports whether p is a process of a client.
func (p Process) Client() bool { return p.Name == "" }

// Opt is an integer that may be absent.
type Opt struct {
	V   int64
	Set bool
}

// Some returns v as a present Opt.
func Some(v int64) Opt { return Opt{V: v, Set: true} }

// Entry is one line: an operation's invoke or completion, a fault, or an event of
// a server or the resource.
type Entry struct {
	Index   int           // unique and growing; other entries refer to it
	Time    time.Duration // since the start of the run, on the harness's monotonic clock
	Client  string        // of a client's process; a process number never changes its client
	Process Process
	Type    Type
	F       string
	Lock    string // "" if there is only one, unnamed
	Shared  bool   // of acquire and try: a shared lock for readers

	Grant      int           // unique in the run; 0: none
	Token      uint64        // fencing token; 0: none
	ValidUntil time.Duration // on the clock of Time: when the client's own clock reaches its deadline; 0: unknown
	Value      Opt           // read or written
	Was        Opt           // of the resource's write: the replaced value; of a cas: the value to replace

	Error string // of Fail and Info: a short, stable word
	Text  string // for people

	// For servers and the resource:
	Key string
	By  Opt // index of the invoke whose request caused the event; absent: none
	// Op is the index of the acquire that made the entry concerned. For an
	// acquire's ok it is another acquire of the same client whose entries the
	// grant uses, if any.
	Op Opt

	// For the nemesis:
	ID     int           // the same for a fault's begin and end
	On     []string      // clients, servers; client and server for a link
	Point  string        // the point in an operation where it struck, such as "c1 release: before last"
	Amount time.Duration // of a clock's jump, of a delay
	Hits   Opt           // at its end: number of messages or tasks affected
}
