// Package outdir is the directory that --out names. A command may write to it only where
// nothing is lost that it does not know, and reads there what an earlier try has found.
package outdir

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// Dir is a directory for output. "" means that nothing is written.
type Dir struct {
	Path    string
	Page    string            // the page of a command that has ended; "": none
	earlier *results.Document // earlier result of the same shard with a violation, or nil. See Clear
	going   *going            // nil: no command is under way
}

// CanKeep returns an error if the directory for output cannot be written to, before the
// first run. It does not create a missing directory: a rejected or interrupted command
// leaves nothing.
func (d *Dir) CanKeep() error {
	if d.Path == "" {
		return exit.Errorf(exit.Usage, "--out needs the name of a directory")
	}
	dir := filepath.Clean(d.Path)
	for {
		_, err := os.Lstat(dir)
		if up := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && up != dir {
			dir = up
			continue
		}
		if err := rundir.TakesFiles(dir, "lockcheck"); err != nil {
			return exit.Errorf(exit.Usage, "cannot write to --out %s: %w", d.Path, err)
		}
		return nil
	}
}

// OwnResult returns an error if the result.json of a directory for output, or its page, is
// not one of lockcheck's.
func OwnResult(dir string) error {
	if err := ownPage(filepath.Join(dir, index.File)); err != nil {
		return err
	}
	file := filepath.Join(dir, results.File)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var was results.Head
	if err != nil {
		return Unwritable(err)
	}
	if json.Unmarshal(text, &was) != nil || was.Schema == 0 || was.Command == "" {
		return exit.Errorf(exit.Usage, "cannot write to --out: %s is there, and no result of lockcheck: name another directory", file)
	}
	if was.Schema > results.Schema {
		return exit.Errorf(exit.Usage, "cannot write to --out: %s was written by a later lockcheck: name another directory", file)
	}
	return nil
}

// Reserve checks the directory for output before the first run. It returns an error if
// the directory cannot be written to, or if its result is that of another shard, was
// merged from several shards, or would be replaced by that of another command.
func (d *Dir) Reserve(command string, s explore.Shard) error {
	was := HeadIn(d.Path)
	switch of := was.Shards; {
	case was.Command == "":
	case was.Command != command && (s.Of > 0 || command == "suite" && of != nil):
		return exit.Errorf(exit.Usage, "--out %s has the result of lockcheck %s already: name another directory", d.Path, was.Command)
	case s.Of == 0 && of.Unjoined():
		return exit.Errorf(exit.Usage, "--out %s has the result of %s of %d already: name another directory", d.Path, names.Numbered("shard", of.Have), of.Of)
	case s.Of == 0 && was.Command == command && was.Merged():
		return exit.Errorf(exit.Usage, "--out %s has what %s were merged to already: name another directory", d.Path, names.Count(len(of.Have), "shard"))
	case s.Of > 0 && of != nil && (of.Of != s.Of || !slices.Equal(of.Have, []int{s.N})):
		return exit.Errorf(exit.Usage, "--out %s has the result of %s of %d already: name another directory for shard %v", d.Path, names.Numbered("shard", of.Have), of.Of, s)
	case s.Of > 0 && !was.Partial() && of != nil:
		return exit.Errorf(exit.Usage, "--out %s has the complete result of shard %v already: merge it, or name another directory", d.Path, s)
	case s.Of > 0 && !was.Partial():
		return exit.Errorf(exit.Usage, "--out %s has the result of lockcheck %s already: name another directory for shard %v", d.Path, was.Command, s)
	}
	return d.CanKeep()
}

// Clear removes the result that an earlier try of the same command left, right
// before the first run, and writes a page that says that the command is running. A
// killed command must not leave an old result behind; a usage error must not delete it.
// One result stays until the new one replaces it: that of an incomplete try of the same
// shard with a violation, because the new result will include that violation.
func (d *Dir) Clear(now *results.Head) error {
	if err := OwnResult(d.Path); err != nil {
		return err
	}
	there := HeadIn(d.Path)
	if there.Command == now.Command {
		if was, err := results.Read(d.Path); err == nil && now.Shards != nil && was.SameShard(now) && slices.ContainsFunc(was.Cells, func(c results.Cell) bool { return c.Breaks() }) {
			d.earlier = was
		} else if err := os.Remove(filepath.Join(d.Path, results.File)); err != nil {
			return Unwritable(err)
		}
	}
	return d.begin(index.Path(d.Path, now.Command, there), now)
}

