package docker

import (
	"os"
	"path/filepath"
	"strings"
)

// dirPrefix begins the name of a directory that belongs to a process. The owner follows,
// with dirColon, as not every system has colons in names, and a number.
const (
	dirPrefix = "lockcheck-"
	dirColon  = "_"
)

// TempDir makes a directory for temporary files of this process. If the process dies
// without removing it, clean does.
func TempDir() (string, error) {
	self, err := thisOwner()
	if err != nil {
		return "", err
	}
	return os.MkdirTemp("", dirPrefix+strings.ReplaceAll(self.String(), ":", dirColon)+"-")
}

// cleanDirs removes the directories whose owners are dead.
func cleanDirs(self owner) (removed []string, err error) {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*-*"))
	for _, dir := range dirs {
		name := strings.TrimPrefix(filepath.Base(dir), dirPrefix)
		o, wrong := parseOwner(strings.ReplaceAll(name[:strings.LastIndex(name, "-")], dirColon, ":"))
		if wrong != nil || !o.dead(self, true) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return removed, err
		}
		removed = append(removed, "directory "+dir)
	}
	return removed, err
}
