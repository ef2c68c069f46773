// Package merge joins the results of shards: it finds them below directories, chooses those
// that make up one exploration, and collects the files of their counterexamples. It
// overwrites nothing that is merged.
package merge

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// Join joins results.
type Join struct {
	Say   func(format string, args ...any)
	Out   *outdir.Dir // "": nothing is written
	Known *results.KnownViolations

	found  []results.Source
	parts  []*results.Source // those of found that make up one exploration
	shards *results.Shards
}

// Find finds the results in directories, and returns the first of the parts. It returns
// an error if they cannot be joined, or the joined one cannot be written.
func (j *Join) Find(dirs []string) (of *results.Source, err error) {
	if j.found, err = j.findResults(dirs); err != nil {
		return nil, err
	}
	if err := j.choose(); err != nil {
		return nil, err
	}
	if out := j.Out.Path; out != "" {
		err = cmp.Or(j.Out.CanKeep(), outdir.OwnResult(out), apart(out, j.parts))
	}
	return j.parts[0], err
}

// Do returns the joined result, and writes it to the directory for output, if there is
// one. failed is the error of writing.
func (j *Join) Do() (doc *results.Document, failed error) {
	var docs []*results.Document
	for _, p := range j.parts {
		docs = append(docs, p.Document)
	}
	doc = results.Merge(docs, j.shards)
	failed = j.collect(doc)
	for c, x := range doc.Found {
		x.Replay = terminal.Replay(x.Schedule(), c.ReplayFlags...)
	}
	j.Known.Compare(doc)
	doc.DecideAfter(failed)
	if j.Out.Path != "" && failed == nil {
		failed = j.Out.Leave(doc)
		doc.DecideAfter(failed)
	}
	return doc, failed
}

// choose chooses the results that make up one exploration.
func (j *Join) choose() (err error) {
	for _, f := range j.found {
		if f.Matrix == nil {
			j.Known.Replace(&f.Head)
		}
	}
	j.parts, j.shards, err = results.Choose(j.found)
	if err != nil {
		return exit.Errorf(exit.Usage, "%w", err)
	}
	for _, f := range j.found {
		if f.Merged() && !j.parts[0].Merged() {
			j.Say("lockcheck: %s is left out: it was merged, and there are shards\n", f.File())
		}
	}
	if j.parts[0].Matrix == nil {
		return j.Known.Note(&j.parts[0].Head)
	}
	return nil
}

// apart makes sure that merging overwrites only an older merged result. It returns an
// error if out has a shard, the result of another command, or the result of one
// machine.
func apart(out string, parts []*results.Source) error {
	was := outdir.HeadIn(out)
	switch s := was.Shards; {
	case was.Command == "":
	case was.Command != parts[0].Command, s == nil && !wholeOf(parts, out):
		return exit.Errorf(exit.Usage, "--out %s has the result of lockcheck %s already: name another directory", out, was.Command)
	case s != nil && !was.Merged() && len(s.Have) == 1:
		return exit.Errorf(exit.Usage, "--out %s holds shard %d of %d itself: name another directory", out, s.Have[0], s.Of)
	}
	return nil
}

// wholeOf reports whether the result in a directory is one of the parts, or equals one.
// That result comes from one machine, or was merged from a single shard.
func wholeOf(parts []*results.Source, dir string) bool {
	was, err := results.Read(dir)
	return err == nil && slices.ContainsFunc(parts, func(p *results.Source) bool { return p.Essence() == was.Essence() })
}

// findResults reads the results in and below directories, each once.
func (j *Join) findResults(dirs []string) (list []results.Source, err error) {
	by := map[string]results.Source{}
	for _, dir := range dirs {
		below, err := resultsBelow(dir)
		if err != nil {
			return nil, err
		}
		if len(below) == 0 {
			j.Say("lockcheck: no %s in %s or below\n", results.File, dir)
		}
		for _, f := range below {
			name := rundir.RealName(f.Dir)
			if _, twice := by[name]; !twice {
				j.withoutLost(f.Document)
				by[name] = f
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		list = append(list, by[name])
	}
	if list == nil {
		return nil, exit.Errorf(exit.Usage, "there is nothing to merge: a shard leaves its result when it ends, as: lockcheck run LOCK --shard 1/4 --out DIR")
	}
	return list, nil
}

// withoutLost removes from a result the minimised runs whose files are missing, if the
// original runs are there: those show the same violation, in a longer run.
func (j *Join) withoutLost(doc *results.Document) {
	said := map[string]bool{}
	for x := range doc.Counterexamples {
		if x.Shrunk == "" || rundir.Exists(x.Shrunk) || !rundir.Exists(x.File) {
			continue
		}
		if !said[x.Shrunk] {
			j.Say("lockcheck: %s is not there: the run that it was shrunk from counts\n", filepath.Dir(x.Shrunk))
		}
		said[x.Shrunk], x.Shrunk = true, ""
	}
}

// resultsBelow reads the results in a directory and below it.
func resultsBelow(dir string) (list []results.Source, err error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, exit.Errorf(exit.Usage, "no directory %s", dir)
	case err != nil:
		return nil, exit.Errorf(exit.Usage, "%w", err)
	case !info.IsDir():
		return nil, exit.Errorf(exit.Usage, "%s is no directory: merge takes those that shards had as --out", dir)
	}
	walked := map[string]bool{} // directories that were named or linked to: links may form cycles
	var walk func(dir string) error
	walk = func(dir string) error {
		name := rundir.RealName(dir)
		if walked[name] {
			return nil
		}
		walked[name] = true
		// The slash makes WalkDir follow a symbolic link.
		return filepath.WalkDir(dir+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.Type() == fs.ModeSymlink && isDir(path):
				return walk(path)
			case d.IsDir() || d.Name() != results.File:
				return nil
			}
			doc, err := results.Read(filepath.Dir(path))
			list = append(list, results.Source{Dir: filepath.Dir(path), Document: doc})
			return err
		})
	}
	if err := walk(dir); err != nil {
		return nil, exit.Errorf(exit.Usage, "%w", err)
	}
	return list, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// collect copies the files of the counterexamples that count to the directory for output,
// if there is one, and updates their names in the document.
func (j *Join) collect(doc *results.Document) error {
	if j.Out.Path == "" {
		return nil
	}
	c := &collector{out: j.Out.Path, to: map[string]string{}, taken: map[string]bool{}}
	for _, f := range j.found {
		c.roots = append(c.roots, f.Dir)
	}
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

// copy copies the runs of histories, each once; "" is skipped. It replaces files that
// were collected there before. A minimised run comes after the run that contains it.
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
		if rundir.SameDir(dir, to) {
			continue
		}
		if err := rundir.Copy(dir, to); err != nil {
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

// moved returns the new name of a file of a run.
func (c *collector) moved(file string) string {
	if to, ok := c.to[filepath.Dir(file)]; ok {
		return filepath.Join(to, filepath.Base(file))
	}
	return file
}
