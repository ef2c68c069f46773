package checker

import (
	"slices"
	"sort"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Set is a set of properties.
type Set uint8

// The properties that a Monitor judges, in the order of Properties.
const (
	inExclusion Set = 1 << iota
	inLeaseExclusion
	inOwnership
	inFencing
	inResource
	inAnswers
)

// Monitored lists the properties that a Monitor judges. The others are about
// durations and queues.
var Monitored = Properties[:6]

// Has reports whether p is in s.
func (s Set) Has(p Property) bool {
	i := slices.Index(Monitored, p)
	return i >= 0 && s&(1<<i) != 0
}

// List returns the properties in s, in the order of Properties.
func (s Set) List() []Property {
	var list []Property
	for _, p := range Monitored {
		if s.Has(p) {
			list = append(list, p)
		}
	}
	return list
}

// Monitor judges a simulated run while it goes on, and knows the state that its later
// verdicts depend on. So a search that judges every step can find out whether two
// runs in the same state will be judged alike from there on.
//
// It agrees with Judge on Monitored, once the line with the end of the run has been
// added. It reports a violation as soon as no later line can remove it:
//   - Holds overlap from the second ok on. But a paused holder may be killed before
//     it goes on, and a holder that exits without a fault has held only up to its
//     last sign of life. While either is possible, the overlap is undecided.
//   - A request that removes the entry of an acquire without an answer violates
//     ownership when that acquire comes back ok, unless it was granted anew.
//   - Whether a released entry stays is known at the end.
//
// It expects histories as the simulator writes them: one lock, on one key of one
// server; one operation at a time of each client; no readers, no extensions and no
// reports of clients; no write after a read without an answer; a header that names
// the kinds of faults that strike.
type Monitor struct {
	// NoExit is set if no client exits without a fault, so that only a pause can keep
	// an overlap undecided. It is set before the first line, and Reset keeps it.
	NoExit bool

	violated  Set
	undecided Set // properties that apply and are not violated
	lease     time.Duration
	kills     bool // clients may be killed
	tells     bool // a release says whether there was something to release
	disturbed int  // faults in force, but for deaths
	over      bool // the run has ended
	pos       int32

	clients  []party
	order    []int32 // clients by name
	calls    []call
	sections []section
	live     []int32 // sections that may still matter, in the order of their begins
	pauses   []standstill
	tokens   tokens
	value    int64 // of the resource
}

// party is a client.
type party struct {
	name    string
	proc    int   // its process, or the first of those that replaced each other; 0: none
	number  int   // of its process
	retired bool  // its process ended with info
	open    int32 // its open call, or none
	last    int32 // position of its last sign of life
	dead    bool
	since   [2]int32 // position of the first undecided overlap with one of its holds, without and with deadlines; 0: none
}

// call is an operation.
type call struct {
	index   int // of its invoke
	pos     int32
	client  int32
	proc    int
	section int32 // that it acts on, or that an acquire got; or none
	verb    verb
	done    bool

	// Of an acquire.
	served  bool // a server has granted it
	present bool // its entry is in the store,
	since   time.Duration
	came    int32 // position from which on it is
	// outstays is the section whose release was ok while the entry stayed, and was
	// the last one on the entry; or none.
	outstays int32
	robbed   bool // before it came back, and since its last grant, another took its entry, first at robbedAt
	// robbedAt is compared with the deadline that the ok brings.
	robbedAt time.Duration
	floor    token // the largest token that was out when it was invoked
	shared   bool  // the grant of another acquire stands on its entry

	told  bool // of a release: its answer has to say whether there was something to release
	found bool // of such a release: an entry of its grant was there at its invoke, or none ever was
	took  bool // of such a release: its request removed an entry of its grant

	unsettled bool        // a write that may still reach the resource
	basis     history.Opt // of a write: what its section had learnt before its invoke
	learnt    int32       // position from which on it knew that
}

// section is one grant: a critical section.
type section struct {
	grant      int
	call       int32 // its acquire
	stands     int32 // the acquire whose entry it uses; mostly its own
	client     int32
	proc       int
	begin, end int32         // positions; end is 0 while it is open
	until      time.Duration // 0: no deadline
	nest       int32         // the outermost section that it is nested in, or itself
	giving     giving
	gaveAt     time.Duration
	basis      history.Opt // the value that it, or a section nested in it, last read or sent
	learnt     int32       // position from which on it knows that
	writes     int32       // its writes that may still reach the resource
}

// giving is the progress of a section's release.
type giving uint8

const (
	keeps  giving = iota
	gives         // its release is open
	gave          // its release came back ok
	gaveUp        // its release came back otherwise
)

// standstill is a pause without an end so far.
type standstill struct {
	client int32
	id     int
	pos    int32
}

// Reset prepares m for another run.
func (m *Monitor) Reset(header history.Header) {
	*m = Monitor{
		NoExit:    m.NoExit,
		undecided: inExclusion | inLeaseExclusion | inFencing | inResource,
		lease:     header.Lease(),
		kills:     len(header.Faults) == 0,
		tells:     header.ReleaseTells,
		clients:   m.clients[:0], order: m.order[:0], calls: m.calls[:0], sections: m.sections[:0],
		live: m.live[:0], pauses: m.pauses[:0], tokens: tokens{seen: m.tokens.seen[:0]},
	}
	if header.Format == 0 || slices.Contains(header.Observes, string(Ownership)) {
		m.undecided |= inOwnership
	}
	if slices.Contains(header.Observes, string(Answers)) {
		m.undecided |= inAnswers
	}
	for _, f := range header.Faults {
		m.kills = m.kills || kindOf(f).ends()
	}
}

// Violated returns the properties that the run has violated so far. The set only
// grows.
func (m *Monitor) Violated() Set { return m.violated }

func (m *Monitor) convict(p Set) {
	p &= m.undecided
	m.violated |= p
	m.undecided &^= p
}

// party returns the number of the client of that name, which may be new.
func (m *Monitor) party(name string) int32 {
	for i := range m.clients {
		if m.clients[i].name == name {
			return int32(i)
		}
	}
	id := int32(len(m.clients))
	m.clients = append(m.clients, party{name: name, open: none})
	at := len(m.order)
	for at > 0 && m.clients[m.order[at-1]].name > name {
		at--
	}
	m.order = slices.Insert(m.order, at, id)
	return id
}

// find returns the call whose invoke has that index, or none.
func (m *Monitor) find(index history.Opt) int32 {
	at := sort.Search(len(m.calls), func(i int) bool { return int64(m.calls[i].index) >= index.V })
	if !index.Set || at == len(m.calls) || int64(m.calls[at].index) != index.V {
		return none
	}
	return int32(at)
}

// held returns the section of that grant, or the innermost open one of the process.
func (m *Monitor) held(proc, grant int) int32 {
	for i := int32(len(m.sections)) - 1; i >= 0; i-- {
		if s := &m.sections[i]; s.grant == grant && grant != 0 || grant == 0 && s.proc == proc && s.end == 0 {
			return i
		}
	}
	return none
}

// entry returns the acquire whose entry s uses.
func (m *Monitor) entry(s *section) *call { return &m.calls[s.stands] }

// stayed returns the time since which the entry of s, if it is there, should have
// gone: s was released, and the entry had come. It returns false if another
// unreleased grant uses the entry.
func (m *Monitor) stayed(s *section) (time.Duration, bool) {
	since, all := max(s.gaveAt, m.entry(s).since), s.giving == gave
	if m.entry(s).shared {
		for i := range m.sections {
			if o := &m.sections[i]; o.stands == s.stands {
				since, all = max(since, o.gaveAt), all && o.giving == gave
			}
		}
	}
	return since, all
}

// pausedBefore returns how many open pauses of c began before pos.
func (m *Monitor) pausedBefore(c *party, pos int32) (n int) {
	for _, p := range m.pauses {
		if p.pos < pos && &m.clients[p.client] == c {
			n++
		}
	}
	return n
}

func (s *section) close(pos int32) {
	if s.end == 0 {
		s.end = pos
	}
}
