package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/rapidtest"
)

// TestFairnessIsWhatTheDefinitionSays compares the judge with a definition that
// checks every pair of lines, and shares no code with it.
func TestFairnessIsWhatTheDefinitionSays(t *testing.T) {
	t.Parallel()
	tally := map[string]int{}
	histories := 0
	rapidtest.CheckN(t, 1500, func(rt *rapid.T) {
		h := anyQueue(rt)
		if err := history.Check(h); err != nil {
			rt.Fatal(err)
		}
		histories++
		d := definedQueue{h, h.Entries}
		overtaken, starved := d.anybody(d.overtaken), d.anybody(d.starved)
		line := newTimeline(h)
		for what, c := range map[string]struct {
			w  *Witness
			is bool
		}{"overtaken": {line.overtaking(), overtaken}, "starved": {line.starving(), starved}} {
			if (c.w != nil) != c.is {
				var b strings.Builder
				_ = history.Encode(&b, h)
				rt.Fatalf("%s: the judge says %v, the definition %v\n%s", what, c.w, c.is, &b)
			}
			if c.is {
				tally[what]++
			}
		}
		if v := verdictOn(Judge(h), Fairness); v.Outcome == Valid {
			tally["valid"]++
		} else if (v.Outcome == Violated) != (overtaken || starved) && len(line.places) > 0 {
			rt.Fatalf("the verdict is %s", v.Outcome)
		}
	})
	t.Logf("%v in %d histories", tally, histories)
	for _, what := range []string{"overtaken", "starved", "valid"} {
		if tally[what]*100 < histories {
			t.Errorf("%d %s of %d histories say little", tally[what], what, histories)
		}
	}
}

// definedQueue is a history whose lines are checked one by one.
type definedQueue struct {
	*history.History
	lines []history.Entry
}

func (d definedQueue) anybody(f func(a, b int) bool) bool {
	for a := range d.lines {
		for b := range d.lines {
			if f(a, b) {
				return true
			}
		}
	}
	return false
}

// of returns the first line from a to b for which is is true, or a position after
// all.
func (d definedQueue) of(a, b int, is func(e *history.Entry) bool) int {
	for i := max(a, 0); i < min(b, len(d.lines)); i++ {
		if is(&d.lines[i]) {
			return i
		}
	}
	return len(d.lines)
}

// asked returns the invoke of the acquire that a line of a client is about.
func (d definedQueue) asked(at int) int {
	e := &d.lines[at]
	if e.F == history.Extend {
		at = d.of(0, at, func(x *history.Entry) bool { return x.Type == history.Info && x.Grant == e.Grant })
		e = &d.lines[at]
	}
	for i := at; i >= 0; i-- {
		if x := &d.lines[i]; x.Process == e.Process && x.F == history.Acquire && x.Type == history.Invoke {
			return i
		}
	}
	return len(d.lines)
}

// back returns the completion of an acquire.
func (d definedQueue) back(invoke int) int {
	p := d.lines[invoke].Process
	return d.of(invoke+1, len(d.lines), func(e *history.Entry) bool {
		return e.Process == p && e.F == history.Acquire && e.Type != history.Event && e.Type != history.Invoke
	})
}

// grant reports whether a line shows the grant of an acquire that queued: its answer or, if
// it had none, the extend that says so first.
func (d definedQueue) grant(at int) bool {
	e := &d.lines[at]
	return e.F == history.Acquire && e.Type == history.OK && !e.Op.Set || e.F == history.Extend && e.Type == history.OK
}

// died returns the last sign of life of a client that died.
func (d definedQueue) died(client string) int {
	end := len(d.lines)
	kill := d.of(0, end, func(e *history.Entry) bool { return e.F == "kill" && e.On[0] == client })
	for i := range min(kill, end) {
		if e := &d.lines[i]; kill < end && e.F == "pause" && e.On[0] == client && d.healed(i) > kill {
			return i
		}
	}
	if kill < end {
		return kill
	}
	if crash := d.of(0, end, func(e *history.Entry) bool { return e.Error == history.ErrCrashed && e.Client == client }); crash < end {
		for i := crash - 1; i >= 0; i-- {
			if e := &d.lines[i]; e.Client == client && e.Type != history.Invoke && e.Type != history.Info {
				return i
			}
		}
		return -1
	}
	return end
}

func (d definedQueue) healed(fault int) int {
	f := &d.lines[fault]
	return d.of(fault, len(d.lines), func(e *history.Entry) bool { return e.F == f.F+history.EndSuffix && e.ID == f.ID })
}

