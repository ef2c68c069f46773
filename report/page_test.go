package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/browsertest"
)

// pageOf returns the page of a history.
func pageOf(t testing.TB, h *history.History, verdicts []checker.Verdict) string {
	t.Helper()
	var b bytes.Buffer
	if err := Page(&b, h, verdicts, PageOptions{Again: "lockcheck replay schedule.json", Version: "0"}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The page is one file that requests nothing, has the whole story, and is the same for
// the same run.
func TestPageIsSelfContained(t *testing.T) {
	t.Parallel()
	h, v := pauseOverLease()
	page := pageOf(t, h, v)
	if page != pageOf(t, h, v) {
		t.Error("two pages of one run differ")
	}
	if !strings.HasPrefix(page, "<!doctype html>") || !strings.Contains(page, PageMark) {
		t.Error("the page is not recognised as one of lockcheck")
	}
	for _, request := range regexp.MustCompile(`(?i)(https?:)?//[a-z0-9.-]+/|<link[^>]+stylesheet|<script[^>]+src|<img|url\(|@import|fetch\(|XMLHttp`).FindAllString(page, -1) {
		t.Errorf("it has a request: %s", request)
	}
	browsertest.Sources(t, page)
	var text bytes.Buffer
	if err := Story(&text, h, v, Options{}); err != nil {
		t.Fatal(err)
	}
	plot := newPlot(h, v, choose(h, v, Options{}))
	for _, s := range plot.told() {
		if !strings.Contains(page, strings.ReplaceAll(s.Text, "'", "&#39;")) {
			t.Errorf("no %q", s.Text)
		}
	}
}

// A part without an event is drawn short; everything else is to scale.
func TestScaleShortensOnlyWhatIsQuiet(t *testing.T) {
	t.Parallel()
	s := time.Second
	scale, breaks := newScale([]time.Duration{0, s, 2 * s, 100 * s, 101 * s})
	if len(breaks) != 1 || breaks[0][0] < 2*s || breaks[0][1] > 100*s {
		t.Fatalf("drawn short: %v", breaks)
	}
	one, last := scale.at(s)-scale.at(0), scale.at(101*s)-scale.at(100*s)
	if one < 5 || one/last < 0.999 || one/last > 1.001 {
		t.Errorf("a second is %.2f %% wide, then %.2f %%", one, last)
	}
	if _, breaks := newScale([]time.Duration{0, s, 2 * s, 3 * s, 4 * s}); breaks != nil {
		t.Errorf("drawn short: %v", breaks)
	}
	for at := time.Duration(0); at < 101*s; at += s / 3 {
		if scale.at(at) >= scale.at(at+s/3) {
			t.Fatalf("%v is not before %v", at, at+s/3)
		}
	}
}

// Names and texts of a history are shown, and do nothing.
func TestPageShowsHostileText(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		`<script>document.title="x"</script>`, `"><img src=x onerror=alert(1)>`, "c1\u202e\u2066gnp", strings.Repeat("long ", 2000),
		"</script><script>alert(1)</script>", "{{.Title}}", "javascript:alert(1)", "\x00\x1b[31m",
	} {
		h := recorded(t, fmt.Sprintf(`{"lockcheck":1,"lease_ms":10000,"lock":%q}
{"time":0,"client":%[1]q,"process":1,"type":"invoke","f":"acquire","lock":%[1]q}
{"time":1000000000,"client":%[1]q,"process":1,"type":"ok","f":"acquire","lock":%[1]q}
{"time":1000000000,"client":"c2","process":2,"type":"invoke","f":"acquire","lock":%[1]q}
{"time":2000000000,"client":"c2","process":2,"type":"ok","f":"acquire","lock":%[1]q}
{"time":3000000000,"client":%[1]q,"process":1,"type":"invoke","f":"release","lock":%[1]q}
{"time":4000000000,"client":%[1]q,"process":1,"type":"fail","f":"release","lock":%[1]q,"error":%[1]q,"text":%[1]q}`, strings.ToValidUTF8(jsonSafe(hostile), "")))
		page := pageOf(t, h, checker.Judge(h))
		if n := strings.Count(page, "<script"); n != 2 {
			t.Errorf("%q: %d scripts", hostile, n)
		}
		if strings.Contains(page, "<img") || strings.ContainsAny(page, "\u202e\u2066\x00\x1b") || len(page) > 200_000 {
			t.Errorf("%q gets into the page of %d bytes", hostile, len(page))
		}
	}
}

// jsonSafe leaves out what %q writes in another way than JSON.
func jsonSafe(s string) string { return strings.NewReplacer("\x00", "", "\x1b", "").Replace(s) }

// However dense a history is, its page ends soon and is of bounded size, and faults without
// an end stand in one order.
func TestPagesOfDenseHistories(t *testing.T) {
	t.Parallel()
	const many = 2500
	r := newRun("redis-set-lua")
	r.at(2).acquire("c1", 0, 10_000)
	for i := range many {
		r.at(3+i).reads("c1", 0, 0)
	}
	for i, c := range []string{"c2", "c3", "c4", "c5"} {
		r.at(3000).fault("kill", i+1, "", 0, c)
	}
	r.at(5000).releases("c1")
	r.at(5001).acquire("c6", 0, 20_000)
	r.over()
	for _, at := range []func(int) time.Duration{
		func(i int) time.Duration { return r.h.Entries[i].Time },
		func(int) time.Duration { return 0 },
		func(i int) time.Duration { return time.Duration(i) - time.Hour },
	} {
		for i := range r.h.Entries {
			r.h.Entries[i].Time = at(i)
		}
		page := pageOf(t, &r.h, verdicts("", ""))
		if len(page) > 4<<20 || page != pageOf(t, &r.h, verdicts("", "")) {
			t.Errorf("%d bytes, or two pages differ", len(page))
		}
	}
}

// The table of a long history has what is around the faults, and says what it leaves out.
func TestTableOfALongHistory(t *testing.T) {
	t.Parallel()
	h := longHistory(30_000)
	table := newTable(h, nil)
	if len(table.Rows) == 0 || len(table.Rows) > 2*around || len(table.Rows)+table.Left != 60_000 {
		t.Errorf("%d rows, %d left out", len(table.Rows), table.Left)
	}
	if short := newTable(longHistory(100), nil); len(short.Rows) != 200 || short.Left != 0 {
		t.Errorf("%d rows, %d left out", len(short.Rows), short.Left)
	}
}

// longHistory returns a history with n sections of one client, and a pause in the middle.
func longHistory(n int) *history.History {
	h := &history.History{Header: history.Header{LeaseMS: 10_000}}
	add := func(e history.Entry) {
		e.Index, e.Time = len(h.Entries)+1, time.Duration(len(h.Entries))*time.Millisecond
		h.Entries = append(h.Entries, e)
	}
	for i := range n {
		c := history.Entry{Client: "c1", Process: history.Process{N: 1}, Lock: "a", F: history.Acquire}
		for _, f := range []string{history.Acquire, history.Release} {
			c.F, c.Type, c.Grant = f, history.Invoke, 0
			if f == history.Release {
				c.Grant = i + 1
			}
			add(c)
			c.Type, c.Grant = history.OK, i+1
			add(c)
		}
		if i == n/2 {
			nemesis := history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: "pause", ID: 1, On: []string{"c1"}}
			add(nemesis)
			nemesis.F += history.EndSuffix
			add(nemesis)
		}
	}
	return h
}

