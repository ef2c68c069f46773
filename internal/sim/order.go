package sim

import "slices"

// order keeps what may happen next in a world in which only order counts, instead
// of time. Messages take no time, and a wait of unspecified length ends when its
// turn comes. Search takes the steps.
type order struct {
	pending []event // messages under way and calls to come, in the order of their creation
	front   int     // how many of them go first because a partition had held them
	ready   []*task // tasks that run before anything else happens
	changes int     // number of changes that a client could notice

	dated  bool // a client has learnt a date since time passed last
	wall   bool // from a wall clock: the date may be in a text
	passed int  // how often time passed
}

func (o *order) push(e event) { o.pending = append(o.pending, e) }

// pushFirst puts e before all later messages, but after those that it was already
// called for.
func (o *order) pushFirst(e event) {
	o.pending = slices.Insert(o.pending, o.front, e)
	o.front++
}

// remove removes the event at i.
func (o *order) remove(i int) event {
	e := o.pending[i]
	o.pending = slices.Delete(o.pending, i, i+1)
	if i < o.front {
		o.front--
	}
	return e
}
