package checker

import (
	"cmp"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// lines is a second reading of a history, for Porcupine. It shares only
// history.Pauses with timeline: it reads the lines by itself, by the rules in hold's
// comment.
type lines struct {
	entries journal
	length  int                // number of entries
	keep    func(pos int) bool // reports whether a grant that began there counts; nil: all do

	procs    map[int]*lineProc // by number
	clients  map[string]*lineClient
	locks    map[string]int32
	byGrant  map[int]*claim
	unsure   map[int]*claim   // by grant: the possible claim of an acquire without an answer
	asked    map[int]bool     // indices of the invokes that lines of the resource name
	requests map[int]*request // the requests of those invokes, by index
	pauses   history.Pauses
	kills    history.Kills
	claims   []*claim     // claims that count, in the order of their begins
	accesses []lineAccess // lines of the resource
	updates  []*request   // reads and writes of clients, in the order of their invokes

	procNames, lockNames []string // clients by process, and locks
}

// lineProc is a process of a client, or several that replaced each other.
type lineProc struct {
	number int32
	client *lineClient
	open   *request
	holds  []*claim // its open claims, the innermost last
}

// lineClient is a client.
type lineClient struct {
	went   *lineProc // the process that ended with info and has no successor yet
	last   int       // position of its last sign of life; -1: none
	dead   bool
	died   int      // the position after which it did nothing
	gone   int      // the position from which on it was certainly dead: what it asked for before belongs to the life that ended
	claims []*claim // the claims that it got
}

// request is an operation of a client.
type request struct {
	f            string
	lock         int32
	shared       bool // a reader's
	proc         *lineProc
	invoke, done int
	outcome      history.Type // 0: no completion
	value        history.Opt
	claim        *claim // the claim that it acts on, or got
}

// claim is a grant.
type claim struct {
	lock     int32
	proc     *lineProc
	shared   bool // a reader's
	asked    int  // position of its acquire's invoke
	from, to int  // positions; to is -1 while it is held
	until    []lineDeadline
	root     *claim // the outermost claim that it is nested in, or itself
}

type lineDeadline struct {
	pos   int
	until int64
}

// lineAccess is a line of the resource.
type lineAccess struct {
	pos   int
	lock  int32
	claim *claim   // nil: unknown
	by    *request // the request that it was done for, or nil
}

// readLines reads h. Grants that began where keep is false are left out.
func readLines(j journal, keep func(pos int) bool) *lines {
	l := &lines{
		entries: j, length: j.len(), keep: keep,
		procs: map[int]*lineProc{}, clients: map[string]*lineClient{}, locks: map[string]int32{},
		byGrant: map[int]*claim{}, unsure: map[int]*claim{}, asked: map[int]bool{}, requests: map[int]*request{},
	}
	for pos, e := range j.each {
		if e.Process.Name == history.Resource && e.By.Set {
			l.asked[int(e.By.V)] = true
		}
		if e.Process.Name == history.Nemesis {
			l.pauses.Add(pos, e)
			l.kills.Add(pos, e)
		}
	}
	for pos, e := range j.each {
		switch {
		case e.Process.Client():
			l.client(pos, e)
		case e.Process.Name == history.Nemesis:
			l.nemesis(pos, e)
		case e.Process.Name == history.Resource:
			l.access(pos, e)
		}
	}
	return l
}

func (l *lines) client(pos int, e *history.Entry) {
	p := l.proc(e)
	switch {
	case e.Type == history.Invoke:
		l.invoke(pos, e, p)
		return
	case e.F == history.Lost:
		l.lose(pos, e, cmp.Or(l.named(e, p), p.innermost(l.lock(e.Lock)))) // as in timeline.lostBy
	case e.F == history.Valid:
		l.goesOn(pos, e, l.named(e, p))
	case e.Type != history.Event && p.open != nil:
		r := p.open
		p.open, r.done, r.outcome = nil, pos, e.Type
		if e.Type == history.Info {
			p.client.went = p
		}
		l.complete(pos, e, r)
		if e.Error == history.ErrCrashed {
			l.exit(pos, p.client)
		}
	}
	if e.Type != history.Info {
		p.client.last = pos
	}
}

func (l *lines) proc(e *history.Entry) *lineProc {
	if p := l.procs[e.Process.N]; p != nil {
		return p
	}
	name := e.Client
	if name == "" {
		name = e.Process.String()
	}
	c := l.clientOf(name)
	if p := c.went; p != nil {
		l.procs[e.Process.N], c.went = p, nil
		return p
	}
	p := &lineProc{number: int32(len(l.procNames)), client: c}
	l.procs[e.Process.N], l.procNames = p, append(l.procNames, name)
	return p
}

func (l *lines) clientOf(name string) *lineClient {
	if l.clients[name] == nil {
		l.clients[name] = &lineClient{last: -1, died: -1}
	}
	return l.clients[name]
}

func (l *lines) lock(name string) int32 {
	id, known := l.locks[name]
	if !known {
		id = int32(len(l.lockNames))
		l.locks[name], l.lockNames = id, append(l.lockNames, name)
	}
	return id
}

// named returns the claim that a line is about: the named one, else the innermost one
// of its process and lock.
func (l *lines) named(e *history.Entry, p *lineProc) *claim {
	if e.Grant != 0 {
		return l.byGrant[e.Grant]
	}
	return p.innermost(l.lock(e.Lock))
}

func (p *lineProc) innermost(lock int32) *claim {
	for _, c := range slices.Backward(p.holds) {
		if c.lock == lock {
			return c
		}
	}
	return nil
}

func (l *lines) invoke(pos int, e *history.Entry, p *lineProc) {
	v := verbOf(e.F)
	if v == 0 {
		return
	}
	r := &request{f: e.F, lock: l.lock(e.Lock), shared: e.Shared, proc: p, invoke: pos, value: e.Value}
	p.open, p.client.dead = r, p.client.dead && pos < p.client.gone
	if v != acquire {
		if r.claim = l.named(e, p); r.claim != nil {
			r.lock = r.claim.lock
		}
	}
	switch v {
	case release:
		delete(l.unsure, e.Grant)
		r.claim.end(pos)
	case read, write:
		l.updates = append(l.updates, r)
	}
	if l.asked[e.Index] {
		l.requests[e.Index] = r
	}
}

func (l *lines) complete(pos int, e *history.Entry, r *request) {
	if e.Value.Set {
		r.value = e.Value
	}
	switch v := verbOf(r.f); {
	case v == acquire && e.Type == history.OK:
		r.claim = l.begin(pos, e, r)
	case v == acquire && e.Type == history.Info && e.Grant != 0:
		l.unsure[e.Grant] = r.newClaim()
	case v == extend && e.Type == history.OK:
		if e.Grant != 0 {
			r.claim = l.byGrant[e.Grant]
		}
		l.goesOn(pos, e, r.claim)
	case v == extend && e.Type == history.Fail && (e.Error == history.ErrLost || e.Error == history.ErrNotHeld):
		l.lose(pos, e, cmp.Or(r.claim, r.proc.innermost(r.lock)))
	}
}

func (l *lines) begin(pos int, e *history.Entry, r *request) *claim {
	c := r.newClaim()
	l.enter(pos, e, c)
	c.says(pos, e)
	return c
}

// newClaim returns the claim of the acquire r.
func (r *request) newClaim() *claim {
	return &claim{lock: r.lock, proc: r.proc, shared: r.shared, asked: r.invoke}
}

// enter opens a claim.
func (l *lines) enter(pos int, e *history.Entry, c *claim) {
	c.from, c.to, c.root = pos, -1, c
	if outer := c.proc.innermost(c.lock); outer != nil {
		c.root = outer.root
	}
	c.proc.holds = append(c.proc.holds, c)
	if e.Grant != 0 {
		l.byGrant[e.Grant] = c
	}
	if who := c.proc.client; who.dead {
		c.end(who.died)
	} else {
		who.claims = append(who.claims, c)
	}
	if l.keep == nil || l.keep(pos) {
		l.claims = append(l.claims, c)
	}
}

// end ends c at pos, if it is held.
func (c *claim) end(pos int) {
	if c != nil && c.to < 0 {
		c.to = max(pos, 0)
		c.proc.holds = slices.DeleteFunc(c.proc.holds, func(o *claim) bool { return o == c })
	}
}

// says notes the deadline of c from e.
func (c *claim) says(pos int, e *history.Entry) {
	if c != nil && e.ValidUntil != 0 && (c.to < 0 || c.to >= pos) {
		c.until = append(c.until, lineDeadline{pos, int64(e.ValidUntil)})
	}
}

// goesOn notes that c, or else the grant that e names, is still held.
func (l *lines) goesOn(pos int, e *history.Entry, c *claim) {
	if u := l.unsure[e.Grant]; c == nil && u != nil && u.asked >= u.proc.client.gone {
		c = u
		delete(l.unsure, e.Grant)
		l.enter(pos, e, c)
	}
	c.says(pos, e)
}

// lose ends c and all others of its process and lock.
func (l *lines) lose(pos int, e *history.Entry, c *claim) {
	delete(l.unsure, e.Grant)
	if c == nil || c.to >= 0 {
		return
	}
	for o := c; o != nil; o = c.proc.innermost(c.lock) {
		o.end(pos)
	}
}

func (l *lines) nemesis(pos int, e *history.Entry) {
	switch e.F {
	case "kill", "poweroff":
		for _, name := range e.On {
			c, from := l.clientOf(name), l.pauses.Since(name, pos)
			if !c.dead {
				from = max(from, c.died) // an earlier life ended there
			}
			l.bury(c, from, l.kills.Sure(pos))
		}
	case history.Exit:
		for _, name := range e.On {
			l.exit(pos, l.clients[name])
		}
	}
}

// exit notes at pos the end of a client without a fault.
func (l *lines) exit(pos int, c *lineClient) {
	if c != nil && !c.dead {
		l.bury(c, max(c.last, c.died), pos)
	}
}

// bury notes that a client has done nothing since pos.
func (l *lines) bury(c *lineClient, pos, gone int) {
	if c != nil {
		c.gone = max(c.gone, gone)
	}
	if c == nil || c.dead && pos >= c.died {
		return
	}
	for _, held := range c.claims {
		if held.to > pos {
			held.to = max(pos, 0)
		}
		held.end(pos)
	}
	c.dead, c.died = true, pos
}

func (l *lines) access(pos int, e *history.Entry) {
	a := lineAccess{pos: pos}
	if r := l.requests[int(e.By.V)]; e.By.Set && r != nil {
		a.claim, a.by = r.claim, r
	} else if e.Grant != 0 {
		a.claim = l.byGrant[e.Grant]
	}
	if a.claim != nil {
		a.lock = a.claim.lock
	} else {
		a.lock = l.lock(e.Lock)
	}
	l.accesses = append(l.accesses, a)
}
