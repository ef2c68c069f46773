package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// collect copies the files of the counterexamples that count to a directory, if
// there is one, and says in the document where they are now.
func (a *app) collect(doc *results.Document, found []results.Source, out string) error {
	if out == "" {
		return nil
	}
	c := newCollector(found, out)
	for x := range doc.Counterexamples {
		if err := c.copy(x.File, x.Shrunk); err != nil {
			return err
		}
	}
	a.sayLost(c)
	doc.Relocate(c.moved)
	return nil
}

func (a *app) sayLost(c *collector) {
	for _, why := range c.lost {
		a.say("lockcheck: %s: its counterexample is named, and not kept\n", why)
	}
}

// collector copies directories of runs below another: of each what we have written
// there. A result may be anybody's, and what it names elsewhere is not ours.
type collector struct {
	roots []string          // of results
	out   string            // where they go
	to    map[string]string // where a directory went; itself: nowhere
	taken map[string]bool
	lost  []string // directories that are not copied, and why
}

func newCollector(found []results.Source, out string) *collector {
	c := &collector{out: out, to: map[string]string{}, taken: map[string]bool{}}
	for _, p := range found {
		c.roots = append(c.roots, p.Dir)
	}
	return c
}

// copy copies the runs of histories, each once; "" is none. That of a shrunk one comes
// after the run that it lies below.
func (c *collector) copy(histories ...string) error {
	for _, file := range histories {
		dir := filepath.Dir(file)
		if _, done := c.to[dir]; done || file == "" {
			continue
		}
		c.to[dir] = dir
		name := c.name(dir)
		switch {
		case !canRead(file):
			c.lost = append(c.lost, dir+" is not there")
			continue
		case name == "":
			c.lost = append(c.lost, dir+" is below no result")
			continue
		}
		if foreign := foreignIn(dir); foreign != "" {
			c.lost = append(c.lost, foreign+" was not written by lockcheck")
			continue
		}
		to := filepath.Join(c.out, name)
		whole := filepath.Dir(dir) // of one that is shrunk; it may have gone nowhere
		if around := c.to[whole]; around != "" && around != whole {
			to = filepath.Join(around, filepath.Base(dir))
		}
		for i := 2; c.taken[to]; i++ {
			to = filepath.Join(c.out, fmt.Sprintf("%s-%d", name, i))
		}
		c.to[dir], c.taken[to] = to, true
		if err := collectRun(dir, to); err != nil {
			return unwritable(err)
		}
	}
	return nil
}

// name is how a directory is called below its own result; "": it is below none. A
// link that leads out of one is not followed.
func (c *collector) name(dir string) (name string) {
	for _, root := range c.roots { // one may lie in another
		rel, err := filepath.Rel(realName(root), realName(dir))
		if err == nil && rel != "." && filepath.IsLocal(rel) && (name == "" || len(rel) < len(name)) {
			name = rel
		}
	}
	return name
}

// foreignIn returns a file in the directory of a run that has the name of one of a
// run's and is none: a link, or a file of somebody else's. "": there is none.
func foreignIn(dir string) string {
	for _, name := range rundir.Files {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		is := false
		if err == nil && info.Mode().IsRegular() {
			if m, marked := besideSchedule[name]; marked {
				is, err = m.on(path)
			} else {
				is, err = isSchedule(path)
			}
		}
		if err != nil || !is {
			return path
		}
	}
	return ""
}

// collectRun copies what there is of a run to another directory, in place of what was
// collected there before.
func collectRun(dir, to string) error {
	if same(dir, to) {
		return nil
	}
	return rundir.Copy(dir, to)
}

// moved is where a file of a run is now.
func (c *collector) moved(file string) string {
	if to, ok := c.to[filepath.Dir(file)]; ok {
		return filepath.Join(to, filepath.Base(file))
	}
	return file
}

// tellCells tells the story of the first violation of a promise in cells, from its
// files. Where they are not there it says so, and that is all.
func (a *app) tellCells(cells []results.Cell) error {
	for i := range cells {
		c := &cells[i]
		about, ok := told(c.Result(), c.Promises)
		if !ok {
			continue
		}
		p := c.Property(about)
		file := cmp.Or(p.Shrunk, p.File)
		j, err := readJudged(file)
		if err != nil {
			a.say("lockcheck: the story of %s cannot be told: %v\n", c.Name, err)
			return nil
		}
		title := fmt.Sprintf("%s, seed %d", c.Lock, p.Seed)
		if c.Kept {
			title = c.Name
		}
		switch {
		case c.Bound != nil:
			return a.tellShortest(j, c.Promises)
		case a.quiet:
			return nil
		case p.Shrunk != "" && j.Plan.Shrunk != nil:
			err := a.tellShrunk(shrunkRun{property: about, judged: j}, title)
			a.printf("\n")
			return err
		}
		a.heading(title)
		return a.story(j.History, j.Verdicts, c.Promises)
	}
	return nil
}

// readJudged reads the files of a run, and judges it again.
func readJudged(file string) (*harness.Judged, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, _, err := history.Decode(f, file)
	if err != nil {
		return nil, err
	}
	plan, err := readPlan(file)
	if err != nil {
		return nil, err
	}
	return &harness.Judged{Plan: plan, History: h, Verdicts: checker.JudgeBoth(h)}, nil
}
