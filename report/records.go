package report

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// none marks an absent position.
const none = -1

// before reports whether position a comes before b. none comes after all others.
func before(a, b int) bool { return a != none && (b == none || a < b) }

// op is an operation of a client.
type op struct {
	client       string
	f            string
	lock         string
	invoke, done int // positions; none: no completion
	gone         int // position of its client's death during the operation, or none
	outcome      history.Type
	err          string
	grant        *grant  // the grant that it got, or acts on; nil: unknown
	stays        []*stay // the entries that an acquire made
	effect       int     // position of the last act of a server or the resource for it, or none
	served       int     // position at which a server first granted it, or none
}

// asks reports whether o wants the lock.
func (o *op) asks() bool { return o.f == history.Acquire || o.f == history.Try }

// over returns where o ended: at its completion or the death of its client, or none.
func (o *op) over() int {
	if before(o.gone, o.done) {
		return o.gone
	}
	return o.done
}

// answered reports whether o's client had a definite answer by then. An uncertain
// operation has none, and may still be under way.
func (o *op) answered(pos int) bool {
	return o.outcome != history.Info && !before(pos, o.done)
}

// travels reports whether o, which has begun, is known to have been under way then:
// it had an effect later, or was not over.
func (o *op) travels(pos int) bool {
	if o.effect == none {
		return before(pos, o.done)
	}
	return pos < o.effect && !o.answered(pos)
}

// grant is one grant as its holder knows it.
type grant struct {
	client    string
	token     uint64
	op        *op
	got       int  // the acquire's ok, or the line that confirmed it
	confirmed bool // its acquire was uncertain
	end       int  // the line that ended the hold; none: it was open to the end
	lost      bool // its client learned that it had lost the lock, which ended the hold
	fell      *fault
	release   *op
	nest      *grant // the outermost of the nested grants of its process; itself
	deadlines []deadline
	renewals  []int // positions of its renewals in the background
}

// deadline is the time until which a holder believes that it holds, from a position
// on.
type deadline struct {
	pos   int
	until time.Duration
}

// until returns the end of the lease as the holder knew it at a position, or 0 if it
// knew no end.
func (g *grant) until(pos int) time.Duration {
	var until time.Duration
	for _, l := range g.deadlines {
		if until == 0 || l.pos <= pos {
			until = l.until
		}
	}
	return until
}

// holds reports whether the holder believed at a position that it held.
func (g *grant) holds(pos int) bool { return g.got <= pos && (g.end == none || pos < g.end) }

// renewed returns how often g, which may be nil, had been renewed in the background by a
// position.
func (g *grant) renewed(pos int) int {
	if g == nil {
		return 0
	}
	n, _ := slices.BinarySearch(g.renewals, pos+1)
	return n
}

// stay is the time that one entry was in a store: in that of one server, and of the
// servers that replaced it as the master.
type stay struct {
	home     string // the server that made it
	server   string // the server that has it now, or had it last
	key      string
	lock     string
	op       *op // the acquire that made it; nil: unknown, or an operator
	from, to int // none: it was there to the end
	since    int // the start of its current lease: it was made or prolonged there
	nearer   int // where a request brought its end nearer since then; none: nowhere
	foreign  []foreign
	how      string
	by       *op   // the operation whose request ended it; nil: none
	back     bool  // it came back: a server lost its removal
	missing  bool  // a new master did not have it
	operator bool  // an operator made it
	changed  []int // where it was given another value, and stayed its owner's
	outworn  bool  // an earlier round of its acquire left it behind
	on       []stretch
}

// foreign is a request that prolonged another client's entry.
type foreign struct {
	pos int
	by  *op // for a renewal in the background, the acquire of its grant
}

// stretch is the time that a server had an entry.
type stretch struct {
	server   string
	from, to int  // none: to the end
	may      bool // to is when it could first have learned that it was replaced
}

// place identifies an entry whose acquire is unknown.
type place struct{ server, key, lock string }

// client returns the entry's owner, or "" if it is unknown.
func (s *stay) client() string {
	if s.op == nil {
		return ""
	}
	return s.op.client
}

// owner returns client as the possessor of something: "c1's".
func (s *stay) owner() string {
	switch {
	case s.operator:
		return "an operator's"
	case s.op == nil:
		return "somebody's"
	}
	return possessive(s.op.client)
}

// grant returns the grant that its owner learned of, or nil.
func (s *stay) grant() *grant {
	if s.op == nil {
		return nil
	}
	return s.op.grant
}

// own reports whether its owner removed it.
func (s *stay) own() bool {
	return s.by != nil && (s.by == s.op || s.by.grant != nil && s.by.grant == s.grant())
}

// leave ends the open stretch of a server. With may, a line of the server may end it
// later.
func (s *stay) leave(server string, pos int, may bool) {
	for i := range s.on {
		if x := &s.on[i]; x.server == server && (x.to == none || x.may && !may) {
			x.to, x.may = pos, may
		}
	}
}

// visit is an access that reached the guarded resource.
type visit struct {
	pos        int
	f          string
	lock       string
	client     string
	op         *op
	grant      *grant
	token      uint64
	value, was history.Opt
}

// promotion is a replica that replaced another server as the master.
type promotion struct {
	pos         int
	server, old string
	gone        bool // the replaced server was down
}
