package history

// A Sequence processes a history entry by entry, in memory that hardly grows with
// its length. The zero Sequence is at the beginning.
type Sequence struct {
	fill  filler
	valid validity
}

// Given tells which fields with a meaningful zero a line had.
type Given struct{ Index, Time bool }

// Fill fills in the fields that a recorder may omit: see Reader. Its error has no
// position.
func (s *Sequence) Fill(e *Entry, given Given) error { return s.fill.entry(e, given) }

// Check checks that e can follow the checked entries before it: see the function
// Check. Its error has no position.
func (s *Sequence) Check(e *Entry) error { return s.valid.add(e) }
