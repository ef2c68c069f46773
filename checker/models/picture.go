package models

import (
	"errors"
	"fmt"
	"io"

	"github.com/anishathalye/porcupine"

	"github.com/lockcheck/lockcheck/checker"
)

// picture is what there is to draw.
type picture struct {
	object *object
	found  finding
}

// largest is how many operations a picture may show.
const largest = 1000

// Picture writes Porcupine's picture, an HTML page, of the operations around
// the witness; of a history without one, of all operations of the lock that
// has most, if they are few. Its error is w's, or says why there is nothing to
// draw.
func (v *Verdict) Picture(w io.Writer) error {
	if v.picture == nil {
		return errors.New("there is nothing to draw")
	}
	o, f := v.picture.object, v.picture.found
	ops, start := []operation(nil), f.start
	if f.outcome == checker.Violated {
		ops = o.around(f)
	} else if o.count() <= largest {
		ops = o.operations(0, never)
	}
	if n := len(ops); n == 0 || n > largest {
		return fmt.Errorf("no picture: nothing is violated, and %d operations are too many to draw", o.count())
	}
	m := o.spec(start)
	_, info := porcupine.CheckOperationsVerbose(m, o.history(ops), confirmTime)
	return porcupine.Visualize(m, info, w)
}
