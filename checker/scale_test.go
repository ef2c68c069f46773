package checker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/checker/models"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/history/formats"
)

// queueing is a history in which clients take turns: while one holds, all others
// wait. An operation is an acquire or a release with its completion.
type queueing struct {
	operations, clients int
	infos               int // acquires that are never answered
	violated            bool
}

// each calls f with one entry after the other. They are made on the fly: a million
// operations as entries would take 600 MB.
func (q queueing) each(f func(*history.Entry)) {
	e := history.Entry{Lock: "a"}
	say := func(process, client int, typ history.Type, what string) {
		e.Index++
		e.Time += time.Microsecond
		e.Process.N, e.Client, e.Type, e.F = process, clientNames[client], typ, what
		f(&e)
	}
	process, next := make([]int, q.clients), q.clients
	for c := range process {
		process[c] = c
		say(c, c, history.Invoke, history.Acquire)
	}
	for i := range q.operations / 2 {
		c := i % q.clients
		if q.infos > 0 && i%(q.operations/2/q.infos) == 1 { // its answer never comes; it asks again
			say(process[c], c, history.Info, history.Acquire)
			process[c] = next
			next++
			say(process[c], c, history.Invoke, history.Acquire)
		}
		say(process[c], c, history.OK, history.Acquire)
		if q.violated && i == q.operations/2-10 { // the next client is granted it, too
			o := (c + 1) % q.clients
			say(process[o], o, history.OK, history.Acquire)
			say(process[o], o, history.Invoke, history.Release)
			say(process[o], o, history.OK, history.Release)
			say(process[o], o, history.Invoke, history.Acquire)
		}
		say(process[c], c, history.Invoke, history.Release)
		say(process[c], c, history.OK, history.Release)
		say(process[c], c, history.Invoke, history.Acquire)
	}
}

var clientNames = func() (names [64]string) {
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i+1)
	}
	return names
}()

func (q queueing) judge() models.Verdict {
	m, err := models.Parse("owner-mutex")
	if err != nil {
		panic(err)
	}
	j := models.New(m, models.Options{})
	line := 0
	q.each(func(e *history.Entry) { line++; j.Add(e, line) })
	return j.Verdict(context.Background())
}

// porcupineAlone is the usual check without lockcheck: every operation unchanged, and
// a mutex that knows its owner.
func (q queueing) porcupineAlone(timeout time.Duration) porcupine.CheckResult {
	type op struct {
		acquire  bool
		process  int
		answered bool
	}
	var ops []porcupine.Operation
	open := map[int]int{}
	at := int64(0)
	q.each(func(e *history.Entry) {
		at++
		if e.Type == history.Invoke {
			open[e.Process.N] = len(ops)
			ops = append(ops, porcupine.Operation{ClientId: e.Process.N, Input: op{e.F == history.Acquire, e.Process.N, false}, Call: at, Return: math.MaxInt64})
			return
		}
		if e.Type == history.OK {
			o := &ops[open[e.Process.N]]
			o.Return, o.Input = at, op{e.F == history.Acquire, e.Process.N, true}
		}
	})
	return porcupine.CheckOperationsTimeout(porcupine.Model{
		Init: func() any { return -1 },
		Step: func(s, in, _ any) (bool, any) {
			o := in.(op)
			switch {
			case o.acquire && s.(int) == -1:
				return true, o.process
			case !o.acquire && s.(int) == o.process:
				return true, -1
			}
			return !o.answered, s // it may not have happened
		},
	}, ops, timeout)
}

// scales are the rows of the table in docs/speed.md.
var scales = []struct {
	name    string
	q       queueing
	alone   time.Duration // how long Porcupine alone may try; 0: it would need more memory than there is
	within  time.Duration
	outcome checker.Outcome
}{
	{"100000-valid", queueing{operations: 100_000, clients: 5}, time.Minute, 100 * time.Millisecond, checker.Valid},
	{"1000000-valid", queueing{operations: 1_000_000, clients: 50}, 0, time.Second, checker.Valid},
	{"1000000-violated", queueing{operations: 1_000_000, clients: 50, violated: true}, 0, time.Second, checker.Violated},
	{"1000-with-20-unanswered", queueing{operations: 1000, clients: 10, infos: 20, violated: true}, 5 * time.Second, 5 * time.Millisecond, checker.Violated},
	{"1000-with-200-unanswered", queueing{operations: 1000, clients: 10, infos: 200, violated: true}, 5 * time.Second, 20 * time.Millisecond, checker.Violated},
}

