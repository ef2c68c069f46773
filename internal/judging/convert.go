package judging

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/history/formats"
)

// convert prints a history in another format.
func (j *Judge) convert(ctx context.Context, file, to string, reading formats.Reading) error {
	src := j.source(file)
	src.once = true
	var warnings []history.Warning
	err := within(ctx, func() error {
		r, err := src.open(ctx)
		if err != nil {
			return err
		}
		defer r.Close()
		warnings, err = j.rewrite(r, src.title(), to, reading)
		return unreadable(err)
	})
	if err != nil {
		return err
	}
	j.warn(warnings)
	return nil
}

// rewrite prints the unread rest of a history.
func (j *Judge) rewrite(r io.Reader, name, to string, reading formats.Reading) ([]history.Warning, error) {
	in, err := formats.NewReader(r, name, reading)
	if err != nil {
		return nil, err
	}
	b := bufio.NewWriterSize(j.Stdout, 64<<10)
	out, err := formats.NewWriter(b, to, in.Header())
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
