package models

import (
	"fmt"
	"math/rand"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// blurred returns a history of a mutex in which every operation overlaps its
// neighbours: n operations in the order in which they took effect. The acquire at
// twice is granted although the lock is held.
func blurred(seed int64, n, twice int) []history.Entry {
	r := rand.New(rand.NewSource(seed))
	byAt := make([][]history.Entry, 10*n+100)
	locked := false
	for k := range n {
		f := history.Acquire
		if locked && k != twice {
			f = history.Release
		}
		locked = f == history.Acquire
		at := 10*k + 40
		call, ret := at-1-r.Intn(39), at+1+r.Intn(39)
		e := history.Entry{Client: fmt.Sprint("c", k), Process: history.Process{N: k}, Type: history.Invoke, F: f}
		byAt[call] = append(byAt[call], e)
		e.Type = history.OK
		byAt[ret] = append(byAt[ret], e)
	}
	var list []history.Entry
	for _, es := range byAt {
		for _, e := range es {
			e.Index = len(list) + 1
			list = append(list, e)
		}
	}
	return list
}

var counts = regexp.MustCompile(`(?:up to|from line (\d+) to) line (\d+) of the lock: (\d+) (grant|release)s?, at most (\d+)`)

// For a long stretch of events that all overlap, the judge gives the number of grants
// and of releases. The test checks these numbers.
func TestOfAMutexThereAreTooMany(t *testing.T) {
	t.Parallel()
	m, said := parsed(t, "mutex"), 0
	for seed := range int64(20) {
		entries := blurred(seed, 2000, 1001)
		v := fed(m, Options{}, entries).Verdict(t.Context())
		if v.Outcome != checker.Violated {
			t.Fatalf("seed %d: %s %s", seed, v.Outcome, v.Reason)
		}
		if n := len(v.Witness.Lines); n > 2*(lastEvents+1) && counts.MatchString(v.Witness.Sentence) {
			t.Errorf("seed %d: the witness has %d lines", seed, n)
		}
		n := counts.FindStringSubmatch(v.Witness.Sentence)
		if n == nil || n[1] != "" {
			continue
		}
		said++
		line, _ := strconv.Atoi(n[2])
		same, _ := strconv.Atoi(n[3])
		other, _ := strconv.Atoi(n[5])
		did := map[string]int{}
		for _, e := range entries[:line] {
			did[e.F+" "+e.Type.String()]++
		}
		mine, others, more := "acquire ok", "release invoke", 1
		if n[4] == "release" {
			mine, others, more = "release ok", "acquire invoke", 0
		}
		if same != did[mine] || other != did[others] || same <= other+more {
			t.Errorf("seed %d: %s %v", seed, v.Witness.Sentence, did)
		}
	}
	if said == 0 {
		t.Error("no history was so blurred that its events had to be counted")
	}
}

// 10,000 operations that overlap need no search. The best of three attempts counts,
// since the machine may be busy.
func TestALongMutexIsJudgedAtOnce(t *testing.T) {
	m, entries := parsed(t, "mutex"), blurred(1, 10_000, 5001)
	least := time.Hour
	for range 3 {
		start := time.Now()
		v := fed(m, Options{}, entries).Verdict(t.Context())
		least = min(least, time.Since(start))
		if v.Outcome != checker.Violated {
			t.Fatalf("%s: %s", v.Outcome, v.Reason)
		}
	}
	if least > time.Second {
		t.Errorf("it takes %v", least)
	}
}
