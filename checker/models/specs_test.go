package models

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// told reads a history of one entry a line, "who what [ok|fail|info] [name=value …]".
// Who is c1 (client c1, process 1), c1' (its next process), nemesis or resource.
// "at=" gives the time in seconds; lines are numbered from 1.
func told(t *testing.T, text string) []history.Entry {
	t.Helper()
	var entries []history.Entry
	procs := map[string]int{}
	var now time.Duration
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		e := history.Entry{Index: len(entries) + 1, F: words[1], Type: history.Invoke}
		switch who := words[0]; {
		case strings.HasPrefix(who, "c"):
			if procs[who] == 0 {
				procs[who] = len(procs) + 1
			}
			e.Client, e.Process.N = strings.TrimRight(who, "'"), procs[who]
			if !history.IsOperation(e.F) {
				e.Type = history.Event
			}
		case who == history.Nemesis:
			e.Process.Name, e.Type = who, history.Info
		default:
			e.Process.Name, e.Type = who, history.Event
		}
		for _, word := range words[2:] {
			name, value, _ := strings.Cut(word, "=")
			n, _ := strconv.Atoi(value)
			switch name {
			case "ok":
				e.Type = history.OK
			case "fail":
				e.Type = history.Fail
			case "info":
				e.Type = history.Info
			case "shared":
				e.Shared = true
			case "lock":
				e.Lock = value
			case "error":
				e.Error = value
			case "on":
				e.On = []string{value}
			case "at":
				now = time.Duration(n) * time.Second
			case "until":
				e.ValidUntil = time.Duration(n) * time.Second
			case "grant":
				e.Grant = n
			case "token":
				e.Token = uint64(n)
			case "value":
				e.Value = history.Some(int64(n))
			case "op":
				e.Op = history.Some(int64(n))
			case "was":
				e.Was = history.Some(int64(n))
			default:
				t.Fatalf("%s: what is %q?", line, word)
			}
		}
		e.Time = now
		entries = append(entries, e)
	}
	if err := history.Check(&history.History{Entries: entries}); err != nil {
		t.Fatal(err)
	}
	return entries
}

// fill adds the fields that a file reader adds, above all the names of grants.
func fill(t *testing.T, entries []history.Entry) {
	t.Helper()
	var seq history.Sequence
	for i := range entries {
		if err := seq.Fill(&entries[i], history.Given{Index: true, Time: true}); err != nil {
			t.Fatal(err)
		}
	}
}

// judged returns the verdict in the words of a spec. If long is set, no entry is
// kept, as in a long history.
func judged(m Model, o Options, long bool, entries []history.Entry) string {
	j := New(m, o)
	if long {
		j.room = 0
	}
	for i := range entries {
		j.Add(&entries[i], i+1)
	}
	v := j.Verdict(context.Background())
	switch {
	case v.Witness != nil:
		lines := make([]string, len(v.Witness.Lines))
		for i, n := range v.Witness.Lines {
			lines[i] = strconv.Itoa(n)
		}
		return fmt.Sprintf("violated %s: %s", strings.Join(lines, ","), v.Witness.Sentence)
	case v.Outcome == checker.Unknown:
		return "unknown: " + v.Reason
	default:
		return v.Outcome.String()
	}
}

// modelSpec is a history and the expected verdict of a model. The name is the rule.
type modelSpec struct {
	models string // separated by spaces, with options after a plus
	name   string
	text   string
	want   string // after a bar that of a long history
}

