package models

import (
	"fmt"
	"strconv"

	"github.com/lockcheck/lockcheck/history"
)

// what is the kind of an access to a register.
type what uint8

const (
	read what = iota
	write
	cas
	refuse // refused as stale
)

// whats has the accesses by their names.
var whats = map[string]what{history.Read: read, history.Write: write, history.CAS: cas, history.Refuse: refuse}

// atFirst is the position of the value that was there before the history.
const atFirst int32 = -1

// access is an access to a register. It takes effect between call and ret. If ret is
// never, it may not take effect at all.
type access struct {
	what        what
	known       bool // its value is known
	based       bool // of a cas: the value that it replaced is known
	proc        int32
	call, ret   int32
	token       uint64
	value, from int64 // read or written; replaced by a cas
}

func (a *access) String() string {
	text := ""
	switch a.what {
	case read:
		text = "read → " + said(a.value, a.known)
	case write:
		text = "write " + said(a.value, a.known)
	case cas:
		text = "cas " + said(a.from, a.based) + " → " + said(a.value, a.known)
	case refuse:
		text = "refused"
	}
	if a.token != 0 {
		text += fmt.Sprintf(" (token %d)", a.token)
	}
	return text
}

// said returns a value as text, if it is known.
func said(v int64, known bool) string {
	if !known {
		return "?"
	}
	return strconv.FormatInt(v, 10)
}

// at returns the positions at which an access shows in the history.
func (a *access) at() []int32 {
	if a.ret == never || a.ret == a.call {
		return []int32{a.call}
	}
	return []int32{a.call, a.ret}
}
