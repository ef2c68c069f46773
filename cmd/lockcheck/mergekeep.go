package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/harness"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/results"
)

// collect copies the files of the counterexamples that count to a directory, if
// there is one, and says in the document where they are now.
func (a *app) collect(doc *results.Document, found []*foundResult, out string) error {
	if out == "" {
		return nil
	}
	c := newCollector(found, out)
	for x := range doc.Counterexamples {
		if err := c.copy(filepath.Dir(x.File)); err != nil {
			return err
		}
	}
	a.sayLost(c)
	doc.Relocate(c.moved)
	return nil
}

func (a *app) sayLost(c *collector) {
	for _, dir := range c.lost {
		a.say("lockcheck: %s is not there: its counterexample is named, and not kept\n", dir)
	}
}

// collector copies directories of runs below another.
type collector struct {
	roots []string          // of results
	out   string            // where they go
	to    map[string]string // where a directory went
	taken map[string]bool
	lost  []string // directories that are not there
}

func newCollector(found []*foundResult, out string) *collector {
	c := &collector{out: out, to: map[string]string{}, taken: map[string]bool{}}
	for _, p := range found {
		c.roots = append(c.roots, p.dir)
	}
	return c
}

// copy copies a directory with what is below it, once. Below out it has the name
// that it has below its own result.
func (c *collector) copy(dir string) error {
	if _, done := c.to[dir]; done {
		return nil
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		c.to[dir], c.lost = dir, append(c.lost, dir)
		return nil
	}
	name := ""
	for _, root := range c.roots { // one may lie in another
		if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) && (name == "" || len(rel) < len(name)) {
			name = rel
		}
	}
	name = cmp.Or(name, filepath.Base(dir))
	to := filepath.Join(c.out, name)
	for i := 2; c.taken[to]; i++ {
		to = filepath.Join(c.out, fmt.Sprintf("%s-%d", name, i))
	}
	c.to[dir], c.taken[to] = to, true
	if same(dir, to) {
		return nil
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		there := filepath.Join(to, strings.TrimPrefix(path, dir))
		if d.IsDir() {
			return os.MkdirAll(there, 0o777)
		}
		text, err := os.ReadFile(path)
		return cmp.Or(err, results.WriteFile(there, text))
	})
	if err != nil {
		return unwritable(err)
	}
	return nil
}

// moved is where a file went, which is in a directory that was copied, or below it.
func (c *collector) moved(file string) string {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if to, ok := c.to[dir]; ok {
			return filepath.Join(to, strings.TrimPrefix(file, dir))
		}
		if dir == filepath.Dir(dir) {
			return file
		}
	}
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
