package report

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// wellFormed fails if text does not fit a terminal.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		if !ended {
			t.Errorf("the last line does not end: %q", line)
		}
		if n := len([]rune(line)); n > columns {
			t.Errorf("%d columns, and %d are allowed: %q", n, columns, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Errorf("a space at the end: %q", line)
		}
		for _, r := range line {
			if (r < ' ' || r >= 0x300) && !strings.ContainsRune(signs, r) {
				t.Errorf("the rune %q, whose width is not known: %q", r, line)
			}
		}
	}
}

// All rows of the lanes share one axis: a number stands in the column of its moment,
// or near it if there was no room.
func TestNumbersStandAtTheirTimes(t *testing.T) {
	t.Parallel()
	h, v := pauseOverLease()
	lines := strings.Split(story(t, h, v, Options{}), "\n")
	column := func(prefix, what string) int {
		for i, line := range lines {
			if strings.HasPrefix(line, prefix) {
				for _, l := range lines[i : i+2] {
					cells := []rune(l)
					if len(cells) < laneLeft {
						continue
					}
					if at := strings.Index(string(cells[laneLeft:]), what); at >= 0 {
						return len([]rune(string(cells[laneLeft:])[:at]))
					}
				}
			}
		}
		t.Fatalf("no %q at %q", what, prefix)
		return 0
	}
	leaseEnds := column("  c1 ", "▒")
	expires := column("  redis-1    ", "3")
	enters := column("  redis-1    ", "c2")
	if bar := column("  c2 ", "█"); bar != enters {
		t.Errorf("c2's hold begins in column %d, its entry in column %d", bar, enters)
	}
	if d := expires - leaseEnds; d < -1 || d > 1 {
		t.Errorf("the lease ends in column %d, the entry expires in column %d", leaseEnds, expires)
	}
}

func TestStoryOfNothing(t *testing.T) {
	t.Parallel()
	h := &history.History{Header: history.Header{Format: history.Format}}
	got := story(t, h, checker.Judge(h), Options{})
	if !strings.Contains(got, "Nothing happened in this run") {
		t.Error(got)
	}
	wellFormed(t, got)
}

func TestColorChangesNoText(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		h, v := s.make()
		plain := story(t, h, v, Options{})
		colored := story(t, h, v, Options{Color: true})
		if colored == plain {
			t.Errorf("%s: no colour", s.name)
		}
		for _, code := range append(codes[1:], resetCode) {
			colored = strings.ReplaceAll(colored, code, "")
		}
		if colored != plain {
			t.Errorf("%s: colour changes the text:\n%s", s.name, colored)
		}
	}
}

func TestStoryIsAboutWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	h, v := lateDel()
	v[0].Outcome, v[0].Witness = checker.Violated, &checker.Witness{Sentence: "two held"}
	if got := story(t, h, v, Options{}); !strings.HasPrefix(got, "✗ VIOLATED exclusion: two held\n") {
		t.Error(got)
	}
	if got := story(t, h, v, Options{About: checker.Ownership}); !strings.HasPrefix(got, "✗ VIOLATED ownership") {
		t.Error(got)
	}
	h.Header.Promises = []string{"ownership"}
	if got := story(t, h, v, Options{}); !strings.HasPrefix(got, "✗ VIOLATED ownership") || !strings.Contains(got, "✗ exclusion: two held") {
		t.Error(got)
	}
	h.Header.Promises = []string{"liveness"}
	if got := story(t, h, v, Options{}); !strings.HasPrefix(got, "✓ HELD liveness\n") {
		t.Error(got)
	}
	v[6] = checker.Verdict{Property: checker.Liveness, Outcome: checker.Unknown, Reason: "it was too short"}
	if got := story(t, h, v, Options{}); !strings.HasPrefix(got, "? UNKNOWN liveness: it was too short\n") {
		t.Error(got)
	}
}

// Where leases are short, times are in milliseconds.
func TestStoryOfShortLeases(t *testing.T) {
	t.Parallel()
	h, v := pauseOverLease()
	h.Header.LeaseMS = 1000
	for i := range h.Entries {
		h.Entries[i].Time /= 10
		h.Entries[i].ValidUntil /= 10
	}
	got := story(t, h, v, Options{})
	for _, say := range []string{"from 1011 ms to 1202 ms", "lease until 1000 ms", "1011.0 ms  c2 acquires"} {
		if !strings.Contains(got, say) {
			t.Errorf("no %q in\n%s", say, got)
		}
	}
	wellFormed(t, got)
}

