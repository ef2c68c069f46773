package explore

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/workloads"
)

// A prefix is a run up to a line.
type prefix struct {
	run     *history.History
	n       int // lines
	monitor *checker.Monitor
}

// Equal states have equal futures. Where two runs of one lock reach the same state, the
// rest of one run is appended to the start of the other. Judge must give it the
// verdicts of the one run.
func TestEqualStatesHaveEqualFutures(t *testing.T) {
	t.Parallel()
	runs := alltests.Budget(160, 20)              // of each of 30 batches
	pairs, later := 0, map[checker.Property]int{} // violated after the two runs met
	eachMonitored(func(name string, s *Settings) {
		s.Lease, s.Clients, s.Acquires = time.Second, Exactly(2), Range{1, 3}
		s.Shape = workloads.Shape{Hold: s.Lease, Latency: 102 * time.Microsecond}
		for _, kinds := range [][]string{{"pause"}, {"pause", "kill"}, {"drop-reply", "delay", "partition"}, {"server-jump", "restart-lost"}} {
			s.Kinds, s.Count = s.Kinds[:0], Exactly(2)
			for _, k := range kinds {
				f, _ := faults.Find(k)
				s.Kinds = append(s.Kinds, f)
			}
			met := map[string][]prefix{}
			for i := range runs / 4 {
				plan := s.Plan(i)
				plan.Scripts = evenScripts(plan)
				h, err := harness.Repeat(sim.Simulator, plan)
				must(t, err)
				h.Header.Faults = kinds // the same faults may strike in all
				verdicts := checker.Judge(h)
				m := new(checker.Monitor)
				m.Reset(h.Header)
				for n := range h.Entries {
					m.Add(&h.Entries[n])
					key := string(outside(h, n+1, m.AppendState(nil, h.Entries[n].Time)))
					for _, p := range met[key] {
						spliced := splice(p, prefix{h, n + 1, m})
						if spliced == nil {
							continue
						}
						if err := history.Check(spliced); err != nil {
							t.Fatalf("%s: %v", name, err)
						}
						pairs++
						for j, v := range checker.Judge(spliced)[:len(checker.Monitored)] {
							violated := v.Outcome == checker.Violated
							if violated != (verdicts[j].Outcome == checker.Violated) {
								t.Fatalf("%s: %d lines of run %d, and run %d behind line %d: %s is %s, and in that run %s\nstate %q",
									name, p.n, p.run.Header.Seed, h.Header.Seed, n+1, v.Property, v.Outcome, verdicts[j].Outcome, key)
							}
							if violated && !m.Violated().Has(v.Property) {
								later[v.Property]++
							}
						}
					}
					if len(met[key]) < 2 && i%5 == 0 {
						met[key] = append(met[key], prefix{h, n + 1, after(h, n+1)})
					}
				}
			}
		}
	})
	t.Logf("%d pairs, violated later: %v", pairs, later)
	if pairs < runs {
		t.Error("too few pairs of runs met")
	}
	for _, p := range checker.Monitored {
		if later[p] == 0 && alltests.Wanted() {
			t.Errorf("%s was never violated after two runs had met", p)
		}
	}
}

// evenScripts returns scripts whose clients hold for the same time in each section: with few
// choices, runs meet often.
func evenScripts(plan *harness.Plan) []workloads.Script {
	var list []workloads.Script
	for i, name := range plan.Clients {
		script := workloads.Script{Client: name}
		for range plan.Acquires {
			script.Steps = append(script.Steps,
				workloads.Step{Do: history.Acquire, Wait: time.Duration(i) * plan.Lease / 10, Limit: 2 * plan.Lease},
				workloads.Step{Do: history.Read},
				workloads.Step{Do: history.Write, Wait: plan.Lease / 2},
				workloads.Step{Do: history.Release})
		}
		list = append(list, script)
	}
	return list
}

func after(h *history.History, n int) *checker.Monitor {
	m := new(checker.Monitor)
	m.Reset(h.Header)
	for i := range n {
		m.Add(&h.Entries[i])
	}
	return m
}

// outside appends what a search knows about its clients beside their monitor: the open
// operations and the dead clients.
func outside(h *history.History, n int, b []byte) []byte {
	open := map[string]string{}
	for i := range n {
		e := &h.Entries[i]
		switch {
		case e.Process.Client() && e.Type == history.Invoke:
			open[e.Client] = e.F
		case e.Process.Client():
			delete(open, e.Client)
		case e.F == "kill":
			open[e.On[0]+" is dead"] = ""
		}
	}
	return fmt.Append(b, open)
}

