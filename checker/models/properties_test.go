package models

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
)

// The model lease and the property lease-exclusion were written apart from each
// other. What breaks the property breaks the model; what breaks the model, other
// than what only a model forbids, breaks the property.
func TestTheModelLeaseAgreesWithTheProperty(t *testing.T) {
	t.Parallel()
	m, err := Parse("lease")
	if err != nil {
		t.Fatal(err)
	}
	broken, held := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for range 20 {
			// A failed release ends a hold of a property.
			entries := anyHistory(rt, m, Options{Released: true})
			var b strings.Builder
			if err := history.Encode(&b, &history.History{Entries: entries}); err != nil {
				rt.Fatal(err)
			}
			h, _, err := history.Decode(strings.NewReader(b.String()), "history")
			if err != nil {
				rt.Fatal(err)
			}
			j := New(m, Options{Released: true})
			for i := range h.Entries {
				j.Add(&h.Entries[i], i+2)
			}
			v := j.Verdict(context.Background())
			property := outcomeOf(checker.Judge(h), checker.LeaseExclusion)
			if property == checker.Violated && v.Outcome == checker.Valid {
				rt.Fatalf("the property is violated, and the history is valid by the model\n%s", b.String())
			}
			if v.Outcome == checker.Violated && property == checker.Valid && !onlyOfModels(v.Witness.Sentence) {
				rt.Fatalf("the property is valid, but by the model %s\n%s", v.Witness.Sentence, b.String())
			}
			if property == checker.Violated {
				broken++
			} else if property == checker.Valid {
				held++
			}
		}
	})
	if t.Logf("%d violated, %d valid", broken, held); alltests.Wanted() && (broken < 20 || held < 20) {
		t.Error("that says little")
	}
}

func outcomeOf(list []checker.Verdict, p checker.Property) checker.Outcome {
	for _, v := range list {
		if v.Property == p {
			return v.Outcome
		}
	}
	return 0
}

// onlyOfModels tells whether a sentence is about what properties allow: to
// release or extend what one does not hold, to get again what one has, and what
// was only known later to have been held.
func onlyOfModels(sentence string) bool {
	for _, words := range []string{"did not hold it", "had never held it", "after it had released it", "granted it again", "at some moment"} {
		if strings.Contains(sentence, words) {
			return true
		}
	}
	return false
}
