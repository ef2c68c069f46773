package checker

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/history"
)

// TestMonitorKeepsTheSpecs checks that a monitor gives the verdicts of the specs, for
// histories that the simulator could have written.
func TestMonitorKeepsTheSpecs(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, p := range Properties {
		for _, s := range specs[p] {
			h := story(t, s.story)
			if len(h.Entries) == 0 || !simulated(h) {
				continue
			}
			tried++
			m := watched(h)
			for _, v := range Judge(h)[:len(Monitored)] {
				if got := m.Violated().Has(v.Property); got != (v.Outcome == Violated) {
					t.Errorf("%s/%s: %s is %s, and the monitor says %v", p, s.name, v.Property, v.Outcome, m.Violated().List())
				}
			}
		}
	}
	t.Logf("%d specs", tried)
	if tried < 60 {
		t.Errorf("only %d specs could be tried", tried)
	}
}

// seen returns a monitor that has read h.
func seen(h *history.History) *Monitor {
	m := new(Monitor)
	m.Reset(h.Header)
	for i := range h.Entries {
		m.Add(&h.Entries[i])
	}
	return m
}

// watched returns a monitor that has read h and its end.
func watched(h *history.History) *Monitor {
	m := seen(h)
	last := h.Entries[len(h.Entries)-1]
	m.Add(&history.Entry{
		Index: last.Index + 1, Time: last.Time,
		Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: history.Ended,
	})
	return m
}

// simulated reports whether the simulator could have written h, as far as a monitor
// relies on it.
func simulated(h *history.History) bool {
	if h.Header.RealTime() {
		return false
	}
	places := map[string]bool{} // locks, keys, servers
	open, proc := map[string]bool{}, map[string]int{}
	accessed := false
	for i := range h.Entries {
		e := &h.Entries[i]
		switch {
		case e.F == history.Extend, e.F == history.Valid, e.F == history.Lost, e.Shared, strings.HasSuffix(e.F, history.DoneSuffix):
			return false
		case e.F == history.Read && e.Type == history.Info:
			return false
		case e.Process.Name == history.Resource:
			accessed = true
		case e.Process.Client() && e.Type == history.Invoke:
			if open[e.Client] || proc[e.Client] > e.Process.N || e.F != history.Acquire && !accessed && e.F != history.Release && e.F != history.Read {
				return false
			}
			open[e.Client], proc[e.Client] = true, e.Process.N
		case e.Process.Client():
			if e.Process.N != proc[e.Client] {
				return false
			}
			open[e.Client] = false
		case deedOf(e.F) != 0:
			if !e.Op.Set {
				return false
			}
			places["server "+e.Process.Name], places["key "+e.Key] = true, true
		}
		if e.Process.Client() || e.Lock != "" {
			places["lock "+e.Lock] = true
		}
	}
	for _, kind := range []string{"lock ", "key ", "server "} {
		n := 0
		for name := range places {
			if strings.HasPrefix(name, kind) {
				n++
			}
		}
		if n > 1 {
			return false
		}
	}
	return h.Entries[len(h.Entries)-1].Time > 0 && slices.Contains(h.Header.Observes, string(Answers))
}

