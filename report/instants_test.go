package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// twice adds a second line to each fault, 30 ms later, which makes its effect
// certain.
func twice(h *history.History) *history.History {
	var later []history.Entry
	two := &history.History{Header: h.Header}
	next := 0
	for _, e := range h.Entries {
		for len(later) > 0 && (later[0].Time < e.Time || e.F == history.Ended) {
			two.Entries, later = append(two.Entries, later[0]), later[1:]
		}
		next = max(next, e.Index)
		two.Entries = append(two.Entries, e)
		if e.Process.Name == history.Nemesis && e.F != history.Ended {
			e.F += history.DoneSuffix
			e.Time += 30 * time.Millisecond
			later = append(later, e)
		}
	}
	// Indices grow in steps, and references are adjusted.
	moved := map[int64]int64{0: 0}
	for i := range two.Entries {
		if e := &two.Entries[i]; !strings.HasSuffix(e.F, history.DoneSuffix) {
			moved[int64(e.Index)] = int64(i + 1)
		}
	}
	for i := range two.Entries {
		e := &two.Entries[i]
		e.Index, e.Op.V, e.By.V = i+1, moved[e.Op.V], moved[e.By.V]
	}
	return two
}

// A story places the effect of a fault at its first or its second line. Consequences
// come after the effect, and acts of a victim come after its end.
func TestStoriesWithTwoLinesForEachFault(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		if !slices.Contains([]string{"pause-over-lease", "late-del", "entry-lost", "clock-jump", "late-answer"}, s.name) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			h, v := s.make()
			v = slices.Clone(v)
			for i := range v {
				v[i].Witness = nil // its positions are those of one line
			}
			one := flat(story(t, h, v, Options{}))
			two := twice(h)
			if err := history.Check(two); err != nil {
				t.Fatal(err)
			}
			got := story(t, two, v, Options{})
			for _, say := range s.says {
				if strings.Contains(one, say) {
					mustSay(t, got, say)
				}
			}
		})
	}
}

// The pause of a server takes a while. Acts of the server before it stopped come
// before the pause in the story, and acts after it resumed come after it.
func TestAServerDoesNothingWhileItIsPaused(t *testing.T) {
	t.Parallel()
	r := newRun("redis-set-lua")
	r.at(0).fault("server-pause", 1, "", 0, "redis-1")
	r.at(110).invoke("c1", history.Acquire)
	r.at(125).server(history.Granted, "c1", "c1")
	r.at(130).got("c1", 0, 1130)
	r.at(140).fault("server-pause-done", 1, "", 0, "redis-1")
	r.at(200).invoke("c1", history.Release)
	r.at(900).heal("server-pause", 1, "redis-1")
	r.at(910).server(history.Remove, "c1", "c1")
	r.at(912).end("c1", history.Release, history.OK, "")
	r.at(960).fault("server-pause-end-done", 1, "", 0, "redis-1")
	r.at(1000).acquire("c2", 0, 2000)
	r.at(1100).releases("c2")
	r.over()
	mustSay(t, story(t, &r.h, verdicts("", ""), Options{}),
		"At 0.13 s c1 was granted the lock, with a lease until 1.13 s. At 0.14 s redis-1 was paused for 0.76 s.",
		"0.900 s redis-1 goes on")
}

// A story gives an instant as exact only if its error is at most T/400. A client that
// acts between the two lines was not yet paused.
func TestAStorySaysHowExactAnInstantIs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sure, acts int // ms of the second line, and of a server's answer to c1's write; 0: none
		want       string
	}{
		{220, 0, "At 0.22 s it was paused"},
		{240, 0, "Between 0.20 s and 0.24 s it was paused"},
		{600, 0, "Between 0.20 s and 0.60 s it was paused"},
		{640, 600, "Between 0.60 s and 0.64 s it was paused"},
	} {
		r := newRun("redis-set-lua")
		r.at(10).acquire("c1", 0, 10_000)
		r.at(200).fault("pause", 1, "", 0, "c1")
		if tt.acts != 0 {
			r.at(tt.acts).releases("c1")
		}
		r.at(tt.sure).fault("pause-done", 1, "", 0, "c1")
		r.at(5000).heal("pause", 1, "c1")
		r.at(5100).acquire("c2", 0, 15_000)
		r.over()
		mustSay(t, story(t, &r.h, verdicts("", ""), Options{}), tt.want)
	}
}

