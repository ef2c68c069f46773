package formats_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/history/formats"
)

// traffic is a history of 50 clients that take turns at ten locks. It is
// generated while it is read, so it can have any length without memory.
type traffic struct {
	entries int
	done    int
	w       *formats.Writer
	text    []byte        // generated text
	rest    []byte        // its unread part
	took    time.Duration // time to generate it
}

const clients = 50

var clientNames, lockNames = func() (c, l [clients]string) {
	for i := range clients {
		c[i], l[i] = fmt.Sprintf("client-%d", i), fmt.Sprintf("lock-%d", i%10)
	}
	return c, l
}()

func newTraffic(tb testing.TB, format string, entries int) *traffic {
	t := &traffic{entries: entries}
	var err error
	if t.w, err = formats.NewWriter(t, format, history.Header{Format: 1, LeaseMS: 10000}); err != nil {
		tb.Fatal(err)
	}
	return t
}

func (t *traffic) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	return len(b), nil
}

func (t *traffic) Read(b []byte) (int, error) {
	start := time.Now()
	for len(t.rest) == 0 && t.done <= t.entries {
		t.text = t.text[:0]
		for ; len(t.text) == 0 && t.done < t.entries; t.done++ {
			if err := t.w.Append(entry(t.done)); err != nil {
				return 0, err
			}
		}
		if t.done == t.entries {
			t.done++
			if err := t.w.Close(); err != nil {
				return 0, err
			}
		}
		t.rest = t.text
	}
	t.took += time.Since(start)
	if len(t.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// entry returns line i: the clients acquire one after another, and release.
func entry(i int) history.Entry {
	round, c := i/clients, i%clients
	e := history.Entry{
		Index: i + 1, Time: time.Second + time.Duration(i)*time.Microsecond,
		Client: clientNames[c], Process: history.Process{N: c}, Type: history.Invoke, F: history.Acquire, Lock: lockNames[c],
	}
	switch round % 4 {
	case 1:
		e.Type = history.OK
	case 2:
		e.F = history.Release
	case 3:
		e.Type, e.F = history.OK, history.Release
	}
	if round%4 > 0 {
		e.Grant = round/4*clients + c + 1
	}
	if round%4 == 1 {
		e.Token = uint64(e.Grant)
	}
	return e
}

func readAll(tb testing.TB, t *traffic) (read time.Duration, heap uint64) {
	start := time.Now()
	in, err := formats.NewReader(t, "traffic", formats.Reading{})
	if err != nil {
		tb.Fatal(err)
	}
	n := 0
	for ; ; n++ {
		_, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if n != t.entries {
		tb.Fatalf("%d entries came out of %d", n, t.entries)
	}
	read = time.Since(start) - t.took
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	runtime.KeepAlive(in)
	return read, m.HeapAlloc
}

// BenchmarkReader reads a million operations without the time to generate them.
// The heap is the reader's memory at the end.
func BenchmarkReader(b *testing.B) {
	for _, format := range []string{"jsonl", "edn"} {
		b.Run(format, func(b *testing.B) {
			const entries = 2_000_000
			var took time.Duration
			var heap uint64
			b.ReportAllocs()
			for b.Loop() {
				read, h := readAll(b, newTraffic(b, format, entries))
				took, heap = took+read, max(heap, h)
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(b.N*entries), "ns/line")
			b.ReportMetric(float64(heap)/(1<<20), "heap-MB")
		})
	}
}

// A history is a stream: a long one needs no more memory than a short one, except
// for a few bytes a line.
func TestALongHistoryTakesLittleMemory(t *testing.T) {
	for _, format := range []string{"jsonl", "edn"} {
		const entries = 200_000
		_, short := readAll(t, newTraffic(t, format, 1000))
		_, long := readAll(t, newTraffic(t, format, entries))
		if grown := (int64(long) - int64(short)) / entries; grown > 20 {
			t.Errorf("%s: %d bytes are kept of each line", format, grown)
		}
	}
}
