package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// shardValue is the value of --shard.
type shardValue explore.Shard

// Set reads i/n, for example 2/4.
func (s *shardValue) Set(text string) error {
	shard, err := explore.ParseShard(text)
	*s = shardValue(shard)
	return err
}

// String returns "" if there are no shards.
func (s *shardValue) String() string {
	if s.Of == 0 {
		return ""
	}
	return explore.Shard(*s).String()
}

// Type returns the name of the value in the help.
func (*shardValue) Type() string { return "i/n" }

func shardFlag(fl *pflag.FlagSet, s *explore.Shard) {
	fl.Var((*shardValue)(s), "shard", "do the part `i/n` of it, as 2/4: the second of four (see: lockcheck merge --help)")
}

// ownPlace checks the directory for output before the first run. It returns an error if
// the directory cannot be written to, or if its result is that of another shard, was
// merged from several shards, or would be replaced by that of another command.
func (a *app) ownPlace(command string, s explore.Shard) error {
	was := headIn(a.out)
	switch of := was.Shards; {
	case was.Command == "":
	case was.Command != command && (s.Of > 0 || command == "suite" && of != nil):
		return exit.Errorf(exit.Usage, "--out %s has the result of lockcheck %s already: name another directory", a.out, was.Command)
	case s.Of == 0 && isPart(of):
		return exit.Errorf(exit.Usage, "--out %s has the result of %s of %d already: name another directory", a.out, names.Numbered("shard", of.Have), of.Of)
	case s.Of == 0 && was.Command == command && was.Merged():
		return exit.Errorf(exit.Usage, "--out %s has what %s were merged to already: name another directory", a.out, names.Count(len(of.Have), "shard"))
	case s.Of > 0 && of != nil && (of.Of != s.Of || !slices.Equal(of.Have, []int{s.N})):
		return exit.Errorf(exit.Usage, "--out %s has the result of %s of %d already: name another directory for shard %v", a.out, names.Numbered("shard", of.Have), of.Of, s)
	case s.Of > 0 && !was.Partial() && of != nil:
		return exit.Errorf(exit.Usage, "--out %s has the complete result of shard %v already: merge it, or name another directory", a.out, s)
	case s.Of > 0 && !was.Partial():
		return exit.Errorf(exit.Usage, "--out %s has the result of lockcheck %s already: name another directory for shard %v", a.out, was.Command, s)
	}
	return a.canKeep()
}

// clearResult removes the result that an earlier try of the same command left, right
// before the first run. A killed command must not leave an old result behind; a usage
// error must not delete it. One result stays until the new one replaces it: that of an
// incomplete try of the same shard with a violation, because the new result will
// include that violation.
func (a *app) clearResult(now *results.Head) error {
	file := filepath.Join(a.out, results.File)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := ownResult(a.out); err != nil {
		return err
	}
	if was := headIn(a.out); was.Command != "" && was.Command != now.Command {
		return nil
	}
	if was, err := results.Read(a.out); err == nil && now.Shards != nil && was.SameShard(now) && slices.ContainsFunc(was.Cells, func(c results.Cell) bool { return c.Breaks() }) {
		a.earlier = was
		return nil
	}
	if err := os.Remove(file); err != nil {
		return unwritable(err)
	}
	return nil
}

// runDir returns the directory for the files of a run. A run on real servers does not
// repeat, so it must not overwrite a run that the result of an earlier try names.
func (a *app) runDir(name string) string {
	dir := filepath.Join(a.out, name)
	for i := 2; a.earlier != nil && a.earlier.NamesRun(dir); i++ {
		dir = fmt.Sprintf("%s-%d", filepath.Join(a.out, name), i)
	}
	return dir
}

// takeEarlier adds the violations that only an earlier try found to the result of a
// shard.
func (a *app) takeEarlier(d *results.Document) {
	if a.earlier == nil {
		return
	}
	taken := d.TakeViolations(a.earlier)
	if taken == nil {
		return
	}
	for x := range d.Counterexamples {
		x.Replay = cmp.Or(x.Replay, terminal.Replay(x.Schedule()))
	}
	a.compare(d)
	a.Say("lockcheck: an earlier try of this shard found the violation of %s, which counts, too\n", strings.Join(taken, ", "))
}

// headIn returns the head of the result in a directory, or the zero value.
func headIn(dir string) (h results.Head) {
	text, err := os.ReadFile(filepath.Join(dir, results.File))
	if err != nil || json.Unmarshal(text, &h) != nil {
		return results.Head{}
	}
	return h
}

// leaveShard writes the result of a shard like saveShard, and prints that it is a
// shard.
func (a *app) leaveShard(d *results.Document, failed error) error {
	err := a.saveShard(d, failed)
	if err == nil {
		a.shardLine(d.Shards)
	}
	return err
}

// saveShard writes the result of a shard to the directory for output. failed is the
// error that ended it early, or nil.
func (a *app) saveShard(d *results.Document, failed error) error {
	if d.Shards == nil {
		return nil
	}
	if d.Interrupted || failed != nil {
		d.Shards.Interrupt()
	}
	a.takeEarlier(d)
	d.DecideAfter(failed)
	return a.leave(d)
}

// shardLine prints that a shard is only a part of the exploration.
func (a *app) shardLine(s *results.Shards) {
	if isPart(s) {
		a.Paragraph(9, fmt.Sprintf("Shard    %d of %d: it says nothing of the others; lockcheck merge joins them", s.Have[0], s.Of))
	}
}

// isPart reports whether there are other shards that have not been joined yet.
func isPart(s *results.Shards) bool { return s != nil && len(s.Have)+len(s.Missing) < s.Of }

// shardWords names the shards of the runs, for a heading.
func shardWords(s *results.Shards) string {
	switch {
	case s == nil || len(s.Have) == s.Of:
		return ""
	case len(s.Have) == 1:
		return fmt.Sprintf(", shard %d/%d", s.Have[0], s.Of)
	}
	return fmt.Sprintf(", %s of %d", names.Numbered("shard", s.Have), s.Of)
}