// A page of a million operations takes less than 5 s, and the size stays within bounds.
func BenchmarkPageOfAMillionOperations(b *testing.B) {
	h := longHistory(500_000)
	for b.Loop() {
		if n := len(pageOf(b, h, nil)); n > 4<<20 {
			b.Errorf("%d bytes", n)
		}
	}
}

// A page has the messages around its story. It says how many it leaves out, and stays small.
func TestPageOfManyMessages(t *testing.T) {
	t.Parallel()
	h, v := pauseOverLease()
	p := newPlot(h, v, choose(h, v, Options{}))
	client, server := p.clients[0], p.allServers()[0]
	m := &history.Messages{Left: 5}
	for i := range 50_000 {
		x := history.Message{Sent: time.Duration(i) * 300 * time.Microsecond, From: client, To: server, Type: history.Request, Text: `SET a "</script>"`}
		if x.Arrived = x.Sent + time.Millisecond; i == 40_000 {
			x.Arrived, x.Lost = 0, true
		}
		m.List = append(m.List, x)
	}
	var b bytes.Buffer
	if err := Page(&b, h, v, PageOptions{Messages: m}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if b.Len() > 1<<20 || strings.Count(page, "</script>") != 3 {
		t.Errorf("%d bytes, %d scripts end", b.Len(), strings.Count(page, "</script>"))
	}
	for _, want := range []string{"2000 messages, 0 late, 1 lost.", "are left out.", "12.000 s, lost"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}
