package merge

import (
	"fmt"
	"path/filepath"

	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// collect copies the files of the counterexamples that count to the directory for output,
// if there is one, and updates their names in the document.
func (j *Join) collect(doc *results.Document) error {
	if j.Out.Path == "" {
		return nil
	}
	c := newCollector(j.found, j.Out.Path)
	for x := range doc.Counterexamples {
		if err := c.copy(x.File, x.Shrunk); err != nil {
			return err
		}
	}
	for _, why := range c.lost {
		j.Say("lockcheck: %s: its counterexample is named, and not kept\n", why)
	}
	doc.Relocate(c.moved)
	return nil
}

// collector copies directories of runs below another one, and only the files that
// lockcheck writes. A result may come from anybody: files that it names elsewhere are
// not copied.
type collector struct {
	roots []string          // directories of results
	out   string            // directory for the copies
	to    map[string]string // new name of each directory; its own name: not copied
	taken map[string]bool
	lost  []string // directories that could not be copied, and the reasons
}

func newCollector(found []results.Source, out string) *collector {
	c := &collector{out: out, to: map[string]string{}, taken: map[string]bool{}}
	for _, p := range found {
		c.roots = append(c.roots, p.Dir)
	}
	return c
}

// copy copies the runs of histories, each once; "" is skipped. A minimised run comes
// after the run that contains it.
func (c *collector) copy(histories ...string) error {
	for _, file := range histories {
		dir := filepath.Dir(file)
		if _, done := c.to[dir]; done || file == "" {
			continue
		}
		c.to[dir] = dir
		name := c.name(dir)
		switch {
		case !rundir.Exists(file):
			c.lost = append(c.lost, dir+" is not there")
			continue
		case name == "":
			c.lost = append(c.lost, dir+" is below no result")
			continue
		}
		if foreign := rundir.Foreign(dir); foreign != "" {
			c.lost = append(c.lost, foreign+" was not written by lockcheck")
			continue
		}
		to := filepath.Join(c.out, name)
		whole := filepath.Dir(dir) // of the original run, which may not have been copied
		if around := c.to[whole]; around != "" && around != whole {
			to = filepath.Join(around, filepath.Base(dir))
		}
		for i := 2; c.taken[to]; i++ {
			to = filepath.Join(c.out, fmt.Sprintf("%s-%d", name, i))
		}
		c.to[dir], c.taken[to] = to, true
		if err := collectRun(dir, to); err != nil {
			return outdir.Unwritable(err)
		}
	}
	return nil
}

// name returns the name of a directory below its own result, or "" if it is below none.
// It does not follow links out of a result.
func (c *collector) name(dir string) (name string) {
	for _, root := range c.roots { // one root may contain another
		rel, err := filepath.Rel(rundir.RealName(root), rundir.RealName(dir))
		if err == nil && rel != "." && filepath.IsLocal(rel) && (name == "" || len(rel) < len(name)) {
			name = rel
		}
	}
	return name
}

// collectRun copies the files of a run to another directory, and replaces files that
// were collected there before.
func collectRun(dir, to string) error {
	if rundir.SameDir(dir, to) {
		return nil
	}
	return rundir.Copy(dir, to)
}

// moved returns the new name of a file of a run.
func (c *collector) moved(file string) string {
	if to, ok := c.to[filepath.Dir(file)]; ok {
		return filepath.Join(to, filepath.Base(file))
	}
	return file
}