// With real servers, faults of one moment are milliseconds apart, and an effect comes
// before its second line. A request may fall between the two lines.
func TestFaultsOfOneMomentAndBetweenTwoLines(t *testing.T) {
	t.Parallel()
	line := func(at int, who, typ, f string, more func(*history.Entry)) history.Entry {
		e := history.Entry{Time: time.Duration(at) * time.Millisecond, F: f}
		switch {
		case who == history.Nemesis:
			e.Process.Name, e.Type = who, history.Info
		case strings.HasPrefix(who, "c"):
			e.Client, e.Process.N, e.Lock = who, int(who[1]-'0'), "a"
			e.Type = map[string]history.Type{"invoke": history.Invoke, "ok": history.OK, "fail": history.Fail}[typ]
		default:
			e.Process.Name, e.Type, e.Lock, e.Key = who, history.Event, "a", "a"
		}
		if more != nil {
			more(&e)
		}
		return e
	}
	on := func(id int, names ...string) func(*history.Entry) {
		return func(e *history.Entry) { e.ID, e.On = id, names }
	}
	grant := func(n int) func(*history.Entry) { return func(e *history.Entry) { e.Grant = n } }
	for _, tt := range []struct {
		name    string
		entries []history.Entry
		verdict checker.Property
		witness []int
		want    string
	}{
		{"two links are cut one after the other", []history.Entry{
			line(0, history.Nemesis, "", "partition", on(1, "c1", "redis-5")),
			line(0, history.Nemesis, "", "partition-done", on(1, "c1", "redis-5")),
			line(1, history.Nemesis, "", "partition", on(2, "c1", "redis-4")),
			line(1, history.Nemesis, "", "partition-done", on(2, "c1", "redis-4")),
			line(10, "c1", "invoke", history.Acquire, nil),
			line(20, "c1", "ok", history.Acquire, grant(1)),
			line(30, "c2", "invoke", history.Acquire, nil),
			line(40, "c2", "ok", history.Acquire, grant(2)),
			line(50, history.Nemesis, "", history.Ended, nil),
		}, checker.Exclusion, []int{5, 7}, "the network cut c1 off from redis-4 and redis-5. "},
		{"of two links that are cut one is not used", []history.Entry{
			line(0, history.Nemesis, "", "partition", on(1, "c1", "redis-5")),
			line(1, history.Nemesis, "", "partition", on(2, "c1", "redis-4")),
			line(10, "c1", "invoke", history.Acquire, nil),
			line(20, "c1", "ok", history.Acquire, grant(1)),
			line(30, "c2", "invoke", history.Acquire, nil),
			line(40, "c2", "ok", history.Acquire, grant(2)),
			line(50, history.Nemesis, "", "partition-end", func(e *history.Entry) { on(1, "c1", "redis-5")(e); e.Hits = history.Some(2) }),
			line(51, history.Nemesis, "", "partition-end", func(e *history.Entry) { on(2, "c1", "redis-4")(e); e.Hits = history.Some(0) }),
			line(55, "c2", "invoke", history.Release, nil),
			line(60, history.Nemesis, "", history.Ended, nil),
		}, checker.Exclusion, []int{3, 5}, "the network cut c1 off from redis-4 and redis-5 for 50 ms. "},
		{"a session ends before its line says so, and nobody sees the server", []history.Entry{
			line(10, "c1", "invoke", history.Acquire, nil),
			line(20, "c1", "ok", history.Acquire, grant(1)),
			line(30, "c2", "invoke", history.Acquire, nil),
			line(300, history.Nemesis, "", "session-expiry", on(1, "c1")),
			line(360, "c2", "ok", history.Acquire, grant(2)),
			line(700, history.Nemesis, "", "session-expiry-done", on(1, "c1")),
			line(800, history.Nemesis, "", history.Ended, nil),
		}, checker.Exclusion, []int{1, 4}, "the session of c1 was closed from elsewhere. At"},
		{"another's answer is all that says when a session has ended", []history.Entry{
			line(10, "c1", "invoke", history.Acquire, nil),
			line(20, "c1", "ok", history.Acquire, grant(1)),
			line(30, "c2", "invoke", history.Acquire, nil),
			line(300, history.Nemesis, "", "session-expiry", on(1, "c1")),
			line(304, "c2", "ok", history.Acquire, grant(2)),
			line(326, history.Nemesis, "", "session-expiry-done", on(1, "c1")),
			line(800, history.Nemesis, "", history.Ended, nil),
		}, checker.Exclusion, []int{1, 4}, "Between 300 ms and 304 ms the session of c1 was closed from elsewhere. At 304 ms c2 was granted"},
		{"another's error is all that says when a server was gone", []history.Entry{
			line(10, "c1", "invoke", history.Acquire, nil),
			line(20, "c1", "ok", history.Acquire, grant(1)),
			line(200, "c2", "invoke", history.Acquire, nil),
			line(300, history.Nemesis, "", "restart", on(1, "mysql-1")),
			line(320, "c2", "fail", history.Acquire, func(e *history.Entry) { e.Error = "unavailable" }),
			line(330, history.Nemesis, "", "restart-done", on(1, "mysql-1")),
			line(800, history.Nemesis, "", "restart-end", on(1, "mysql-1")),
			line(810, history.Nemesis, "", "restart-end-done", on(1, "mysql-1")),
			line(900, "c2", "invoke", history.Acquire, nil),
			line(910, "c2", "ok", history.Acquire, grant(2)),
			line(950, history.Nemesis, "", history.Ended, nil),
		}, checker.Exclusion, []int{1, 9}, "Between 300 ms and 320 ms mysql-1 was stopped, until 810 ms at the latest."},
		{"somebody asks just before an entry is lost", []history.Entry{
			line(10, "c1", "invoke", history.Acquire, nil),
			line(15, "redis-1", "", history.Granted, func(e *history.Entry) { e.By, e.Op = history.Some(1), history.Some(1) }),
			line(20, "c1", "ok", history.Acquire, grant(1)),
			line(300, history.Nemesis, "", "restart-lost", on(1, "redis-1")),
			line(310, "c2", "invoke", history.Acquire, nil),
			line(311, "redis-1", "", history.Lose, func(e *history.Entry) { e.Op, e.Grant = history.Some(1), 1 }),
			line(312, history.Nemesis, "", "restart-lost-done", on(1, "redis-1")),
			line(900, "redis-1", "", history.Granted, func(e *history.Entry) { e.By, e.Op = history.Some(5), history.Some(5) }),
			line(910, "c2", "ok", history.Acquire, grant(2)),
			line(950, history.Nemesis, "", history.Ended, nil),
		}, checker.Exclusion, []int{2, 8}, "redis-1 lost power"},
		{"two faults of which only the same range of time is known", []history.Entry{
			line(10, "c1", "invoke", history.Acquire, nil),
			line(20, "c1", "ok", history.Acquire, grant(1)),
			line(300, history.Nemesis, "", "partition-servers", on(1, "redis-1")),
			line(300, history.Nemesis, "", "partition", on(2, "c1", "redis-2")),
			line(600, history.Nemesis, "", "partition-servers-done", on(1, "redis-1")),
			line(600, history.Nemesis, "", "partition-done", on(2, "c1", "redis-2")),
			line(900, "c2", "invoke", history.Acquire, nil),
			line(910, "c2", "ok", history.Acquire, grant(2)),
			line(950, history.Nemesis, "", history.Ended, nil),
		}, checker.Exclusion, []int{1, 7}, "Between 300 ms and 600 ms redis-1 was cut off from the other servers, until the end. In the same time the network cut c1 off from redis-2, until the end."},
		{"an entry shows that a server lost power, before the second line", []history.Entry{
			line(10, "c1", "invoke", history.Acquire, nil),
			line(15, "redis-1", "", history.Granted, func(e *history.Entry) { e.By, e.Op = history.Some(1), history.Some(1) }),
			line(20, "c1", "ok", history.Acquire, grant(1)),
			line(401, history.Nemesis, "", "restart-lost", on(1, "redis-1")),
			line(402, "c2", "invoke", history.Acquire, nil),
			line(445, "redis-1", "", history.Lose, func(e *history.Entry) { e.Op, e.Grant = history.Some(1), 1 }),
			line(450, history.Nemesis, "", "restart-lost-done", on(1, "redis-1")),
			line(600, history.Nemesis, "", "restart-lost-end", on(1, "redis-1")),
			line(602, history.Nemesis, "", "restart-lost-end-done", on(1, "redis-1")),
			line(900, "redis-1", "", history.Granted, func(e *history.Entry) { e.By, e.Op = history.Some(5), history.Some(5) }),
			line(910, "c2", "ok", history.Acquire, grant(2)),
			line(950, history.Nemesis, "", history.Ended, nil),
		}, checker.Exclusion, []int{2, 10}, "Between 401 ms and 445 ms redis-1 lost power, until 602 ms. At 445 ms redis-1 lost c1's entry"},
		{"a client's connection is lost before the line says that the server is gone", []history.Entry{
			line(10, "c1", "invoke", history.Acquire, nil),
			line(20, "c1", "ok", history.Acquire, grant(1)),
			line(300, history.Nemesis, "", "restart", on(1, "mysql-1")),
			line(400, "c2", "invoke", history.Acquire, nil),
			line(450, "c2", "fail", history.Acquire, func(e *history.Entry) { e.Error = "unavailable" }),
			line(700, history.Nemesis, "", "restart-done", on(1, "mysql-1")),
			line(800, history.Nemesis, "", "restart-end", on(1, "mysql-1")),
			line(810, history.Nemesis, "", "restart-end-done", on(1, "mysql-1")),
			line(900, "c2", "invoke", history.Acquire, nil),
			line(910, "c2", "ok", history.Acquire, grant(2)),
			line(950, history.Nemesis, "", history.Ended, nil),
		}, checker.Exclusion, []int{1, 9}, "Between 300 ms and 450 ms mysql-1 was stopped, until 810 ms at the latest."},
		{"a server loses its entries as it comes back", []history.Entry{
			line(10, "c1", "invoke", history.Acquire, nil),
			line(15, "redis-1", "", history.Granted, func(e *history.Entry) { e.By, e.Op = history.Some(1), history.Some(1) }),
			line(20, "c1", "ok", history.Acquire, grant(1)),
			line(300, history.Nemesis, "", "restart-lost", on(1, "redis-1")),
			line(310, history.Nemesis, "", "restart-lost-done", on(1, "redis-1")),
			line(400, history.Nemesis, "", "restart-lost-end", on(1, "redis-1")),
			line(800, "redis-1", "", history.Lose, func(e *history.Entry) { e.Op, e.Grant = history.Some(1), 1 }),
			line(801, history.Nemesis, "", "restart-lost-end-done", on(1, "redis-1")),
			line(890, "c2", "invoke", history.Acquire, nil),
			line(900, "redis-1", "", history.Granted, func(e *history.Entry) { e.By, e.Op = history.Some(9), history.Some(9) }),
			line(910, "c2", "ok", history.Acquire, grant(2)),
			line(950, history.Nemesis, "", history.Ended, nil),
		}, checker.Exclusion, []int{2, 10}, "800.0 ms redis-1 is back (between 400 ms and 800 ms) 4 800.0 ms redis-1 has lost c1's entry"},
		{"two clients are killed one after the other", []history.Entry{
			line(10, "c1", "invoke", history.Acquire, nil),
			line(20, "c1", "ok", history.Acquire, grant(1)),
			line(30, "c2", "invoke", history.Acquire, nil),
			line(40, "c3", "invoke", history.Acquire, nil),
			line(300, history.Nemesis, "", "kill", on(1, "c1")),
			line(301, history.Nemesis, "", "kill", on(2, "c2")),
			line(4000, history.Nemesis, "", history.Ended, nil),
		}, checker.Liveness, []int{3, 6}, "Between 300 ms and 301 ms c1 and c2 were killed."},
		{"a client is dead from the line on with which the checker ends its hold", []history.Entry{
			line(10, "c1", "invoke", history.Acquire, nil),
			line(20, "c1", "ok", history.Acquire, grant(1)),
			line(300, history.Nemesis, "", "kill", on(1, "c1")),
			line(420, history.Nemesis, "", "kill-done", on(1, "c1")),
			line(500, "c2", "invoke", history.Acquire, nil),
			line(4000, history.Nemesis, "", history.Ended, nil),
		}, checker.Liveness, []int{4, 5}, "Between 300 ms and 420 ms it was killed. "},
	} {
		h := &history.History{Header: history.Header{Format: history.Format, Lock: "x", On: "docker", LeaseMS: 1000}}
		for i, e := range tt.entries {
			e.Index = i + 1
			h.Entries = append(h.Entries, e)
		}
		v := []checker.Verdict{{Property: tt.verdict, Outcome: checker.Violated, Witness: &checker.Witness{Entries: tt.witness}}}
		if text := flat(story(t, h, v, Options{})) + " "; !strings.Contains(text, tt.want) {
			t.Errorf("%s: it does not say %q:\n%s", tt.name, tt.want, text)
		}
	}
}
