package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/history/formats"
)

// convert prints a history in another format.
func (a *app) convert(ctx context.Context, file, to string) error {
	src := a.source(file)
	src.once = true
	var warnings []history.Warning
	err := within(ctx, func() error {
		r, err := src.open(ctx)
		if err != nil {
			return err
		}
		defer r.Close()
		warnings, err = a.rewrite(r, file, to)
		return unreadable(err)
	})
	if err != nil {
		return err
	}
	a.warn(warnings)
	return nil
}

// rewrite prints what is left of a history to read.
func (a *app) rewrite(r io.Reader, name, to string) ([]history.Warning, error) {
	in, err := formats.NewReader(r, name)
	if err != nil {
		return nil, err
	}
	b := bufio.NewWriterSize(a.stdout, 64<<10)
	var w io.Writer = b
	if in.Header().Format == 0 {
		w = &headless{w: b}
	}
	out, err := formats.NewWriter(w, to, in.Header())
	if err != nil {
		return nil, err
	}
	for {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			return in.Warnings(), errors.Join(out.Close(), b.Flush())
		}
		if err == nil {
			err = out.Append(e)
		}
		if err != nil {
			return nil, err
		}
	}
}

// headless leaves out the first line of a history: one that says nothing of its
// run would be taken for one of ours, and held against something else, if it
// said that it says nothing.
type headless struct {
	w    io.Writer
	head []byte // the first line, as far as it is there
	past bool
}

func (h *headless) Write(b []byte) (int, error) {
	if h.past {
		return h.w.Write(b)
	}
	h.head = append(h.head, b...)
	line, rest, whole := bytes.Cut(h.head, []byte("\n"))
	if !whole {
		return len(b), nil
	}
	h.past = true
	switch inside, list := bytes.CutPrefix(line, []byte("[")); {
	case !bytes.HasPrefix(inside, []byte(`{"lockcheck"`)) && !bytes.HasPrefix(inside, []byte("{:lockcheck")):
		rest = h.head
	case list && bytes.HasSuffix(line, []byte("]")):
		rest = append([]byte("[]\n"), rest...)
	case list:
		rest = append([]byte("["), bytes.TrimLeft(rest, " ")...)
	}
	_, err := h.w.Write(rest)
	return len(b), err
}
