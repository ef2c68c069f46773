package models

// opKind is the kind of an operation for Porcupine.
type opKind uint8

const (
	acquireOp opKind = iota
	releaseOp
	queueOp // takes a place in the queue
	strayOp
	refusedOp
	eventOp  // an acquire or release of a mutex without owners
	accessOp // to a register
	lossOp   // loss of the entry that a process's holds rest on
	endOp    // after all certain operations
)

// opID names an operation of one lock by its index in the list of its kind.
type opID struct {
	kind opKind
	n    int32
}

// operation is an operation as Porcupine sees it. An optional one may take effect at
// any time after its call, or never.
type operation struct {
	opID
	call, ret int32
	proc      int32
	optional  bool
}

// extent returns the first and the last position at which operations show.
func extent(ops []operation) (from, to int32) {
	from, to = never, none
	for _, x := range ops {
		from = min(from, x.call)
		if to = max(to, x.call); x.ret != never {
			to = max(to, x.ret)
		}
	}
	return from, to
}

// state is the state of an object, for all models.
type state struct {
	held    string // holds, four bytes each, in the order in which they were granted; of a mutex without owners: the one that a loss or a death can end
	over    string // holds that were released, if there are loose operations; of a mutex without owners: events that may be confirmed
	spent   string // holds that a loose release was about; of a mutex without owners: those that a loss or a death has ended
	lost    string // losses of entries that have happened
	queue   string // of holds, likewise
	locked  bool   // of a mutex without owners
	nest    uint64 // token of the grant that the present holds rest on
	highest uint64 // token
	value   int64
	known   bool // the value
	ended   bool // only optional operations remain
}

// keep leaves only these holds.
func (s *state) keep(held string) {
	if s.held = held; held == "" {
		s.nest = 0
	}
}

// Packed lists of holds are strings, so that states can be compared.
func pack(list string, n int32) string {
	return list + string([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

func unpack(list string) (ns []int32) {
	for i := 0; i+4 <= len(list); i += 4 {
		ns = append(ns, int32(list[i])<<24|int32(list[i+1])<<16|int32(list[i+2])<<8|int32(list[i+3]))
	}
	return ns
}

func without(list string, n int32) (string, bool) {
	one := pack("", n)
	for i := 0; i+4 <= len(list); i += 4 {
		if list[i:i+4] == one {
			return list[:i] + list[i+4:], true
		}
	}
	return list, false
}
