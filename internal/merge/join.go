// Package merge joins the results of shards: it finds them below directories, chooses those
// that make up one exploration, and collects the files of their counterexamples. It
// overwrites nothing that is merged.
package merge

import (
	"cmp"
	"errors"
	"slices"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
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
	for x := range doc.Counterexamples {
		x.Replay = terminal.Replay(x.Schedule())
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

// errNoResults explains where results come from, for the case that none were found.
var errNoResults = errors.New("a shard leaves its result when it ends, as: lockcheck run LOCK --shard 1/4 --out DIR")
