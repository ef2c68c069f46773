package harness

import (
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// Measure returns a quantity of a run.
func (j *Judged) Measure(of catalogue.Quantity) float64 {
	lease := j.Plan.Lease.Seconds()
	switch of {
	case catalogue.RequestsPerGrant:
		return float64(j.Requests) / float64(max(1, j.Reached[checker.Grants]))
	case catalogue.LongestGap:
		gap, _ := checker.Longest(j.History)
		return gap.Seconds() / lease
	case catalogue.LongestWait:
		_, wait := checker.Longest(j.History)
		return wait.Seconds() / lease
	case catalogue.PassedBy:
		return float64(checker.Passed(j.History))
	case catalogue.SplitVotes:
		return float64(checker.Splits(j.History))
	}
	return 0
}
