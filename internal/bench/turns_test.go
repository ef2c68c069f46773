package bench_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/bench"
)

// told has the entry for each sign after a client's letter. Each entry is a second
// after the one before.
var told = map[byte]history.Entry{
	'?': {Type: history.Invoke, F: history.Acquire},
	'+': {Type: history.OK, F: history.Acquire},
	'-': {Type: history.Fail, F: history.Acquire, Error: history.ErrHeld},
	'!': {Type: history.Info, F: history.Acquire},
	'x': {Type: history.Fail, F: history.Release},
	'<': {Type: history.Invoke, F: history.Release},
	'.': {Type: history.OK, F: history.Release},
}

// lines returns the history that a text such as "a? a+ a< a." describes.
func lines(text string) *history.History {
	h := new(history.History)
	for i := 0; i < len(text); i += 3 {
		e := told[text[i+1]]
		e.Index, e.Client, e.Time = i+1, text[i:i+1], time.Duration(i/3)*time.Second
		h.Add(e)
	}
	return h
}

func TestTurns(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		history    string
		begin, end time.Duration // 0: those of the history
		want       bench.Figures
	}{
		"nobody": {"", 0, 0, bench.Figures{Grants: []int{0, 0, 0}, Overtaken: []int{0, 0, 0}}},
		"in turn": {
			"a? b? c? a+ a< a. b+ b< b. c+", 0, 0,
			bench.Figures{Grants: []int{1, 1, 1}, Overtaken: []int{0, 0, 0}, Longest: 7 * s},
		},
		"one overtakes two": {
			"a? b? c? c+", 0, 4 * s,
			bench.Figures{Grants: []int{0, 0, 1}, Overtaken: []int{1, 1, 0}, OutOfTurn: 1, Longest: 4 * s, Waiting: true},
		},
		"one is overtaken twice": {
			"a? b? b+ b< b. b? b+ b< b. a+", 0, 0,
			bench.Figures{Grants: []int{1, 2, 0}, Overtaken: []int{2, 0, 0}, OutOfTurn: 2, Longest: 9 * s, Again: 1},
		},
		"who comes back stands behind": {
			"a? b? a+ a< a. a? b+", 0, 7 * s,
			bench.Figures{Grants: []int{1, 1, 0}, Overtaken: []int{0, 0, 0}, Longest: 5 * s},
		},
		"who has it is not overtaken": {
			"a? a+ b? b+", 0, 0,
			bench.Figures{Grants: []int{1, 1, 0}, Overtaken: []int{0, 0, 0}, Longest: s},
		},
		"refused, and asks again": {
			"a? b? a- a? b+ b< b. a+", 0, 0,
			bench.Figures{Grants: []int{1, 1, 0}, Overtaken: []int{1, 0, 0}, OutOfTurn: 1, Longest: 7 * s},
		},
		"errors": {
			"a? a! a? a+ a< ax", 0, 0,
			bench.Figures{Grants: []int{1, 0, 0}, Overtaken: []int{0, 0, 0}, Longest: 3 * s, Failed: 2},
		},
		"the warm-up is known, and does not count": {
			"a? b? b+ b< b. b? b+ a+", 5 * s, 0,
			bench.Figures{Grants: []int{1, 1, 0}, Overtaken: []int{1, 0, 0}, OutOfTurn: 1, Longest: 7 * s, Again: 1},
		},
		"what comes after the end does not count": {
			"a? b? a+ a< b+ c? c!", 0, 4 * s,
			bench.Figures{Grants: []int{1, 0, 0}, Overtaken: []int{0, 0, 0}, Longest: 3 * s, Waiting: true, Failed: 1},
		},
		"strangers": {
			"x? a? x+ a+", 0, 0,
			bench.Figures{Grants: []int{1, 0, 0}, Overtaken: []int{0, 0, 0}, Longest: 2 * s},
		},
	} {
		if c.end == 0 {
			c.end = time.Minute
		}
		if got := bench.Turns(lines(c.history), []string{"a", "b", "c"}, c.begin, c.end); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
