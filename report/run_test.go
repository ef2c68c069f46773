package report

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// run writes small histories by hand: at sets the time in milliseconds, the
// other methods write one line each and return its position.
type run struct {
	h      history.History
	now    time.Duration
	procs  map[string]int
	held   map[string]int // by client: its last grant
	asked  map[string]int // the index of the acquire of that grant
	opened map[string]int // the index of the client's last invoke
	node   string         // the acting server
}

func newRun(lock string) *run {
	return &run{
		h: history.History{Header: history.Header{
			Format: history.Format, Lock: lock, On: "sim", Seed: 7, LeaseMS: 10_000,
			Observes: []string{"ownership", "answers"},
		}},
		procs: map[string]int{}, held: map[string]int{}, asked: map[string]int{}, opened: map[string]int{},
		node: "redis-1",
	}
}

func (r *run) at(ms int) *run {
	r.now = time.Duration(ms) * time.Millisecond
	return r
}

func (r *run) add(e history.Entry) int {
	e.Index, e.Time = len(r.h.Entries)+1, r.now
	if e.Client != "" {
		if r.procs[e.Client] == 0 {
			r.procs[e.Client] = len(r.procs) + 1
		}
		e.Process.N = r.procs[e.Client]
	}
	if e.Process.Name != history.Nemesis && e.F != history.Promote {
		e.Lock = "a"
	}
	r.h.Entries = append(r.h.Entries, e)
	return len(r.h.Entries) - 1
}

// invoke begins an operation.
func (r *run) invoke(client, f string, value ...int64) int {
	e := history.Entry{Client: client, Type: history.Invoke, F: f}
	if f != history.Acquire {
		e.Grant = r.held[client]
	}
	if len(value) > 0 {
		e.Value = history.Some(value[0])
	}
	pos := r.add(e)
	r.opened[client] = pos + 1
	if f == history.Acquire {
		r.asked[client] = pos + 1
	}
	return pos
}

// end ends the client's operation. After an info it goes on as another process.
func (r *run) end(client, f string, typ history.Type, err string) int {
	e := history.Entry{Client: client, Type: typ, F: f, Error: err}
	if f != history.Acquire {
		e.Grant = r.held[client]
	}
	pos := r.add(e)
	if typ == history.Info {
		r.procs[client] = len(r.procs) + 10 + pos
	}
	return pos
}

// got ends an acquire with a grant; until is in milliseconds, 0: unknown.
func (r *run) got(client string, token uint64, until int) int {
	r.held[client] = len(r.h.Entries)
	return r.add(history.Entry{
		Client: client, Type: history.OK, F: history.Acquire, Grant: r.held[client],
		Token: token, ValidUntil: time.Duration(until) * time.Millisecond,
	})
}

// grants is a server's grant and the ok of an acquire.
func (r *run) grants(client string, token uint64, until int) int {
	r.server(history.Granted, client, client)
	return r.got(client, token, until)
}

// acquire writes a whole acquire: the invoke, the server's grant and the ok.
func (r *run) acquire(client string, token uint64, until int) int {
	r.invoke(client, history.Acquire)
	return r.grants(client, token, until)
}

// on makes another server act.
func (r *run) on(server string) *run {
	r.node = server
	return r
}

// promotes makes a server the master in place of another.
func (r *run) promotes(server, old string) int {
	r.node = server
	return r.add(history.Entry{Process: history.Process{Name: server}, Type: history.Event, F: history.Promote, Text: old})
}

// renews reports that a grant is valid until another time, in milliseconds.
func (r *run) renews(client string, until int) int {
	return r.add(history.Entry{
		Client: client, Type: history.Event, F: history.Valid, Grant: r.held[client],
		ValidUntil: time.Duration(until) * time.Millisecond,
	})
}

// place tells a client's acquire its place in the queue.
func (r *run) place(client string, number int64) int {
	return r.add(history.Entry{
		Client: client, Type: history.Event, F: history.Queued,
		Op: history.Some(int64(r.asked[client])), Value: history.Some(number),
	})
}

