package checker

import (
	"strings"
	"testing"
	"time"
)

func TestADisagreementIsNoVerdict(t *testing.T) {
	t.Parallel()
	good, bad := story(t, exclusionSpecs[0].story), story(t, exclusionSpecs[1].story)
	forged := &Witness{Sentence: "c1 held it.", Entries: []int{1, 3}}
	for _, c := range []struct {
		name string
		got  Verdict
		want string
	}{
		{
			"violated, says one", newTimeline(good).confirm(violated(Exclusion, forged)),
			"the judges disagree: Porcupine finds an order for the operations around it; the direct check says violated: c1 held it.",
		},
		{
			"valid, says one", newTimeline(bad).confirm(valid(Exclusion)),
			"the judges disagree: Porcupine finds no order for the operations; the direct check says valid",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.got.Outcome != Unknown || c.got.Reason != c.want || c.got.Witness != nil {
				t.Errorf("got  %s: %s\nwant unknown: %s", c.got.Outcome, c.got.Reason, c.want)
			}
		})
	}
}

func TestTheReferenceJudgesThreeProperties(t *testing.T) {
	t.Parallel()
	got := reference(story(t, exclusionSpecs[1].story), time.Minute)
	want := []string{"exclusion violated", "lease-exclusion n/a", "resource n/a"}
	for i, v := range got {
		if s := string(v.Property) + " " + v.Outcome.String(); s != want[i] {
			t.Errorf("got %s, want %s", s, want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("it judges %d properties", len(got))
	}
}

// A violation far behind is confirmed on what stands around it: searching all of
// a long history with many open ends could take forever.
func TestALongHistoryIsConfirmedAroundItsWitness(t *testing.T) {
	t.Parallel()
	h := busyRun(t, 3000)
	intruder := story(t, `
		0 c9 acquire lock=a
		0 c9 acquire ok lock=a`)
	at := len(h.Entries) - 5 // the last one holds
	for i, e := range intruder.Entries {
		e.Index, e.Process.N, e.Time = h.Entries[len(h.Entries)-1].Index+1, 99, h.Entries[at-1].Time
		if e.Grant != 0 {
			e.Grant = 1_000_000
		}
		h.Entries = append(h.Entries[:at+i], append(intruder.Entries[i:i+1:i+1], h.Entries[at+i:]...)...)
		h.Entries[at+i] = e
	}
	for i := range h.Entries {
		h.Entries[i].Index = i + 1
	}
	v := JudgeBoth(h)[0]
	if v.Outcome != Violated || !strings.HasSuffix(v.Witness.Sentence, "and c9 was granted it at 299.920 s.") {
		t.Errorf("got %s %v %s", v.Outcome, v.Witness, v.Reason)
	}
}
