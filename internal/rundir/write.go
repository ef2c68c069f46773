package rundir

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// WriteJSON writes a document to a file, as WriteFile does, makes its directory if it is
// missing, and removes temporary files of killed processes (see Sweep).
func WriteJSON(path string, doc any) error {
	text, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	err = WriteFile(path, append(text, '\n'))
	Sweep(path)
	return err
}

// WriteFile writes a file in one step: a reader sees the old content or the new one.
func WriteFile(path string, data []byte) error {
	temporary := Temporary(path)
	err := os.WriteFile(temporary, data, 0o666)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return err
}

// Temporary returns the name of a file or directory until it is complete and gets its
// own name.
func Temporary(path string) string { return fmt.Sprintf("%s.%d.tmp", path, os.Getpid()) }

// isTemporary matches the names that Temporary returns, and os.CreateTemp with *.tmp.
var isTemporary = regexp.MustCompile(`^(.+)\.[0-9]+\.tmp$`)

// abandoned is the age after which a temporary file is one of a killed process. Writing
// one takes a moment; the rest is for the clocks of two machines that differ. The process
// itself cannot be asked: it may be in another container, or on another machine, that
// shares the directory.
const abandoned = 10 * time.Minute

// Abandoned returns the temporary files in a directory that killed processes have left,
// of those files for whose names called returns true.
func Abandoned(dir string, called func(name string) bool) (left []fs.DirEntry) {
	entries, _ := os.ReadDir(dir) // nothing can be removed from an unreadable directory
	for _, e := range entries {
		m := isTemporary.FindStringSubmatch(e.Name())
		if m == nil || !called(m[1]) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
			left = append(left, e)
		}
	}
	return left
}

// Sweep removes the abandoned temporary files of a file.
func Sweep(path string) {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	for _, e := range Abandoned(dir, func(of string) bool { return of == name }) {
		if e.Type().IsRegular() {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// ReadUpTo reads a file of up to most MiB: a device or a pipe may be endless. what names
// the kind of file that is expected.
func ReadUpTo(file string, most int, what string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(most)<<20+1))
	if err == nil && len(text) > most<<20 {
		err = fmt.Errorf("%s is larger than %d MiB: is this %s?", file, most, what)
	}
	return text, err
}

// Exists reports whether there is a file of this name.
func Exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
