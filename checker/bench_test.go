package checker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/history"
)

// busyRun returns a run as the simulator makes it: n grants, and five clients. Each
// client asks before its predecessor has released.
func busyRun(t testing.TB, n int) *history.History {
	var b strings.Builder
	for i := range n {
		now, me, next := 0.1*float64(i), fmt.Sprintf("c%d", i%5+1), fmt.Sprintf("c%d", (i+1)%5+1)
		if i == 0 {
			fmt.Fprintf(&b, "%.4f %s acquire lock=a\n", now, me)
		}
		fmt.Fprintf(&b, "%.4f redis grant of=%s by=%s key=a lock=a\n", now+.001, me, me)
		fmt.Fprintf(&b, "%.4f %s acquire ok until=%.4f token=%d lock=a\n", now+.002, me, now+10, i+1)
		fmt.Fprintf(&b, "%.4f %s acquire lock=a\n", now+.003, next)
		fmt.Fprintf(&b, "%.4f %s read lock=a\n", now+.01, me)
		fmt.Fprintf(&b, "%.4f resource read by=%s value=%d lock=a\n", now+.011, me, i)
		fmt.Fprintf(&b, "%.4f %s read ok value=%d lock=a\n", now+.012, me, i)
		fmt.Fprintf(&b, "%.4f %s write value=%d lock=a\n", now+.02, me, i+1)
		fmt.Fprintf(&b, "%.4f resource write by=%s value=%d was=%d lock=a\n", now+.021, me, i+1, i)
		fmt.Fprintf(&b, "%.4f %s write ok value=%d lock=a\n", now+.022, me, i+1)
		fmt.Fprintf(&b, "%.4f %s release lock=a\n", now+.05, me)
		fmt.Fprintf(&b, "%.4f redis remove of=%s by=%s key=a lock=a\n", now+.051, me, me)
		fmt.Fprintf(&b, "%.4f %s release ok lock=a\n", now+.052, me)
	}
	return story(t, b.String())
}

func TestABusyRunHasNothingToObject(t *testing.T) {
	t.Parallel()
	for _, v := range JudgeBoth(busyRun(t, 100)) {
		if want := map[bool]Outcome{false: Valid, true: NA}[v.Property == Fairness]; v.Outcome != want { // it has no queue
			t.Errorf("%s is %s: %s %v", v.Property, v.Outcome, v.Reason, v.Witness)
		}
	}
}

// BenchmarkJudge judges 100 grants in 1,200 entries.
func BenchmarkJudge(b *testing.B) {
	h := busyRun(b, 100)
	b.ReportAllocs()
	for b.Loop() {
		Judge(h)
	}
}

// BenchmarkExamine also counts the hazards that were reached.
func BenchmarkExamine(b *testing.B) {
	h := busyRun(b, 100)
	b.ReportAllocs()
	for b.Loop() {
		new(Examiner).Examine(h)
	}
}

// faultyRun is a busy run with faults.
func faultyRun(t testing.TB) *history.History {
	h := busyRun(t, 100)
	var list []history.Entry
	for i := range h.Entries {
		e := h.Entries[i]
		list = append(list, e)
		if i%300 == 150 {
			f := "pause"
			if i > 600 {
				f = "delay"
			}
			list = append(list, history.Entry{Time: e.Time, Process: history.Process{Name: history.Nemesis}, Type: history.Event, F: f, ID: i, On: []string{"c1", "redis"}})
		}
		if i%300 == 200 {
			f := "pause-end"
			if i > 600 {
				f = "delay-end"
			}
			list = append(list, history.Entry{Time: e.Time, Process: history.Process{Name: history.Nemesis}, Type: history.Event, F: f, ID: i - 50, On: []string{"c1", "redis"}})
		}
	}
	return &history.History{Header: h.Header, Entries: list}
}

// BenchmarkExamineFaults also counts what four faults hit.
func BenchmarkExamineFaults(b *testing.B) {
	h := faultyRun(b)
	b.ReportAllocs()
	x := new(Examiner)
	for b.Loop() {
		x.Examine(h)
	}
}
