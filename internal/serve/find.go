package serve

import (
	"cmp"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// entry is a result, or a kept run.
type entry struct {
	Path string // of its page
	When time.Time
	Head index.Head
}

// Dir returns its directory, "." for the one that is served.
func (e *entry) Dir() string { return path.Dir(e.Path) }

// finder finds the pages below a directory, and remembers what it has read of them.
type finder struct {
	dir  string
	root *os.Root // the same, for reading

	mu   sync.Mutex
	at   time.Time // of what was found last
	all  [2][]entry
	read map[string]entry
}

// The kinds of pages.
const (
	ofResults = iota
	ofRuns
)

// fresh is how long a list is used again: several windows may ask for it.
const fresh = time.Second

// pages returns the pages of one kind, newest first, without their heads. Links are not
// followed. Directories that cannot be read are left out.
func (f *finder) pages(kind int) []entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.at) < fresh {
		return f.all[kind]
	}
	f.all = [2][]entry{}
	filepath.WalkDir(f.dir, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && file != f.dir:
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		of := ofResults
		if d.Name() == rundir.PageFile {
			of = ofRuns
		} else if !slices.Contains(index.Files, d.Name()) {
			return nil
		}
		info, err := d.Info()
		if rel, outside := filepath.Rel(f.dir, file); err == nil && outside == nil {
			f.all[of] = append(f.all[of], entry{Path: filepath.ToSlash(rel), When: info.ModTime()})
		}
		return nil
	})
	for _, list := range f.all {
		slices.SortFunc(list, func(a, b entry) int { return cmp.Or(b.When.Compare(a.When), cmp.Compare(a.Path, b.Path)) })
	}
	f.at = time.Now()
	return f.all[kind]
}

// killed is how long the page of a living command is not touched at most.
const killed = 5 * outdir.Alive

// notEnded is the result of a command that was killed, or is stopped.
const notEnded = "not ended"

// head reads the head of an entry. ok is false for a page that is not lockcheck's.
func (f *finder) head(e entry) (_ entry, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if was, seen := f.read[e.Path]; seen && was.When.Equal(e.When) {
		e.Head = was.Head
	} else {
		if path.Base(e.Path) == rundir.PageFile {
			e.Head = f.runHead(e.Dir())
		} else if page, err := f.root.Open(e.Path); err == nil {
			e.Head, _ = index.ReadHead(page)
			page.Close()
		}
		if f.read == nil {
			f.read = map[string]entry{}
		}
		f.read[e.Path] = e
	}
	if e.Head.Result == index.Running && time.Since(e.When) > killed {
		e.Head.Result = notEnded
	}
	return e, e.Head.Result != ""
}

// mostVerdict is the largest size of a verdict that is read.
const mostVerdict = 1 << 20

// runHead returns the head of a kept run: that of its verdict.
func (f *finder) runHead(dir string) (h index.Head) {
	h = index.Head{Command: path.Base(dir), Result: string(results.Inconclusive), Runs: 1}
	file, err := f.root.Open(path.Join(dir, rundir.VerdictFile))
	if err != nil {
		return h
	}
	defer file.Close()
	var v rundir.Verdict
	text, err := io.ReadAll(io.LimitReader(file, mostVerdict))
	if err != nil || json.Unmarshal(text, &v) != nil {
		return h
	}
	for _, p := range v.Properties {
		switch p.Outcome {
		case checker.Violated.String():
			h.Violated = append(h.Violated, p.Property)
		case checker.Valid.String():
			h.Result = string(results.Held)
		}
	}
	if len(h.Violated) > 0 {
		h.Result = string(results.Violated)
	}
	return h
}
