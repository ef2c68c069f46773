package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// spec is a rule of a property: its name, a history, and the verdict: "valid", "n/a:
// reason", "unknown: reason", or "violated 2,5: sentence", with the lines of the
// witness.
type spec struct{ name, story, want string }

// specs are the specification of each property.
var specs = map[Property][]spec{
	Exclusion:      exclusionSpecs,
	LeaseExclusion: leaseSpecs,
	Ownership:      slices.Concat(ownershipSpecs, sharedOwnershipSpecs),
	Fencing:        fencingSpecs,
	Resource:       resourceSpecs,
	Answers:        slices.Concat(answersSpecs, releaseSpecs, renewalSpecs, sharedAnswersSpecs),
	Liveness:       livenessSpecs,
	Handover:       handoverSpecs,
	Fairness:       fairnessSpecs,
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for _, p := range Properties {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			for _, s := range specs[p] {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					h := story(t, s.story)
					if got := told(Judge(h), p); got != s.want {
						t.Errorf("got  %s\nwant %s", got, s.want)
					}
					if got := told(JudgeBoth(h), p); got != s.want {
						t.Errorf("with Porcupine: %s", got)
					}
				})
			}
		})
	}
}

func TestEveryPropertyHasBothKindsOfExamples(t *testing.T) {
	t.Parallel()
	for _, p := range Properties {
		var good, bad int
		for _, s := range specs[p] {
			if strings.HasPrefix(s.want, "violated") {
				bad++
			} else {
				good++
			}
		}
		if good < 8 || bad < 8 {
			t.Errorf("%s has %d good and %d bad histories: want 8 of each", p, good, bad)
		}
	}
}

// told returns the verdict on p in the words of a spec.
func told(verdicts []Verdict, p Property) string {
	switch v := verdictOn(verdicts, p); {
	case v.Witness != nil:
		lines := make([]string, len(v.Witness.Entries))
		for i, pos := range v.Witness.Entries {
			lines[i] = fmt.Sprint(pos + 1)
		}
		return fmt.Sprintf("%s %s: %s", v.Outcome, strings.Join(lines, ","), v.Witness.Sentence)
	case v.Reason != "":
		return fmt.Sprintf("%s: %s", v.Outcome, v.Reason)
	default:
		return v.Outcome.String()
	}
}
