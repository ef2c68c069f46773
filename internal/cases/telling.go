package cases

import (
	"github.com/lockcheck/lockcheck/internal/exit"
)

// Telling is how cases are told, if not by the story of the flawed run.
type Telling struct {
	Compare bool // the flaw and its remedy together
}

// Check returns an error if a flag does not fit the way of telling. changed reports
// whether a flag is set.
func (t Telling) Check(args []string, changed func(flag string) bool) error {
	if !t.Compare {
		return nil
	}
	for _, c := range []struct{ flag, why string }{
		{"json", "prints text"},
		{"quiet", "prints text"},
		{"lock", "shows a case as documented"},
		{"pause", "shows a case as documented"},
		{"lease", "shows a case as documented"},
	} {
		if changed(c.flag) {
			return exit.Errorf(exit.Usage, "--compare %s: leave out --%s", c.why, c.flag)
		}
	}
	return nil
}
