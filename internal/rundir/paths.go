package rundir

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockcheck/lockcheck/internal/exit"
)

// Unread explains why a named file cannot be read.
func Unread(file string, err error) error {
	switch info, statErr := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
		return exit.Errorf(exit.Usage, "no file %s", file)
	case statErr == nil && info.IsDir():
		return exit.Errorf(exit.Usage, "%s is a directory: name a file in it", file)
	}
	return exit.Errorf(exit.Usage, "%w", err)
}

// WithoutPath returns an error of the file system without the names of files.
func WithoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// RealPath resolves the links in the part of a path that exists.
func RealPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for rest := ""; ; path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest) {
		real, err := filepath.EvalSymlinks(path)
		if err == nil || path == filepath.Dir(path) {
			return filepath.Join(real, rest), err
		}
	}
}

// SameFile reports whether two names mean the same file, which need not exist yet.
func SameFile(a, b string) bool {
	a, errA := RealPath(a)
	b, errB := RealPath(b)
	return cmp.Or(errA, errB) == nil && a == b
}

// SameDir reports whether two names mean the same directory, through any links.
func SameDir(a, b string) bool {
	one, errA := os.Stat(a)
	two, errB := os.Stat(b)
	return cmp.Or(errA, errB) == nil && os.SameFile(one, two)
}

// RealName returns the name of a directory without links, or its name unchanged if the
// links cannot be resolved.
func RealName(dir string) string {
	if real, err := RealPath(dir); err == nil {
		return real
	}
	return dir
}
