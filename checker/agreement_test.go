package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/rapidtest"
)

// reference returns Porcupine's verdicts on the properties that it judges, in the
// order of direct. Properties that do not apply there do not apply here either.
func reference(h *history.History, direct []Verdict) (list []Verdict) {
	for _, v := range direct {
		encode := encoders[v.Property]
		if encode == nil {
			continue
		}
		if v.Outcome == Valid || v.Outcome == Violated {
			v.Outcome, _ = linearizable(encode(readLines(journal{list: h.Entries}, nil)), referenceSteps)
		}
		list = append(list, Verdict{Property: v.Property, Outcome: v.Outcome, Reason: v.Reason})
	}
	return list
}

// TestTheJudgesAgree compares the direct checks with Porcupine on random histories. A
// search that Porcupine does not finish in time counts as no agreement; one in a
// hundred may do so.
func TestTheJudgesAgree(t *testing.T) {
	t.Parallel()
	type tally struct{ valid, violated, undecided int }
	tallies := map[Property]*tally{Exclusion: {}, LeaseExclusion: {}, Resource: {}}
	histories := alltests.Budget(12_000, 400)
	rapidtest.CheckN(t, histories, func(rt *rapid.T) {
		h := anyHistory(rt)
		if err := history.Check(h); err != nil {
			rt.Fatal(err)
		}
		direct := Judge(h)
		for _, ref := range reference(h, direct) {
			n, v := tallies[ref.Property], verdictOn(direct, ref.Property)
			switch {
			case v.Outcome == Unknown || v.Outcome == NA:
			case ref.Outcome == Unknown:
				n.undecided++
			case ref.Outcome != v.Outcome:
				var b strings.Builder
				_ = history.Encode(&b, h)
				rt.Fatalf("%s: the direct check says %s (%v), Porcupine says %s\n%s", v.Property, v.Outcome, v.Witness, ref.Outcome, &b)
			case v.Outcome == Violated:
				n.violated++
			default:
				n.valid++
			}
		}
	})
	for p, n := range tallies {
		t.Logf("%s: %+v in %d histories", p, *n, histories)
		// For most histories, resource has nothing to compare.
		if (n.valid+n.violated)*8 < histories {
			t.Errorf("%s: only %d of %d histories were compared", p, n.valid+n.violated, histories)
		}
		if n.undecided*100 > n.valid+n.violated {
			t.Errorf("%s: Porcupine left %d of %d undecided", p, n.undecided, histories)
		}
		// With few histories the shares depend on luck.
		if alltests.Wanted() && (n.valid*200 < histories || n.violated*200 < histories) {
			t.Errorf("%s: %d valid and %d violated of %d histories say little", p, n.valid, n.violated, histories)
		}
	}
}

func verdictOn(list []Verdict, p Property) Verdict {
	return list[slices.Index(Properties[:], p)]
}

// anarchy makes random histories: clients that acquire, release and so on without any
// lock that stops them, or with one that works only sometimes.
type anarchy struct {
	*rapid.T
	h       *history.History
	now     time.Duration
	clients []*anarchist
	grant   int
	process int
	written int64

	makers  []history.Entry  // invokes that may have made entries: acquires, extends
	made    map[int]int64    // by grant: the index of the acquire that made its entries
	works   bool             // the lock works
	own     bool             // the resource writes its own lines
	value   map[string]int64 // by lock: the value of its resource
	holders map[string]int
}

type anarchist struct {
	name    string
	process int
	open    *history.Entry
	grants  []history.Entry // oks of acquires
	given   []history.Entry // oks of acquires whose grants were released
	dead    bool
}

func anyHistory(t *rapid.T) *history.History {
	a := &anarchy{
		T: t, works: rapid.Bool().Draw(t, "the lock works"), own: rapid.Bool().Draw(t, "the resource writes its own lines"),
		h:     &history.History{Header: history.Header{Format: history.Format, LeaseMS: 10_000, Observes: []string{"ownership", "answers"}, ReleaseTells: rapid.Bool().Draw(t, "a release tells")}},
		value: map[string]int64{}, holders: map[string]int{}, made: map[int]int64{},
	}
	for i := range rapid.IntRange(2, 4).Draw(t, "clients") {
		a.process++
		a.clients = append(a.clients, &anarchist{name: fmt.Sprintf("c%d", i+1), process: a.process})
	}
	for range rapid.IntRange(20, 60).Draw(t, "steps") {
		a.now += time.Duration(rapid.IntRange(0, 3).Draw(t, "seconds")) * time.Second
		c := a.clients[rapid.IntRange(0, len(a.clients)-1).Draw(t, "client")]
		switch {
		case a.rarely("fault"):
			a.fault(c)
		case c.dead && (c.open == nil || !a.rarely("the answer was on its way")):
		case a.rarely("something in the background"):
			a.background(c)
		case c.open != nil:
			a.complete(c)
		default:
			a.invoke(c)
		}
	}
	return a.h
}

