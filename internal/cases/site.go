package cases

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/report"
)

//go:embed web/site.html
var siteHTML string

var siteTemplate = report.Template(siteHTML, "", template.FuncMap{"count": names.Count})

// site is the content of the first page of a site, which lists the cases by lesson.
type site struct {
	Version, On string
	Missing     string // what an interrupt has left out
	Cases       int
	Lessons     []lesson
}

type lesson struct {
	catalogue.Lesson
	Cases []siteCase
}

// siteCase is a case on the first page.
type siteCase struct {
	catalogue.Case
	Lock, Broken, Not string // Not: what did not come out as documented
	Pages             []sitePage
}

// sitePage is the page of one schedule of a case.
type sitePage struct{ Name, File string }

// begin clears the directories for output.
func (to *Stage) begin() error {
	if to.Site != "" {
		if err := to.checkSite(); err != nil {
			return err
		}
	}
	return to.Out.Clear(newHead(""))
}

// checkSite returns an error unless the directory of the site is new, or has only pages
// of lockcheck. It makes the directory.
func (to *Stage) checkSite() error {
	list, err := os.ReadDir(to.Site)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(to.Site, 0o777)
	}
	for _, f := range list {
		if err == nil && !f.IsDir() && strings.HasSuffix(f.Name(), ".html") {
			if file := filepath.Join(to.Site, f.Name()); rundir.Page.MayReplace(file) != nil {
				err = fmt.Errorf("%s: %w", file, rundir.Page.MayReplace(file))
			}
		}
	}
	if err == nil {
		err = rundir.TakesFiles(to.Site, index.File)
	}
	if err != nil {
		return to.unwritable(err)
	}
	return nil
}

func (to *Stage) unwritable(err error) error {
	return exit.Errorf(exit.Usage, "cannot write to --site %s: %w", to.Site, err)
}

// publish writes the pages of a case, if a site is wanted, and returns what the first page
// says of it. r is nil if the case cannot be shown here.
func (to *Stage) publish(c catalogue.Case, r *harness.CaseResult, result *Result) (siteCase, error) {
	at := siteCase{Case: c, Lock: c.Setup.Lock, Broken: strings.Join(result.Violated, ", ")}
	if to.Site == "" {
		return at, nil
	}
	if r == nil {
		at.Not = "it cannot be shown here: " + result.Reason
		return at, nil
	}
	if !result.AsDocumented() {
		at.Not = index.NotAsDocumented
	}
	for i := range r.Schedules {
		s := &r.Schedules[i]
		name := harness.ScheduleName(r.Case, s.Schedule)
		flaw, remedy := sides(r, s)
		text, err := rundir.CasePage(flaw, remedy, index.File, "lockcheck case "+c.ID)
		if err != nil {
			return at, err
		}
		page := sitePage{s.Schedule.Name, rundir.Slug(name) + ".html"}
		if err := rundir.WriteFile(filepath.Join(to.Site, page.File), text); err != nil {
			return at, to.unwritable(err)
		}
		at.Pages = append(at.Pages, page)
	}
	return at, nil
}

// newSite returns the first page of a site with these cases, by their ids.
func newSite(on, missing string, cases map[string]siteCase) *site {
	s := &site{Version: harness.Version, On: on, Missing: missing, Cases: len(cases)}
	for _, l := range catalogue.Lessons {
		of := lesson{Lesson: l}
		for _, id := range l.Cases {
			if c, ok := cases[id]; ok {
				of.Cases = append(of.Cases, c)
			}
		}
		if of.Cases != nil {
			s.Lessons = append(s.Lessons, of)
		}
	}
	return s
}

func (s *site) html() ([]byte, error) {
	var page bytes.Buffer
	err := siteTemplate.Execute(&page, s)
	return page.Bytes(), err
}

// writeSite writes the first page, if a site is wanted.
func (to *Stage) writeSite(s *site) error {
	if to.Site == "" {
		return nil
	}
	text, err := s.html()
	if err != nil {
		return err
	}
	file := filepath.Join(to.Site, index.File)
	if err := rundir.WriteFile(file, text); err != nil {
		return to.unwritable(err)
	}
	to.Paragraph(9, "Site     "+file)
	return nil
}

// sides returns the flawed run of a schedule and the run with its remedy; nil: there is none.
func sides(r *harness.CaseResult, s *harness.ScheduleResult) (flaw rundir.Side, remedy *rundir.Side) {
	flaw = rundir.Side{Title: "The flaw: " + setupWords(r.Case.Setup), Run: s.Flawed}
	if s.Remedied != nil {
		remedy = &rundir.Side{Title: "The remedy: " + setupWords(r.Case.Remedy.Setup), Run: s.Remedied, Promise: slices.Clone(r.Case.Remedy.Keeps)}
	}
	return flaw, remedy
}
