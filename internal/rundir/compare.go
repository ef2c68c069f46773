package rundir

import (
	"bytes"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/report"
)

// Side is one run of a comparison. Promise is the properties that it has to keep; nil
// means those that the run's case is about, or all.
type Side struct {
	Title   string
	Run     *harness.Judged
	Promise checker.Promise
}

// Told returns how the story of a side is told.
func (s Side) Told() report.Side {
	return report.Side{Title: s.Title, History: s.Run.History, Verdicts: s.Run.Verdicts, Options: StoryAbout(s.Run, s.Promise), Messages: s.Run.Messages}
}

// StoryAbout is StoryOptions for a run that promises pr; nil means what its case is about.
func StoryAbout(j *harness.Judged, pr checker.Promise) report.Options {
	o := StoryOptions(j)
	if len(pr) > 0 {
		o.Promise = pr
	}
	if !pr.Covers(o.About) {
		o.About = ""
	}
	return o
}

// SaveComparison writes the page of a flawed run again, with its remedy below it.
func SaveComparison(dir string, flaw, remedy Side) error {
	page, err := CasePage(flaw, &remedy, "", "")
	if err != nil {
		return err
	}
	return Write(dir, map[string][]byte{PageFile: page})
}

// CasePage returns the page of a flawed run with its remedy below it; nil: no remedy ran.
// home is the address of the page that lists it, and again the command that repeats it;
// "": as on the page of a run.
func CasePage(flaw Side, remedy *Side, home, again string) ([]byte, error) {
	o := pageOptions(flaw.Run)
	if o.Home = home; again != "" {
		o.Again = again
	}
	if remedy != nil {
		beside := remedy.Told()
		o.Title, o.Beside = flaw.Title, &beside
	}
	var page bytes.Buffer
	err := report.Page(&page, flaw.Run.History, flaw.Run.Verdicts, o)
	return page.Bytes(), err
}
