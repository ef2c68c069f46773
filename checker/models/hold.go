package models

import (
	"cmp"
	"math"
	"time"
)

// never is a position after all others.
const never int32 = math.MaxInt32

// none marks an absent id or position.
const none int32 = -1

// hold is one acquire and the release that goes with it. Each takes effect at
// an instant in a range of positions.
type hold struct {
	lock, proc int32
	owner      int32 // the first of the processes that replaced each other, up to proc
	call, ret  int32 // of the acquire; ret is never: it may not have happened
	end, gone  int32 // of the release: invoke; latest effect. end is never: no release; gone is never: it may not have happened
	floor      int32 // until when an extend shows that it lasted, or none
	extended   int32 // the last ok of an extend, or none
	shown      int32 // of a lease: the last invoke of an extend that was ok during a release; or 0
	by         int32 // process of the last extend or release with an ok
	queued     int32 // position at which it was known to be in the queue, or none
	shared     bool
	named      bool  // lines name it by a grant
	known      bool  // its acquire was ok, or a later line confirmed it
	late       bool  // such a line confirmed it first, so it is not certain when it began
	lost       bool  // its process had it when it lost all that it had, or died
	reported   bool  // its process has reported it as lost
	unanswered bool  // a release of it ended without an answer
	void       bool  // its acquire failed, after a line had confirmed its release
	releasing  int8  // number of its releases under way
	nameless   int8  // of these, those that name no grant
	alone      int32 // position from which it may have ended without a release, or never
	joint      int32 // the loss that may end it with its process's other holds: number plus one, or 0
	token      uint64
	until      time.Duration // of a lease: its end, if that is known
}

// presupposed reports whether the acquire of h is certain to have happened.
func (h *hold) presupposed() bool { return h.ret != never }

// momentary reports whether h may have lasted for an instant only: its release may
// have come before its acquire was certain.
func (h *hold) momentary() bool { return h.end <= h.ret }

// certain reports whether the owner of h knows that it has it.
func (h *hold) certain() bool { return h.known && h.end == never && h.gone == never }

// mayBeLeft reports whether h, if it was granted, was neither released nor lost with all
// that its process had.
func (h *hold) mayBeLeft() bool { return h.gone == never && !h.unanswered && !h.lost && !h.void }

// uncertain reports whether the owner of h may have it without knowing.
func (h *hold) uncertain() bool { return h.gone == never && !h.certain() && !h.void }

// release notes that a release of h by p begins (1) or ends (-1).
func (h *hold) release(p *proc, by int8) {
	h.releasing += by
	if !p.means.named {
		h.nameless += by
	}
}

// close notes that h may end at pos without a release.
func (h *hold) close(pos int32) { h.end, h.alone = min(h.end, pos), min(h.alone, pos) }

// loss may end all holds of a process on a lock at once, from pos on. least is the
// position for the shortest forms of the holds, told that at which it was reported. token
// is the entry's, or 0.
type loss struct {
	proc, pos, least, told int32
	token                  uint64
}

// deadline is the end of a hold as the holder knew it from a position on.
type deadline struct {
	hold, pos int32
	call      int32 // invoke of the extend that gave it, or none
	until     time.Duration
	granted   bool // it comes from the ok of the acquire
}

// doubt says in which readings an operation is a stray.
type doubt uint8

const (
	certain doubt = iota
	seems         // it may be about a grant that its client still has
	loose         // it is about one of the grants of its client; it is unknown which
)

// stray is a release or an extend that was ok although it belongs to no hold, or to
// one that was over.
type stray struct {
	proc, call, ret int32
	release         bool
	doubt           doubt
	hold            int32 // the hold that an extend names, or none
	over            int32 // position at which the named hold had ended, or none
}

// refusal is a try that was refused.
type refusal struct {
	proc, call, ret int32
	shared          bool
}

// event is an acquire or a release of a mutex without owners. It takes effect between
// call and ret. If ret is never, it may not take effect at all.
type event struct {
	proc, call, ret int32
	hold            int32 // of an acquire: its hold; of a release: the hold that it can end, or none: any
	about           int32 // of a release: the hold that its process means, or none
	by              int32 // of a release with an ok: the first event without an answer that it may confirm, or none
	n               int32 // its index among the events of its lock
	release         bool
	tied            bool // of an acquire: there is a release that can end only this hold
	open            bool // of a release: its process may also mean another hold of its client
	asked           bool // of an event without an answer: a release may confirm it
	once            bool // of a loss or a death: another one may have ended the same hold instead
}

// confirms reports whether e may be such a release.
func (e event) confirms() bool { return e.release && e.ret != never && e.by != none }

// silent reports whether e may have ended a hold without an answer.
func (e *event) silent() bool { return e.release && e.ret == never }

func eventOrder(a, b event) int {
	if x, y := a.release && a.hold != none, b.release && b.hold != none; x != y {
		if x {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.call, b.call)
}
