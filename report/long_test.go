package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/report"
)

// sections returns a history of n critical sections with four operations each. In every
// thousandth another client holds the lock, too, and every thousandth has a pause.
func sections(n int) *history.History {
	h := &history.History{Header: history.Header{Format: history.Format}}
	var at time.Duration
	add := func(e history.Entry) int {
		at += 50 * time.Microsecond
		e.Index, e.Time = len(h.Entries), at
		if e.F == history.Acquire && e.Type == history.OK {
			e.Grant = e.Index
		}
		h.Entries = append(h.Entries, e)
		return e.Grant
	}
	for k := range n {
		who := history.Process{N: k % 5}
		does := func(f string, grant int, said, read history.Opt) int {
			add(history.Entry{Process: who, Type: history.Invoke, F: f, Lock: "a", Grant: grant, Value: said})
			return add(history.Entry{Process: who, Type: history.OK, F: f, Lock: "a", Grant: grant, Value: read})
		}
		grant := does(history.Acquire, 0, history.Opt{}, history.Opt{})
		does(history.Read, grant, history.Opt{}, history.Some(int64(k)))
		if k%1_000 == 7 {
			who.N += 10
			does(history.Acquire, 0, history.Opt{}, history.Opt{})
			who.N -= 10
			for _, f := range []string{"pause", "pause" + history.EndSuffix} {
				add(history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: f, ID: k + 1, On: []string{"c1"}})
			}
		}
		next := history.Some(int64(k + 1))
		does(history.Write, grant, next, next)
		does(history.Release, grant, history.Opt{}, history.Opt{})
	}
	return h
}

// A history that is too long for a story in a terminal has one on its page.
func TestThePageOfALongHistory(t *testing.T) {
	t.Parallel()
	h := sections(report.StoryEntries / 7)
	verdicts := checker.JudgeBoth(h)
	var text, page bytes.Buffer
	if err := report.Story(&text, h, verdicts, report.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := report.Page(&page, h, verdicts, report.PageOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "a story is told of up to 100,000") {
		t.Errorf("the story:\n%s", &text)
	}
	for _, want := range []string{"both hold", `id="picture"`, `class="told"`} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if page.Len() > 4<<20 {
		t.Errorf("the page has %d bytes", page.Len())
	}
}

// BenchmarkPage writes the page of a million operations.
func BenchmarkPage(b *testing.B) {
	h := sections(250_000)
	verdicts := checker.JudgeBoth(h)
	for b.Loop() {
		var page bytes.Buffer
		if err := report.Page(&page, h, verdicts, report.PageOptions{}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(page.Len())/1e6, "MB")
	}
}