// Run returns the directory for the files of a run. A run on real servers does not
// repeat, so it must not overwrite a run that the result of an earlier try names.
func (d *Dir) Run(name string) string {
	dir := filepath.Join(d.Path, name)
	for i := 2; d.earlier != nil && d.earlier.NamesRun(dir); i++ {
		dir = fmt.Sprintf("%s-%d", filepath.Join(d.Path, name), i)
	}
	return dir
}

// TakeEarlier adds the violations that only an earlier try found to the result of a
// shard, and says so. known are compared with the result again.
func (d *Dir) TakeEarlier(doc *results.Document, known *results.KnownViolations, say func(format string, args ...any)) {
	if d.earlier == nil {
		return
	}
	taken := doc.TakeViolations(d.earlier)
	if taken == nil {
		return
	}
	for c, x := range doc.Found {
		x.Replay = cmp.Or(x.Replay, terminal.Replay(x.Schedule(), c.ReplayFlags...))
	}
	known.Compare(doc)
	say("lockcheck: an earlier try of this shard found the violation of %s, which counts, too\n", strings.Join(taken, ", "))
}

// HeadIn returns the head of the result in a directory, or the zero value.
func HeadIn(dir string) (h results.Head) {
	text, err := os.ReadFile(filepath.Join(dir, results.File))
	if err != nil || json.Unmarshal(text, &h) != nil {
		return results.Head{}
	}
	return h
}

// Save writes the files of a run below the directory for output, and returns the
// directory of the run.
func (d *Dir) Save(name string, j *harness.Judged) (dir string, err error) {
	dir = d.Run(name)
	return dir, Unsaved(rundir.Save(dir, j))
}

// Unsaved explains an error of rundir: the directory for output may be unusable.
func Unsaved(err error) error {
	if w := (*rundir.WriteError)(nil); errors.As(err, &w) {
		return Unwritable(w.Err)
	}
	return err
}

// Unwritable explains that the directory for output is unusable.
func Unwritable(err error) error {
	return exit.Errorf(exit.Usage, "cannot write to --out: %w", err)
}

// Unkept reports whether the only failure is that files could not be written. The
// result is printed in spite of such an error.
func Unkept(err error) bool { return exit.Code(err) == exit.Usage }

// Leave writes the result of a command, and its page, to the directory for output.
func (d *Dir) Leave(doc *results.Document) error {
	if err := results.Write(d.Path, doc); err != nil {
		return Unwritable(err)
	}
	return d.Show(index.Of(d.Path, doc))
}

// The files of a run that had two outcomes, beside its schedule.
const (
	FirstFile  = "first.jsonl"
	SecondFile = "second.jsonl"
)

// Unrepeated keeps both histories if err says that a repeated run differed, and returns
// the error to end with.
func (d *Dir) Unrepeated(err error) error {
	differs, ok := errors.AsType[*explore.UnrepeatedError](err)
	if !ok {
		return err
	}
	dir, saved := d.saveBoth(differs)
	if saved != nil {
		return errors.Join(exit.Errorf(exit.Bug, "%w", err), saved)
	}
	return exit.Errorf(exit.Bug, "%w (%s and %s), or of a lock that draws from something that is not its host's",
		err, filepath.Join(dir, FirstFile), SecondFile)
}

// saveBoth writes the files, and returns their directory.
func (d *Dir) saveBoth(differs *explore.UnrepeatedError) (dir string, err error) {
	dir = filepath.Join(d.Path, rundir.Name(differs.Plan)+"-unrepeated")
	var first, second, schedule bytes.Buffer
	if err := cmp.Or(history.Encode(&first, differs.First), history.Encode(&second, differs.Second), differs.Plan.Write(&schedule)); err != nil {
		return dir, err
	}
	return dir, Unsaved(rundir.Write(dir, map[string][]byte{
		FirstFile: first.Bytes(), SecondFile: second.Bytes(), rundir.ScheduleFile: schedule.Bytes(),
	}))
}