func (a *anarchy) rarely(what string) bool { return rapid.IntRange(0, 15).Draw(a.T, what) == 15 }

func (a *anarchy) add(e history.Entry) history.Entry {
	e.Index, e.Time = len(a.h.Entries)*2+5, a.now
	a.h.Entries = append(a.h.Entries, e)
	return e
}

func (a *anarchy) fault(c *anarchist) {
	f := rapid.SampledFrom([]string{"pause", "pause-end", "kill", "exit"}).Draw(a.T, "which fault")
	a.add(history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: f, On: []string{c.name}})
	c.dead = c.dead || f == "kill" || f == "exit"
}

// background writes a report of a background task of a client, whatever the client
// does. It may be about any grant of the client, also one under release, or released.
func (a *anarchy) background(c *anarchist) {
	grants := slices.Concat(c.grants, c.given)
	if len(grants) == 0 {
		return
	}
	g := rapid.SampledFrom(grants).Draw(a.T, "grant")
	e := history.Entry{
		Client: c.name, Process: g.Process, Type: history.Event, Grant: g.Grant, Lock: g.Lock,
		F: rapid.SampledFrom([]string{history.Valid, history.Valid, history.Valid, history.Lost}).Draw(a.T, "report"),
	}
	if e.F == history.Valid {
		e.ValidUntil = a.until()
	}
	a.add(e)
}

func (a *anarchy) invoke(c *anarchist) {
	f := history.Acquire
	if len(c.grants) == 0 && a.rarely("it releases by name") {
		f = history.Release
	}
	if len(c.grants) > 0 {
		f = rapid.SampledFrom([]string{
			history.Read, history.Write, history.Release, history.Read, history.Write,
			history.Release, history.Extend, history.Lost, history.Valid, history.Acquire,
		}).Draw(a.T, "f")
	}
	e := history.Entry{Client: c.name, Process: history.Process{N: c.process}, Type: history.Invoke, F: f}
	switch {
	case f == history.Acquire || len(c.grants) == 0:
		e.Lock = rapid.SampledFrom([]string{"a", "a", "a", "b"}).Draw(a.T, "lock")
		e.Shared = f == history.Acquire && rapid.IntRange(0, 3).Draw(a.T, "a reader's") == 3
	default:
		g := len(c.grants) - 1
		e.Grant, e.Lock = c.grants[g].Grant, c.grants[g].Lock
		if f == history.Release {
			a.holders[e.Lock]--
			c.given = append(c.given, c.grants[g])
			c.grants = c.grants[:g]
		}
	}
	switch f {
	case history.Lost:
		e.Type = history.Event
	case history.Valid:
		e.Type, e.ValidUntil = history.Event, a.until()
	case history.Write:
		e.Value = history.Some(a.next(e.Lock))
	}
	e = a.add(e)
	if e.Type != history.Invoke {
		return
	}
	c.open = &e
	if f == history.Acquire || f == history.Extend {
		a.makers = append(a.makers, e)
	}
	if f == history.Release && e.Grant == 0 || a.rarely("a server acts") {
		a.act(history.Some(int64(e.Index)))
	}
}

// act writes a server's act on an entry that some operation made, for the request of
// the invoke by.
func (a *anarchy) act(by history.Opt) {
	if len(a.makers) == 0 {
		return
	}
	a.add(history.Entry{
		Process: history.Process{Name: rapid.SampledFrom([]string{"redis-1", "redis-2", "redis-2b"}).Draw(a.T, "server")},
		Type:    history.Event,
		F: rapid.SampledFrom([]string{
			history.Remove, history.Takeover, history.Change, history.Shorten, history.Granted, history.Prolong, history.Lose, history.Expire,
		}).Draw(a.T, "deed"),
		By: by, Op: history.Some(int64(rapid.SampledFrom(a.makers).Draw(a.T, "of").Index)),
	})
}