// A story shows how the servers are set up, unless it is the default.
func TestStoryNamesTheServers(t *testing.T) {
	t.Parallel()
	h, v := pauseOverLease()
	h.Header.Servers = "servers with 1 replica each"
	if got := story(t, h, v, Options{}); !strings.Contains(got, ", servers with 1 replica each, on sim") {
		t.Error(got)
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	list := []checker.Verdict{
		{Property: checker.Exclusion, Outcome: checker.Violated, Witness: &checker.Witness{Sentence: strings.Repeat("two held ", 12) + "."}},
		{Property: checker.LeaseExclusion, Outcome: checker.NA, Reason: "no grant says how long it is valid"},
		{Property: checker.Ownership, Outcome: checker.Valid},
		{Property: checker.Liveness, Outcome: checker.Unknown, Reason: "too short"},
		{Property: checker.Handover},
	}
	promised := func(p checker.Property) bool { return p != checker.Liveness }
	var b bytes.Buffer
	if err := Verdicts(&b, list, promised, Options{}); err != nil {
		t.Fatal(err)
	}
	want := `
✗ exclusion        VIOLATED     two held two held two held two held two held two
                                held two held two held two held two held two
                                held two held
- lease-exclusion  n/a          no grant says how long it is valid
✓ ownership        valid
? liveness         unknown      not promised; too short
? handover         not judged
`[1:]
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}

func TestErrorsOfTheWriter(t *testing.T) {
	t.Parallel()
	h, v := pauseOverLease()
	if err := Story(failing{}, h, v, Options{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if err := Verdicts(failing{}, v, checker.Promise(nil).Covers, Options{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

var errFull = errors.New("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// A story of any history and any witness fits the page: it assumes nothing of either.
func TestStoryOfAnything(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		h, v := anything(rng)
		got := story(t, h, v, Options{})
		if wellFormed(t, got); t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, got)
		}
		if again := story(t, h, v, Options{}); again != got {
			t.Fatalf("seed %d: told differently:\n%s\n%s", seed, got, again)
		}
	}
}

// anything returns a history without sense.
func anything(rng *rand.Rand) (*history.History, []checker.Verdict) {
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	h := &history.History{Header: history.Header{LeaseMS: int64(rng.IntN(3)) * 1500, Fencing: history.Fencing(pick("", "all", "writes"))}}
	now := time.Duration(0)
	opt := func(n int) history.Opt { return history.Opt{V: int64(rng.IntN(n)), Set: rng.IntN(4) > 0} }
	for i := range rng.IntN(60) {
		now += time.Duration(rng.IntN(1000)) * time.Duration(rng.IntN(1000)) * time.Microsecond
		e := history.Entry{
			Index: i + 1, Time: now, Type: history.Type(rng.IntN(6)), Lock: pick("", "", "", "b"),
			Grant: rng.IntN(6), Token: uint64(rng.IntN(4)), ValidUntil: time.Duration(rng.IntN(10)) * time.Second,
			Value: opt(9), Was: opt(9), By: opt(60), Op: opt(60), ID: rng.IntN(3), Amount: time.Duration(rng.IntN(9)-4) * time.Second,
			Error: pick("", history.ErrHeld, history.ErrNotHeld, history.ErrCrashed),
			Point: pick("", "", "c1 write: before last", "c2 acquire: after request 2", "c1 release: after ok", "x: y", "z"),
			Text:  pick("", toServer, toClient), Hits: opt(2),
		}
		switch rng.IntN(5) {
		case 0:
			e.Process.Name = history.Nemesis
			e.F = pick("pause", "kill", "poweroff", "partition", "partition-oneway", "delay", "restart-lost", "server-jump", "what",
				"hang", "skew", "rate", "server-rate", "server-pause", "failover", "failover", "evict", "partition-servers", "partition-servers", history.Exit, history.Ended) + pick("", history.EndSuffix)
			e.On = [][]string{nil, {"c1"}, {"c2", "c1"}, {"c2", "s1"}, {"c1", history.Resource}, {"s1"}, {"s2", "s1"}}[rng.IntN(7)]
		case 1:
			e.Process.Name = pick("s1", "s2", "s3", "s4", "ein Server mit langem Namen")
			e.F = pick(history.Granted, history.Granted, history.Remove, history.Takeover, history.Change, history.Shorten, history.Expire, history.Lose, history.Promote, "what")
			if e.F == history.Promote {
				e.Text = pick("s1", "s2", "s3", "")
			}
		case 2:
			e.Process.Name, e.F = history.Resource, pick(history.Read, history.Write, history.Refuse)
		default:
			e.Process.N = rng.IntN(5)
			e.Client = pick("", "c1", "c2", "客户端\t3", strings.Repeat("long", 30))
			e.F = pick(history.Acquire, history.Acquire, history.Try, history.Release, history.Extend, history.Read, history.Write, history.Lost, history.Valid, history.Queued)
		}
		h.Entries = append(h.Entries, e)
	}
	p := checker.Properties[rng.IntN(len(checker.Properties))]
	var positions []int
	for range rng.IntN(5) {
		positions = append(positions, rng.IntN(70)-5)
	}
	v := verdicts(p, pick("", "what convicts it: "+strings.Repeat("x", 200)), positions...)
	if rng.IntN(4) == 0 {
		v = verdicts("", "")
	}
	return h, v
}
