package history

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// filler fills in fields that a recorder omitted, by the rules in Reader.
type filler struct {
	index   int // of the entry before
	time    time.Duration
	started bool
	procs   table[procState]
	retired map[string]*procState   // by client: the process that ended with info, until the client goes on
	present map[string][]*procState // by client: its processes, but not those that another one continues
	fresh   int                     // the largest grant so far
	given   grantIndex              // grants of acquires that did not fail: the index of the line that named them first
	named   map[int]int             // the same, of open acquires
	away    map[int]int             // by grant: how many processes without it are releasing it
}

// procState is the state of a client's process.
type procState struct {
	client string
	open   struct { // the open invoke; F is "" without one
		f, lock string
		grant   int
		away    bool         // of a release: it names a grant that the process has not got
		over    bool         // of an acquire: another process released its grant
		shown   bool         // of an acquire: a line has shown that it was granted
		mixes   []*procState // of a release: those whose grant it may be about
	}
	grants map[string][]heldGrant // by lock; the innermost last
	mixed  map[string]int         // by lock: how many other processes of its client released one of its grants, perhaps
	vague  map[string]bool        // by lock: an acquire without a name got no answer
}

// heldGrant is a grant of a process that is not released.
type heldGrant struct {
	grant int
	lost  bool
	doubt bool // its acquire had no answer, and no line has shown it
}

func (f *filler) entry(e *Entry, given Given) error {
	if !given.Index {
		e.Index = 1
		if f.started {
			e.Index = f.index + 1
		}
	}
	if !given.Time {
		e.Time = f.time
	}
	f.index, f.time, f.started = e.Index, e.Time, true
	if !e.Process.Client() {
		return nil
	}
	p := f.process(e)
	switch e.Type {
	case Invoke:
		asks := e.F == Acquire || e.F == Try
		if p.invoke(e); asks && e.Grant != 0 {
			if by, used := f.owner(e.Grant); used {
				return twice(e.Grant, by)
			}
			if f.named == nil {
				f.named = map[int]int{}
			}
			f.named[e.Grant], f.fresh = e.Index, max(f.fresh, e.Grant)
		}
		if e.F == Release && !p.has(e.Lock, e.Grant) {
			f.elsewhere(p, e)
		}
	case Event:
		switch {
		case e.Grant != 0 || e.F == Queued || e.F == Late:
		case e.F == Lost:
			if p.open.f != Release { // else the grant may be released already
				e.Grant = p.onlyGrant(e.Lock, f.away, true)
			}
		case !p.open.shown || !p.asks(e.Lock): // else the last grant that it has got is the one that it asks for
			e.Grant = p.innermostGrant(e.Lock)
		}
		switch e.F {
		case Lost:
			p.lose(e.Lock, e.Grant)
		case Valid:
			f.show(p, e.Lock, e.Grant)
		}
	default:
		return f.complete(p, e)
	}
	return nil
}

func (f *filler) process(e *Entry) *procState {
	p := f.procs.at(e.Process.N)
	if p == nil {
		p = &procState{client: e.Client}
		if p.client == "" {
			p.client = strconv.Itoa(e.Process.N)
		}
		f.procs.set(e.Process.N, p)
		if f.present == nil {
			f.present = map[string][]*procState{}
		}
		f.present[p.client] = append(f.present[p.client], p)
		if before := f.retired[p.client]; before != nil { // the client goes on under a new number
			p.grants, p.mixed, p.vague = before.grants, before.mixed, before.vague
			f.leave(before)
			delete(f.retired, p.client)
		}
	}
	if e.Client == "" {
		e.Client = p.client
	}
	return p
}

// leave removes a process that nobody continues, or that another one has continued.
func (f *filler) leave(p *procState) {
	p.grants = nil
	f.present[p.client] = slices.DeleteFunc(f.present[p.client], func(q *procState) bool { return q == p })
}

// owner returns the index of the line that named a grant for its acquire.
func (f *filler) owner(grant int) (index int, used bool) {
	if index, used = f.named[grant]; used {
		return index, true
	}
	return f.given.index(grant)
}

