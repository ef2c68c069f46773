package model_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
)

// Each of these histories leads to a different state.
func TestStatesDiffer(t *testing.T) {
	leased := takeOver("k", 1)
	type step struct {
		who int
		do  mysql.Command
	}
	lockedBy := func(who int) []step {
		return []step{{0, insert("k")}, {who, verb(mysql.Begin)}, {who, forUpdate("k")}}
	}
	waitsForHolder := func() []step { return []step{{0, get("n")}, {1, get("o")}, {0, get("o")}} }
	seen := map[string]string{}
	for name, steps := range map[string][]step{
		"nothing":               nil,
		"a row":                 {{0, insert("k")}},
		"another row":           {{0, insert("l")}},
		"a number is used":      {{0, insert("k")}, {0, remove("k")}},
		"a lease":               {{0, insert("k")}, {0, leased}},
		"a transaction":         {{0, verb(mysql.Begin)}},
		"another's transaction": {{1, verb(mysql.Begin)}},
		"at another level":      {{0, mysql.Command{Verb: mysql.Isolate, Isolation: mysql.ReadCommitted}}},
		"a snapshot":            {{0, verb(mysql.Begin)}, {0, mysql.Command{Verb: mysql.Select}}},
		"a snapshot of a row":   {{0, insert("k")}, {0, verb(mysql.Begin)}, {0, mysql.Command{Verb: mysql.Select}}},
		"not committed":         {{0, verb(mysql.Begin)}, {0, insert("k")}},
		"not committed, gone":   {{0, insert("k")}, {0, verb(mysql.Begin)}, {0, remove("k")}},
		"locked":                lockedBy(0),
		"locked by another":     lockedBy(1),
		"a gap":                 {{0, insert("k")}, {0, verb(mysql.Begin)}, {0, forUpdate("j")}},
		"the older has written": {{0, verb(mysql.Begin)}, {0, insert("k")}, {1, verb(mysql.Begin)}, {1, forUpdate("j")}},
		"the newer has written": {{1, verb(mysql.Begin)}, {1, forUpdate("j")}, {0, verb(mysql.Begin)}, {0, insert("k")}},
		"waited for":            append(lockedBy(0), step{1, forUpdate("k")}),
		"waited for, to remove": append(lockedBy(0), step{1, remove("k")}),
		"waited for, to insert": append(lockedBy(0), step{1, insert("k")}),
		"a name":                {{0, get("n")}},
		"a name, twice":         {{0, get("n")}, {0, get("n")}},
		"another's name":        {{1, get("n")}},
		"a name, waited for":    {{0, get("n")}, {1, get("n")}},
		"two wait for a name":   {{0, get("n")}, {1, get("n")}, {2, get("n")}},
		"in another order":      {{0, get("n")}, {2, get("n")}, {1, get("n")}},
		"each has one name":     waitsForHolder(),
		"refused in a deadlock": append(waitsForHolder(), step{1, get("n")}),
		"less patient":          {{0, mysql.Command{Verb: mysql.SetWaitTimeout, Wait: time.Second}}},
	} {
		d := newDesk(t)
		sessions := []int64{d.open(), d.open(), d.open()}
		for i, s := range steps {
			d.Do(d.now, sessions[s.who], i+1, s.do)
		}
		d.Outputs()
		state := string(d.AppendState(nil, d.now))
		if other, was := seen[state]; was {
			t.Errorf("%q and %q have the same state", name, other)
		}
		seen[state] = name
	}
}

// Tags and the absolute time are not part of the state. The ages of waits and
// leases are.
func TestStatesAreRelative(t *testing.T) {
	state := func(start, waited time.Duration, tag int) string {
		d := newDesk(t)
		at := func(since time.Duration) model.Clock {
			return model.Clock{Wall: d.now.Wall + start + since, Mono: start + since}
		}
		a, b := d.Connect(at(0)), d.Connect(at(0))
		for i, c := range []mysql.Command{insert("k"), takeOver("k", 1), get("n")} {
			d.Do(at(0), a, tag+i, c)
		}
		d.Do(at(0), b, tag+9, get("n"))
		return string(d.AppendState(nil, at(waited)))
	}
	want := state(0, ms, 1)
	for name, c := range map[string]struct {
		start, waited time.Duration
		tag           int
		same          bool
	}{
		"later":       {time.Hour, ms, 1, true},
		"other tags":  {0, ms, 20, true},
		"for longer":  {0, 2 * ms, 1, false},
		"for shorter": {0, 0, 1, false},
	} {
		if got := state(c.start, c.waited, c.tag); (got == want) != c.same {
			t.Errorf("%s: same state: %t, want %t", name, got == want, c.same)
		}
	}
}
