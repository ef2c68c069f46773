package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// Keys go from step to step; other keys and the ends change nothing.
func TestKeysWalk(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, keys string
		byLine     bool
		want       []int
	}{
		{"Enter and q", "\n\nq\n", false, []int{0, 1, 2}},
		{"arrow keys", "\x1b[C\x1b[B\x1b[D\x1b[Aq", false, []int{0, 1, 2, 1, 0}},
		{"arrow keys in application mode", "\x1bOC\x1bODq", false, []int{0, 1, 0}},
		{"space and b", "  b", false, []int{0, 1, 2, 1}},
		{"a return", "\rq", false, []int{0, 1}},
		{"over both ends", "b\n\n\nb", false, []int{0, 1, 2, 1}},
		{"other keys", "x\x1b[3~é\x1b\x1b[Zq\n", false, []int{0}},
		{"Ctrl-D", "\n\x04\n", false, []int{0, 1}},
		{"Ctrl-C as a key", "\n\x03\n", false, []int{0, 1}},
		{"the end of the keys", "", false, []int{0}},
		{"lines", "\n\nb\n\nq\n\n", true, []int{0, 1, 2, 1, 2}},
		{"lines with more", "\n b \r\nnext\nquit\n\n", true, []int{0, 1, 0}},
		{"a line without an end", "\nb", true, []int{0, 1, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []int
			err := walk(t.Context(), newKeys(strings.NewReader(tt.keys), tt.byLine), 3, func(i int) { got = append(got, i) })
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v; %v", got, tt.want, err)
			}
		})
	}
}

// A signal ends a walk that waits for a key.
func TestASignalEndsAWalk(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	t.Cleanup(func() { out.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := walk(ctx, newKeys(in, false), 3, func(int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A key that cannot be read is an error.
func TestAnErrorEndsAWalk(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	out.CloseWithError(io.ErrUnexpectedEOF)
	if err := walk(t.Context(), newKeys(in, false), 3, func(int) {}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

// Without a terminal all screens follow each other, and nobody is asked.
func TestWalkWithoutATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	term := New(&out, nil)
	err := term.Walk(t.Context(), strings.NewReader("q"), []Screen{{"one", "first\n"}, {"two", "second\n"}})
	first, second := strings.Index(out.String(), "── one ─"), strings.Index(out.String(), "second\n")
	if err != nil || first != 0 || second < first || strings.ContainsAny(out.String(), "\x1b\r") || strings.Contains(out.String(), "Enter") {
		t.Errorf("%q, %v", out.String(), err)
	}
}
