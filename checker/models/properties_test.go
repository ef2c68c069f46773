package models

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/rapidtest"
)

// The model lease and the property lease-exclusion were written separately. A
// violation of the property is a violation of the model. A violation of the model,
// except by rules that only models have, is a violation of the property.
func TestTheModelLeaseAgreesWithTheProperty(t *testing.T) {
	t.Parallel()
	m := parsed(t, "lease")
	broken, held := 0, 0
	rapidtest.Check(t, func(rt *rapid.T) {
		for range 20 {
			// For the property, a failed release ends a hold.
			entries := anyHistory(rt, m, Options{Released: true})
			var b strings.Builder
			if err := history.Encode(&b, &history.History{Entries: entries}); err != nil {
				rt.Fatal(err)
			}
			h, _, err := history.Decode(strings.NewReader(b.String()), "history")
			if err != nil {
				rt.Fatal(err)
			}
			v := fed(m, Options{Released: true}, h.Entries).Verdict(t.Context())
			property := checker.Judge(h)[slices.Index(checker.Properties[:], checker.LeaseExclusion)].Outcome
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

// onlyOfModels reports whether a sentence is about something that properties allow:
// to release or extend without holding, to acquire again while holding, and holds
// that were only known later.
func onlyOfModels(sentence string) bool {
	for _, words := range []string{"did not hold it", "had never held it", "after it had released it", "granted it again", "at some moment"} {
		if strings.Contains(sentence, words) {
			return true
		}
	}
	return false
}
