package checker

import "slices"

// token is a fencing token, and the section of its nest.
type token struct {
	n    uint64 // 0: none
	nest int32
}

// tokens are the tokens of completed grants.
type tokens struct {
	top  token
	seen []token // in their order, each once
}

// stale notes t, and reports whether it had to be larger: than floor, which was out
// when its acquire was invoked, or than an equal one.
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