// lost returns where the place of acquire a from line q was lost, as far as the lines
// show.
func (d definedQueue) lost(a, q int) int {
	index := history.Some(int64(d.lines[a].Index))
	end := min(d.back(a), d.died(d.lines[a].Client))
	anew := d.of(q+1, len(d.lines), func(e *history.Entry) bool {
		return e.F == history.Queued && e.Process == d.lines[a].Process && d.asked(d.of(q+1, len(d.lines), func(x *history.Entry) bool { return x == e })) == a
	})
	end = min(end, anew)
	if slices.Contains(d.Header.Observes, "answers") {
		key, was := "", false
		for i := range q {
			e := &d.lines[i]
			switch {
			case e.Op != index || e.Process.Client():
			case e.F == history.Granted:
				key, was = e.Key, true
			case e.Key == key:
				key = ""
			}
		}
		if was && key == "" {
			return q
		}
		if was {
			return min(end, d.of(q, len(d.lines), func(e *history.Entry) bool {
				return e.Op == index && e.Key == key && e.F != history.Granted
			}))
		}
	}
	if back := d.back(a); back == len(d.lines) || d.lines[back].Type != history.OK || end < back {
		return q
	}
	for i := range d.lines {
		if d.lines[i].F == "pause" && d.healed(i) >= a {
			end = min(end, i)
		}
	}
	return max(end, q)
}

// overtaken reports whether the grant of line k overtook the place of line q.
func (d definedQueue) overtaken(q, k int) bool {
	x, y := &d.lines[q], &d.lines[k]
	if x.F != history.Queued || !d.grant(k) || q > k || x.Client == y.Client || x.Lock != y.Lock {
		return false
	}
	a, b := d.asked(q), d.asked(k)
	if d.back(a) < q || d.lost(a, q) <= k {
		return false
	}
	own := -1
	for i := b; i < k; i++ {
		if e := &d.lines[i]; e.F == history.Queued && e.Process == d.lines[b].Process {
			own = i
		}
	}
	smaller := own >= 0 && x.Value.Set && d.lines[own].Value.Set && x.Value.V < d.lines[own].Value.V &&
		own > a && d.lost(b, own) > q
	return q < b || smaller
}

// joins reports whether the acquire of line a got a place in line q.
func (d definedQueue) joins(a, q int) bool {
	x, e := &d.lines[a], &d.lines[q]
	return x.F == history.Acquire && x.Type == history.Invoke && e.F == history.Queued && e.Process == x.Process &&
		d.asked(q) == a && q < min(d.back(a), d.died(x.Client))
}

// starved reports whether the acquire of line a starved, by the grants up to line k.
func (d definedQueue) starved(a, k int) bool {
	x := &d.lines[a]
	if x.F != history.Acquire || x.Type != history.Invoke || !d.grant(k) || k < a {
		return false
	}
	end, died := d.back(a), d.died(x.Client)
	if end == len(d.lines) && d.lines[end-1].F != history.Ended {
		return false
	}
	if end == len(d.lines) || d.lines[end].Type == history.Info {
		end = min(end, died)
	}
	calm := time.Duration(-1)
	for i := range d.lines {
		switch e := &d.lines[i]; {
		case e.F == "pause" && d.healed(i) == len(d.lines):
			return false
		case e.F == "kill", e.F == "pause-end":
			calm = max(calm, e.Time+3*d.Header.Lease())
		}
	}
	from := a // or, if acquires report their places, the line with this one's place
	if d.anybody(d.joins) {
		if from = d.of(a, end, func(e *history.Entry) bool { return e.F == history.Queued && e.Process == x.Process }); from >= min(end, died) {
			return false
		}
	}
	clients, later := map[string]bool{}, 0
	for i := range d.lines {
		e := &d.lines[i]
		if e.Process.Client() {
			clients[e.Client] = true
		}
		if i <= k && i < end && d.grant(i) && e.Client != x.Client && e.Lock == x.Lock && d.asked(i) > from && d.lines[d.asked(i)].Time > calm {
			later++
		}
	}
	return later > 2*len(clients)
}

// anyQueue returns a history of a lock with a queue, whose order it mostly keeps.
func anyQueue(t *rapid.T) *history.History {
	q := queueing{
		T: t, h: &history.History{Header: history.Header{Format: history.Format, LeaseMS: 1000, Order: rapid.Bool().Draw(t, "the header says so")}},
		keeps: rapid.SampledFrom([]int{1, 7, 30}).Draw(t, "it keeps to its queue, but for one in"),
		calm:  rapid.Bool().Draw(t, "nothing goes wrong"), shuns: rapid.IntRange(0, 3).Draw(t, "it shuns the first one") == 0,
	}
	if rapid.Bool().Draw(t, "the server is seen") {
		q.h.Header.Observes = []string{"answers"}
	}
	clients := make([]*queuer, rapid.SampledFrom([]int{2, 3, 4}).Draw(t, "clients"))
	for i := range clients {
		q.processes++
		clients[i] = &queuer{name: fmt.Sprintf("c%d", i+1), process: q.processes}
	}
	for range rapid.SampledFrom([]int{30, 60, 120, 200}).Draw(t, "steps") {
		q.now += time.Duration(rapid.IntRange(0, 9).Draw(t, "time")) * 100 * time.Millisecond
		c := rapid.SampledFrom(clients).Draw(t, "client")
		if !c.dead {
			q.step(c, clients)
		}
	}
	if rapid.Bool().Draw(t, "its end is seen") {
		q.add(history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: history.Ended})
	}
	return q.h
}

type queueing struct {
	*rapid.T
	h         *history.History
	now       time.Duration
	keeps     int
	calm      bool
	shuns     bool
	processes int
	places    int64
	keys      int
	grants    int
	pauses    int
	holder    *queuer
}

