package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// collection is a file in EDN or a JSON array.
type collection struct {
	operations
	mapper  mapper
	entry   history.Entry
	given   history.Given
	seq     history.Sequence
	first   *value // a first map that is an operation
	line    int
	latest  time.Duration
	timed   bool
	behind  oddity // times that run backwards
	skipped oddity // lines of the nemesis without a fault
}

func newCollection(in *bufio.Reader, name, format string, reading Reading) (*collection, history.Header, error) {
	if bom, _ := in.Peek(3); string(bom) == "\xef\xbb\xbf" {
		in.Discard(3)
	}
	c := &collection{operations: operations{lexer: newLexer(in, name), array: format == "json"}}
	c.mapper.colon, c.mapper.reading = format == "edn", reading
	v, line, err := c.operations.next()
	switch {
	case errors.Is(err, io.EOF):
		return c, history.Header{}, nil
	case err != nil:
		return nil, history.Header{}, err
	case !isHeader(&v):
		c.first, c.line = &v, line
		return c, history.Header{}, nil
	}
	header, err := readHeader(&v, format == "json")
	if err != nil {
		return nil, history.Header{}, c.at(line, "%w", err)
	}
	c.mapper.ours, c.literal = true, true
	return c, header, nil
}

func (c *collection) next() (*history.Entry, int, error) {
	e := &c.entry
	for {
		v, line, err := value{}, c.line, error(nil)
		if c.first != nil {
			v, c.first = *c.first, nil
		} else if v, line, err = c.operations.next(); err != nil {
			return nil, 0, err
		}
		c.mapper.line = line
		err = c.mapper.entry(&v, e, &c.given)
		if errors.Is(err, errSkip) {
			c.skipped.add(line, 0)
			continue
		}
		if err == nil {
			forwards := c.order(e, c.given, line)
			if err = c.seq.Fill(e, c.given); err == nil {
				err = c.seq.Check(e)
				if err != nil && !forwards {
					err = fmt.Errorf("%w (lines with an %s may be out of time)", err, c.mapper.spell(keyIndex))
				}
			}
		}
		if err != nil {
			return nil, 0, c.at(line, "%w", err)
		}
		return e, line, nil
	}
}

// jitter limits how much a time may go back in a file without indices: a
// thousandth of the time, and at most a millisecond.
const jitter = time.Millisecond

// order lets the position of an operation decide, not its time: Jepsen reads the
// clock before it assigns the position. Only an index shows that; without one
// only jitter is tolerated. It returns false if time runs backwards.
func (c *collection) order(e *history.Entry, given history.Given, line int) bool {
	if !given.Time {
		return true
	}
	if c.timed && e.Time < c.latest && (given.Index || e.Time >= c.latest-min(jitter, c.latest/1000)) {
		c.behind.add(line, c.latest-e.Time)
		e.Time = c.latest
	}
	forwards := !c.timed || e.Time >= c.latest
	c.latest, c.timed = e.Time, true
	return forwards
}

func (c *collection) allWarnings() []history.Warning {
	list := c.behind.appendWarning(slices.Clone(c.warnings), c.name, fmt.Sprintf("time runs backwards %%s, by up to %v: the order of the lines counts", c.behind.most))
	list = c.skipped.appendWarning(list, c.name, "the nemesis names no fault %s: these lines are ignored")
	return c.mapper.appendWarnings(list, c.name)
}

func (c *collection) assumptions() *guesses { return &c.mapper.guesses }
