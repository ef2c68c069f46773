package checker

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// TestStatesDifferWhereVerdictsWill checks that two beginnings are in different
// states if the same end brings different verdicts.
func TestStatesDifferWhereVerdictsWill(t *testing.T) {
	t.Parallel()
	const held = `
			0 c1 acquire
			1 redis-1 grant of=c1 by=c1
			2 c1 acquire ok until=12 token=5`
	for _, tt := range []struct {
		name     string
		property Property
		a, b     string
		end      string
	}{
		{
			"an entry was taken away whose ok is on its way", Ownership,
			`0 c1 acquire
			0 c2 acquire
			1 redis-1 grant of=c1 by=c1
			2 redis-1 remove of=c1 by=c2
			4 c2 acquire info error=timeout`,
			`0 c1 acquire
			0 c2 acquire
			1 redis-1 grant of=c1 by=c1
			2 redis-1 expire of=c1
			4 c2 acquire info error=timeout`,
			`5 c1 acquire ok until=12`,
		},
		{
			"when it was taken away", Ownership,
			`0 c1 acquire
			0 c2 acquire
			1 redis-1 grant of=c1 by=c1
			2 redis-1 remove of=c1 by=c2
			4 c2 acquire info error=timeout`,
			`0 c1 acquire
			0 c2 acquire
			1 redis-1 grant of=c1 by=c1
			4 redis-1 remove of=c1 by=c2
			4 c2 acquire info error=timeout`,
			`5 c1 acquire ok until=3`,
		},
		{
			"how long one believes in it", LeaseExclusion,
			held, strings.ReplaceAll(held, "12", "11"),
			`3 c2 acquire
			11.5 c2 acquire ok until=21`,
		},
		{
			"when a lock was given back whose entry is there", Answers,
			held + `
			3 c1 release
			4 c1 release ok
			9 c2 acquire`,
			held + `
			3 c1 release
			8 c1 release ok
			9 c2 acquire`,
			`14 c2 acquire info error=timeout
			15 nemesis ended`,
		},
		{
			"whether it was given back", Answers,
			held + `
			3 c1 release
			4 c1 release ok
			14 c2 acquire`,
			held + `
			3 c1 release
			4 c1 release info error=timeout
			14 c2 acquire`,
			`15 nemesis ended`,
		},
		{
			"whether its entry is there", Answers,
			held + `
			3 c1 release
			4 c1 release ok
			14 c2 acquire`,
			held + `
			3 c1 release
			4 c1 release ok
			4 redis-1 remove of=c1 by=c1
			14 c2 acquire`,
			`15 nemesis ended`,
		},
		{
			"whether a release removed its entry", Answers,
			".tells" + held + `
			3 c1 release
			4 redis-1 remove of=c1 by=c1`,
			".tells" + held + `
			3 c1 release
			4 redis-1 expire of=c1`,
			`5 c1 release fail error=not-held`,
		},
		{
			"whether there was an entry when it was released", Answers,
			".tells" + held + `
			3 c1 release
			4 redis-1 expire of=c1`,
			".tells" + held + `
			3 redis-1 expire of=c1
			4 c1 release`,
			`5 c1 release ok`,
		},
		{
			"whether there ever was an entry", Answers,
			`.tells
			0 c1 acquire
			1 redis-1 prolong of=c1 by=c1
			2 c1 acquire ok until=12`,
			`.tells
			0 c1 acquire
			1 redis-1 grant of=c1 by=c1
			2 c1 acquire ok until=12
			2 redis-1 lose of=c1`,
			`3 c1 release
			4 c1 release ok`,
		},
		{
			"how many faults are in force", Answers,
			".tells" + held + `
			3 nemesis entry-lost id=1 on=redis-1
			3 redis-1 lose of=c1
			3 nemesis pause id=2 on=c2`,
			".tells" + held + `
			3 redis-1 lose of=c1
			3 nemesis pause id=2 on=c2`,
			`4 nemesis pause-end id=2 on=c2
			5 c1 release
			6 c1 release ok`,
		},
		{
			"which tokens were out when one asked", Fencing,
			`0 c2 acquire` + held,
			held + `
			2 c2 acquire`,
			`3 c2 acquire ok token=4`,
		},
		{
			"which of two tokens was the last when one asked", Fencing,
			`0 c3 acquire
			0 c3 acquire ok token=3
			0 c3 release
			0 c2 acquire` + held,
			`0 c3 acquire
			0 c3 acquire ok token=3
			0 c3 release` + held + `
			2 c2 acquire`,
			`3 c2 acquire ok token=4`,
		},
		{
			"which tokens are out", Fencing,
			`0 c2 acquire
			0 c3 acquire
			0 c3 acquire ok token=4
			0 c3 release` + held,
			`0 c2 acquire
			0 c3 acquire
			0 c3 acquire ok token=3
			0 c3 release` + held,
			`3 c2 acquire ok token=4`,
		},
		{
			"whether another process goes on, or works beside", Exclusion,
			strings.ReplaceAll(held, "token=5", "") + `
			3 c1 read
			4 c1 read fail error=unavailable`,
			strings.ReplaceAll(held, "token=5", "") + `
			3 c1 read
			4 c1 read info error=timeout`,
			`5 c1' acquire
			6 c1' acquire ok`,
		},
		{
			"an overlap with who is paused", Exclusion,
			held + `
			3 c2 acquire
			4 nemesis pause id=1 on=c1
			5 c2 acquire ok
			6 c2 release`,
			held + `
			3 c2 acquire
			4 nemesis pause id=1 on=c1
			5 c2 acquire info error=timeout`,
			`7 nemesis pause-end id=1 on=c1`,
		},
		{
			"a pause before the overlap, and one after it", Exclusion,
			held + `
			3 c2 acquire
			4 nemesis pause id=1 on=c1
			5 c2 acquire ok
			6 c2 release`,
			held + `
			3 c2 acquire
			4 c2 acquire ok
			5 nemesis pause id=1 on=c1
			6 c2 release`,
			`7 nemesis kill id=2 on=c1`,
		},
		{
			"whether the value that was read is in place", Resource,
			held + `
			3 c1 read
			4 resource read by=c1 value=0
			5 c1 read ok value=0
			5 resource write value=1 was=0`,
			held + `
			3 c1 read
			4 resource read by=c1 value=1
			5 c1 read ok value=1`,
			`6 c1 write value=2
			7 resource write by=c1 value=2 was=1`,
		},
		{
			"whether a server has granted it", Answers,
			`0 c1 acquire
			1 redis-1 grant of=c1 by=c1
			2 redis-1 expire of=c1`,
			`0 c1 acquire`,
			`3 c1 acquire ok`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, b := story(t, tt.a), story(t, tt.b)
			verdict := func(begin string) Outcome {
				return verdictOn(Judge(story(t, begin+"\n"+tt.end)), tt.property).Outcome
			}
			if x, y := verdict(tt.a), verdict(tt.b); (x == Violated) == (y == Violated) {
				t.Errorf("the verdicts are %s and %s", x, y)
			}
			now := max(a.Entries[len(a.Entries)-1].Time, b.Entries[len(b.Entries)-1].Time)
			if x, y := stateOf(a, now), stateOf(b, now); bytes.Equal(x, y) {
				t.Errorf("both states are %q", x)
			}
		})
	}
}

