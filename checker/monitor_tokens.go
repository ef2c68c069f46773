package checker

import "slices"

// token is a fencing token, and the section whose nest it came to.
type token struct {
	n    uint64 // 0: none
	nest int32
}

// tokens are those that grants came back with.
type tokens struct {
	top  token
	seen []token // in their order, each once
}

// stale notes t, and tells whether it had to be larger: than floor, which was
// out when its acquire was invoked, or than one that is the same.
func (ts *tokens) stale(floor, t token) bool {
	stale := floor.n >= t.n && floor.n != 0 && floor != t
	if t.n > ts.top.n {
		ts.top = t
	}
	at := len(ts.seen)
	for at > 0 && ts.seen[at-1].n > t.n {
		at--
	}
	if at > 0 && ts.seen[at-1].n == t.n {
		stale = stale || ts.seen[at-1] != t
		ts.seen[at-1] = t
	} else {
		ts.seen = slices.Insert(ts.seen, at, t)
	}
	return stale
}
