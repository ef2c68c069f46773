package batch_test

import (
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/explore"
)

// The first story shows damage: a run in which a write was lost comes before an earlier
// run in which nothing was.
func TestTheFirstStoryIsOfALostWriteIfThereIsOne(t *testing.T) {
	for name, tt := range map[string]struct {
		first   map[checker.Property]int // the first run that violated it
		promise checker.Promise
		want    checker.Property
	}{
		"a lost write":                  {map[checker.Property]int{checker.Exclusion: 2, checker.Resource: 7}, nil, checker.Resource},
		"nothing lost":                  {map[checker.Property]int{checker.Ownership: 3, checker.Fairness: 1}, nil, checker.Fairness},
		"nothing lost, in one run":      {map[checker.Property]int{checker.Ownership: 3, checker.Exclusion: 3}, nil, checker.Exclusion},
		"lost, with no promise of that": {map[checker.Property]int{checker.Exclusion: 2, checker.Resource: 2}, checker.Promise{checker.Exclusion}, checker.Exclusion},
		"no violation":                  {nil, nil, ""},
	} {
		r := explore.NewResult()
		for prop, run := range tt.first {
			r.Outcomes[prop].Count[checker.Violated], r.Outcomes[prop].First[checker.Violated] = 1, run
		}
		if got, ok := batch.StoryProperty(r, tt.promise); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: the story is of %q, %v; want %q", name, got, ok, tt.want)
		}
	}
}