func twice(grant, by int) error {
	return fmt.Errorf("grant %d already belongs to the acquire at index %d: give each acquire a grant of its own, or none to any of them", grant, by)
}

// give notes the grant of an acquire that did not fail, which no other may have. asked is the
// name that its invoke gave, or 0.
func (f *filler) give(e *Entry, asked int) error {
	by := e.Index
	if e.Grant == asked {
		by = f.named[asked]
	} else if by, used := f.owner(e.Grant); used {
		return twice(e.Grant, by)
	}
	f.given.add(e.Grant, by)
	f.fresh = max(f.fresh, e.Grant)
	return nil
}

// elsewhere notes that p invokes the release of a grant that it has not got itself. One
// that names none may be about any grant of p's client, and one that names a grant about
// an acquire whose answer is still to come. The judge decides what the other processes mean
// after that.
func (f *filler) elsewhere(p *procState, e *Entry) {
	given := slices.ContainsFunc(f.present[p.client], func(q *procState) bool {
		return q.has(e.Lock, e.Grant) || e.Grant != 0 && q.asks(e.Lock) && q.open.grant == e.Grant
	})
	for _, q := range f.present[p.client] {
		asks := !given && q.asks(e.Lock)
		if asks && q.open.grant == 0 || e.Grant == 0 && (asks || len(q.grants[e.Lock]) > 0) {
			q.mix(e.Lock)
			p.open.mixes = append(p.open.mixes, q)
		}
	}
	if _, used := f.owner(e.Grant); used || e.Grant != 0 && len(p.open.mixes) > 0 {
		if f.away == nil {
			f.away = map[int]int{}
		}
		p.open.away = true
		f.away[e.Grant]++
	}
}

func (p *procState) invoke(e *Entry) {
	if e.F != Acquire && e.F != Try {
		switch {
		case e.Grant != 0:
		case e.F == Extend:
			e.Grant = p.onlyGrant(e.Lock, nil, false)
		default:
			e.Grant = p.innermostGrant(e.Lock)
		}
	}
	p.open.f, p.open.lock, p.open.grant = e.F, e.Lock, e.Grant
	p.open.away, p.open.over, p.open.shown, p.open.mixes = false, false, false, nil
}

func (f *filler) complete(p *procState, e *Entry) error {
	asked := 0
	if p.open.f == e.F {
		asked = p.open.grant
		if e.Lock == "" {
			e.Lock = p.open.lock
		}
		if e.Grant == 0 {
			e.Grant = p.open.grant
		}
	}
	if p.open.f = ""; p.open.away {
		if f.away[p.open.grant]--; f.away[p.open.grant] == 0 {
			delete(f.away, p.open.grant)
		}
	}
	switch {
	case e.F == Release && e.Type == Fail:
		for _, q := range p.open.mixes { // it had no effect
			q.mixed[e.Lock]--
		}
	case e.F == Release && p.open.away:
		for _, q := range f.present[p.client] {
			q.drop(e.Lock, e.Grant)
			q.open.over = q.open.over || q.open.grant == e.Grant
		}
	case e.F == Release:
		p.drop(e.Lock, e.Grant)
	case e.F == Extend && e.Type == OK && e.Grant == 0:
		e.Grant = p.innermostGrant(e.Lock)
	case e.F == Extend && e.Type == OK:
		f.show(p, e.Lock, e.Grant)
	case e.F == Extend && e.Type == Fail && (e.Error == ErrLost || e.Error == ErrNotHeld):
		p.lose(e.Lock, e.Grant)
	}
	if e.Type == Info {
		if f.retired == nil {
			f.retired = map[string]*procState{}
		}
		if before := f.retired[p.client]; before != nil {
			f.leave(before)
		}
		f.retired[p.client] = p
	}
	if e.F != Acquire && e.F != Try {
		return nil
	}
	defer delete(f.named, asked)
	if e.Type == Fail {
		return nil
	}
	if e.Type == Info && e.Grant == 0 {
		if p.vague == nil {
			p.vague = map[string]bool{}
		}
		p.vague[e.Lock] = true
		return nil
	}
	if e.Grant == 0 {
		e.Grant = f.fresh + 1
	}
	if err := f.give(e, asked); err != nil {
		return err
	}
	if p.open.over {
		return nil
	}
	if p.grants == nil {
		p.grants = map[string][]heldGrant{}
	}
	p.grants[e.Lock] = append(p.grants[e.Lock], heldGrant{grant: e.Grant, doubt: e.Type == Info && !p.open.shown})
	return nil
}

