package history

// A Sequence takes a history in entry by entry, in memory that hardly grows
// with its length. The zero Sequence is at the beginning.
type Sequence struct {
	fill  filler
	valid validity
}

// Given says which of the fields whose zero means something a line had.
type Given struct{ Index, Time bool }

// Fill supplies what a recorder may leave out: see Reader. Its error says what
// cannot be supplied; the place is the caller's to name.
func (s *Sequence) Fill(e *Entry, given Given) error { return s.fill.entry(e, given) }

// Check tells whether e can follow the entries that were checked before: see
// the function Check. Its error says what is wrong, without the place.
func (s *Sequence) Check(e *Entry) error { return s.valid.add(e) }
