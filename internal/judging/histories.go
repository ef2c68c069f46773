package judging

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/history/formats"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// formatEndings are the file name endings of histories.
var formatEndings = []string{".jsonl", ".edn", ".json"}

// jepsenResults is the file with the results of Jepsen, next to its history.
const jepsenResults = "results.edn"

// histories returns the files to judge: for a directory all histories below it, ordered
// by name. It leaves out files that are known to be other files of a run. In a
// directory that has a file called history, as ours and Jepsen's have, it passes over
// other files that are nothing like a history. It returns all remaining files, and
// judging one that is no history reports an error.
func histories(args []string) (files, passed []string, err error) {
	for _, arg := range args {
		if info, err := os.Stat(arg); err != nil || !info.IsDir() {
			files = append(files, arg)
			continue
		}
		var found []string
		root := arg + string(filepath.Separator) // the separator makes WalkDir follow a link to a directory
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && slices.Contains(formatEndings, filepath.Ext(ungzipped(path))) {
				found = append(found, filepath.Clean(path))
			}
			return err
		})
		if err != nil {
			return nil, nil, exit.Errorf(exit.Usage, "%w", err)
		}
		called := map[string]bool{} // directories that have a file called history
		for _, file := range found {
			if isCalledHistory(file) {
				called[filepath.Dir(file)] = true
			}
		}
		before := len(files)
		for _, file := range found {
			beside := called[filepath.Dir(file)] && !isCalledHistory(file)
			switch begins := beginningOf(file); {
			case begins != anEntry && isOther(file, begins, beside):
			case begins == nothingLike && beside:
				passed = append(passed, file)
			default:
				files = append(files, file)
			}
		}
		if len(files) == before {
			return nil, nil, exit.Errorf(exit.Usage, "there is no history below %s: no file that ends in %s, or in that and .gz", arg, strings.Join(formatEndings, ", "))
		}
	}
	return files, passed, nil
}

func ungzipped(file string) string { return strings.TrimSuffix(file, ".gz") }

func isCalledHistory(file string) bool {
	name := ungzipped(filepath.Base(file))
	return strings.TrimSuffix(name, filepath.Ext(name)) == "history"
}

// beginning is the kind of a file, as far as its beginning shows.
type beginning int

const (
	unclear     beginning = iota // only reading all of it can tell
	anEntry                      // a history
	nothingLike                  // no history, and no damaged one either
)

// beginningOf looks at the first entry of a file. If that is not an entry, it looks for
// words that every history contains, so that a damaged history is not passed over.
func beginningOf(file string) beginning {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return unclear // a pipe can be read only once
	}
	f, err := os.Open(file)
	if err != nil {
		return unclear
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return unclear
	}
	in, err := formats.NewReader(io.MultiReader(bytes.NewReader(head), f), file, formats.Reading{})
	if err == nil {
		_, err = in.Next()
	}
	words := bytes.ReplaceAll(head, []byte{0}, nil) // UTF-16 has zero bytes between letters
	switch {
	case err == nil:
		return anEntry
	case !errors.As(err, new(*history.SyntaxError)),
		bytes.HasPrefix(head, []byte("\x1f\x8b")),
		bytes.Contains(words, []byte("invoke")) && bytes.Contains(words, []byte("process")):
		return unclear
	}
	return nothingLike
}

// isOther reports whether a file that does not begin like a history is another file of
// a run: a lockcheck document, or Jepsen's results.
func isOther(file string, begins beginning, beside bool) bool {
	name := filepath.Base(file)
	switch {
	case begins == nothingLike && (name == rundir.VerdictFile || name == rundir.MessagesFile), beside && ungzipped(name) == jepsenResults,
		beside && ungzipped(name) != name && slices.Contains([]string{rundir.VerdictFile, rundir.ScheduleFile, results.File}, ungzipped(name)):
		return true
	case filepath.Ext(file) != ".json":
		return false
	}
	schedule, err := rundir.IsSchedule(file)
	if err != nil || schedule {
		return schedule // an unreadable file is judged, which reports the reason
	}
	var document struct {
		Schema                            int
		Command, Cases, Files, Properties json.RawMessage // each lockcheck document has one of these fields
	}
	text, err := os.ReadFile(file)
	return err == nil && json.Unmarshal(text, &document) == nil && document.Schema > 0 &&
		(document.Command != nil || document.Cases != nil || document.Files != nil || document.Properties != nil)
}

// passedOver prints which files were not judged although they may have been meant as
// histories.
func (j *Judge) passedOver(files []string) {
	if len(files) == 0 {
		return
	}
	j.Printf("%s passed over: no history, and beside one\n", names.Count(len(files), "file"))
	if j.Verbose {
		for _, file := range files {
			j.Printf("  %s\n", file)
		}
	}
}
