package main

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A source is a file that is read more than once. What can be read only once,
// as a pipe, is kept compressed: a few bytes for each operation, where a judge
// keeps a hundred; and nothing is left on a disk, whatever becomes of us.
type source struct {
	name  string
	stdin io.Reader     // nil: a file
	once  bool          // it is opened once, and nothing is kept
	kept  *bytes.Buffer // what came through a pipe
}

func (a *app) source(file string) *source {
	if file == "-" {
		return &source{name: file, stdin: a.stdin}
	}
	return &source{name: file}
}

// title is what people are told the file is called.
func (s *source) title() string {
	if s.stdin != nil {
		return "standard input"
	}
	return s.name
}

// open begins at the beginning. Its reader ends with ctx, between two reads.
func (s *source) open(ctx context.Context) (io.ReadCloser, error) {
	if s.kept != nil {
		return &opened{ctx, flate.NewReader(bytes.NewReader(s.kept.Bytes())), nil}, nil
	}
	r, pipe := s.stdin, true
	var end func() error
	if r == nil {
		f, err := os.Open(s.name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fail(usage, "no file %s", s.name)
		}
		if err != nil {
			return nil, fail(usage, "%w", err)
		}
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			err = fmt.Errorf("%s is a directory", s.name)
		}
		if err != nil {
			f.Close()
			return nil, fail(usage, "%w", err)
		}
		r, pipe, end = f, !info.Mode().IsRegular(), f.Close
	}
	if !pipe || s.once {
		return &opened{ctx, r, end}, nil
	}
	kept := new(bytes.Buffer)
	w, err := flate.NewWriter(kept, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	return &opened{ctx, io.TeeReader(r, w), func() error {
		err := w.Close()
		s.kept = kept
		if end != nil {
			err = errors.Join(err, end())
		}
		return err
	}}, nil
}

// opened is a source that is being read.
type opened struct {
	ctx context.Context
	r   io.Reader
	end func() error
}

func (o *opened) Read(b []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	return o.r.Read(b)
}

func (o *opened) Close() error {
	if o.end == nil {
		return nil
	}
	return o.end()
}

// counter counts the bytes that were read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// within calls f. When ctx ends it does not wait for f, which may be reading
// from a pipe.
func within(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- guard(f) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unreadable makes an error of reading a history one of usage.
func unreadable(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, new(*exitError)) {
		return err
	}
	return fail(usage, "%w", err)
}

// unread says why a file cannot be read that somebody has named.
func unread(file string, err error) error {
	switch info, statErr := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
		return fail(usage, "no file %s", file)
	case statErr == nil && info.IsDir():
		return fail(usage, "%s is a directory: name a file in it", file)
	}
	return fail(usage, "%w", err)
}

// formatEndings are what the files of histories end with.
var formatEndings = []string{".jsonl", ".edn", ".json"}

// histories are the files to judge: of a directory all histories below it, in
// the order of their names. Where a directory has one that is called history, as
// ours and Jepsen's have, what lies beside it is something else.
func histories(args []string) (files []string, err error) {
	for _, arg := range args {
		if info, err := os.Stat(arg); err != nil || !info.IsDir() {
			files = append(files, arg)
			continue
		}
		var found []string
		root := arg + string(filepath.Separator) // else a link to a directory is not followed
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && isHistory(path) {
				found = append(found, filepath.Clean(path))
			}
			return err
		})
		if err != nil {
			return nil, fail(usage, "%w", err)
		}
		called := map[string]bool{} // directories that have one called history
		for _, file := range found {
			if stem(file) == "history" {
				called[filepath.Dir(file)] = true
			}
		}
		found = slices.DeleteFunc(found, func(file string) bool { return called[filepath.Dir(file)] && stem(file) != "history" })
		if len(found) == 0 {
			return nil, fail(usage, "there is no history below %s: no file that ends in %s, or in that and .gz", arg, strings.Join(formatEndings, ", "))
		}
		files = append(files, found...)
	}
	return files, nil
}

// stem is the name of a file without what it ends with.
func stem(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// isHistory tells whether a file is called as histories are, and is no other
// file of ours.
func isHistory(file string) bool {
	if !slices.Contains(formatEndings, filepath.Ext(strings.TrimSuffix(file, ".gz"))) {
		return false
	}
	if filepath.Base(file) == verdictFile {
		return false
	}
	schedule := false
	if filepath.Ext(file) == ".json" {
		schedule, _ = isSchedule(file) // one that cannot be read is judged, which says why
	}
	return !schedule
}
