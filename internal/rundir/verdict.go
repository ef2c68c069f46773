package rundir

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/report"
)

// Verdict is verdict.json, and what is printed with --json of one history.
type Verdict struct {
	Schema     int               `json:"schema"`               // version of this document
	File       string            `json:"file,omitempty"`       // the history that was judged
	Model      string            `json:"model,omitempty"`      // the only model that judged it
	Operations int               `json:"operations,omitempty"` // operations that the model judged
	Entries    int               `json:"entries,omitempty"`    // lines that were read for the model
	Properties []PropertyVerdict `json:"properties"`           // verdicts on every property, or on the model
	Reached    map[string]int    `json:"reached,omitempty"`    // counters of the run, by name: lockcheck list reached
	Was        []string          `json:"was,omitempty"`        // of a replay: properties that the record violated
	Unused     *int              `json:"unused,omitempty"`     // of a replay: recorded decisions that were not used
	Defaulted  *int              `json:"defaulted,omitempty"`  // of a replay: decisions that were needed and not recorded
	Shrunk     *harness.Shrunk   `json:"shrunk,omitempty"`     // how the run was shrunk, if it was
	Schedule   string            `json:"schedule,omitempty"`   // digest of the schedule.json beside it
	Note       string            `json:"note,omitempty"`       // the verdict of another reading of the history, or other flags to try
	Reason     string            `json:"reason,omitempty"`     // why it proves nothing
	Warnings   []string          `json:"warnings,omitempty"`   // warnings about the file
	Error      string            `json:"error,omitempty"`      // the error, if there is no verdict

	Passed []string `json:"passed_over,omitempty"` // of check, of a directory: files beside it that have the suffix of a history but are not histories
}

// PropertyVerdict is the verdict on one property.
type PropertyVerdict struct {
	Property string `json:"property"`           // name of the property, or of the model
	Outcome  string `json:"outcome"`            // valid, violated, unknown or n/a
	Reason   string `json:"reason,omitempty"`   // why it is unknown or n/a
	Sentence string `json:"sentence,omitempty"` // the violation, in one sentence
	// Locks are the names of all that are violated, where check judges several; the
	// sentence and the lines are about one of them.
	Locks []string `json:"locks,omitempty"`
	// Porcupine is what it says of a verdict: agreed, undecided or disagreed; not
	// there: it has no model of the property.
	Porcupine checker.Opinion `json:"porcupine,omitempty"`
	Entries   []int           `json:"entries,omitempty"` // the witness: entries of the history, by position from 1
	Lines     []int           `json:"lines,omitempty"`   // the same as lines of the file that was judged, from 1
}

// NewVerdict returns the document of a run.
func NewVerdict(verdicts []checker.Verdict, reached checker.Counts) Verdict {
	d := Verdict{Schema: 1, Properties: []PropertyVerdict{}, Reached: reached.Map()}
	for _, v := range verdicts {
		p := PropertyVerdict{Property: string(v.Property), Outcome: v.Outcome.String(), Reason: v.Reason, Porcupine: v.Porcupine}
		if len(v.Locks) > 1 {
			p.Locks = v.Locks
		}
		if v.Witness != nil {
			p.Sentence = v.Witness.Sentence
			for _, pos := range v.Witness.Entries {
				p.Entries = append(p.Entries, pos+1)
			}
		}
		d.Properties = append(d.Properties, p)
	}
	return d
}

// StoryOptions say what the story of a run is about. That of a case is about what
// the case shows: the first property that it has to violate, or what it has to keep.
// A measure that has to violate nothing, or a control, may violate something else by the way.
func StoryOptions(j *harness.Judged) (o report.Options) {
	c, s, ok := j.Plan.Documented()
	switch {
	case !ok:
	case len(s.Must) > 0 && c.Kind != catalogue.Control:
		o.About = s.Must[0]
	default:
		o.Promise = slices.DeleteFunc(slices.Clone(checker.Properties[:]), func(p checker.Property) bool {
			by := slices.Contains(s.May, p) || c.Kind == catalogue.Control && !slices.Contains(s.Must, p)
			return by && j.Outcome(p) != checker.Valid
		})
	}
	if f := c.Figure; ok && f != nil && j.Measure(f.Of) >= f.AtLeast {
		o.Measured = measured(j, f)
	}
	return o
}

// pageOptions are the settings of a run's page.
func pageOptions(j *harness.Judged) report.PageOptions {
	return report.PageOptions{
		Options: StoryOptions(j), Again: "lockcheck replay " + ScheduleFile, Version: j.History.Header.Version, Reached: j.Reached, Notes: notes(j), Messages: j.Messages,
	}
}

// Digest returns a hash by which a file is known to be unchanged.
func Digest(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }
