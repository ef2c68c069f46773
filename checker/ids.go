package checker

import "slices"

// none marks an absent position or id.
const none int32 = -1

// words gives each word a number, from 0.
type words struct {
	list []string
	of   map[string]int32
}

// empty returns a new list, in the memory of w.
func (w *words) empty() words {
	clear(w.of)
	return words{w.list[:0], w.of}
}

// find returns the number of word, or none.
func (w *words) find(word string) int32 {
	if id, ok := w.of[word]; ok {
		return id
	}
	return none
}

// id returns the number of word, which may be a new one.
func (w *words) id(word string) int32 {
	id, ok := w.of[word]
	if !ok {
		if w.of == nil {
			w.of = map[string]int32{}
		}
		id = int32(len(w.list))
		w.of[word], w.list = id, append(w.list, word)
	}
	return id
}

// numbering finds ids by numbers from the history. Numbers from 0 to limit are looked
// up in a slice, others in a map.
type numbering struct {
	limit  int
	dense  []int32 // id+1; 0: none
	sparse map[int]int32
}

// empty returns a new numbering, in the memory of n.
func (n *numbering) empty(limit int) numbering {
	dense := n.dense[:cap(n.dense)]
	clear(dense)
	return numbering{limit: limit, dense: dense[:min(len(dense), limit)]}
}

func (n *numbering) get(number int) int32 {
	if uint(number) < uint(len(n.dense)) {
		return n.dense[number] - 1
	}
	if id, ok := n.sparse[number]; ok {
		return id
	}
	return none
}

func (n *numbering) put(number int, id int32) {
	if number < 0 || number >= n.limit {
		if n.sparse == nil {
			n.sparse = map[int]int32{}
		}
		n.sparse[number] = id
		return
	}
	if number >= len(n.dense) {
		grown := make([]int32, min(n.limit, max(2*number, 32)+1))
		copy(grown, n.dense)
		n.dense = grown
	}
	n.dense[number] = id + 1
}

// room returns an empty list with room for n, in the memory of list if that is
// enough.
func room[T any](list []T, n int) []T { return slices.Grow(list[:0], n) }

// scratch provides lists for as long as one history is judged.
type scratch struct {
	room []int32
	used int
}

// longList is the length from which a list has its own memory: the next history is
// probably shorter.
const longList = 1 << 16

// zeros returns a list of n zeros.
func (s *scratch) zeros(n int) []int32 {
	if n > longList {
		return make([]int32, n)
	}
	if s.used+n > len(s.room) {
		s.room = make([]int32, 2*(s.used+n)) // lists that were handed out keep their memory
	}
	list := s.room[s.used : s.used+n : s.used+n]
	s.used += n
	clear(list)
	return list
}
