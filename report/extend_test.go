package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/report"
)

// c2 was paused beyond its lease. Its extend prolongs the entry of c1, and says yes.
const blindExtend = `{"lockcheck":1,"lease_ms":10000,"observes":["ownership"]}
{"index":1,"time":0,"client":"c2","process":2,"type":"invoke","f":"acquire","lock":"a"}
{"index":2,"time":1000000,"process":"redis-1","type":"event","f":"grant","lock":"a","key":"a","by":1,"op":1}
{"index":3,"time":1000000,"process":"nemesis","type":"info","f":"pause","id":1,"on":["c2"]}
{"index":4,"time":10001000000,"process":"redis-1","type":"event","f":"expire","lock":"a","key":"a","op":1}
{"index":5,"time":10200000000,"client":"c1","process":1,"type":"invoke","f":"acquire","lock":"a"}
{"index":6,"time":10201000000,"process":"redis-1","type":"event","f":"grant","lock":"a","key":"a","by":5,"op":5}
{"index":7,"time":10202000000,"client":"c1","process":1,"type":"ok","f":"acquire","lock":"a","grant":1,"valid_until":20200000000}
{"index":8,"time":10300000000,"process":"nemesis","type":"info","f":"pause-end","id":1,"on":["c2"]}
{"index":9,"time":10300000000,"client":"c2","process":2,"type":"ok","f":"acquire","lock":"a","grant":2,"valid_until":10000000000}
{"index":10,"time":12301000000,"client":"c2","process":2,"type":"invoke","f":"extend","lock":"a","grant":2}
{"index":11,"time":12302000000,"process":"redis-1","type":"event","f":"prolong","lock":"a","grant":1,"key":"a","by":10,"op":5}
{"index":12,"time":12303000000,"client":"c2","process":2,"type":"ok","f":"extend","lock":"a","grant":2,"valid_until":22301000000}
{"index":13,"time":13000000000,"client":"c2","process":2,"type":"invoke","f":"release","lock":"a","grant":2}
{"index":14,"time":13002000000,"client":"c2","process":2,"type":"fail","f":"release","lock":"a","grant":2,"error":"not-held"}
{"index":15,"time":14000000000,"client":"c1","process":1,"type":"invoke","f":"release","lock":"a","grant":1}
{"index":16,"time":14001000000,"process":"redis-1","type":"event","f":"remove","lock":"a","grant":1,"key":"a","by":15,"op":5}
{"index":17,"time":14002000000,"client":"c1","process":1,"type":"ok","f":"release","lock":"a","grant":1}
`

// A library sends the DEL of a release twice: the first one removes the client's own entry.
const deletedTwice = `{"lockcheck":1,"lease_ms":10000,"observes":["ownership"]}
{"index":1,"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire","lock":"a"}
{"index":2,"time":1000000,"process":"redis-1","type":"event","f":"grant","lock":"a","key":"a","by":1,"op":1}
{"index":3,"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","lock":"a","grant":1,"valid_until":10000000000}
{"index":4,"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"release","lock":"a","grant":1}
{"index":5,"time":3001000000,"process":"redis-1","type":"event","f":"remove","lock":"a","key":"a","by":4,"op":1,"grant":1}
{"index":6,"time":3002000000,"client":"c2","process":2,"type":"invoke","f":"acquire","lock":"a"}
{"index":7,"time":3003000000,"process":"redis-1","type":"event","f":"grant","lock":"a","key":"a","by":6,"op":6}
{"index":8,"time":3004000000,"client":"c2","process":2,"type":"ok","f":"acquire","lock":"a","grant":2,"valid_until":13000000000}
{"index":9,"time":3005000000,"process":"redis-1","type":"event","f":"remove","lock":"a","grant":2,"key":"a","by":4,"op":6}
{"index":10,"time":3006000000,"client":"c1","process":1,"type":"ok","f":"release","lock":"a","grant":1}
`

