package judging

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/history/formats"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// How much of a file is quoted.
const (
	quotedBytes   = 1 << 10 // of a line
	quotedEntries = 3       // entries that share a line
	quotedFirst   = 10      // lines at the start of a long witness
	quotedLast    = 4       // and lines at its end
)

// quote prints lines of a history with their numbers. An operation that shares its line
// with others, or is in a very long line, is printed as if on a line of its own. Lines
// are not cut at the width of the terminal, because the operation and its lock can be
// anywhere in them.
func (j *Judge) quote(ctx context.Context, src *source, in *taken, lines []int) error {
	lines = slices.Compact(slices.Clone(lines))
	left := len(lines) - quotedFirst - quotedLast // lines that are left out
	if left > 1 {
		lines = slices.Delete(lines, quotedFirst, quotedFirst+left)
	}
	found := &catcher{lines: map[int]*caught{}}
	for _, n := range lines {
		found.lines[n] = &caught{}
		found.last = max(found.last, n)
	}
	err := within(ctx, func() error { return found.read(ctx, src, in) })
	if err != nil {
		return err
	}
	width := max(4, len(fmt.Sprint(found.last)))
	for i, n := range lines {
		if i == quotedFirst && left > 1 {
			j.Printf("%*s… and %s more\n", width+2, "", names.Thousands(left))
		}
		for _, text := range found.lines[n].words(in) {
			j.Printf("%*d  %s\n", width, n, layout.Clip(terminal.Printable(text), quotedBytes))
		}
	}
	j.Printf("\n")
	if in.oneLine {
		j.Paragraph(0, "The operations stand in one line of the file, so the numbers count operations.")
		j.Printf("\n")
	}
	return nil
}

// unzipped returns r, decompressed if it is compressed.
func unzipped(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	if magic, err := b.Peek(2); err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return b, nil
	}
	return gzip.NewReader(b)
}

// catcher keeps some lines of the data written to it.
type catcher struct {
	lines map[int]*caught
	last  int // the last of these lines
	ended int // lines so far
}

// caught is a line, cut to the part that is quoted, and the entries that begin in it.
type caught struct {
	text    []byte
	entries []history.Entry
}

// errEnough ends reading after the last line that is needed.
var errEnough = errors.New("that is enough")

// read finds the lines in a file. If one of them is more than a single operation, it
// reads the entries as well.
func (c *catcher) read(ctx context.Context, src *source, in *taken) error {
	if !in.oneLine {
		r, err := src.open(ctx)
		if err != nil {
			return err
		}
		defer r.Close()
		plain, err := unzipped(r)
		if err == nil {
			_, err = io.Copy(c, plain)
		}
		if err != nil && !errors.Is(err, errEnough) {
			return unreadable(err)
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(c.lines)), func(l *caught) bool { return l.maps() != 1 }) {
			return nil
		}
	}
	r, err := src.open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	entries, err := formats.NewReader(r, src.title(), in.reading)
	if err != nil {
		return unreadable(err)
	}
	_, err = eachEntry(entries, func(e *history.Entry, line int) bool {
		if l := c.lines[line]; l != nil {
			l.entries = append(l.entries, *e)
		}
		return line <= c.last
	})
	return unreadable(err)
}

func (c *catcher) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		line, ends := rest, 0
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line, ends = rest[:i], 1
		}
		if l := c.lines[c.ended+1]; l != nil {
			l.text = append(l.text, line[:min(len(line), max(0, quotedBytes-len(l.text)))]...)
		}
		if c.ended += ends; c.ended == c.last {
			return len(b), errEnough
		}
		rest = rest[len(line)+ends:]
	}
	return len(b), nil
}

// words returns the quotes from a line.
func (c *caught) words(in *taken) (texts []string) {
	n := c.maps()
	if !in.oneLine && (n == 1 || len(c.entries) == 1 && n > 1) {
		return []string{string(bytes.TrimSpace(c.text))}
	}
	for i := range c.entries {
		if i == quotedEntries {
			return append(texts, fmt.Sprintf("… and %d more in this line", len(c.entries)-i))
		}
		texts = append(texts, written(&c.entries[i], in.format))
	}
	return texts
}

// maps returns the number of adjacent maps in a line, or 0 if one of them does not end
// there.
func (c *caught) maps() (n int) {
	open, text := 0, false
	for i := 0; i < len(c.text); i++ {
		switch b := c.text[i]; {
		case b == '\\':
			i++
		case b == '"':
			text = !text
		case text:
		case b == '{':
			open++
		case b == '}':
			if open--; open == 0 {
				n++
			}
		}
	}
	if open != 0 || len(c.text) == quotedBytes {
		return 0
	}
	return n
}

// written returns an entry as --to prints it, in the format of its file.
func written(e *history.Entry, format string) string {
	if format != "edn" {
		format = "jsonl"
	}
	var b strings.Builder
	w, err := formats.NewWriter(&b, format, history.Header{})
	if err == nil {
		err = w.Append(*e)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return err.Error()
	}
	text := strings.TrimSpace(b.String())
	if format == "edn" { // it is an element of a list
		text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	}
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