// innermostGrant returns the process's last grant of lock that it is not releasing, or
// 0.
func (p *procState) innermostGrant(lock string) int {
	if p.mixed[lock] > 0 {
		return 0
	}
	for _, h := range slices.Backward(p.grants[lock]) {
		if !h.doubt && (p.open.f != Release || h.grant != p.open.grant) {
			return h.grant
		}
	}
	return 0
}

// onlyGrant returns the process's grant of lock, for an extend or a loss. With several
// grants it returns 0: an extend or a loss that names none may concern all of them. With
// fresh it ignores grants that were lost before, and those that another process released
// or is releasing.
func (p *procState) onlyGrant(lock string, away map[int]int, fresh bool) (grant int) {
	n := 0
	if p.mixed[lock] > 0 || fresh && p.vague[lock] { // a line may show the acquire that got no answer
		return 0
	}
	for _, h := range p.grants[lock] {
		if !h.doubt && (!fresh || !h.lost && away[h.grant] == 0) {
			grant = h.grant
			n++
		}
	}
	if n > 1 {
		return 0
	}
	return grant
}

// has reports whether the process has grant n of lock.
func (p *procState) has(lock string, n int) bool {
	return slices.ContainsFunc(p.grants[lock], func(h heldGrant) bool { return h.grant == n })
}

// lose notes that the process has lost grant n of lock, or all of them (0).
func (p *procState) lose(lock string, n int) {
	for i, h := range p.grants[lock] {
		if n == 0 || h.grant == n {
			p.grants[lock][i].lost = true
		}
	}
}

// show notes that a line of p has shown that its client has grant n of lock. If no
// acquire has that name, and some acquires have no name, the judge decides which of them it
// belongs to.
func (f *filler) show(p *procState, lock string, n int) {
	found := n == 0 || p.show(lock, n)
	for _, q := range f.present[p.client] {
		found = found || q.show(lock, n)
	}
	if !found && slices.ContainsFunc(f.present[p.client], func(q *procState) bool { return q.vague[lock] || q != p && q.asks(lock) && q.open.grant == 0 }) {
		p.mix(lock)
	}
}

// show notes the same for the process that acquired grant n, and reports whether p is it.
func (p *procState) show(lock string, n int) bool {
	list := p.grants[lock]
	i := slices.IndexFunc(list, func(h heldGrant) bool { return h.grant == n })
	if i >= 0 {
		list[i].doubt = false
	}
	asks := p.asks(lock) && p.open.grant == n
	p.open.shown = p.open.shown || asks
	return i >= 0 || asks
}

// asks reports whether the process has an open acquire of lock.
func (p *procState) asks(lock string) bool {
	return p.open.lock == lock && (p.open.f == Acquire || p.open.f == Try)
}

// mix notes that for the process it is open which of the grants of lock are left.
func (p *procState) mix(lock string) {
	if p.mixed == nil {
		p.mixed = map[string]int{}
	}
	p.mixed[lock]++
}

// maxIdle is the number of locks for which a process keeps an empty list, because
// it often acquires the same locks again.
const maxIdle = 64

// drop removes grant n, which is most likely one of lock.
func (p *procState) drop(lock string, n int) {
	if n == 0 || p.remove(lock, n) {
		return
	}
	for lock := range p.grants {
		if p.remove(lock, n) {
			return
		}
	}
}

func (p *procState) remove(lock string, n int) bool {
	list := p.grants[lock]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].grant == n {
			if p.grants[lock] = append(list[:i], list[i+1:]...); len(list) == 1 && len(p.grants) > maxIdle {
				delete(p.grants, lock)
			}
			return true
		}
	}
	return false
}