func TestAReleaseRemovesTwoEntries(t *testing.T) {
	t.Parallel()
	h, _, err := history.Decode(strings.NewReader(deletedTwice), "release")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := report.Story(&text, h, checker.JudgeBoth(h), report.Options{Promise: []checker.Property{checker.Ownership}}); err != nil {
		t.Fatal(err)
	}
	story := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{"its release removed its entry", "c1's release also removed c2's entry, while c2 still believed that it held the lock"} {
		if !strings.Contains(story, want) {
			t.Errorf("the story lacks %q:\n%s", want, &text)
		}
	}
}

// By their leases two clients hold only from the extend on, which the story names.
func TestALeaseIsExtendedAfterAnothersGrant(t *testing.T) {
	t.Parallel()
	h, _, err := history.Decode(strings.NewReader(blindExtend), "extend")
	if err != nil {
		t.Fatal(err)
	}
	for property, want := range map[checker.Property][]string{
		checker.LeaseExclusion: {
			`lease-exclusion: c1 and c2 both held "a" from 12.30 s to 13.00 s`,
			"c2 woke up and heard of its grant, whose lease was over. At 12.30 s its extend prolonged c1's entry.",
			"was told that its lease was extended, until 22.30 s: from then on both had a lease.",
		},
		checker.Exclusion: {`exclusion: c1 and c2 both held "a" from 10.30 s to 13.00 s`},
	} {
		var text bytes.Buffer
		if err := report.Story(&text, h, checker.JudgeBoth(h), report.Options{Promise: []checker.Property{property}}); err != nil {
			t.Fatal(err)
		}
		story := strings.Join(strings.Fields(text.String()), " ")
		for _, w := range want {
			if !strings.Contains(story, w) {
				t.Errorf("the story of %s lacks %q:\n%s", property, w, &text)
			}
		}
		if strings.Contains(story, "also both held") {
			t.Errorf("the story of %s counts one overlap twice:\n%s", property, &text)
		}
	}
}

// An extend that says yes is named where it prolonged another client's entry. The lease
// that the client knew of is over, and not shown as if it ran.
func TestAFalseExtendIsNamed(t *testing.T) {
	t.Parallel()
	h, _, err := history.Decode(strings.NewReader(`{"lockcheck":1,"lease_ms":10000,"observes":["ownership","answers"]}
{"index":1,"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire","lock":"a"}
{"index":2,"time":1000000,"process":"redis-1","type":"event","f":"grant","lock":"a","key":"a","by":1,"op":1}
{"index":3,"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","lock":"a","grant":1,"valid_until":10000000000}
{"index":4,"time":10001000000,"process":"redis-1","type":"event","f":"expire","lock":"a","key":"a","op":1,"grant":1}
{"index":5,"time":10200000000,"client":"c2","process":2,"type":"invoke","f":"acquire","lock":"a"}
{"index":6,"time":10201000000,"process":"redis-1","type":"event","f":"grant","lock":"a","key":"a","by":5,"op":5}
{"index":7,"time":10202000000,"client":"c2","process":2,"type":"ok","f":"acquire","lock":"a","grant":2,"valid_until":20200000000}
{"index":8,"time":12301000000,"client":"c1","process":1,"type":"invoke","f":"extend","lock":"a","grant":1}
{"index":9,"time":12302000000,"process":"redis-1","type":"event","f":"prolong","lock":"a","grant":2,"key":"a","by":8,"op":5}
{"index":10,"time":12303000000,"client":"c1","process":1,"type":"ok","f":"extend","lock":"a","grant":1}
`), "extend")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := report.Story(&text, h, checker.JudgeBoth(h), report.Options{Promise: []checker.Property{checker.Answers}}); err != nil {
		t.Fatal(err)
	}
	story := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{"VIOLATED answers", "c1's extend prolonged c2's entry.", "c1 is told that it still holds the lock; c2 was granted it in between"} {
		if !strings.Contains(story, want) {
			t.Errorf("the story lacks %q:\n%s", want, &text)
		}
	}
	if strings.Contains(story, "in between, lease until") {
		t.Errorf("a lease that is over is shown:\n%s", &text)
	}
}
