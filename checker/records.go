package checker

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// op is an operation of a client.
type op struct {
	invoke, done int32 // positions; done: none without a completion
	proc, lock   int32
	hold         int32 // the hold that it acts on, or that an acquire got
	guest        int32 // of an acquire: the last hold of another acquire on its entries, or none
	verb         verb
	shared       bool         // of an acquire: a reader's
	outcome      history.Type // 0: no completion
}

// locks reports whether o is an operation on the lock.
func (o *op) locks() bool { return o.verb == acquire || o.verb == release || o.verb == extend }

// proc is a client's process, with those that replaced it.
type proc struct {
	client int32
	open   int32 // its open operation
	place  int32 // the place of its open acquire in the queue
	inner  int32 // its open hold that began last
	holder int32 // the next process in the client's list of holders, or none
	listed bool  // it is in that list
}

// client is the state of a client that stays when process numbers change.
type client struct {
	last int32   // position of its last sign of life: neither an invoke, which the harness writes, nor an info
	dead bool    // it ended, and has invoked nothing since
	died int32   // position after which it did nothing
	gone int32   // position from which on that is certain: what it invokes before belongs to the life that ended
	wait []int32 // by lock: its last wait

	holders int32 // head of the list of processes that had a hold since the last death, or none
	ended   int32 // its hold that ended last, or none
	placed  int32 // its place that began last, or none
	retired int32 // its process that ended with info last, until another replaces it; or none
}

// ending is the death of a client: the positions of the line that tells it, of the
// client's last sign of life before, from which on it may have been dead, and from which
// on it certainly was. Without a fault it ended by itself.
type ending struct {
	client, line, heard, from, sure int32
	itself                          bool
}

// hold is the time during which the holder of one grant may believe that it has the
// lock. It begins at the ok of its acquire and ends at the first of
//   - the invoke of its release, whatever its outcome;
//   - an extend that failed with lost or not-held, and the lock's report that it
//     noticed its loss; both end all holds of that process and lock;
//   - the kill or the power-off of its client, or the start of the pause in which
//     that struck;
//   - the last sign of life of its client before it died without a fault. An invoke
//     does not count as one, because the harness writes it.
//
// An ok may be written after its client had died: such a hold ends before it begins.
//
// The grant of an indeterminate acquire counts from the line in which the lock
// confirmed it: an extend that was ok, or a renewal. Accesses to the resource confirm
// nothing, and a release comes after the end.
//
// Holds of one process do not conflict: the inner one is nested in the outer one.
type hold struct {
	lock     int32
	proc     int32
	op       int32 // its acquire
	stands   int32 // the acquire whose entries in the stores it uses; mostly its own
	fellow   int32 // of a guest: the guest before it on those entries, or none
	begin    int32 // position of the entry that confirmed it
	end      int32 // position of the entry that ended it; the size of the history while it is open
	released int32 // position of its release's invoke; the size of the history without a release
	gave     int32 // position of the first ok of its release, or none
	deadline int32 // its last deadline, or none
	outer    int32 // the open hold that it was nested in when it began, or none
	inside   int32 // the hold of the same process and lock that it was nested in, or none
	nest     int32 // the outermost hold of those; itself if it is not nested
	before   int32 // once it has ended: the client's hold that had ended before it, or none
	death    int32 // the death that ended it, or none
	token    uint64
	lost     bool // its client noticed that it had lost the lock
}

// guest reports whether h uses the entries of another acquire than its own.
func (h *hold) guest() bool { return h.stands != h.op }

// stillborn reports whether the client of h had died before the ok was written.
func (h *hold) stillborn() bool { return h.end < h.begin }

// covers reports whether h is open at pos.
func (h *hold) covers(pos int32) bool { return h.begin <= pos && pos < h.end }

// deadline is the end of a hold as its holder knew it, from a position on.
type deadline struct {
	hold  int32
	pos   int32
	prev  int32 // the hold's deadline before this one
	until time.Duration
}

// wait is the time during which a client wants a lock and does not get it. It
// continues over refusals and timeouts if the client asks again soon enough. It ends
// when the client is granted the lock, gives up or dies.
type wait struct {
	lock, client int32
	begin, end   int32 // positions: the invoke that began it; the line that ended it
	from, to     time.Duration
	asking       int32 // number of its open acquires
	again        bool  // it continues over a refusal or a timeout
	over         bool  // nothing continues it
}

// place is the time during which an acquire waited in one place of a queue.
type place struct {
	op       int32 // the acquire
	from, to int32 // positions: the line that gave it; while it is open, the size of the history
	before   int32 // the client's place before this one since its last death, or none
	number   history.Opt
}

// act is a line of a server about an entry in its store.
type act struct {
	pos  int32
	made int32 // the operation that made the entry, an acquire or an extend, or none
	by   int32 // the operation whose request did it, or none
	deed deed
}

// grants returns the operation that a grants, or none: its request made an entry,
// took one over, or prolonged one as its owner.
func (a *act) grants() int32 {
	switch a.deed {
	case granted:
		return a.made
	case takenOver, prolonged:
		return a.by
	}
	return none
}

// access is a line of the guarded resource.
type access struct {
	pos  int32
	hold int32 // the hold under which it was made, or none
	lock int32 // the lock of its resource
}

// fault is one use of a fault.
type fault struct {
	kind       kind
	ended      bool
	promoted   bool // a replica has replaced the server that it acts on
	id         int
	before     int32 // the fault with that id before it, or none
	start, end int32 // positions of its first start and its last end line; without an end line, the size of the history
	struck     int32 // position of its effect: earlier than start for a client that died in a pause
	sure       int32 // position by which it certainly had its effect: start, unless a line shows more
	heals      int32 // position from which it may be over: end, if no line shows more
	from, to   time.Duration
	hits       history.Opt
	met        hit // the operations and holds that it met, once known
}

// stopsServer reports whether a replica may be promoted because of f.
func (f *fault) stopsServer() bool {
	return f.kind.onServers() && f.kind.excuses()
}

// promote notes that e, at pos, is a consequence of f.
func (f *fault) promote(pos int32, e *history.Entry) {
	if kinds[f.kind].Name == "failover" && f.ended && !f.promoted {
		f.end, f.to = pos, e.Time
	}
	f.promoted = true
}

// hit is the situation that a fault met: clients in the middle of holds or
// operations.
type hit struct {
	holder    bool // a client that it acts on held when it struck
	acquirer  bool // a client that it acts on had an acquire open when it struck
	anyHolder bool // any client held when it struck
	held      bool // any client held at some time while it lasted
	touched   bool // it touched a client: see Reach
}

// ahead is what only later lines show of a kill: how long the pause lasted in which it
// came, and when its client was certainly dead.
type ahead struct {
	pauses history.Pauses
	kills  history.Kills
}
