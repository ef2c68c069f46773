package checker

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/history"
)

func confirmed(h *history.History, v Verdict) Verdict {
	list := []Verdict{v}
	confirm(journal{list: h.Entries}, list, referenceSteps)
	return list[0]
}

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
			"violated, says one", confirmed(good, violated(Exclusion, forged)),
			"the judges disagree: Porcupine finds an order for the operations around it; the direct check says violated: c1 held it.",
		},
		{
			"valid, says one", confirmed(bad, valid(Exclusion)),
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
	h := story(t, exclusionSpecs[1].story)
	got := reference(h, Judge(h))
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

// A violation near the end is confirmed on the operations around it. Searching all of
// a long history with many open ends could take for ever.
func TestALongHistoryIsConfirmedAroundItsWitness(t *testing.T) {
	t.Parallel()
	h := busyRun(t, 3000)
	intruder := story(t, `
		0 c9 acquire lock=a
		0 c9 acquire ok lock=a`)
	at := len(h.Entries) - 5 // the last acquire holds
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

// Properties that are not judged in time are Unknown, with that reason.
func TestJudgingEndsInTime(t *testing.T) {
	t.Parallel()
	h := busyRun(t, 100)
	if got, want := JudgeWithin(t.Context(), h), JudgeBoth(h); !reflect.DeepEqual(got, want) {
		t.Errorf("with time enough:\n%v\nwant\n%v", got, want)
	}
	var l history.Log
	l.Header = h.Header
	for i := range h.Entries {
		l.Add(&h.Entries[i])
	}
	if got, want := JudgeLog(t.Context(), &l), JudgeBoth(h); !reflect.DeepEqual(got, want) || ReachLog(&l) != Reach(h) {
		t.Errorf("in a log:\n%v\nwant\n%v", got, want)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for i, v := range JudgeWithin(over, h) {
		if v.Property != Properties[i] || v.Outcome != Unknown || v.Reason != OutOfTime {
			t.Errorf("without any time: %v", v)
		}
	}
}

// For both judges, a value without a recorded write was written by another program.
func TestAWriteBesideTheRecordIsNoDisagreement(t *testing.T) {
	v := verdictOn(JudgeBoth(story(t, granted1+`
		2 c1 write value=1
		3 resource write by=c1 value=1 was=0
		4 c1 write ok value=1
		5 c1 write value=2
		6 resource write by=c1 value=2 was=5
		7 c1 write ok value=2`)), Resource)
	if v.Outcome != Violated || v.Porcupine != Agreed {
		t.Errorf("got %s, %q: %s", v.Outcome, v.Porcupine, v.Reason)
	}
}

// If Porcupine does not finish, the verdict stays, and the opinion says so.
func TestAnOpinionThatIsNoneIsSaid(t *testing.T) {
	t.Parallel()
	for i, want := range []Outcome{Valid, Violated} {
		h := story(t, exclusionSpecs[i].story)
		v := []Verdict{verdictOn(Judge(h), Exclusion)}
		confirm(journal{list: h.Entries}, v, 0)
		var n Second
		if n.Take(v[0].Porcupine); v[0].Outcome != want || n != (Second{Undecided: 1}) {
			t.Errorf("%s: got %v, %+v", exclusionSpecs[i].name, v[0], n)
		}
	}
}