// loses reports that a client noticed its loss.
func (r *run) loses(client string) int {
	return r.add(history.Entry{Client: client, Type: history.Event, F: history.Lost, Grant: r.held[client]})
}

// quorum is an acquire that some servers grant; until is in milliseconds.
func (r *run) quorum(client string, until int, servers ...string) int {
	r.invoke(client, history.Acquire)
	r.each(history.Granted, client, client, servers...)
	return r.got(client, 0, until)
}

// server writes an act on the entry that owner's last acquire made, on behalf of by's
// current operation, or of no operation if by is "".
func (r *run) server(f, owner, by string) int {
	e := history.Entry{
		Process: history.Process{Name: r.node}, Type: history.Event, F: f, Key: "a",
	}
	if owner != "" { // else the entry is an operator's
		e.Op = history.Some(int64(r.asked[owner]))
	}
	if by != "" {
		e.By = history.Some(int64(r.opened[by]))
	}
	return r.add(e)
}

// each writes the same act of several servers.
func (r *run) each(f, owner, by string, servers ...string) {
	for _, s := range servers {
		r.on(s).server(f, owner, by)
	}
}

// resource serves the access that client has begun.
func (r *run) resource(f, client string, token uint64, value, was history.Opt) int {
	return r.serve(r.opened[client], r.held[client], f, token, value, was)
}

func (r *run) serve(by, grant int, f string, token uint64, value, was history.Opt) int {
	return r.add(history.Entry{
		Process: history.Process{Name: history.Resource}, Type: history.Event, F: f,
		Grant: grant, Token: token, By: history.Some(int64(by)), Value: value, Was: was,
	})
}

// reads and writes are whole accesses.
func (r *run) reads(client string, token uint64, value int64) {
	r.invoke(client, history.Read)
	r.resource(history.Read, client, token, history.Some(value), history.Opt{})
	r.end(client, history.Read, history.OK, "")
}

func (r *run) writes(client string, token uint64, value, was int64) int {
	r.invoke(client, history.Write, value)
	pos := r.resource(history.Write, client, token, history.Some(value), history.Some(was))
	r.end(client, history.Write, history.OK, "")
	return pos
}

// releases is a release that finds its own entry.
func (r *run) releases(client string) int {
	pos := r.invoke(client, history.Release)
	r.server(history.Remove, client, client)
	r.end(client, history.Release, history.OK, "")
	return pos
}

// refused is a release of a client that no longer holds.
func (r *run) refused(client string) {
	r.invoke(client, history.Release)
	r.end(client, history.Release, history.Fail, history.ErrNotHeld)
}

// releasesNothing is a release that is ok and removes no entry.
func (r *run) releasesNothing(client string) {
	r.invoke(client, history.Release)
	r.end(client, history.Release, history.OK, "")
}

func (r *run) fault(kind string, id int, point string, amount time.Duration, on ...string) int {
	return r.add(history.Entry{
		Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: kind, ID: id, On: on,
		Point: point, Amount: amount,
	})
}

func (r *run) heal(kind string, id int, on ...string) int {
	return r.fault(kind+history.EndSuffix, id, "", 0, on...)
}

// over ends the run.
func (r *run) over() int {
	return r.add(history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: history.Ended})
}

// ends ends the run, and returns its history with a violation of p.
func (r *run) ends(p checker.Property, sentence string, positions ...int) (*history.History, []checker.Verdict) {
	r.over()
	return &r.h, verdicts(p, sentence, positions...)
}

// verdicts returns verdicts that are valid for all properties except p; p "": all
// valid.
func verdicts(p checker.Property, sentence string, positions ...int) []checker.Verdict {
	var list []checker.Verdict
	for _, q := range checker.Properties {
		v := checker.Verdict{Property: q, Outcome: checker.Valid}
		if q == p {
			v.Outcome = checker.Violated
			v.Witness = &checker.Witness{Sentence: sentence, Entries: slices.Sorted(slices.Values(positions))}
		}
		list = append(list, v)
	}
	return list
}