func stateOf(h *history.History, now time.Duration) []byte {
	return seen(h).AppendState(nil, now)
}

// TestStatesHaveNoPast checks that ended operations leave no trace in a state, and
// that indices, grants, tokens, values and the time do not distinguish two states.
func TestStatesHaveNoPast(t *testing.T) {
	t.Parallel()
	states := func(past int) (list [][]byte) {
		var text strings.Builder
		for i := range past {
			text.WriteString(turn([]string{"c3", "c2", "c1", "c2"}[i], i))
		}
		for line := range strings.Lines(turn("c1", past)) {
			text.WriteString(line)
			h := story(t, text.String())
			list = append(list, stateOf(h, h.Entries[len(h.Entries)-1].Time))
		}
		return list
	}
	want := states(1)
	for past := 2; past <= 4; past++ {
		for n, state := range states(past) {
			if !bytes.Equal(state, want[n]) {
				t.Errorf("line %d after %d turns: %q, and after one %q", n+1, past, state, want[n])
			}
		}
	}
}

// turn returns one critical section, the n-th from 0.
func turn(who string, n int) string {
	at := func(offset int) string { return fmt.Sprint(10*n + offset) }
	return strings.NewReplacer("c0", who, "VALUE", fmt.Sprint(n+1), "WAS", fmt.Sprint(n),
		"@", at(0), "+", at(3), "DEADLINE", at(9)).Replace(`
			@ c0 acquire
			@ redis-1 grant of=c0 by=c0
			@ c0 acquire ok until=DEADLINE token=VALUE
			@ c0 read
			@ resource read by=c0 value=WAS
			@ c0 read ok value=WAS
			@ c0 write value=VALUE
			@ resource write by=c0 value=VALUE was=WAS
			@ c0 write ok value=VALUE
			+ c0 release
			+ redis-1 remove of=c0 by=c0
			+ c0 release ok
			`)
}
