package cases

import (
	"io"

	"github.com/lockcheck/lockcheck/internal/exit"
)

// Telling is how cases are told, if not by the story of the flawed run.
type Telling struct {
	Compare bool   // the flaw and its remedy together
	Step    bool   // step by step
	Site    string // the directory of the site that is written; "": none
	Keys    io.Reader
}

// Check returns an error if other flags or the cases do not fit the way of telling.
// changed reports whether a flag is set.
func (t Telling) Check(ids []string, changed func(flag string) bool) error {
	with := "--compare"
	switch {
	case t.Step:
		with = "--step"
	case t.Compare:
	case t.Site != "":
		with = "--site"
	default:
		return nil
	}
	for _, c := range []struct {
		flag, why string
		wrong     bool
	}{
		{"all", "walks through one case", t.Step},
		{"compare", "walks through one run", t.Step},
		{"site", "prints text", t.Step || t.Compare},
		{"json", "prints text", with != "--site"},
		{"quiet", "prints text", with != "--site"},
		{"lock", "shows a case as documented", true},
		{"pause", "shows a case as documented", true},
		{"lease", "shows a case as documented", true},
	} {
		if c.wrong && changed(c.flag) {
			return exit.Errorf(exit.Usage, "%s %s: leave out --%s", with, c.why, c.flag)
		}
	}
	if t.Step && len(ids) != 1 {
		return exit.Errorf(exit.Usage, "--step walks through one case: name it, as in lockcheck case NAME --step")
	}
	return nil
}
