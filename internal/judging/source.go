package judging

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/lockcheck/lockcheck/internal/exit"
)

// source is a file that is read more than once. Input that can be read only once, such
// as a pipe, is kept in memory, compressed: a few bytes for each operation, where a
// judge needs a hundred. Nothing is left on disk, however the process ends.
type source struct {
	name  string
	stdin io.Reader     // nil: a file
	once  bool          // read once, so nothing is kept
	kept  *bytes.Buffer // the data of a pipe
}

func (j *Judge) source(file string) *source {
	if file == "-" {
		return &source{name: file, stdin: j.Stdin}
	}
	return &source{name: file}
}

// title returns the name of the file for messages.
func (s *source) title() string {
	if s.stdin != nil {
		return "standard input"
	}
	return s.name
}

// open starts at the beginning. Its reader ends with ctx, between two reads.
func (s *source) open(ctx context.Context) (*opened, error) {
	if s.kept != nil {
		return &opened{ctx: ctx, r: flate.NewReader(bytes.NewReader(s.kept.Bytes()))}, nil
	}
	r, pipe := s.stdin, true
	var end func() error
	if r == nil {
		f, err := os.Open(s.name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, exit.Errorf(exit.Usage, "no file %s", s.name)
		}
		if err != nil {
			return nil, exit.Errorf(exit.Usage, "%w", err)
		}
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			err = fmt.Errorf("%s is a directory", s.name)
		}
		if err != nil {
			f.Close()
			return nil, exit.Errorf(exit.Usage, "%w", err)
		}
		r, pipe, end = f, !info.Mode().IsRegular(), f.Close
	}
	if !pipe || s.once {
		return &opened{ctx: ctx, r: r, end: end}, nil
	}
	kept := new(bytes.Buffer)
	w, err := flate.NewWriter(kept, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	return &opened{ctx: ctx, r: io.TeeReader(r, w), end: func() error {
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
	ctx   context.Context
	r     io.Reader
	end   func() error
	bytes int64 // read so far
}

func (o *opened) Read(b []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := o.r.Read(b)
	o.bytes += int64(n)
	return n, err
}

func (o *opened) Close() error {
	if o.end == nil {
		return nil
	}
	return o.end()
}

// within calls f. When ctx ends it does not wait for f, which may be blocked on a pipe.
func within(ctx context.Context, f func() error) error {
	_, err := resultWithin(ctx, func() (none struct{}, err error) { return none, f() })
	return err
}

// resultWithin does the same as within, and returns the result of f.
func resultWithin[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		of  T
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.err = exit.Guard(func() (err error) {
			r.of, err = f()
			return err
		})
		done <- r
	}()
	select {
	case r := <-done:
		return r.of, r.err
	case <-ctx.Done(): // f may still be at it
		var none T
		return none, ctx.Err()
	}
}

// unreadable turns an error of reading a history into a usage error.
func unreadable(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, new(*exit.Error)) {
		return err
	}
	return exit.Errorf(exit.Usage, "%w", err)
}
