package history_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// queued returns a place in the queue of the acquire with that index.
func queued(n int, op int64) history.Entry {
	e := line(n, history.Event, history.Queued)
	e.Op, e.Value = history.Some(op), history.Some(7)
	return e
}

// line returns an entry of process n. numberEntries fills in index and time.
func line(n int, t history.Type, f string) history.Entry {
	return history.Entry{Client: "c", Process: history.Process{N: n}, Type: t, F: f}
}

func numberEntries(entries ...history.Entry) *history.History {
	for i := range entries {
		if entries[i].Index == 0 {
			entries[i].Index = i + 1
		}
	}
	return &history.History{Entries: entries}
}

func TestCheckRefusesWhatCannotHaveBeenRecorded(t *testing.T) {
	t.Parallel()
	granted := func(n, grant int) history.Entry {
		e := line(n, history.OK, history.Acquire)
		e.Grant = grant
		return e
	}
	at := func(e history.Entry, index int, now time.Duration) history.Entry {
		e.Index, e.Time = index, now
		return e
	}
	standsOn := func(n int, f string, op int64) history.Entry {
		e := line(n, history.OK, f)
		e.Op = history.Some(op)
		return e
	}
	acquire := line(1, history.Invoke, history.Acquire)
	others := history.Entry{Client: "d", Process: history.Process{N: 3}, Type: history.Invoke, F: history.Acquire}
	by7 := history.Entry{Process: history.Process{Name: "redis"}, Type: history.Event, F: history.Remove, By: history.Some(7)}
	for _, c := range []struct {
		name string
		h    *history.History
		want string
	}{
		{"a completion without an invoke", numberEntries(line(1, history.OK, history.Acquire)), "entry 1 (index 1): process 1 completes acquire without an invoke"},
		{"a completion of something else", numberEntries(acquire, line(1, history.OK, history.Try)), "entry 2 (index 2): process 1 completes try, but it invoked acquire at index 1"},
		{"two operations at once", numberEntries(acquire, line(1, history.Invoke, history.Read)), "entry 2 (index 2): process 1 invokes read while its acquire at index 1 is open"},
		{"an operation after an info", numberEntries(acquire, line(1, history.Info, history.Acquire), acquire), "entry 3 (index 3): process 1 retired: its last operation ended with info, and nothing may follow it"},
		{"time that runs backwards", numberEntries(at(acquire, 1, 5), at(line(2, history.Invoke, history.Try), 2, 4)), "entry 2 (index 2): time 4 ns follows 5 ns: it runs backwards"},
		{"an index twice", numberEntries(at(acquire, 5, 0), at(line(2, history.Invoke, history.Try), 5, 0)), "entry 2 (index 5): index 5 follows index 5: it must grow"},
		{"an index that falls", numberEntries(at(acquire, 5, 0), at(line(2, history.Invoke, history.Try), 4, 0)), "entry 2 (index 4): index 4 follows index 5: it must grow"},
		{"an unknown type", numberEntries(line(1, 0, history.Acquire)), "entry 1 (index 1): unknown type 0"},
		{"an unknown f", numberEntries(line(1, history.Invoke, "lock")), `entry 1 (index 1): "f" is "lock": unknown for a client`},
		{"an operation as an event", numberEntries(line(1, history.Event, history.Acquire)), "entry 1 (index 1): acquire is an operation: its type is invoke, ok, fail or info"},
		{"a report as an operation", numberEntries(line(1, history.OK, history.Lost)), "entry 1 (index 1): lost is a report: its type is event"},
		{"a server that invokes", numberEntries(history.Entry{Process: history.Process{Name: "redis"}, Type: history.Invoke, F: "x"}), "entry 1 (index 1): redis has type invoke: a named process has only info and event"},
		{"a grant twice", numberEntries(acquire, granted(1, 4), line(2, history.Invoke, history.Acquire), granted(2, 4)), "entry 4 (index 4): grant 4 is used twice: the acquire at index 2 got it"},
		{"made by an unknown invoke", numberEntries(acquire, history.Entry{Process: history.Process{Name: "redis"}, Type: history.Event, F: history.Granted, Op: history.Some(3)}, line(2, history.Invoke, history.Acquire)), `entry 2 (index 2): "op" is 3: no earlier invoke has that index`},
		{"a place for another acquire", numberEntries(acquire, line(2, history.Invoke, history.Acquire), queued(2, 1)), `entry 3 (index 3): "op" is 1: that is not the open acquire of process 2`},
		{"a place for an acquire that came back", numberEntries(acquire, granted(1, 4), queued(1, 1)), `entry 3 (index 3): "op" is 1: that is not the open acquire of process 1`},
		{"a place for no acquire", numberEntries(line(1, history.Invoke, history.Read), queued(1, 1)), `entry 2 (index 2): "op" is 1: that is not the open acquire of process 1`},
		{"a grant on a read", numberEntries(line(1, history.Invoke, history.Read), line(2, history.Invoke, history.Acquire), standsOn(2, history.Acquire, 1)), `entry 3 (index 3): "op" is 1: no earlier acquire of c has that index`},
		{"a grant on another client's acquire", numberEntries(others, line(2, history.Invoke, history.Try), standsOn(2, history.Try, 1)), `entry 3 (index 3): "op" is 1: no earlier acquire of c has that index`},
		{"a grant on an answer", numberEntries(acquire, granted(1, 4), line(2, history.Invoke, history.Acquire), standsOn(2, history.Acquire, 2)), `entry 4 (index 4): "op" is 2: no earlier invoke has that index`},
		{"by an unknown invoke", numberEntries(acquire, by7), `entry 2 (index 2): "by" is 7: no earlier invoke has that index`},
		{
			"a process that changes its client",
			numberEntries(acquire, history.Entry{Client: "d", Process: history.Process{N: 1}, Type: history.OK, F: history.Acquire}),
			"entry 2 (index 2): process 1 belonged to c, now to d",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := history.Check(c.h)
			if err == nil || err.Error() != c.want {
				t.Fatalf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestCheckAcceptsWhatARunMayLeave(t *testing.T) {
	t.Parallel()
	standsOn := func(n int, op int64) history.Entry {
		e := line(n, history.OK, history.Acquire)
		e.Op = history.Some(op)
		return e
	}
	for _, c := range []struct {
		name string
		h    *history.History
	}{
		{"a grant on the entries of an acquire that is open", numberEntries(line(1, history.Invoke, history.Acquire), line(2, history.Invoke, history.Acquire), standsOn(2, 1))},
		{"a grant on those of an acquire of a process that retired", numberEntries(line(1, history.Invoke, history.Try), line(1, history.Info, history.Try), line(2, history.Invoke, history.Acquire), standsOn(2, 1))},
		{"a grant on its own", numberEntries(line(1, history.Invoke, history.Acquire), standsOn(1, 1))},
		{"nothing", numberEntries()},
		{"an operation that never completed", numberEntries(line(1, history.Invoke, history.Acquire))},
		{"a report of a process that retired", numberEntries(line(1, history.Invoke, history.Acquire), line(1, history.Info, history.Acquire), line(1, history.Event, history.Late))},
		{"an operation again after a definite no", numberEntries(line(1, history.Invoke, history.Try), line(1, history.Fail, history.Try), line(1, history.Invoke, history.Try))},
		{"lines at the same time", numberEntries(line(1, history.Invoke, history.Try), line(2, history.Invoke, history.Try))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := history.Check(c.h); err != nil {
				t.Error(err)
			}
		})
	}
}