type queuer struct {
	name    string
	process int
	invoke  history.Opt // invoke of its open acquire
	key     string      // of its entry; "": no entry
	number  int64
	said    bool
	paused  int // id of its pause
	dead    bool
}

func (q *queueing) add(e history.Entry) history.Opt {
	e.Index, e.Time = 3*len(q.h.Entries)+2, q.now
	q.h.Entries = append(q.h.Entries, e)
	return history.Some(int64(e.Index))
}

func (q *queueing) rarely(what string) bool {
	return !q.calm && rapid.IntRange(0, 24).Draw(q.T, what) == 0
}

func (q *queueing) fault(f string, c *queuer, id int) {
	q.add(history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: f, On: []string{c.name}, ID: id})
}

func (q *queueing) client(c *queuer, t history.Type, f string) history.Entry {
	return history.Entry{Client: c.name, Process: history.Process{N: c.process}, Type: t, F: f, Lock: "a"}
}

// server writes a line of the server about the entry of c's acquire.
func (q *queueing) server(c *queuer, f string) {
	if q.h.Header.Observes != nil {
		q.add(history.Entry{Process: history.Process{Name: "zk-1"}, Type: history.Event, F: f, Lock: "a", Key: c.key, Op: c.invoke})
	}
}

func (q *queueing) step(c *queuer, all []*queuer) {
	switch {
	case c.paused != 0:
		q.fault("pause-end", c, c.paused)
		c.paused = 0
	case q.rarely("kill"):
		q.fault("kill", c, 0)
		c.dead = true
	case q.rarely("pause"):
		q.pauses++
		c.paused = q.pauses
		q.fault("pause", c, c.paused)
	case q.holder == c && q.rarely("an entry without a request of its own"):
		q.processes++
		e := q.client(c, history.Invoke, history.Acquire)
		e.Process.N = q.processes
		q.add(e)
		q.grants++
		e.Type, e.Grant, e.Op = history.OK, q.grants, c.invoke
		q.add(e)
	case q.holder == c:
		q.add(q.client(c, history.Invoke, history.Release))
		q.server(c, history.Remove)
		q.add(q.client(c, history.OK, history.Release))
		*c = queuer{name: c.name, process: c.process}
		q.holder = nil
	case !c.invoke.Set:
		c.invoke = q.add(q.client(c, history.Invoke, history.Acquire))
	case c.key == "":
		q.places++
		q.keys++
		c.key, c.number, c.said = fmt.Sprint("/", q.keys), q.places, false
		q.server(c, history.Granted)
	case !c.said:
		e := q.client(c, history.Event, history.Queued)
		if e.Op = c.invoke; rapid.Bool().Draw(q.T, "the place has a number") {
			e.Value = history.Some(c.number)
		}
		q.add(e)
		c.said = true
	case q.rarely("its place is lost"):
		q.server(c, rapid.SampledFrom([]string{history.Expire, history.Lose}).Draw(q.T, "how"))
		c.key = ""
	case q.rarely("all is lost, and the numbers begin anew"):
		for _, o := range all {
			if o.key != "" && o != q.holder {
				q.server(o, history.Lose)
				o.key = ""
			}
		}
		q.places = 0
	case q.rarely("a grant by a place that is lost") && q.holder == nil:
		q.server(c, history.Lose)
		q.grant(c)
	case q.rarely("it does not come back well"):
		e := q.client(c, rapid.SampledFrom([]history.Type{history.Fail, history.Info}).Draw(q.T, "how"), history.Acquire)
		if e.Type == history.Info && rapid.Bool().Draw(q.T, "it crashed") {
			e.Error, c.dead = history.ErrCrashed, true
		}
		confirmed := e.Type == history.Info && !c.dead && q.holder == nil && rapid.Bool().Draw(q.T, "an extend shows its grant")
		if confirmed {
			q.grants++
			e.Grant = q.grants
		}
		q.add(e)
		*c = queuer{name: c.name, process: c.process, dead: c.dead}
		if e.Type == history.Info {
			q.processes++
			c.process = q.processes
		}
		if confirmed {
			e := q.client(c, history.Invoke, history.Extend)
			e.Grant = q.grants
			q.add(e)
			e.Type = history.OK
			q.add(e)
			q.holder = c
		}
	case q.holder == nil && q.turn(c, all):
		q.grant(c)
	}
}

func (q *queueing) grant(c *queuer) {
	e := q.client(c, history.OK, history.Acquire)
	q.grants++
	e.Grant = q.grants
	q.add(e)
	q.holder = c
}

// turn reports whether c is granted the lock.
func (q *queueing) turn(c *queuer, all []*queuer) bool {
	if q.shuns && c == all[0] {
		return false
	}
	if rapid.IntRange(1, q.keeps).Draw(q.T, "it keeps to its queue") == 1 {
		return true
	}
	return !slices.ContainsFunc(all, func(o *queuer) bool {
		return o.invoke.Set && o.key != "" && o.number < c.number && !o.dead && !(q.shuns && o == all[0])
	})
}