func TestSpecs(t *testing.T) {
	t.Parallel()
	for _, s := range modelSpecs {
		for _, model := range strings.Fields(s.models) {
			t.Run(model+": "+s.name, func(t *testing.T) {
				t.Parallel()
				name, options, _ := strings.Cut(model, "+")
				has := func(o string) bool { return strings.Contains(options, o) }
				o := Options{StrictTry: has("strict"), Released: has("released")}
				entries := told(t, s.text)
				if has("read") {
					fill(t, entries)
				}
				want, long, _ := strings.Cut(s.want, " | ")
				if has("long") {
					want = long
				}
				if got := judged(parsed(t, name), o, has("long"), entries); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

const exclusive = "owner-mutex fenced-mutex fifo-mutex reentrant-mutex reentrant-fenced-mutex rw-mutex semaphore=1"

// Beginnings of many histories. Their lines are numbered like the lines that follow.
const (
	held = `
		c1 acquire
		c1 acquire ok`
	named = `
		c1 acquire
		c1 acquire ok grant=1`
	namedAsks = named + `
		c1 acquire`
	namedReleases = named + `
		c1 release grant=1`
	namedReleased = namedReleases + `
		c1 release ok grant=1`
	overlap = held + `
		c2 acquire
		c2 acquire ok`
	releasing = held + `
		c1 release`
	unreleased = releasing + `
		c1 release fail`
	free = releasing + `
		c1 release ok`
	asksAgain = held + `
		c1 acquire`
	twice = asksAgain + `
		c1 acquire ok`
	namedTwice = namedAsks + `
		c1 acquire ok grant=2`
	unanswered = `
		c1 acquire
		c1 acquire info`
	lostFirst = `
		c1 acquire
		c1 acquire ok grant=1
		c1 lost grant=1
		c2 acquire
		c3 acquire
		c2 acquire ok grant=2
		c2 acquire
		c3 acquire ok grant=3
		c2 acquire ok grant=4`
	unanswered2 = unanswered + `
		c1' acquire
		c1' acquire info`
	asksTwice = `
		c1 acquire
		c1' acquire`
	wrote = `
		c1 write value=1
		c1 write ok`
)

var modelSpecs = []modelSpec{
	{"owner-mutex mutex reentrant-mutex rw-mutex semaphore=1", "one holder after the other", held + `
		c2 acquire
		c1 release
		c2 acquire ok
		c1 release ok`, "valid"},
	{exclusive, "a hold lasts from its ok to the invoke of its release", overlap + `
		c1 release
		c1 release ok`, `violated 2,4,5: c1 held the lock from line 2 to line 5, and c2 was granted it in line 4.`},
	{"owner-mutex", "an acquire without an answer blocks nobody", unanswered + `
		c2 acquire
		c2 acquire ok`, "valid"},
	{"owner-mutex", "a release without an answer may have happened", releasing + `
		c1 release info
		c2 acquire
		c2 acquire ok`, "valid"},
	{"owner-mutex", "a failed release has no effect", unreleased + `
		c2 acquire
		c2 acquire ok`, `violated 2,6: c1 held the lock from line 2 on, and c2 was granted it in line 6.`},
	{"owner-mutex+released mutex+released", "a failed release found the hold gone", unreleased + `
		c2 acquire
		c2 acquire ok`, "valid"},
	{"owner-mutex owner-mutex+released", "who failed to release may try again", unreleased + `
		c1 release
		c1 release ok`, "valid"},
	{"owner-mutex reentrant-mutex", "only a holder releases", `
		c1 acquire
		c1 acquire ok until=9
		c2 release
		c2 release ok`, `violated 3,4: c2 released the lock (line 4), and had never held it.`},
	{"mutex", "anybody releases", held + `
		c2 release
		c2 release ok
		c3 acquire
		c3 acquire ok`, "valid"},
	{"mutex", "a release belongs to either of two acquires", `
		c1 acquire
		c2 acquire
		c3 release
		c1 acquire ok
		c2 acquire ok
		c3 release ok`, "valid"},
	{"mutex", "two grants need a release between them", overlap, `violated 1,2,3,4: from line 1 to line 4 the lock was granted 2 times, and no release can have come between.`},
	{"mutex", "a release finds it held", `
		c1 release
		c1 release ok`, `violated 1,2: the lock was released (lines 1 to 2), and nobody can have acquired it before.`},
	{"owner-mutex", "an acquire without an answer is certain once its client releases", unanswered + `
		c1' release
		c1' release ok`, "unknown: no acquire succeeded: there is nothing to judge"},
	{"owner-mutex", "what was held for a moment needs a moment", `
		c2 acquire
		c2 acquire ok
		c1 acquire grant=7
		c1 acquire info grant=7
		c1' release grant=7
		c1' release ok grant=7
		c2 release`, `violated 2,5,6,7: c1 (process 2) had the lock at some moment from line 5 to line 6, but c2 held the lock from line 2 to line 7.`},
	{"owner-mutex", "a holder does not get it again", held + `
		c1 try
		c1 try ok`, `violated 2,4: c1 held the lock from line 2 on, and was granted it again (line 4).`},
	{"reentrant-mutex reentrant-mutex=2", "a holder gets it again", twice + `
		c1 release
		c1 release ok`, "valid"},
	{"reentrant-mutex=2", "not more often than the limit says", twice + `
		c1 acquire
		c1 acquire ok`, `violated 2,4,6: c1 held the lock 2 times, which is the limit, and was granted it once more (line 6).`},
	{"reentrant-mutex", "it is free when each grant was released", twice + `
		c1 release
		c1 release ok
		c2 acquire
		c2 acquire ok`, `violated 2,8: c1 held the lock from line 2 on, and c2 was granted it in line 8.`},
	{"owner-mutex", "the dead hold nothing", held + `
		nemesis kill on=c1
		c2 acquire
		c2 acquire ok`, "valid"},
	{"owner-mutex", "who knows that it lost the lock holds it no longer", held + `
		c1 lost
		c2 acquire
		c2 acquire ok`, "valid"},
	{"owner-mutex", "an extend is for holders", free + `
		c1 extend
		c1 extend ok`, `violated 4,5,6: c1 extended the lock (line 6), and did not hold it: its hold had ended in line 4.`},
	{"owner-mutex", "what is released twice ended with the first release", namedReleased + `
		c1 acquire
		c1 acquire ok grant=2
		c1 release grant=1
		c1 release ok grant=1`, `violated 4,7,8: c1 released the lock (line 8), and did not hold it: its hold had ended in line 4.`},
	{"owner-mutex", "what is released in vain ended with the last hold", free + `
		c1 acquire
		c1 acquire ok
		c1 release
		c1 release ok
		c2 acquire
		c2 acquire ok
		c1 release
		c1 release ok`, `violated 8,11,12: c1 released the lock (line 12), and did not hold it: its hold had ended in line 8.`},
	{"owner-mutex", "what nobody asked for has no hold that could end", `
		c2 acquire
		c2 acquire fail
		c1 acquire
		c1 acquire ok
		c2 release
		c2 release ok`, `violated 5,6: c2 released the lock (line 6), and had never held it.`},
	{"fenced-mutex", "tokens grow", `
		c1 acquire
		c1 acquire ok token=3
		c1 release
		c2 acquire
		c1 release ok
		c2 acquire ok token=3`, `violated 2,6: c1 was granted the lock in line 2 with token 3, and c2 after that, in line 6, with token 3.`},
	{"fenced-mutex", "an unknown token is compared with nothing", `
		c1 acquire
		c1 acquire ok token=3
		c1 release
		c1 release ok
		c1 acquire
		c1 acquire ok
		c1 release
		c1 release ok
		c2 acquire
		c2 acquire ok token=4`, "valid"},
	{"fenced-mutex", "without tokens nothing is known of them", held, "unknown: no grant has a token, so tokens cannot be judged; nobody held what another one held"},
	{"reentrant-fenced-mutex", "one more grant has the same token", `
		c1 acquire
		c1 acquire ok token=3
		c1 acquire
		c1 acquire ok token=4`, `violated 2,4: c1 was granted the lock in line 2 with token 3, and again, before it had let go of all that it had, in line 4 with token 4.`},
	{"reentrant-fenced-mutex", "a smaller token convicts whatever else is held", asksAgain + `
		c1 acquire ok token=4
		c1 release
		c1 release ok
		c1 acquire
		c1 acquire ok token=2`, `violated 4,8: c1 was granted the lock in line 4 with token 4, and c1 after that, in line 8, with token 2.`},
	{"reentrant-fenced-mutex", "a new grant has a new token", `
		c1 acquire
		c1 acquire ok token=3
		c1 release
		c1 release ok
		c1 acquire
		c1 acquire ok token=3`, `violated 2,4,6: c1 was granted the lock in line 2 with token 3, and c1 after that, in line 6, with token 3.`},
	{"lease", "a hold ends with its validity", `
		c1 acquire at=0
		c1 acquire ok until=10
		c2 acquire at=9
		c2 acquire ok at=10 until=20`, "valid"},
	{"lease", "and not before", `
		c1 acquire at=0
		c1 acquire ok until=10
		c2 acquire at=8
		c2 acquire ok at=9 until=20`, `violated 2,4: c1 held the lock from line 2 on (valid until 10.000 s), and c2 was granted it in line 4.`},
	{"lease", "an extend prolongs it", `
		c1 acquire at=0
		c1 acquire ok until=10
		c1 extend at=5
		c1 extend ok until=15
		c2 acquire at=11
		c2 acquire ok at=12 until=20`, `violated 2,6: c1 held the lock from line 2 on (valid until 15.000 s), and c2 was granted it in line 6.`},
	{"lease", "a hold that was over begins anew", `
		c1 acquire at=0
		c1 acquire ok until=5
		c2 acquire at=6
		c2 acquire ok until=7
		c1 valid at=8 until=15
		c3 acquire at=9
		c3 acquire ok until=20`, `violated 5,7: c1 held the lock from line 5 on (valid until 15.000 s), and c3 was granted it in line 7.`},
	{"lease", "without a validity there is nothing to judge", held, "unknown: no grant says how long it is valid (valid_until): there is nothing to judge"},
	{"fifo-mutex", "who was queued is not overtaken", `
		c1 acquire
		c1 queued
		c2 acquire
		c2 acquire ok
		c2 release
		c2 release ok
		c1 acquire ok`, `violated 2,3,4,7: c1 had a place in the queue in line 2, before c2 asked in line 3, but c2 was granted the lock first (lines 4 and 7).`},
	{"fifo-mutex", "who had to queue up anew may be overtaken", `
		c1 acquire
		c1 queued
		c2 acquire
		c1 queued
		c2 acquire ok
		c2 release
		c2 release ok
		c1 acquire ok`, "valid"},
	{"fifo-mutex", "a place may name its acquire, and have a number", `
		c1 acquire
		c1 queued op=1 value=7
		c2 acquire
		c2 acquire ok
		c2 release
		c2 release ok
		c1 acquire ok`, `violated 2,3,4,7: c1 had a place in the queue in line 2, before c2 asked in line 3, but c2 was granted the lock first (lines 4 and 7).`},
	{"fifo-mutex", "who asked earlier, but was not queued, may be", `
		c1 acquire
		c2 acquire
		c2 queued
		c1 queued
		c2 acquire ok
		c2 release
		c1 acquire ok`, "valid"},
	{"fifo-mutex", "who gave up is not waited for", `
		c1 acquire
		c1 queued
		c2 acquire
		c2 queued
		c2 acquire ok
		c1 acquire fail`, "valid"},
	{"fifo-mutex", "a release that may have meant one of many, whose searches end after some steps", `
		c1 acquire
		c3 acquire
		c1' acquire
		c1'' release grant=2
		c1'' release ok grant=2
		c3' acquire
		c1''' acquire
		c3' queued
		c1'''' acquire
		nemesis exit on=c1
		c3' acquire ok grant=4
		c1'''' acquire ok grant=5`, `violated 6,8,9,12: there is no order for this: c3 (process 5): queued (lines 6 to 8); c1 (process 7): acquire (lines 9 to 12); which of its grants c1 means in line 4 (release) makes no difference.`},
	{"fifo-mutex", "without a queue nothing is known of order", held, "unknown: no acquire says when it had a place in the queue (queued), so the order of grants cannot be judged; nobody held what another one held"},
	{"rw-mutex", "readers share", `
		c1 acquire shared
		c1 acquire ok shared
		c2 acquire shared
		c2 acquire ok shared`, "valid"},
	{"rw-mutex", "a writer shares with nobody", `
		c1 acquire shared
		c1 acquire ok shared
		c2 acquire
		c2 acquire ok`, `violated 2,4: c1 held the lock from line 2 on, and c2 was granted it in line 4.`},
	{"semaphore=2", "as many hold as there are permits", overlap + `
		c1 release
		c1 release ok
		c3 acquire
		c3 acquire ok`, "valid"},
	{"semaphore=2", "but not one more", overlap + `
		c3 acquire
		c3 acquire ok`, `violated 2,4,6: all 2 permits of the lock were held when c3 was granted one more (line 6).`},
	{"owner-mutex", "a refused try says nothing", `
		c1 try
		c1 try fail error=held
		c2 acquire
		c2 acquire ok`, "valid"},
	{"owner-mutex+strict", "a refused try says that somebody held", free + `
		c2 try
		c2 try fail error=held`, `violated 4,5,6: c2 was refused the lock (lines 5 to 6) when nobody can have held it.`},
	{"owner-mutex+strict", "it may have been who released just then", releasing + `
		c2 try
		c1 release ok
		c2 try fail error=held`, "valid"},
	{"owner-mutex+strict", "or who has no answer", free + `
		c3 acquire
		c3 acquire info
		c1 try
		c1 try fail error=held`, "valid"},
	{"register cas-register", "a read returns what was written last", wrote + `
		c1 write value=2
		c1 write ok
		c2 read
		c2 read ok value=1`, `violated 1,2,3,4,5,6: there is no order for this: c1 wrote 1 (lines 1 to 2); c1 wrote 2 (lines 3 to 4); c2 read 1 (lines 5 to 6), and no write of 1 fits in between.`},
	{"register cas-register", "a write without an answer happened if it was seen", wrote + `
		c1 write value=2
		c1 write info
		c2 read
		c2 read ok value=2
		c2 read
		c2 read ok value=1`, `violated 1,2,5,6,7,8: there is no order for this: c1 wrote 1 (lines 1 to 2); c2 read 2 (lines 5 to 6); c2 read 1 (lines 7 to 8), and no write of 1 fits in between.`},
	{"register cas-register", "what is there at first is not known", `
		c2 read
		c2 read ok value=7
		c1 write value=1
		c1 write ok`, "valid"},
	{"register cas-register", "but it is one value", `
		c2 read
		c2 read ok value=7
		c1 read
		c1 read ok value=8`, `violated 1,2,3,4: c2 read 7 (lines 1 to 2), and c1 read 8 (lines 3 to 4), but nobody ever wrote 7 or 8, and only one of them can have been there from the start.`},
	{"cas-register", "a value is replaced once", wrote + `
		c1 cas was=1 value=2
		c2 cas was=1 value=3
		c1 cas ok
		c2 cas ok`, `violated 3,4,5,6: c1 replaced 1 by 2 (lines 3 to 5), and c2 replaced 1 by 3 (lines 4 to 6), but 1 was in place only once.`},
	{"register", "a cas is left to Porcupine", `
		c1 cas was=1 value=2
		c1 cas ok
		c1 read
		c1 read ok value=1`, `violated 1,2,3,4: there is no order for this: c1 replaced 1 by 2 (lines 1 to 2); c1 read 1 (lines 3 to 4), and no write of 1 fits in between.`},
	{"cas-register", "values that were written twice are left to Porcupine", wrote + `
		c1 write value=2
		c1 write ok
		c1 write value=1
		c1 write ok
		c2 read
		c2 read ok value=2`, `violated 3,4,5,6,7,8: there is no order for this: c1 wrote 2 (lines 3 to 4); c1 wrote 1 (lines 5 to 6); c2 read 2 (lines 7 to 8), and no write of 2 fits in between.`},
	{"fenced-register", "an older token is not accepted", `
		c1 write value=1 token=2
		c1 write ok
		c2 write value=2 token=1
		c2 write ok`, `violated 1,2,3,4: c1 wrote 1 (lines 1 to 2) with token 2, and after that c2 wrote 2 (lines 3 to 4) with the smaller token 1.`},
	{"fenced-register", "nor refused without a newer one", `
		c1 write value=1 token=2
		c1 write ok
		c2 write value=2 token=3
		c2 write fail error=stale-token
		c2 read token=3
		c2 read ok value=1`, `violated 3,4: c2 was refused with token 3 (lines 3 to 4), and no larger token had been used by then.`},
	{"fenced-register", "stale ones are refused", `
		c1 write value=1 token=2
		c1 write ok
		c2 write value=2 token=1
		c2 write fail error=stale-token
		c1 read token=2
		c1 read ok value=1`, "valid"},
	{"register", "what the resource writes stands where it happened", `
		c1 write value=1
		resource write value=1
		c2 read
		resource read value=0
		c2 read ok value=0
		c1 write ok`, `violated 2,4: there is no order for this: 1 was written (line 2); 0 was read (line 4), and no write of 0 fits in between.`},
	{"owner-mutex", "two locks have nothing to do with each other", `
		c1 acquire lock=a
		c1 acquire ok lock=a
		c2 acquire lock=b
		c2 acquire ok lock=b`, "valid"},
	{"owner-mutex", "the sentence names the lock", `
		c1 acquire lock=a
		c1 acquire ok lock=a
		c2 acquire lock=a
		c2 acquire ok lock=a`, `violated 2,4: c1 held "a" from line 2 on, and c2 was granted it in line 4.`},
	{"owner-mutex mutex", "who loses the lock while its release fails has lost it", namedReleases + `
		c1 lost grant=1
		c1 release fail grant=1
		c2 acquire
		c2 acquire ok grant=2`, "valid"},
	{"owner-mutex reentrant-mutex", "who extends while its release fails holds on", namedReleases + `
		c1' extend grant=1
		c1' extend ok grant=1
		c1 release fail grant=1
		c2 acquire
		c2 acquire ok grant=2`, `violated 2,8: c1 (process 1) held the lock from line 2 on, and c2 was granted it in line 8.`},
	{"reentrant-mutex semaphore=1", "a release without a name is about what is certain", asksAgain + `
		c1 acquire info
		c1' release
		c1' release ok
		c2 acquire
		c2 acquire ok`, "valid"},
	{"semaphore=2", "whichever grants are meant, two can be released twice only", unanswered2 + `
		c1'' release
		c1'' release ok
		c1'' release
		c1'' release ok
		c1'' release
		c1'' release ok`, `violated 5,6,7,8,9,10: there is no order for this: c1 (process 3): release (lines 5 to 6); c1 (process 3): release (lines 7 to 8); c1 (process 3): release (lines 9 to 10).`},
	{"owner-mutex", "a loss is about the grant that it names", namedReleased + `
		c1 acquire
		c1 acquire ok grant=2
		c1 lost grant=1
		c2 acquire
		c2 acquire ok grant=3`, `violated 6,9: c1 held the lock from line 6 on, and c2 was granted it in line 9.`},
	{"owner-mutex reentrant-mutex rw-mutex semaphore=1", "an extend that finds its grant lost says nothing of another one", namedReleased + `
		c1 acquire
		c1 acquire ok grant=2
		c1 extend grant=1
		c1 extend fail grant=1 error=not-held
		c2 acquire
		c2 acquire ok grant=3`, `violated 6,10: c1 held the lock from line 6 on, and c2 was granted it in line 10.`},
	{"semaphore=2", "a lost permit is one", namedTwice + `
		c1 lost grant=1
		c2 acquire
		c2 acquire ok grant=3
		c3 acquire
		c3 acquire ok grant=4`, `violated 4,7,9: all 2 permits of the lock were held when c3 was granted one more (line 9).`},
	{"semaphore=2 reentrant-mutex=2", "a loss without a name is of all that the process holds", namedTwice + `
		c1 lost
		c2 acquire
		c2 acquire ok grant=3
		c2 acquire
		c2 acquire ok grant=4`, "valid"},
	{"reentrant-mutex", "what rests on one entry is lost with it", namedTwice + `
		c1 lost grant=2
		c2 acquire
		c2 acquire ok grant=3`, "valid"},
	{"semaphore=2", "who may have released one of its permits held the other", unanswered2 + `
		c1'' release
		c1'' release info
		c2 acquire
		c2 acquire ok
		c3 acquire
		c3 acquire ok
		c4 acquire
		c4 acquire ok`, `violated 8,10,12: all 2 permits of the lock were held when c4 was granted one more (line 12).`},
	{"owner-mutex", "a release that failed leaves no doubt", unanswered2 + `
		c1'' release
		c1'' release fail
		c2 acquire
		c2 acquire ok
		c3 acquire
		c3 acquire ok`, `violated 8,10: c2 held the lock from line 8 on, and c3 was granted it in line 10.`},
	{"owner-mutex rw-mutex", "whichever grant a client extended, somebody else held all the time", unanswered2 + `
		c2 acquire
		c2 acquire ok
		c1'' extend
		c1'' extend ok`, `violated 5,6,7,8: there is no order for this: c2: acquire (lines 5 to 6); c1 (process 4): extend (lines 7 to 8).`},
	{"register=0 cas-register=0", "what is there at first is read first", `
		c1 read
		c1 read ok value=1`, `violated 1,2: c1 read 1 (lines 1 to 2), and nobody ever wrote 1; 0 was there at first.`},
	{"register=0 cas-register=0", "and until something is written", `
		c1 write value=1
		c1 write ok value=1
		c1 read
		c1 read ok value=0`, `violated 1,2,3,4: there is no order for this: c1 wrote 1 (lines 1 to 2); c1 read 0 (lines 3 to 4), and no write of 0 fits in between; 0 was there at first.`},
	{"cas-register=5", "it may be replaced", `
		c1 cas was=5 value=1
		c1 cas ok was=5 value=1
		c1 read
		c1 read ok value=1`, "valid"},
	{"cas-register=-1", "by who expects it", `
		c1 cas was=5 value=1
		c1 cas ok was=5 value=1`, `violated 1,2: c1 replaced 5 by 1 (lines 1 to 2), and nobody ever wrote 5; -1 was there at first.`},
	{"register=0", "and written again", `
		c1 write value=1
		c1 write ok value=1
		c1 write value=0
		c1 write ok value=0
		c1 read
		c1 read ok value=0
		c1 read
		c1 read ok value=2`, `violated 5,6,7,8: there is no order for this: c1 read 0 (lines 5 to 6); c1 read 2 (lines 7 to 8), and no write of 2 fits in between; 0 was there at first.`},
	{"semaphore=3", "a process that goes on for another releases what that one got", namedAsks + `
		c1 acquire info
		c1' release
		c1' release ok
		c1' release grant=1
		c1' release ok grant=1`, `violated 6,7,8: c1 (process 2) released the lock (line 8), and did not hold it: its hold had ended in line 6.`},
	{"owner-mutex lease reentrant-mutex", "the dead may come back and release", `
		c1 acquire
		c1 acquire ok until=50
		nemesis kill on=c1
		c1' release at=1
		c1' release ok`, "valid"},
	{"owner-mutex lease", "a renewal and a release may cross", `
		c1 acquire
		c1 acquire ok grant=1 until=50
		c1' extend grant=1 at=1
		c1 release grant=1
		c1 release ok grant=1
		c1' extend ok grant=1 until=70`, "valid"},
	{"owner-mutex", "somebody else's grant is not one's own to release", named + `
		c2 release grant=1
		c2 release ok grant=1`, `violated 3,4: c2 released the lock (line 4), and had never held it.`},
	{"owner-mutex", "a release that is repeated releases once, at its first invoke", namedReleases + `
		c1 release info grant=1
		c2 acquire
		c2 acquire ok grant=2
		c1' release grant=1
		c1' release ok grant=1`, "valid"},
	{"lease+strict", "a grant that does not say how long it is valid may be why a try was refused", `
		c1 acquire
		c1 acquire ok until=5
		c1 release
		c1 release ok
		c3 acquire
		c3 acquire ok
		c2 try at=20
		c2 try fail at=21 error=held`, "valid"},
	{"lease", "without times nobody knows when a lease ends", `
		c1 acquire
		c1 acquire ok until=10
		c2 acquire
		c2 acquire ok until=20`, "unknown: the history has no times, so it is not known when a lease ends: there is nothing to judge"},
	{"fenced-register", "a read without an answer may have brought its token", `
		c1 read token=9
		c1 read info token=9
		c2 write token=5 value=1
		c2 write fail token=5 error=stale-token
		c3 write token=9 value=2
		c3 write ok`, "valid"},
	{"register cas-register", "a write that does not say what it wrote may have written anything", `
		c1 read
		c1 read ok value=1
		c2 write
		c2 write ok
		c1 read
		c1 read ok value=2`, "valid"},
	{"cas-register", "a cas that does not say what it replaced may have replaced anything", wrote + `
		c1 cas value=3
		c1 cas ok
		c1 read
		c1 read ok value=3`, "valid"},
	{"register cas-register fenced-register", "acquires are nothing to a register", overlap, "unknown: no read or write succeeded: there is nothing to judge"},
	{"fenced-register", "without tokens nothing is known of refusals", wrote + `
		c1 read
		c1 read ok value=1`, "unknown: no access has a token, so refusals cannot be judged; as a register it is valid"},
	{"rw-mutex", "the longest readers show that there was no room", `
		c3 acquire shared
		c3 acquire ok shared
		c1 acquire grant=7
		c1 acquire info grant=7
		c2 acquire shared
		c2 acquire ok shared
		c2 release
		c2 release ok
		c1' release grant=7
		c1' release ok grant=7`, `violated 2,9,10: c1 (process 2) had the lock at some moment from line 9 to line 10, but c3 held the lock from line 2 on.`},
	{"owner-mutex reentrant-mutex semaphore=1", "who was killed did not die before, whatever its open operation says", overlap + `
		c1 read
		nemesis kill on=c1
		c1 read info error=crashed`, `violated 2,4,6: c1 held the lock from line 2 to line 6, and c2 was granted it in line 4.`},
	{"owner-mutex", "nor does its exit say so", overlap + `
		nemesis poweroff on=c1
		nemesis exit on=c1`, `violated 2,4,5: c1 held the lock from line 2 to line 5, and c2 was granted it in line 4.`},
	{"mutex owner-mutex", "who died while it released may have let go before it asked", overlap + `
		c1 release
		c1 release info error=crashed`, "valid"},
	{"owner-mutex+strict mutex+strict semaphore=1+strict", "who died with an open acquire may have held before, and not after", `
		c2 acquire
		nemesis exit on=c2
		c1 try
		c1 try fail error=held
		c1 acquire
		c1 acquire ok`, "valid"},
	{"owner-mutex+strict mutex+strict", "who was killed with an open acquire may have held before, and not after", `
		c2 acquire
		nemesis kill on=c2
		c1 try
		c1 try fail error=held
		c1 acquire
		c1 acquire ok`, "valid"},
	{"owner-mutex owner-mutex+read owner-mutex+long", "a release without a name may confirm one of two", releasing + `
		c1' acquire
		c1' acquire ok
		c1' release
		c1' release info
		c1'' release
		c1'' release ok
		c1 release ok`, `valid | unknown: it is not certain which of its grants c1 means in line 8 (release); if it is as it seems: c1 (process 1) released the lock (line 10), and did not hold it: its hold had ended in line 9`},
	{"owner-mutex owner-mutex+read owner-mutex+long", "or be about what is still asked for", asksTwice + `
		c1' acquire ok
		c4 try
		c1' release
		c4 try ok
		c4 release
		c1'' release
		c1'' release ok
		c1' release ok`, `valid | unknown: it is not certain which of its grants c1 means in line 8 (release); if it is as it seems: c1 (process 2) released the lock (line 10), and did not hold it: its hold had ended in line 9`},
	{"semaphore=2 semaphore=2+read", "a process has not lost less because it failed to release", `
		c3 acquire
		c3 acquire ok
		c3 release
		c4 acquire
		c3 release fail
		c1 acquire
		c3 acquire
		c3 acquire ok
		c3 lost
		c4 acquire ok
		c1 acquire ok`, "valid"},
	{"owner-mutex owner-mutex+read", "what was lost once is not lost again", `
		c2 try
		c2 try ok
		c2' try
		c2 try
		c2 lost
		c2' try ok
		c2 lost
		c2 try ok`, "valid"},
	{"owner-mutex semaphore=1 owner-mutex+read", "a loss while its process releases may be about another one of its client", `
		c2 acquire
		c2 acquire ok
		c2 release
		c2' try
		c2' try ok
		c2 lost
		c1 acquire
		c1 acquire ok`, "valid"},
	{"reentrant-mutex+read semaphore=2+read", "who failed to release the inner grant releases it the next time", namedTwice + `
		c1 release
		c1 release fail error=unavailable
		c1 release
		c1 release ok
		c1 release grant=1
		c1 release ok`, "valid"},
	{"fifo-mutex fifo-mutex+long", "two without an answer may have had their turns before who queued after them", `
		c1 acquire
		c1' try
		c3 acquire
		c3 queued
		c1'' release
		c1'' release ok
		c1'' release
		c1'' release ok
		c3 acquire ok`, "valid | valid"},
	{"owner-mutex semaphore=1 rw-mutex", "a loss with a name may be about each acquire that was open at its invoke", `
		c1 acquire
		c1' acquire
		c1'' extend grant=2
		c1 acquire ok grant=1
		c1'' extend fail error=lost
		c1''' acquire
		c1''' acquire ok grant=3`, "valid"},
	{"reentrant-mutex", "it may be about each entry that one of these may be on", held + `
		c1' acquire
		c1 acquire
		c1'' lost grant=2
		c1'' acquire
		c1'' acquire ok grant=5`, "valid"},
	{"owner-mutex fifo-mutex", "it is not about an acquire that was invoked later", `
		c1 acquire
		c1' acquire
		c1'' extend grant=3
		c1 acquire ok grant=1
		c1''' acquire
		c1 lost grant=1
		c1'' extend fail error=lost
		c1''' acquire ok grant=4
		c1 acquire
		c1 queued
		c1 acquire ok grant=5`, "violated 8,11: c1 (process 4) held the lock from line 8 on, and c1 (process 1) was granted it in line 11."},
	{"owner-mutex semaphore=1 rw-mutex", "an open acquire with a name has no other name", `
		c1 acquire grant=1
		c1' release grant=3
		c1' release ok
		c1 acquire ok grant=1`, "violated 2,3: c1 (process 2) released the lock (line 3), and did not hold it."},
	{"owner-mutex+read semaphore=1+read rw-mutex+read", "a release without a grant that failed leaves no doubt about later losses", held + `
		c1' lost
		c1' release
		c1' release fail
		c1' acquire
		c1' acquire ok
		c1 lost
		c2 acquire
		c2 acquire ok`, "violated 7,10: c1 (process 2) held the lock from line 7 on, and c2 was granted it in line 10."},
	{"owner-mutex semaphore=1 rw-mutex", "a line about an open acquire is not about one that was released", `
		c1 try
		c1' release
		c1' release ok
		c1'' acquire
		c1' valid
		c2 acquire
		c2 acquire ok`, "violated 5,7: c1 (process 3) held the lock from line 5 on, and c2 was granted it in line 7."},
	{"fifo-mutex", "the last place counts, whatever else its client may have released", `
		c1 acquire
		c1 queued
		c1' acquire
		c1' acquire ok
		c1' release
		c1' release ok
		c1'' release
		c1 queued
		c1 acquire ok`, "valid"},
	{"lease+strict", "a lease that was over before its answer came may be why a try was refused", `
		c2 try at=6
		c4 try at=13
		c4 try fail error=held at=14
		c2 try ok at=25 until=19`, "valid"},
	{"mutex", "who dies ends its own hold only", `
		c1 acquire
		c2 acquire
		c2 acquire ok
		c1 acquire ok
		nemesis exit on=c1`, `violated 1,2,3,4: from line 1 to line 4 the lock was granted 2 times, and no release can have come between.`},
	{"mutex", "and not before it was granted", `
		c2 acquire
		c2 acquire ok
		c1 acquire
		c1 acquire ok
		nemesis exit on=c1`, `violated 1,2,3,4: from line 1 to line 4 the lock was granted 2 times, and no release can have come between.`},
	{"mutex", "a loss makes room for one more grant", lostFirst, `violated 1,2,4,5,6,8: from line 1 to line 8 the lock was granted 3 times, and no more than 1 release can have come between.`},
	{"mutex", "a release that confirms the loss does not make more room", lostFirst + `
		c1 release grant=1
		c1 release ok grant=1`, `violated 1,2,4,5,6,8: from line 1 to line 8 the lock was granted 3 times, and no more than 1 release can have come between.`},
	{"mutex", "nor does a later release of an unknown grant", lostFirst + `
		c1 release grant=7
		c1 release ok grant=7`, `violated 1,2,4,5,6,8: from line 1 to line 8 the lock was granted 3 times, and no more than 1 release can have come between.`},
	{"mutex", "of two releases one confirms the loss, and no earlier grant is needed", lostFirst + `
		c1 release grant=7
		c1 release ok grant=7
		c1 release grant=1
		c1 release ok grant=1`, `violated 1,2,4,5,6,8: from line 1 to line 8 the lock was granted 3 times, and no more than 1 release can have come between.`},
	{"owner-mutex", "an acquire without an answer keeps the name that an extend gives it", unanswered + `
		c1' extend grant=2
		c1' extend ok grant=2
		c1' release grant=2
		c1' release ok grant=2
		c2 acquire
		c2 acquire ok grant=3`, `valid`},
	{"owner-mutex", "and has one after an extend without a name", unanswered + `
		c1' extend
		c1' extend ok
		c1' release grant=2
		c1' release ok grant=2
		c2 acquire
		c2 acquire ok grant=3`, `valid`},
	{"owner-mutex", "a grant with a name is not meant by another one, although it is lost", `
		c1 acquire
		c1 acquire ok grant=1
		c1 lost grant=1
		c1 extend grant=9
		c1 extend ok grant=9`, `violated 3,4,5: c1 extended the lock (line 5), and did not hold it: its hold had ended in line 3.`},
	{"owner-mutex", "nor before its last sign of life", `
		c2 acquire
		c2 acquire ok
		c1 acquire
		c1 acquire ok
		nemesis exit on=c1`, `violated 2,4: c2 held the lock from line 2 on, and c1 was granted it in line 4.`},
	{"owner-mutex", "who was killed in a pause, and crashed, did nothing since it began", held + `
		nemesis pause on=c1
		c2 acquire
		c2 acquire ok
		nemesis kill on=c1
		nemesis exit on=c1`, "valid"},
	{"owner-mutex", "a pause whose end has one line is over there, though its start has two", `
		nemesis pause on=c1
		nemesis pause-done on=c1
		nemesis pause-end on=c1
		c1 acquire
		c1 acquire ok
		c2 acquire
		c2 acquire ok
		nemesis kill on=c1`, `violated 5,7,8: c1 held the lock from line 5 to line 8, and c2 was granted it in line 7.`},
	{"owner-mutex", "a pause whose end has two lines lasts up to the second, though its start has one", held + `
		nemesis pause on=c1
		c2 acquire
		c2 acquire ok
		nemesis pause-end on=c1
		nemesis kill on=c1
		nemesis pause-end-done on=c1`, "valid"},
	{"owner-mutex", "who came back from a kill may die by itself", held + `
		nemesis kill on=c1
		c1' acquire
		c1' acquire ok
		c2 acquire
		c2 acquire ok
		c1' read
		c1' read info error=crashed`, "valid"},
	{"mutex+released", "who holds nothing, and fails to release, ends no other hold", held + `
		c2 release
		c2 release fail
		c2 acquire
		c2 acquire ok`, `violated 1,2,5,6: from line 1 to line 6 the lock was granted 2 times, and no release can have come between.`},
	{"semaphore=2 semaphore=2+read semaphore=2+long", "a release that is open may have ended what was lost later, too", `
		c2 acquire
		c2' acquire
		c2' acquire info
		c2'' release
		c2 acquire ok
		c1 acquire
		c1 acquire ok
		c3 acquire
		c3 acquire ok
		c2'' lost`, `valid | unknown: it is not certain which of its grants c2 means in line 4 (release); if it is as it seems: all 2 permits of the lock were held when c3 was granted one more (line 9)`},
	{"mutex", "who loses what it asks for ends no other hold", `
		c2 acquire
		c2 acquire ok
		c1 acquire
		c1' lost
		c1 acquire ok`, `violated 1,2,3,5: there is no order for this: c2: acquire (lines 1 to 2); c1 (process 2): acquire (lines 3 to 5).`},
	{"reentrant-fenced-mutex=2", "what rests on one entry is lost at once", `
		c1 acquire
		c1 acquire ok token=2
		c1 acquire
		c1 acquire ok token=2
		c1 lost
		c1 acquire
		c1 acquire ok token=2`, `violated 1,2,3,4,6,7: there is no order for this: c1: acquire → token 2 (lines 1 to 2); c1: acquire → token 2 (lines 3 to 4); c1: acquire → token 2 (lines 6 to 7).`},
	{"reentrant-fenced-mutex=2", "a death ends all that rests on one entry at once", namedAsks + `
		c1 acquire ok token=1 grant=2
		nemesis kill on=c1
		c1 try
		c1 try ok token=1 grant=3`, `violated 1,2,3,4,6,7: there is no order for this: c1: acquire (lines 1 to 2); c1: acquire → token 1 (lines 3 to 4); c1: acquire → token 1 (lines 6 to 7).`},
	{"reentrant-fenced-mutex=2", "who has died does not die again", namedAsks + `
		c1 acquire ok token=1 grant=2
		nemesis kill on=c1
		nemesis exit on=c1
		c1 try
		c1 try ok token=1 grant=3`, `violated 1,2,3,4,7,8: there is no order for this: c1: acquire (lines 1 to 2); c1: acquire → token 1 (lines 3 to 4); c1: acquire → token 1 (lines 7 to 8).`},
	{"reentrant-fenced-mutex=2", "a grant with the token of an entry is lost with it", `
		c1 acquire
		c1 acquire ok token=1 grant=1
		c1 acquire
		c1' lost grant=1
		c1 acquire ok token=1 grant=2
		c1 acquire
		c1 acquire ok token=1 grant=3`, `violated 1,2,3,5,6,7: there is no order for this: c1 (process 1): acquire → token 1 (lines 1 to 2); c1 (process 1): acquire → token 1 (lines 3 to 5); c1 (process 1): acquire → token 1 (lines 6 to 7).`},
	{"reentrant-fenced-mutex=2", "a grant with a larger token outlasts the loss of the entry before it, or does not", `
		c1 acquire
		c1 acquire ok token=1 grant=1
		c1 acquire
		c1' lost grant=1
		c1 acquire ok token=2 grant=2
		c1 acquire
		c1 acquire ok token=2 grant=3
		c1 acquire
		c1 acquire ok token=2 grant=4`, `valid`},
	{"semaphore=3+strict", "a refused try held nothing itself, whatever its client may have released", `
		c1 acquire
		c2 try
		c4 acquire
		c2' release
		c2 try fail error=held
		c4 acquire ok`, `violated 2,5: there is no order for this: c2 (process 2): try → refused (lines 2 to 5).`},
	{"lease", "an extend needs an instant at which it held", `
		c3 acquire at=3
		c3 acquire ok at=18 until=41
		c5 acquire at=22
		c5' release at=26
		c5'' extend at=26
		c5'' extend ok at=29 until=47`, `violated 2,5,6: c5 (process 2) had the lock at some moment from line 5 to line 6, but c3 held the lock from line 2 on (valid until 41.000 s).`},
	{"owner-mutex+strict fenced-mutex+strict fifo-mutex+strict", "what a client says of a grant that it was refused is about no hold", `
		c1 try grant=3
		c1 try fail error=held grant=3
		c1' valid grant=3
		c1' lost grant=3`, `violated 1,2: c1 (process 1) was refused the lock (lines 1 to 2) when nobody can have held it.`},
	{"owner-mutex rw-mutex semaphore=1", "and of two kills without an id each has its own second line", `
		nemesis kill on=c1
		nemesis kill on=c2
		c2 acquire
		c2 acquire ok
		nemesis kill-done on=c2
		c1 acquire
		c1 acquire ok
		nemesis kill-done on=c1
		c3 acquire
		c3 acquire ok`, "valid"},
	{"owner-mutex mutex rw-mutex semaphore=1", "what a client says between the lines of its kill belongs to the life that ends", `
		nemesis kill on=c2
		c2 acquire
		c2 acquire ok
		nemesis kill-done on=c2
		c1 acquire
		c1 acquire ok`, "valid"},
	{"lease+strict", "a store may keep a lease for longer than its holder believes", `
		c1 acquire at=1
		c1 acquire ok at=2 until=10
		c2 try at=30
		c2 try fail error=held at=40`, "valid"},
	{"owner-mutex semaphore=1", "a release with an ok after a loss confirms the loss", held + `
		c1 lost
		c2 acquire
		c2 acquire ok
		c1 release
		c1 release ok`, "valid"},
	{"owner-mutex", "a process does not lose what it asks for at that moment", `
		c1 acquire
		c1 lost
		c1 acquire ok
		c2 acquire
		c2 acquire ok`, `violated 3,5: c1 held the lock from line 3 on, and c2 was granted it in line 5.`},
	{"owner-mutex+released reentrant-mutex=1+released semaphore=1+released", "a failed release that is read so may have found it gone, or not", unreleased + `
		c1 extend
		c3 acquire
		c3 acquire ok
		c1 extend ok`, "valid"},
	{"reentrant-mutex+released", "what was granted meanwhile may have gone with the entry", named + `
		c1' release grant=1
		c1 acquire
		c1 acquire ok grant=2
		c1' release fail grant=1
		c2 acquire
		c2 acquire ok`, "valid"},
	{"mutex owner-mutex", "a release with an ok may confirm an earlier one without an answer", namedReleases + `
		c1 release info grant=1
		c2 acquire
		c2 acquire ok grant=2
		c1' release grant=1
		c1' release ok grant=1
		c2 release grant=2
		c2 release ok grant=2`, "valid"},
	{"mutex owner-mutex", "or a loss", named + `
		c1 lost grant=1
		c2 acquire
		c2 acquire ok grant=2
		c1 release grant=1
		c1 release ok grant=1
		c2 release grant=2
		c2 release ok grant=2`, "valid"},
	{"mutex", "what was released is not lost", namedReleased + `
		c2 acquire
		c2 acquire ok grant=2
		c1 lost grant=1
		c3 acquire
		c3 acquire ok grant=3`, `violated 3,4,5,6,8,9: from line 3 to line 9 the lock was granted 2 times and released once: in no order is it free for each grant and held for each release, whatever the others did.`},
	{"mutex", "but one of two that are ok did it itself", namedReleases + `
		c1 release info grant=1
		c1' release grant=1
		c1' release ok grant=1
		c1' release grant=1
		c1' release ok grant=1
		c2 acquire
		c2 acquire ok grant=2
		c2 release grant=2
		c2 release ok grant=2`, `violated 3,6,8: from line 3 to line 8 the lock was released 2 times, and no acquire can have come between.`},
	{"reentrant-mutex", "what is being released may be lost, and all that rests on its entry", `
		c3 acquire
		c3 acquire ok grant=4
		c3 acquire
		c3 acquire ok grant=6
		c3 release grant=6
		c3 lost grant=6
		c5 try
		c5 try ok grant=11`, "valid"},
	{"semaphore=2 semaphore=2+read", "a process that goes on loses all, too", unanswered + `
		c1' acquire
		c1' acquire ok
		c1' acquire
		c1' acquire ok
		c1' lost
		c2 acquire
		c2 acquire ok
		c2 acquire
		c2 acquire ok`, "valid"},
	{"semaphore=2 semaphore=2+read", "and what it goes on with", held + `
		c1 read
		c1 read info
		c1' acquire
		c1' acquire ok
		c1' lost
		c2 acquire
		c2 acquire ok
		c2 acquire
		c2 acquire ok`, "valid"},
	{"semaphore=2 semaphore=2+read", "also with an extend that finds it lost", twice + `
		c1 read
		c1 read info
		c1' extend
		c1' extend fail error=lost
		c2 acquire
		c2 acquire ok
		c2 acquire
		c2 acquire ok`, "valid"},
	{"owner-mutex+read", "a loss of what another process of the client releases may be about more", `
		c1 acquire
		c2 acquire
		c1 acquire ok grant=1
		c1' release grant=1
		c1'' acquire
		c1 lost
		c1'' acquire ok grant=2
		c2 acquire ok grant=3`, "valid"},
	{"reentrant-mutex+released", "a failed release that found the entry gone ends all that rested on it", `
		c3 acquire
		c3 acquire ok grant=1
		c3 acquire
		c3 acquire ok grant=2
		c3 release grant=2
		c3 release fail error=not-held
		c2 acquire
		c2 acquire ok grant=3`, "valid"},
	{"reentrant-mutex=2", "what rests on one entry ends at once", `
		c4 acquire
		c4 acquire ok grant=1
		c4 acquire
		c4 acquire ok grant=2
		c4 lost grant=1
		c4 acquire
		c4 acquire ok grant=4
		c4 extend grant=2
		c4 extend ok`, `violated 2,4,7,8: c4 held the lock 2 times, which is the limit, and was granted it once more (line 7).`},
	{"fifo-mutex", "who has no answer may have queued up anew, whatever its client released", `
		c2 acquire
		c2 queued
		c1 acquire
		c1 queued
		c1 acquire ok
		c1 release
		c1 release ok
		c2' release
		c2' release ok`, "valid"},
	{"reentrant-fenced-mutex", "who held before it was granted first says nothing of the token", `
		c2 acquire
		c1 try
		c1 try ok token=1
		c2 acquire ok token=2
		c2 release
		c2 release ok
		c2 acquire
		c2 acquire ok token=2
		nemesis exit on=c1`, `violated 4,6,8: c2 was granted the lock in line 4 with token 2, and c2 after that, in line 8, with token 2.`},
	{"owner-mutex rw-mutex semaphore=1 reentrant-mutex", "a process does not lose what it asks for, even if another one of its client has extended it", `
		c1 acquire
		c1' extend
		c1' extend ok
		c1 lost
		c3 acquire
		c3 acquire ok`, `violated 3,6: c1 (process 1) held the lock from line 3 on, and c3 was granted it in line 6.`},
	{"lease", "who died before the answer came had held until then", `
		c2 acquire at=1
		c1 acquire at=4
		c1 acquire ok at=5 until=15
		nemesis poweroff on=c2 at=8
		c2 acquire ok at=10 until=21`, `violated 3,4,5: c2 had the lock at some moment from line 4 to line 5, but c1 held the lock from line 3 on (valid until 15.000 s).`},
	{"lease", "who was released before the answer came needs an instant before that", `
		c2 acquire at=1
		c2 acquire ok until=50
		c1 acquire at=3
		c1' release at=4
		c1' release ok at=5
		c2 release at=6
		c2 release ok
		c1 acquire ok at=7 until=60`, `violated 2,4,5,6: c1 (process 2) had the lock at some moment from line 4 to line 5, but c2 held the lock from line 2 to line 6 (valid until 50.000 s).`},
	{"lease+strict", "an acquire without an answer may be why, and over before the next grant", `
		c3 acquire at=2
		c3 acquire info at=3
		c1 try at=9
		c1 try fail error=held
		c2 acquire at=12
		c2 acquire ok at=18 until=20`, "valid"},
	{"lease+strict", "a store keeps no lease that was released", `
		c2 acquire at=0
		c2 acquire ok at=1 until=2
		c2 release at=4
		c2 release ok
		c2 try at=5
		c2 try fail error=held at=10`, `violated 4,5,6: c2 was refused the lock (lines 5 to 6) when nobody can have held it.`},
	{"owner-mutex mutex semaphore=1 reentrant-mutex rw-mutex owner-mutex+long", "an extend without a name is not about an acquire that fails", asksTwice + `
		c1'' extend
		c1' acquire ok
		c1 acquire fail error=held
		c1'' extend ok`, `valid | unknown: it is not certain which of its grants c1 means in line 3 (extend); if it is as it seems: c1 (process 3) extended the lock (line 6), and did not hold it`},
	{"owner-mutex mutex semaphore=1 reentrant-mutex rw-mutex", "nor is a release", asksTwice + `
		c1'' release
		c1' acquire ok
		c1 acquire fail error=held
		c1'' release ok`, "valid"},
	{"mutex+released owner-mutex+released mutex+released+long", "a failed release without a name may be about what was asked for", asksTwice + `
		c1' acquire info
		c1'' release
		c1 acquire ok
		c1'' release fail error=not-held
		c2 acquire
		c2 acquire ok`, `valid | unknown: it is not certain which of its grants c1 means in line 4 (release); if it is as it seems: from line 1 to line 8 the lock was granted 2 times, and no release can have come between`},
	{"mutex", "of two grants the one that was lost need not be the one that was released", `
		c2 acquire
		c2' acquire
		c2' acquire ok grant=2
		c2'' release
		c2'' release ok
		c2''' lost grant=2
		c1 acquire
		c1 acquire ok
		c1' acquire
		c1' acquire ok`, "valid"},
	{"owner-mutex", "without that it is violated", `
		c2 acquire
		c2' acquire
		c2' acquire ok grant=2
		c2'' release
		c2'' release ok
		c2''' lost grant=2
		c1 acquire
		c1 acquire ok
		c1' acquire
		c1' acquire ok`, `violated 8,10: c1 (process 5) held the lock from line 8 on, and c1 (process 6) was granted it in line 10.`},
	{"owner-mutex mutex semaphore=1 rw-mutex reentrant-mutex", "a loss without a name is about any of those that an extend may have been about", asksTwice + `
		c1' acquire info
		c1'' extend
		c1'' extend ok
		c1'' lost
		c1 acquire ok
		c2 acquire
		c2 acquire ok`, "valid"},
	{"owner-mutex mutex semaphore=1 rw-mutex reentrant-mutex", "also of one that was answered", asksTwice + `
		c1' acquire info
		c1'' extend
		c1 acquire ok
		c1'' extend ok
		c1'' lost
		c2 acquire
		c2 acquire ok`, "valid"},
	{"reentrant-mutex reentrant-mutex=2", "what was asked for before the entry was lost may have gone with it", namedAsks + `
		c1 lost grant=1
		c1 acquire ok grant=2
		c2 acquire
		c2 acquire ok grant=3`, "valid"},
	{"reentrant-mutex reentrant-mutex=2 reentrant-mutex+read", "so it may if the loss names no grant", asksAgain + `
		c1 lost
		c1 acquire ok grant=2
		c2 acquire
		c2 acquire ok grant=3`, "valid"},
	{"reentrant-mutex+released", "so it may if a failed release found the entry gone", namedAsks + `
		c1' release grant=1
		c1' release fail error=not-held
		c2 acquire
		c1 acquire ok grant=2
		c2 acquire ok grant=3`, "valid"},
	{"reentrant-mutex", "so it may if it has no answer", namedAsks + `
		c1 acquire info
		c1' lost grant=1
		c2 acquire
		c1' release grant=1
		c2 acquire ok grant=2
		c1' release ok
		c1' release
		c1' release ok`, "valid"},
	{"owner-mutex rw-mutex semaphore=1", "what a process asks for is not lost with what it had", namedAsks + `
		c1 lost grant=1
		c1 acquire ok grant=2
		c2 acquire
		c2 acquire ok grant=3`, "violated 5,7: c1 held the lock from line 5 on, and c2 was granted it in line 7."},
	{"owner-mutex semaphore=2", "a grant that an invoke names can be released before the answer, and once", `
		c1 acquire grant=1
		c1' acquire grant=2
		c1'' release grant=2
		c1'' release ok grant=2
		c1' acquire ok grant=2
		c1' release grant=2
		c1' release ok grant=2`, `violated 4,6,7: c1 (process 2) released the lock (line 7), and did not hold it: its hold had ended in line 4.`},
	{"owner-mutex semaphore=2", "so it can if there is no answer", `
		c1 acquire grant=1
		c1' acquire grant=2
		c1'' release grant=2
		c1'' release ok grant=2
		c1'' release grant=2
		c1'' release ok grant=2
		c2 acquire grant=3
		c2 acquire ok grant=3`, `violated 4,5,6: c1 (process 3) released the lock (line 6), and did not hold it: its hold had ended in line 4.`},
	{"lease", "a lease that was extended and released before its answer came is one hold", `
		c1 acquire at=1
		c1' extend at=10
		c1' extend ok at=11 until=14
		c1' release at=13
		c1 acquire ok at=21 until=32`, "valid"},
	{"fenced-mutex", "who died by itself before the answer came may have held for an instant after that of the acquire", `
		c2 try
		c2 try ok
		c3 acquire
		nemesis poweroff on=c2
		nemesis exit on=c3
		c2' acquire
		c3 acquire ok token=3
		c2' acquire ok`, "valid"},
	{"lease+strict", "who does not say until when it held may be why, even if it says so later", `
		c2 acquire grant=1 at=2
		c1 try grant=2 at=3
		c2 acquire ok grant=1 at=5
		c1 try fail grant=2 at=7
		c1 acquire grant=4 at=8
		c1 acquire ok grant=4 at=10 until=11
		c2 extend grant=1 at=19
		c2 extend ok grant=1 at=20 until=27`, "valid"},
	{"lease+strict", "and so may who held no longer when the answer came", `
		c1 acquire at=1
		c2 try at=1
		c2 try fail at=1
		c2 acquire at=2
		c1 acquire ok grant=1 at=3 until=3
		c2 acquire ok grant=3 at=5 until=16
		c1 extend grant=1 at=17
		c1 extend ok grant=1 at=18 until=28`, "valid"},
	{"lease", "who was told of a grant before its answer came held it from there on", `
		c1 acquire at=2
		c1' extend at=4
		c1' extend ok at=10
		c2 acquire at=11
		c2 acquire ok at=21 until=24
		c1 acquire ok at=25 until=29`, `violated 3,5: c1 (process 1) held the lock from line 3 on (valid until 29.000 s), and c2 was granted it in line 5.`},
	{"reentrant-mutex reentrant-mutex+read", "a process that goes on for another is the same holder", named + `
		c1 extend grant=1
		c1 extend info
		c1' acquire
		c1' acquire ok grant=2`, "valid"},
	{"owner-mutex rw-mutex", "who loses its grant before its answer may release another", `
		c1 acquire
		c1' release grant=12
		c1' release ok
		c1 acquire ok grant=12
		c1' acquire
		c1 release
		c1 release ok`, "valid"},
	{"owner-mutex rw-mutex", "a late renewal may be of a hold that was released without its name", `
		c1 acquire
		c1 acquire info
		c1'' release
		c1'' release ok
		c1''' acquire
		c2 acquire
		c2 acquire ok
		c1'' valid grant=12`, "valid"},
	{"reentrant-mutex reentrant-fenced-mutex", "an unknown name may be that of another acquire", `
		c1 acquire
		c1' acquire
		c1'' lost grant=11
		c2 acquire
		c2 acquire ok grant=12 token=2
		c1' acquire ok grant=13 token=1`, "valid"},
	{"reentrant-mutex", "a release that goes on without a hold is not", named + `
		c1' acquire
		c1' acquire ok grant=2`, `violated 2,4: c1 (process 1) held the lock from line 2 on, and c1 (process 2) was granted it in line 4.`},
	{"reentrant-fenced-mutex reentrant-fenced-mutex=3", "a grant may be nested in one that another process releases meanwhile", `
		c1 acquire
		c1 acquire ok grant=1 token=2
		c1' release grant=1
		c1 acquire
		c1 acquire ok grant=2
		c1' release ok
		c1 acquire
		c1 acquire ok grant=3 token=2`, "valid"},
	{"reentrant-fenced-mutex", "who may have held all the time may be granted the same token", unanswered + `
		c1' acquire
		c1' acquire ok grant=1 token=2
		c1' release grant=1
		c1' release ok
		c1' acquire
		c1' acquire ok grant=2 token=2`, "valid"},
	{"reentrant-fenced-mutex reentrant-fenced-mutex=2", "an acquire that a release confirms may have held all the time", unanswered + `
		c1' acquire
		c1' acquire ok grant=1 token=1
		c1' release grant=1
		c1' release ok
		c1' acquire
		c1' acquire ok grant=2 token=1
		c1' release grant=2
		c1' release ok
		c1' release
		c1' release ok`, "valid"},
	{"reentrant-fenced-mutex reentrant-fenced-mutex=2", "so may one that an extend confirms", `
		c1 acquire grant=1
		c1 acquire info
		c1' acquire
		c1' acquire ok grant=2 token=1
		c1' release grant=2
		c1' release ok
		c1' acquire
		c1' acquire ok grant=3 token=1
		c1' release grant=3
		c1' release ok
		c1' extend grant=1
		c1' extend ok`, "valid"},
	{"reentrant-mutex=2 reentrant-fenced-mutex=2", "a grant that used an entry came before its loss", `
		c1 acquire
		c1 acquire ok token=1 grant=1
		c1 acquire
		c1 acquire ok token=1 grant=2
		c1 acquire
		c1 lost grant=1
		c1 acquire ok token=1 grant=3`, `violated 1,2,3,4,5,7: there is no order for this: c1: acquire → token 1 (lines 1 to 2); c1: acquire → token 1 (lines 3 to 4); c1: acquire → token 1 (lines 5 to 7).`},
	{"reentrant-mutex=2", "with another token it may have come after it", `
		c1 acquire
		c1 acquire ok token=1 grant=1
		c1 acquire
		c1 acquire ok token=1 grant=2
		c1 acquire
		c1 lost grant=1
		c1 acquire ok token=2 grant=3`, "valid"},
	{"reentrant-fenced-mutex=2", "a grant with the token of the entry of the dead ends with it", `
		c1 acquire
		c1 acquire ok token=1 grant=1
		c1 acquire
		c1 acquire info
		c1' acquire
		nemesis kill on=c1
		c1' acquire ok token=1 grant=2
		c1' acquire
		c1' acquire ok token=1 grant=3`, `violated 1,2,5,7,8,9: there is no order for this: c1 (process 1): acquire → token 1 (lines 1 to 2); c1 (process 2): acquire → token 1 (lines 5 to 7); c1 (process 2): acquire → token 1 (lines 8 to 9).`},
	{"reentrant-mutex reentrant-mutex=2 reentrant-fenced-mutex", "what is asked for may be lost with an acquire without an answer", unanswered + `
		c1' acquire
		c1' lost
		c2 acquire
		c1' acquire ok token=1 grant=1
		c2 acquire ok grant=2`, "valid"},
	{"reentrant-mutex", "without one it is not", `
		c1' acquire
		c1' lost
		c2 acquire
		c1' acquire ok grant=1
		c2 acquire ok grant=2`, `violated 4,5: c1 held the lock from line 4 on, and c2 was granted it in line 5.`},
	{"owner-mutex", "what an extend without a name was about is open for the release after it", `
		c1 acquire
		c1 acquire info error=crashed
		c1' acquire
		c2 acquire
		c1' acquire ok grant=3
		c1' release grant=3
		c2 acquire ok grant=4
		c1' release ok grant=3
		c2 release grant=4
		c1' acquire
		c2 release ok grant=4
		c1' acquire info
		c1'' extend
		c2 acquire
		c1'' extend ok
		c2 acquire ok grant=7 token=5
		c1'' release
		c1'' release ok`, "valid"},
	{"reentrant-fenced-mutex", "an extend shows that an acquire without an answer was granted before others", `
		c1 acquire
		c1 acquire info
		c1' acquire
		c1' acquire ok token=1 grant=1
		c1' release grant=1
		c1' release ok grant=1
		c1' extend
		c1' extend ok
		c1' acquire
		c1' acquire ok token=1 grant=2`, "valid"},
	{"reentrant-mutex", "an extend whose answer names its grant is about that one", `
		c1 acquire
		c1 acquire ok grant=1
		c1 acquire
		c1 acquire ok grant=2
		c1 lost grant=1
		c1 acquire
		c1 acquire info
		c2 acquire
		c2 acquire ok grant=3
		c2 release grant=3
		c2 release ok grant=3
		c1' extend
		c1' extend ok grant=2`, `violated 2,9,12: c1 (process 1) held the lock from line 2 to line 12, and c2 was granted it in line 9.`},
	{"reentrant-mutex reentrant-fenced-mutex", "the loss of an acquire without an answer may be that of the entry that its process holds", `
		c1 acquire grant=5
		c1 acquire info grant=5
		c1' try grant=1
		c1' try ok grant=1 token=1
		c2 acquire grant=2
		c1' lost grant=5
		c2 acquire ok grant=2 token=2`, "valid"},
	{"lease", "who never held has nothing to release, although no grant says how long it is valid", `
		c1 release
		c1 release ok
		c2 acquire
		c2 acquire ok grant=1`, `violated 1,2: c1 released the lock (line 2), and had never held it.`},
	{"owner-mutex", "a loss with an unknown name may be of what an extend has shown", `
		c1 acquire
		c1 acquire info
		c1' extend grant=9
		c1' extend ok grant=9
		c1'' acquire grant=2
		c2 acquire
		c1' lost grant=9
		c2 acquire ok grant=3`, "valid"},
	{"fenced-mutex", "the token of a client that died before its answer counts, too", `
		c1 acquire
		c2 acquire
		nemesis kill on=c2
		c2 acquire ok grant=1 token=3
		c1 acquire ok grant=2
		c2 try
		c1 lost grant=2
		c2 try ok grant=3 token=1`, `violated 4,5,6,7,8: there is no order for this: c2: acquire → token 3 (line 4); c1: acquire (lines 5 to 7); c2: acquire → token 1 (lines 6 to 8).`},
	{"owner-mutex", "two releases without names may be about each other's grants", `
		c1 acquire
		c1' release
		c1'' acquire
		c1 acquire ok
		c1 release
		c1 release ok
		c1' release ok`, "valid"},
	{"owner-mutex", "a release without a name is about the last grant, even if that was lost, and another process lets go of it", `
		c1 acquire
		c1 acquire ok grant=1
		c1 lost grant=1
		c1 acquire
		c1' release grant=1
		c1 acquire info
		c1'' release grant=1
		c1' release ok grant=1
		c1'' release ok grant=1`, `violated 7,8,9: c1 (process 3) released the lock (line 9), and did not hold it: its hold had ended in line 8.`},
	{"owner-mutex", "a release that failed changes nothing of what others mean", `
		c1 acquire
		c1 acquire ok grant=1
		c1 release grant=1
		c1 release ok grant=1
		c1' acquire
		c1' acquire ok grant=2
		c1' lost grant=2
		c1 release
		c1 release fail error=not-held
		c1 acquire
		c1 acquire ok grant=3
		c1 acquire
		c1' release
		c1 acquire ok grant=4`, `violated 11,14: c1 (process 1) held the lock from line 11 on, and was granted it again (line 14).`},
	{"semaphore=2", "a release without a name is about the last grant that any line has shown", `
		c1 acquire grant=4
		c1 acquire ok grant=4
		c1 acquire grant=6
		c1 acquire info
		c1' valid grant=6
		c1' release
		c1' release ok
		c1' extend grant=6
		c1' extend ok grant=6`, `violated 5,7,8,9: c1 (process 2) extended the lock (line 9) after it had released it (line 7).`},
	{"reentrant-mutex", "a grant that was lost with all that its client has is not lost a second time", `
		c1' acquire grant=1
		c1' acquire ok grant=1
		c2 acquire grant=3
		c1 lost
		c1' acquire grant=4
		c1' lost grant=1
		c2 acquire ok grant=3
		c1 release grant=4
		c1 release ok grant=4`, `violated 7,8,9: c1 (process 1) had the lock at some moment from line 8 to line 9, but c2 held the lock from line 7 on.`},
	{"reentrant-mutex reentrant-fenced-mutex", "a grant that a loss may have ended is lost with the next entry", `
		c1 acquire grant=2
		c1 acquire ok grant=2 token=1
		c1 acquire grant=3
		c1 lost grant=2
		c1 acquire ok grant=3 token=2
		c1 acquire grant=4
		c1 acquire ok grant=4 token=2
		c1 lost grant=3
		c2 acquire grant=6
		c2 acquire ok grant=6 token=3`, "valid"},
	{"reentrant-fenced-mutex+released", "a release that fails late may have found the entry gone before the next grant", `
		c1 acquire grant=1
		c1 acquire ok grant=1 token=10
		c1' release grant=1
		c1 acquire grant=2
		c1 acquire ok grant=2 token=11
		c1' release fail error=not-held grant=1`, "valid"},
	{"lease+strict", "an acquire without an answer may be why a try was refused, even if it is renewed later", `
		c1 acquire grant=1 at=1
		c1 acquire info grant=1 at=2
		c2 try at=5
		c2 try fail error=held at=9
		c2 acquire at=10
		c2 acquire ok grant=4 until=12 at=11
		c1' extend grant=1 at=27
		c1' extend ok grant=1 until=33 at=28`, "valid"},
	{"rw-mutex semaphore=1 owner-mutex", "a valid that may be about two acquires leaves a choice, whichever lock came first", `
		c1 acquire lock=a
		c2 acquire lock=b
		c2' acquire lock=b
		c2'' valid lock=b
		c2' acquire ok lock=b`, "valid"},
	{"rw-mutex rw-mutex+read semaphore=1+read reentrant-mutex+read", "a grant that was released before its answer came is not meant later", `
		c3 acquire
		c3' acquire grant=7
		c3'' release grant=7
		c3'' release ok grant=7
		c3' acquire ok grant=7
		c3' release
		c3' release ok`, "valid"},
	{"rw-mutex owner-mutex mutex reentrant-mutex lease", "a release may confirm a kill, also if its acquire came after the first line of it", `
		c2 acquire at=1
		nemesis kill on=c1
		c1 acquire
		c1 acquire ok grant=4 until=9
		c2 acquire ok grant=6 until=9
		c1 release grant=4
		c1 release ok grant=4
		nemesis kill-done on=c1`, "valid"},
	{"owner-mutex reentrant-mutex", "but not the end of what its client got after the kill", `
		c2 acquire
		nemesis kill on=c1
		nemesis kill-done on=c1
		c1 acquire
		c1 acquire ok grant=4
		c2 acquire ok grant=6
		c1 release grant=4
		c1 release ok grant=4`, `violated 5,6,7: c1 held the lock from line 5 to line 7, and c2 was granted it in line 6.`},
	{"rw-mutex owner-mutex reentrant-mutex=1", "a release in a pause does not confirm the end in that pause, even if its acquire had no answer", unanswered + `
		nemesis pause on=c1
		c2 acquire
		c2 acquire ok
		c1' release
		c1' release ok
		nemesis kill on=c1`, `violated 5,6,7: c1 (process 1) had the lock at some moment from line 6 to line 7, but c2 held the lock from line 5 on.`},
	{"rw-mutex owner-mutex reentrant-mutex=1", "nor if its acquire is still open", `
		c1 acquire
		nemesis pause on=c1
		c2 acquire
		c2 acquire ok
		c1' release
		c1' release ok
		nemesis kill on=c1`, `violated 4,5,6: c1 (process 1) had the lock at some moment from line 5 to line 6, but c2 held the lock from line 4 on.`},
	{"reentrant-mutex", "nor if it is one of several grants of the process", named + `
		c1 acquire grant=2
		nemesis pause on=c1
		c2 acquire
		c2 acquire ok grant=3
		c1' release grant=2
		c1' release ok grant=2
		nemesis kill on=c1`, `violated 6,7,8: c1 (process 1) had the lock at some moment from line 7 to line 8, but c2 held the lock from line 6 on.`},
	{"owner-mutex+read semaphore=1+read", "a valid with the name of another process's grant leaves the loss of the own one clear", named + `
		c1' lost
		c1'' acquire grant=2
		c1 valid grant=2
		c1 lost
		c3 acquire
		c3 acquire ok grant=4`, `violated 5,8: c1 (process 3) held the lock from line 5 on, and c3 was granted it in line 8.`},
	{"owner-mutex owner-mutex+read semaphore=1+read reentrant-mutex+read", "a process may lose what it asks for, if it asked by that name", `
		c1 acquire grant=7
		c1 lost grant=7
		c1 acquire ok grant=7
		c2 acquire
		c2 acquire ok grant=8`, "valid"},
	{"owner-mutex+read reentrant-mutex+read", "also if a line had shown that it has it", `
		c1 acquire grant=7
		c1 valid grant=7
		c1 lost grant=7
		c1 acquire ok grant=7
		c2 acquire
		c2 acquire ok grant=8`, "valid"},
	{"owner-mutex reentrant-mutex", "and a line shows that it has what it asked for by that name", `
		c1 acquire grant=7
		c1 valid grant=7
		c2 acquire
		c2 acquire ok grant=8`, `violated 2,4: c1 held the lock from line 2 on, and c2 was granted it in line 4.`},
	{"reentrant-mutex reentrant-mutex+read", "a process that ended with an info is continued also after its client was killed", named + `
		c1 extend grant=1
		c1 extend info grant=1
		nemesis kill on=c1
		c1' acquire
		c1' acquire ok grant=2
		c1' extend grant=1
		c1' extend ok grant=1`, "valid"},
	{exclusive, "a client that came back after a kill in a pause did not die again at the end of the pause", `
		c1 acquire
		c1 acquire fail error=held
		nemesis pause on=c1
		nemesis pause-end on=c1
		nemesis kill on=c1
		c1' acquire
		c1' acquire ok
		nemesis pause-end-done on=c1
		c2 acquire
		c2 acquire ok`, `violated 7,10: c1 (process 2) held the lock from line 7 on, and c2 was granted it in line 10.`},
	{"owner-mutex reentrant-mutex", "nor did what it asked for since then end", unanswered + `
		nemesis pause on=c1
		nemesis pause-end on=c1
		nemesis kill on=c1
		c1' acquire
		c1'' acquire
		c1'' acquire ok
		c1'' release
		nemesis pause-end-done on=c1
		c1' acquire ok
		c2 acquire
		c2 acquire ok`, `violated 11,13: c1 (process 2) held the lock from line 11 on, and c2 was granted it in line 13.`},
	{"mutex", "nor is the lock without owners free then", `
		nemesis pause on=c1
		nemesis pause-end on=c1
		nemesis kill on=c1
		c1 acquire
		c1 acquire ok
		nemesis pause-end-done on=c1
		c2 acquire
		c2 acquire ok`, `violated 4,5,7,8: from line 4 to line 8 the lock was granted 2 times, and no release can have come between.`},
	{"lease", "nor is its lease over", `
		c1 acquire at=1
		c1 acquire fail error=held
		nemesis pause on=c1
		nemesis pause-end on=c1
		nemesis kill on=c1
		c1' acquire
		c1' acquire ok until=9
		nemesis pause-end-done on=c1
		c2 acquire
		c2 acquire ok until=9`, `violated 7,10: c1 (process 2) held the lock from line 7 on (valid until 9.000 s), and c2 was granted it in line 10.`},
	{"owner-mutex owner-mutex+read", "a release that fails changes nothing of another one that is under way", `
		c2 acquire
		c2 acquire ok grant=2
		c2' release grant=2
		c2 release
		c2 release fail error=not-held
		c2' release ok
		c2' acquire
		c2 release
		c2 release ok`, "valid"},
	{"owner-mutex owner-mutex+read fenced-mutex+read lease+read", "a valid that seemed to be about an acquire that failed is about nothing", `
		c2 acquire
		c2 acquire ok token=1 until=9
		c2 release
		c2' acquire
		c2 release ok
		c2 valid
		c2' acquire fail error=held at=1`, "valid"},
	{"owner-mutex", "but not an extend", `
		c1 acquire grant=7
		c1' valid grant=7
		c1' extend grant=7
		c1' extend ok grant=7
		c1 acquire fail grant=7`, `violated 3,4: c1 (process 2) extended the lock (line 4), and had never held it.`},
	{"lease+read", "a death in a pause may have ended a grant if another one may have been released in it", `
		c2 acquire at=1
		c1 acquire at=3
		c1 acquire ok grant=2 until=31 at=6
		c1 acquire
		nemesis pause on=c1 at=7
		c2 acquire ok grant=1 until=22 at=10
		c1' release at=57
		c1' release ok
		nemesis kill on=c1 at=59`, "valid"},
	{"rw-mutex rw-mutex+long", "also if that one is shared", `
		c1 acquire
		c1 acquire ok grant=2
		c1 acquire shared
		nemesis pause on=c1
		c2 acquire shared
		c2 acquire ok grant=1
		c1' release
		c1' release ok
		nemesis kill on=c1`, `valid | unknown: it is not certain which of its grants c1 means in line 7 (release); if it is as it seems: c1 (process 1) held the lock from line 2 to line 7, and c2 was granted it in line 6`},
	{"rw-mutex", "but not if it was extended in the pause", `
		c1 acquire
		c1 acquire ok grant=2
		c1 acquire shared
		nemesis pause on=c1
		c2 acquire shared
		c2 acquire ok grant=1
		c1' extend grant=2
		c1' extend ok grant=2
		c1' release
		c1' release ok
		nemesis kill on=c1`, `violated 2,6,7: c1 (process 1) held the lock from line 2 to line 7, and c2 was granted it in line 6.`},
	{"lease", "the answer of an acquire sets the time again", `
		c1 acquire grant=7 at=1
		c1' extend grant=7
		c1' extend ok grant=7 until=20
		c1 acquire ok grant=7 until=6
		c2 acquire at=10
		c2 acquire ok until=30`, "valid"},
	{"lease", "a renewal that is reported after an uncertain end does not begin the hold anew", `
		c1 acquire grant=7 at=1
		c1 acquire ok grant=7 until=20
		c1 release grant=7
		c1 release info grant=7
		c2 acquire
		c2 acquire ok until=20
		c1' valid grant=7 until=30`, "valid"},
	{"owner-mutex", "a release is about the grant that it names, even if it names another lock", `
		c1 acquire lock=a
		c1 acquire ok grant=1 lock=a
		c1 release grant=1 lock=b
		c1 release ok grant=1 lock=b
		c2 acquire lock=a
		c2 acquire ok grant=2 lock=a`, "valid"},
	{"owner-mutex+read owner-mutex", "an uncertain grant is one choice, however it became uncertain", `
		c1 acquire
		c1 acquire ok grant=1
		c1' acquire
		c1'' extend grant=7
		nemesis kill on=c1
		c1'' extend ok grant=7
		c1' acquire info
		c1 release grant=1
		c1 release info grant=1
		c1''' release
		c1''' release ok
		c1''' extend grant=7
		c1''' extend ok grant=7`, "valid"},
	{"owner-mutex+read", "a loss without a name is about all that its process has got, whichever acquire a line has shown", `
		c1 acquire
		c1 acquire ok
		c1' lost
		c1 acquire
		c1 acquire info
		c1' valid
		c1' acquire
		c1' acquire ok
		c1'' lost
		c1'' lost
		c1' try
		c1' try ok`, "valid"},
	{"lease+read lease", "a line valid is not about what its process asks for, even if another process has shown that", `
		c2 try at=5
		c2' valid at=6
		c1 acquire at=10
		c2 valid until=100 at=11
		c1 acquire ok until=15 at=14`, "valid"},
	{"owner-mutex owner-mutex+strict", "a line valid of a process that asks is about another acquire of its client", `
		c2 acquire
		c1 acquire
		c2' acquire
		c1 acquire ok
		c2 valid
		c2 acquire fail error=held`, `violated 4,5: c1 held the lock from line 4 on, and c2 (process 3) was granted it in line 5.`},
	{"fenced-register+read", "the name of no acquire leaves no doubt if each acquire has one", `
		c2 write token=5 value=1
		c2 write ok
		c1 acquire grant=2
		c1 acquire ok grant=2 token=2
		c1 valid grant=7
		c1 write value=2
		c1 write ok`, `violated 1,2,6,7: c2 wrote 1 (lines 1 to 2) with token 5, and after that c1 wrote 2 (lines 6 to 7) with the smaller token 2.`},
	{"lease+read", "an extend during a release that is ok shows that the grant was not released before it", `
		c2 acquire grant=1 at=3
		c2 acquire ok grant=1 until=20 at=4
		c2' release grant=1 at=4
		c1 acquire at=5
		c1 acquire ok grant=2 until=100 at=6
		c2'' extend grant=1 at=7
		c2'' extend ok at=12
		c2' release ok at=13`, `violated 2,5,6: c2 (process 1) held the lock from line 2 to line 6 (valid until 20.000 s), and c1 was granted it in line 5.`},
	{"mutex mutex+read", "of three releases one confirms a death, and two free what was granted", `
		c2 acquire
		c1 acquire
		c1 acquire ok grant=1
		c2 acquire ok grant=2
		nemesis exit on=c1
		c1 release
		c2 release
		c1 release ok
		c1 release
		c1 release ok
		c1 release
		c2 release ok`, "violated 7,9,10,12: there is no order for this: c2: release (lines 7 to 12); c1: release (lines 9 to 10)."},
	{"reentrant-mutex reentrant-mutex+read", "a grant that the first loss may have ended takes with it what is asked for at the second", `
		c1 acquire
		c1 acquire ok grant=1
		c1 acquire
		c1 lost grant=1
		c1 acquire ok grant=2
		c1 acquire
		c1 lost grant=2
		c1 acquire ok grant=3
		c2 acquire
		c2 acquire ok grant=4`, "valid"},
	{"mutex mutex+read", "a loss after the answer frees the lock, whatever came before the answer", `
		c1 acquire
		nemesis kill on=c1
		c1 acquire ok grant=1
		c1 release
		c1 lost
		c1 release ok
		c1 acquire
		c1 acquire ok grant=2
		c1 acquire
		c1 acquire ok grant=3`, "valid"},
	{"mutex", "but it frees it once only, be it by the death or by the loss", `
		c1 acquire
		nemesis kill on=c1
		c1 acquire ok grant=1
		c2 acquire
		c2 acquire ok
		c1 lost grant=1
		c3 acquire
		c3 acquire ok`, `violated 1,3,4,5,7,8: there is no order for this: c1: acquire (lines 1 to 3); c2: acquire (lines 4 to 5); c3: acquire (lines 7 to 8).`},
	{"reentrant-mutex+released reentrant-mutex+released+read", "a failed release of an acquire without an answer may have found the entry gone that its process asks for", `
		c1 acquire grant=1
		c1 acquire info
		c1' acquire
		c1'' release grant=1
		c1'' release fail error=lost
		c1'' acquire
		c1'' acquire ok grant=3
		c1' acquire ok grant=2`, "valid"},
	{"reentrant-mutex+released reentrant-mutex+released+read", "or the one that its process holds", `
		c1 acquire grant=1
		c1 acquire info
		c1' acquire
		c1' acquire ok grant=2
		c1'' release grant=1
		c1'' release fail error=lost
		c1'' acquire
		c1'' acquire ok grant=3`, "valid"},
	{"owner-mutex owner-mutex+read", "what a release without a grant meant stays open for its process, too", `
		c1 acquire
		c1 acquire ok
		c1' release
		c1'' acquire
		c1 release
		c1' release fail
		c1 release ok
		c1 release
		c1 release ok`, "valid"},
	{"reentrant-mutex reentrant-mutex+released reentrant-mutex+released+read", "a release that failed is no earlier loss, however it is read", namedReleases + `
		c1 release fail error=lost
		c1 acquire
		c1 lost grant=1
		c2 acquire
		c2 acquire ok grant=2
		c1 acquire ok grant=3`, "valid"},
	{"reentrant-mutex+released reentrant-mutex+released+read", "a failed release may have found the entry gone also if another one of the same grant was ok meanwhile", named + `
		c1' release grant=1
		c1 acquire
		c2 acquire
		c2 acquire ok grant=2
		c1 acquire ok grant=3
		c1'' release grant=1
		c1'' release ok
		c1' release fail error=not-held`, "valid"},
	{"owner-mutex owner-mutex+read reentrant-mutex", "a valid without a grant is about nothing if a line has shown what its process asks for", `
		c1 acquire grant=2
		c1 valid grant=2
		c1' acquire
		c1 valid
		c1 acquire ok grant=2`, "valid"},
	{"fenced-register+read", "a valid with the name of no acquire is not about what its process asks for", `
		c2 write token=5 value=1
		c2 write ok
		c1 acquire
		c1 valid grant=1
		c1 acquire ok grant=1 token=2
		c1 write value=2
		c1 write ok`, `violated 1,2,6,7: c2 wrote 1 (lines 1 to 2) with token 5, and after that c1 wrote 2 (lines 6 to 7) with the smaller token 2.`},
	{"owner-mutex+strict reentrant-mutex+strict rw-mutex+strict", "a release without a grant and without an answer may be about an acquire that has none, and is not named", `
		c1 try
		c1' acquire
		c1'' release
		c1 try fail error=held
		c2 acquire
		c2 acquire ok grant=2`, "valid"},
	{"reentrant-mutex=2 reentrant-mutex=2+read", "what rests on one entry ends at once, whichever process reports the loss", namedTwice + `
		c1' lost
		c1 acquire
		c1 acquire ok grant=3
		c1' extend grant=2
		c1' extend ok`, `violated 2,4,7,8: c1 (process 1) held the lock 2 times, which is the limit, and was granted it once more (line 7).`},
	{"reentrant-mutex reentrant-mutex+read reentrant-fenced-mutex", "a grant that a loss without a name may have ended takes with it what is asked for at the next loss", unanswered + `
		c1' acquire
		c1' lost
		c1' acquire ok token=1
		c1' acquire
		c1' lost
		c1' acquire ok token=1
		c2 acquire
		c2 acquire ok token=2`, "valid"},
	{"reentrant-mutex reentrant-mutex+read", "a grant that may have been lost, and then was, is not lost a second time", `
		c2 acquire
		c2' extend
		c2' extend fail error=not-held
		c2' acquire
		c2 acquire ok grant=1
		c2' lost grant=1
		c2 acquire
		c2 acquire ok grant=2
		c2' lost grant=1
		c2' acquire ok grant=7`, `violated 8,10: c2 (process 1) held the lock from line 8 on, and c2 (process 2) was granted it in line 10.`},
	{"fenced-register+read", "a release with a name is not about an acquire that was invoked later", `
		c2 write token=5 value=1
		c2 write ok
		c1 release grant=1
		c1' acquire grant=1
		c1' acquire ok grant=1 token=2
		c1 release ok
		c1' write value=2
		c1' write ok`, `violated 1,2,7,8: c2 wrote 1 (lines 1 to 2) with token 5, and after that c1 (process 3) wrote 2 (lines 7 to 8) with the smaller token 2.`},
	{"lease lease+read", "a hold whose time was over before a loss does not last until the loss", `
		c1 acquire grant=1 at=2
		c2 acquire grant=3 at=9
		c1 valid grant=1 until=8 at=11
		c2 acquire ok grant=3 until=12
		c1 lost grant=1 at=13
		c1 acquire ok grant=1 until=25 at=17`, "valid"},
	{"reentrant-mutex+released reentrant-mutex+released+read", "a failed release may have found the entry gone also if its client died meanwhile", named + `
		c1' release grant=1
		nemesis exit on=c1
		c1 acquire
		c2 acquire
		c2 acquire ok grant=3
		c1' release fail error=lost
		c1 acquire ok grant=2`, "valid"},
	{"lease lease+read", "a second loss is about more, also if it comes during an extend", `
		c1 acquire grant=1
		c1' acquire grant=2
		c1' acquire ok grant=2
		c1' lost
		c1 acquire ok grant=1 until=70
		c1' extend grant=2
		c1' lost
		c1' extend ok until=130 at=1`, "valid"},
	{"reentrant-mutex+read reentrant-mutex", "a release without a name may be about an acquire whose grant a line shows only later", `
		c1 acquire grant=1
		c1 acquire info grant=1
		c1' release
		c1' valid grant=1
		c1' release ok
		c1' acquire
		c1' acquire info
		c1'' release
		c1'' release ok
		c2 acquire grant=8
		c2 acquire ok grant=8`, "valid"},
	{"reentrant-mutex+released", "a failed release may have found the entry gone, whatever deaths came before and after", `
		c1 acquire
		nemesis kill on=c1
		c1' release
		c2 acquire
		c1 acquire ok grant=1
		c1 acquire
		c2 acquire ok grant=2
		c1 acquire ok grant=3
		nemesis kill on=c1
		c1' release fail error=not-held`, "valid"},
	{"reentrant-mutex", "what was reported as lost takes nothing along a second time", `
		c1 acquire
		c2 acquire
		nemesis exit on=c1
		c1 acquire ok grant=1
		c1 lost
		c1 acquire
		c1 lost
		c2 acquire ok grant=2
		c1 acquire ok grant=3`, `violated 8,9: c2 held the lock from line 8 on, and c1 was granted it in line 9.`},
	{"reentrant-mutex", "a loss during a release of the grant does not make it lost for certain", `
		c1 acquire
		c1 acquire ok grant=1
		c1' release
		c1'' lost
		c1 acquire
		c1' lost grant=1
		c1'' acquire
		c1 acquire ok grant=2
		c1'' acquire ok grant=4`, "valid"},
	{"lease+read", "nor does it mean an older grant than the one that is shown and not yet answered", `
		c1 acquire grant=1 at=3
		c1 acquire ok grant=1 at=3
		c1 acquire grant=3 at=7
		c1' valid grant=3 until=9
		c1 valid until=9`, "valid"},
	{"reentrant-fenced-mutex", "a death during an acquire does not make what it got lost for certain", `
		c1 acquire
		c1 acquire ok grant=1 token=1
		c1 acquire
		nemesis kill on=c1
		c1 acquire ok grant=2 token=1
		c1 acquire
		c1 lost
		c1 acquire ok grant=3 token=2
		c1 acquire
		c1 acquire ok grant=4 token=3`, "valid"},
	{"mutex", "a line valid does not say which grant was lost", `
		c1 acquire
		c1' valid
		c2 acquire
		c2 acquire ok
		c1' acquire
		c1 acquire info
		c2' release
		c1' acquire ok
		c1'' lost
		c1' acquire
		c1' acquire ok`, "valid"},
	{"owner-mutex mutex", "a history in which nothing succeeded proves nothing", `
		c1 acquire
		c1 acquire fail`, "unknown: no acquire succeeded: there is nothing to judge"},
	{"owner-mutex", "nor does an empty one", ``, "unknown: no acquire succeeded: there is nothing to judge"},
	{"register", "nor does an empty register", ``, "unknown: no read or write succeeded: there is nothing to judge"},
}