// BenchmarkScale judges long and uncertain histories, here and by Porcupine alone. If
// Porcupine has no answer in time, its row has 0 as decided.
func BenchmarkScale(b *testing.B) {
	for _, s := range scales {
		b.Run(s.name+"/lockcheck", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v := s.q.judge()
				if v.Outcome != s.outcome {
					b.Fatalf("%s: %s %v", v.Outcome, v.Reason, v.Witness)
				}
			}
			b.ReportMetric(float64(used())/1e6, "MB")
		})
		if s.alone == 0 {
			continue
		}
		b.Run(s.name+"/porcupine", func(b *testing.B) {
			b.ReportAllocs()
			result := porcupine.Unknown
			for b.Loop() {
				result = s.q.porcupineAlone(s.alone)
			}
			decided := 0.0
			if result != porcupine.Unknown {
				decided = 1
			}
			b.ReportMetric(decided, "decided")
		})
	}
}

func (q queueing) log() *history.Log {
	l := &history.Log{Header: history.Header{Format: history.Format}}
	q.each(l.Add)
	return l
}

// Properties of a million operations, two million entries, are judged in less than
// 300 MB: 40 bytes for each entry in the log, and 110 for the judges. The test counts
// all allocations for a tenth of them, including garbage.
func TestALongHistoryNeedsLittleMemory(t *testing.T) {
	q := queueing{operations: 100_000, clients: 50, violated: true}
	allocated := func(f func()) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(2*q.operations)
	}
	var l *history.Log
	var verdicts []checker.Verdict
	kept := allocated(func() { l = q.log() })
	judged := allocated(func() { verdicts = checker.JudgeLog(t.Context(), l) })
	reached := allocated(func() { checker.ReachLog(l) })
	t.Logf("bytes per entry: %.0f for the log, %.0f to judge it, %.0f to count", kept, judged, reached)
	if verdicts[0].Outcome != checker.Violated {
		t.Errorf("%s is %s: %s", verdicts[0].Property, verdicts[0].Outcome, verdicts[0].Reason)
	}
	if kept > 40 || max(judged, reached) > 150 {
		t.Errorf("bytes per entry: %.0f for the log, %.0f to judge it, %.0f to count; 40, 150 and 150 are allowed", kept, judged, reached)
	}
}

// BenchmarkProperties judges a million operations by properties.
func BenchmarkProperties(b *testing.B) {
	for _, s := range scales[1:3] {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				l := s.q.log()
				if v := checker.JudgeLog(b.Context(), l)[0]; v.Outcome != s.outcome {
					b.Fatalf("%s: %s", v.Outcome, v.Reason)
				}
				checker.ReachLog(l)
			}
			b.ReportMetric(float64(used())/1e6, "MB")
		})
	}
}

// BenchmarkFile judges a million operations from a JSON Lines file.
func BenchmarkFile(b *testing.B) {
	q := queueing{operations: 1_000_000, clients: 50, violated: true}
	path := filepath.Join(b.TempDir(), "history.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w, err := formats.NewWriter(f, "jsonl", history.Header{Format: history.Format})
	if err != nil {
		b.Fatal(err)
	}
	q.each(func(e *history.Entry) {
		if err := w.Append(*e); err != nil {
			b.Fatal(err)
		}
	})
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		b.Fatal(err)
	}
	m, err := models.Parse("owner-mutex")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if v := judgeFile(b, m, path); v.Outcome != checker.Violated {
			b.Fatalf("%s %s", v.Outcome, v.Reason)
		}
	}
	b.ReportMetric(float64(used())/1e6, "MB")
}

func judgeFile(b *testing.B, m models.Model, path string) models.Verdict {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	in, err := formats.NewReader(f, path, formats.Reading{})
	if err != nil {
		b.Fatal(err)
	}
	j := models.New(m, models.Options{})
	for {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			return j.Verdict(context.Background())
		}
		if err != nil {
			b.Fatal(err)
		}
		j.Add(&e, in.Line())
	}
}

// used returns the size of the program's heap.
func used() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// BenchmarkGrowth fits the growth of the time with the operations, from ten thousand
// to a million: time is n to the power of the exponent.
func BenchmarkGrowth(b *testing.B) {
	for b.Loop() {
		var x, y []float64
		for n := 10_000; n <= 1_000_000; n *= 10 {
			best := time.Hour
			for range 3 {
				runtime.GC()
				start := time.Now()
				queueing{operations: n, clients: 50}.judge()
				best = min(best, time.Since(start))
			}
			x, y = append(x, math.Log(float64(n))), append(y, math.Log(best.Seconds()))
		}
		b.ReportMetric(slope(x, y), "exponent")
	}
}

// slope returns the slope of the line through the points with the least squares.
func slope(x, y []float64) float64 {
	var mx, my, xy, xx float64
	for i := range x {
		mx, my = mx+x[i]/float64(len(x)), my+y[i]/float64(len(y))
	}
	for i := range x {
		xy, xx = xy+(x[i]-mx)*(y[i]-my), xx+(x[i]-mx)*(x[i]-mx)
	}
	return xy / xx
}
