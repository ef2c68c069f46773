package report

import "time"

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
