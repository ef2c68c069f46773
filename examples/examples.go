// Package examples is what lockcheck init writes to begin with: a suite, and
// the worker that it holds to its promise.
package examples

import (
	"embed"
	"io/fs"
)

//go:embed workers/python/lockcheck.yaml workers/python/worker.py
var files embed.FS

// A File is one of them.
type File struct {
	Name, Is string
	Mode     fs.FileMode
	Text     []byte
}

// Begin are the files, the first to be read first.
func Begin() ([]File, error) {
	list := []File{
		{Name: "lockcheck.yaml", Is: "the suite: locks and their promises", Mode: 0o666},
		{Name: "worker.py", Is: "a lock to begin with, in Python: put yours in its place", Mode: 0o777},
	}
	for i := range list {
		var err error
		if list[i].Text, err = files.ReadFile("workers/python/" + list[i].Name); err != nil {
			return nil, err
		}
	}
	return list, nil
}
