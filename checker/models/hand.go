package models

// hand is the holds of one client on one lock, in the order in which it got them.
// Holds that left a list are removed from it when the list is next read.
type hand struct {
	sure   []int32 // its client knows that it has them
	unsure []int32 // acquires without an answer; holds lost, or released without an answer

	client, lock int32
	doubts
}

// meaning is the grant that an operation is about.
type meaning struct {
	hold  int32   // the hold, or none
	named bool    // the operation names it
	open  bool    // it may also be about another grant of its client
	left  bool    // of a release: the hold was neither released nor lost at its invoke
	asked []int32 // of an operation with a name: the holds asked for at its invoke that may have it
}

// doubts are the open questions about a hand.
type doubts struct {
	mine   []int32 // all holds that came into the hand and may not be marked yet
	freed  []int32 // holds that were released, if that may have been about another one
	ended  []int32 // holds that were released, and that no line had named by then
	open   int     // operations under way that may be about several of its grants
	since  int32   // invoke of the first of those
	marked bool    // one of them had an effect, or may have had one
}

// doubtful reports whether a hand may have other holds than it seems to.
func (d *doubts) doubtful() bool { return d.open > 0 || d.marked }

// grants finds holds by their grants. If the recorder counts its grants, they are
// looked up in a slice.
type grants struct {
	dense  []int32 // hold+1; 0: none
	sparse map[int]int32
}

func (g *grants) get(n int) int32 {
	if n > 0 && n < len(g.dense) && g.dense[n] != 0 {
		return g.dense[n] - 1
	}
	if h, ok := g.sparse[n]; ok {
		return h
	}
	return none
}

func (g *grants) put(n int, hold int32) {
	switch {
	case n == 0:
	case n > 0 && n < 2*len(g.dense)+1024:
		for n >= len(g.dense) {
			g.dense = append(g.dense, 0)
		}
		g.dense[n] = hold + 1
	default:
		if g.sparse == nil {
			g.sparse = map[int]int32{}
		}
		g.sparse[n] = hold
	}
}

// name notes that lines name a hold by this grant; 0: they do not.
func (j *Judge) name(id int32, grant int) {
	if grant != 0 {
		j.grants.put(grant, id)
		j.holds[id].named = true
	}
}