// TestMonitorConvictsWhenItCan checks that a violation is reported at the first line
// after which no later line can remove it. ">" marks that line; without a mark it is
// the end.
func TestMonitorConvictsWhenItCan(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, faults string
		noExit       bool
		property     Property
		story        string
	}{
		{"an overlap at the second ok", "pause", true, Exclusion, paused + `
			> 4 c2 acquire ok
			5 nemesis pause-end id=1 on=c1`},
		{"a client that is paused may be killed", "pause,kill", true, Exclusion, paused + `
			4 c2 acquire ok
			> 5 nemesis pause-end id=1 on=c1`},
		{"a client that is paused later held then", "pause,kill", true, Exclusion, contended + `
			> 4 c2 acquire ok
			5 nemesis pause id=1 on=c1`},
		{"a client that is killed held before", "kill", false, Exclusion, contended + `
			3 c2 acquire ok
			> 4 nemesis kill id=1 on=c1`},
		{"a client that may end by itself has to show that it lives", "pause", false, Exclusion, contended + `
			3 c2 acquire ok
			4 c1 release
			> 5 c1 release ok`},
		{"a client that shows nothing has lived, in the end", "pause", false, Exclusion, contended + `
			3 c2 acquire ok
			4 c1 release`},
		{"two that believe in it", "pause", true, LeaseExclusion, `
			0 c1 acquire
			1 c1 acquire ok until=10
			2 c2 acquire
			> 9.9 c2 acquire ok until=19`},
		{"an entry that is taken away", "pause", true, Ownership, `
			0 c1 acquire
			0.5 redis-1 grant of=c1 by=c1
			1 c1 acquire ok until=10
			2 c2 acquire
			3 c2 acquire ok until=10
			4 c2 release
			> 5 redis-1 remove of=c1 by=c2`},
		{"an entry that is taken away before its ok", "pause", true, Ownership, `
			0 c2 acquire
			0.1 c2 acquire ok until=10
			0.2 c2 release
			0.3 c1 acquire
			0.5 redis-1 grant of=c1 by=c1
			0.6 redis-1 remove of=c1 by=c2
			> 1 c1 acquire ok until=10`},
		{"a no that left something", "pause", true, Answers, `
			0 c1 acquire
			0.5 redis-1 grant of=c1 by=c1
			> 1 c1 acquire fail error=held`},
		{"a release that gave nothing back", "pause", true, Answers, `
			0 c1 acquire
			0.5 redis-1 grant of=c1 by=c1
			1 c1 acquire ok
			2 c1 release
			3 c1 release ok
			30 nemesis pause id=1 on=c1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			at, n := 0, 0
			for line := range strings.Lines(tt.story) {
				if line = strings.TrimSpace(line); line != "" {
					if n++; line[0] == '>' {
						at = n
					}
				}
			}
			h := story(t, strings.ReplaceAll(tt.story, ">", " "))
			h.Header.Faults = strings.Split(tt.faults, ",")
			m := new(Monitor)
			m.Reset(h.Header)
			m.NoExit = tt.noExit
			got := 0
			for i := range h.Entries {
				if m.Add(&h.Entries[i]); got == 0 && m.Violated().Has(tt.property) {
					got = i + 1
				}
			}
			if got != at {
				t.Errorf("convicted at line %d, want %d", got, at)
			}
			if end := watched(h); !end.Violated().Has(tt.property) {
				t.Error("not convicted in the end")
			}
		})
	}
}

// TestAnOverlapCanTurnOutToBeNone checks overlaps that a death removes: a client
// killed in a pause had not held since, and a client that exited had held up to its
// last sign of life.
func TestAnOverlapCanTurnOutToBeNone(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"killed in its pause": paused + `
			4 c2 acquire ok
			5 nemesis kill id=2 on=c1`,
		"ended by itself": contended + `
			4 c2 acquire ok
			5 c1 release
			6 c1 release info error=timeout
			7 c1' acquire
			8 c1' acquire info error=budget
			8 nemesis exit on=c1`,
	} {
		h := story(t, text)
		if m := watched(h); m.Violated() != 0 && m.Violated() != inAnswers {
			t.Errorf("%s: %v", name, m.Violated().List())
		}
		if v := Judge(h)[0]; v.Outcome != Valid {
			t.Errorf("%s: the judge says %s", name, v.Outcome)
		}
	}
}

// BenchmarkMonitor measures one line and the state after it, in a run in which five
// clients take turns.
func BenchmarkMonitor(b *testing.B) {
	h := busyRun(b, 20)
	m := new(Monitor)
	m.Reset(h.Header)
	var state []byte
	for name, each := range map[string]func(*history.Entry){
		"add":       func(*history.Entry) {},
		"add+state": func(e *history.Entry) { state = m.AppendState(state[:0], e.Time) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			m.Reset(h.Header)
			i := 0
			for b.Loop() {
				if i == len(h.Entries) {
					i = 0
					m.Reset(h.Header)
				}
				m.Add(&h.Entries[i])
				each(&h.Entries[i])
				i++
			}
		})
	}
}