// serve writes the server's lines for a request that works.
func (a *anarchy) serve(f string, op int64, by int) {
	a.add(history.Entry{
		Process: history.Process{Name: "redis-1"}, Type: history.Event, F: f,
		By: history.Some(int64(by)), Op: history.Some(op),
	})
}

// standsOn returns an acquire of c whose entries a grant of c may use.
func (a *anarchy) standsOn(c *anarchist) history.Opt {
	var list []int64
	for _, e := range a.makers {
		if e.Client == c.name && e.F == history.Acquire {
			list = append(list, int64(e.Index))
		}
	}
	return history.Some(rapid.SampledFrom(list).Draw(a.T, "stands on"))
}

// next returns the value to write: mostly a new one.
func (a *anarchy) next(lock string) int64 {
	if a.rarely("counts up") {
		return a.value[lock] + 1
	}
	a.written++
	return 100 + a.written
}

// token returns a token that is mostly larger than all before it.
func (a *anarchy) token() uint64 {
	if a.rarely("an old token") {
		return uint64(a.grant / 2)
	}
	return uint64(a.grant)
}

func (a *anarchy) until() time.Duration {
	if a.rarely("no deadline") {
		return 0
	}
	return a.now + time.Duration(rapid.SampledFrom([]int{5, 9, 20, 1, 0, -1}).Draw(a.T, "valid for"))*time.Second
}

func (a *anarchy) complete(c *anarchist) {
	e := *c.open
	e.Type = rapid.SampledFrom([]history.Type{history.OK, history.OK, history.OK, history.OK, history.Fail, history.Info}).Draw(a.T, "answer")
	acquires := e.F == history.Acquire
	if acquires && a.holders[e.Lock] > 0 && e.Type == history.OK && a.works {
		e.Type = history.Fail
	}
	if e.Type == history.Info && a.rarely("the worker died") {
		e.Error = history.ErrCrashed
	}
	by := history.Some(int64(e.Index))
	if acquires && e.Type == history.OK {
		op := int64(e.Index)
		if rapid.IntRange(0, 3).Draw(a.T, "stands on another") == 3 {
			e.Op = a.standsOn(c)
			op = e.Op.V
		}
		a.made[a.grant+1] = op
		if op == int64(e.Index) && !a.rarely("no server grants it") {
			a.serve(history.Granted, op, e.Index)
		}
	}
	if op, ok := a.made[e.Grant]; ok && e.F == history.Release && !a.rarely("no server removes it") {
		a.serve(history.Remove, op, e.Index)
	}
	switch {
	case acquires && e.Type != history.Fail:
		a.grant++
		e.Grant, e.ValidUntil = a.grant, a.until()
		e.Token = a.token()
	case e.F == history.Extend:
		e.ValidUntil = a.until()
		if e.Type == history.Fail {
			e.Error = rapid.SampledFrom([]string{history.ErrLost, history.ErrNotHeld, "unavailable"}).Draw(a.T, "error")
		}
	case e.F == history.Read && e.Type == history.OK:
		e.Value = history.Some(a.value[e.Lock])
		if a.own {
			a.add(history.Entry{Process: history.Process{Name: history.Resource}, Type: history.Event, F: history.Read, Lock: e.Lock, Value: e.Value, By: by})
		}
	case e.F == history.Write && (e.Type == history.OK || (e.Type == history.Info && rapid.Bool().Draw(a.T, "it happened"))):
		was := history.Some(a.value[e.Lock])
		a.value[e.Lock] = e.Value.V
		if a.own {
			a.add(history.Entry{Process: history.Process{Name: history.Resource}, Type: history.Event, F: history.Write, Lock: e.Lock, Value: e.Value, Was: was, By: by})
		}
	}
	e = a.add(e)
	c.open = nil
	if e.Type == history.Info {
		a.process++
		c.process = a.process
		c.dead = c.dead || e.Error == history.ErrCrashed
	}
	// A later line may show that an indeterminate acquire was granted.
	if acquires && (e.Type == history.OK || (e.Type == history.Info && a.rarely("goes on"))) {
		a.holders[e.Lock]++
		c.grants = append(c.grants, e)
	}
}