// splice returns a followed by the rest of b, with the names of a; nil if the rest
// refers to something that a lacks.
func splice(a, b prefix) *history.History {
	s := splicer{
		a: a, b: b,
		shift: a.run.Entries[a.n-1].Time - b.run.Entries[b.n-1].Time,
		procs: map[int]int{},
	}
	s.tokenA, s.valueA = a.monitor.Base()
	s.tokenB, s.valueB = b.monitor.Base()
	h := &history.History{Header: a.run.Header, Entries: slices.Clone(a.run.Entries[:a.n])}
	for _, e := range b.run.Entries[b.n:] {
		if !s.rename(&e) {
			return nil
		}
		h.Entries = append(h.Entries, e)
	}
	return h
}

type splicer struct {
	a, b           prefix
	shift          time.Duration
	procs          map[int]int
	tokenA, tokenB uint64
	valueA, valueB int64
}

// afresh is added to numbers so that neither run has them.
const afresh = 1000

func (s *splicer) rename(e *history.Entry) bool {
	e.Index += s.a.n - s.b.n
	e.Time += s.shift
	if e.ValidUntil != 0 {
		e.ValidUntil += s.shift
	}
	if e.Token != 0 {
		if e.Token += s.tokenA - s.tokenB; int64(e.Token) <= 0 {
			return false // the counter had restarted, and no token is that small
		}
	}
	e.Value.V += s.valueA - s.valueB
	e.Was.V += s.valueA - s.valueB
	if e.Process.Client() {
		e.Process.N = s.process(e)
	}
	return s.call(&e.By) && s.call(&e.Op) && s.grant(e)
}

// process returns the process in a that corresponds to one in b.
func (s *splicer) process(e *history.Entry) int {
	n := e.Process.N
	if _, ok := s.procs[n]; !ok {
		s.procs[n] = n + afresh
		if here := current(s.a, e.Client); here != 0 && current(s.b, e.Client) == n {
			s.procs[n] = here
		}
	}
	return s.procs[n]
}

// current returns the process of a client that has not retired; 0: none.
func current(p prefix, client string) (n int) {
	for i := range p.n {
		if e := &p.run.Entries[i]; e.Process.Client() && e.Client == client {
			if n = e.Process.N; e.Type == history.Info {
				n = 0
			}
		}
	}
	return n
}

// call renames a reference to an invoke.
func (s *splicer) call(index *history.Opt) bool {
	switch {
	case !index.Set:
	case index.V > int64(s.b.n):
		index.V += int64(s.a.n - s.b.n)
	default:
		to := s.same(int(index.V))
		index.V = int64(to)
		return to != 0
	}
	return true
}

// same returns the invoke in a with the name of an invoke in b, by index; 0: none.
func (s *splicer) same(index int) int {
	name := s.b.monitor.AppendCall(nil, index, s.b.run.Entries[s.b.n-1].Time)
	for i := range s.a.n {
		e := &s.a.run.Entries[i]
		if e.Type == history.Invoke && bytes.Equal(name, s.a.monitor.AppendCall(nil, e.Index, s.a.run.Entries[s.a.n-1].Time)) {
			return e.Index
		}
	}
	return 0
}

// grant renames the grant of a line to that of the acquire in a with the same name.
func (s *splicer) grant(e *history.Entry) bool {
	if e.Grant == 0 {
		return true
	}
	from := acquireOf(s.b, e.Grant)
	if from == 0 {
		e.Grant += afresh
		return true
	}
	to := s.same(from)
	e.Grant = grantOf(s.a, to)
	return e.Grant != 0
}

// acquireOf returns the index of the acquire that got a grant; 0: none.
func acquireOf(p prefix, grant int) int {
	invokes := map[string]int{}
	for i := range p.n {
		e := &p.run.Entries[i]
		if !e.Process.Client() || e.F != history.Acquire {
			continue
		}
		if e.Type == history.Invoke {
			invokes[e.Client] = e.Index
		} else if e.Grant == grant {
			return invokes[e.Client]
		}
	}
	return 0
}

// grantOf returns the grant of the acquire with that index; 0: none.
func grantOf(p prefix, index int) int {
	if index == 0 {
		return 0
	}
	client := p.run.Entries[index-1].Client
	for i := index; i < p.n; i++ {
		if e := &p.run.Entries[i]; e.Process.Client() && e.Client == client && e.F == history.Acquire {
			return e.Grant
		}
	}
	return 0
}
