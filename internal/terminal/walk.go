package terminal

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"
)

// Screen is one step of a walk.
type Screen struct{ Title, Text string }

// Walk shows one screen after the other, as keys from in say. Without a terminal it
// prints all. It returns ctx's error if ctx ends it. The terminal is restored in any case.
func (t *Terminal) Walk(ctx context.Context, in io.Reader, screens []Screen) error {
	f, ok := in.(*os.File)
	ok = ok && len(screens) > 0 && isTerminal(f) && isTerminal(t.Stdout.to) && os.Getenv("TERM") != "dumb"
	restore, err := func() {}, error(nil)
	if ok {
		restore, err = readKeys(f)
	}
	byLine := errors.Is(err, errors.ErrUnsupported)
	if !ok || err != nil && !byLine {
		for _, s := range screens {
			t.Heading(s.Title)
			io.WriteString(t.Stdout, s.Text+"\n")
		}
		return nil
	}
	before, prompt := "", "\nEnter: next step   b and Enter: the one before   q and Enter: end\n"
	if !byLine {
		defer restore()
		// The walk has a screen of its own, which leaves the text before it alone.
		io.WriteString(t.Stdout, "\x1b[?1049h")
		defer io.WriteString(t.Stdout, "\x1b[?1049l")
		before, prompt = "\x1b[H\x1b[2J", "\n→ or Enter: next step   ← or b: the one before   q: end"
	}
	return walk(ctx, newKeys(in, byLine), len(screens), func(i int) {
		io.WriteString(t.Stdout, before)
		t.Heading(screens[i].Title)
		io.WriteString(t.Stdout, screens[i].Text+prompt)
	})
}

// walk shows one of n screens at a time, until a key ends it, in ends or ctx does.
func walk(ctx context.Context, k *keys, n int, show func(i int)) error {
	show(0)
	for i := 0; ; {
		type pressed struct {
			by  int
			err error
		}
		next := make(chan pressed, 1)
		go func() {
			by, err := k.next()
			next <- pressed{by, err}
		}()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case p := <-next:
			if to := min(max(i+p.by, 0), n-1); to != i {
				i = to
				show(i)
			}
			switch {
			case errors.Is(p.err, io.EOF):
				return nil
			case p.err != nil:
				return p.err
			}
		}
	}
}

// keys reads what somebody presses.
type keys struct {
	in     *bufio.Reader
	byLine bool // a key counts when its line ends
}

func newKeys(in io.Reader, byLine bool) *keys { return &keys{bufio.NewReader(in), byLine} }

// next returns by how many steps to go. io.EOF is the end.
func (k *keys) next() (by int, err error) {
	if k.byLine {
		line, err := k.in.ReadString('\n')
		switch line = strings.TrimSpace(line); {
		case line != "":
			by, end := meaning(line[0])
			return by, cmp.Or(end, err)
		case err == nil:
			return 1, nil
		}
		return 0, err
	}
	c, err := k.in.ReadByte()
	if err != nil {
		return 0, err
	}
	if c != '\x1b' {
		return meaning(c)
	}
	return k.sequence()
}

// sequence reads the rest of an escape sequence: the arrow keys send ESC [ A to D, or
// ESC O A to D.
func (k *keys) sequence() (by int, err error) {
	c, err := k.in.ReadByte()
	if err != nil || c != '[' && c != 'O' {
		return 0, err
	}
	for {
		switch c, err = k.in.ReadByte(); {
		case err != nil:
			return 0, err
		case c == 'B', c == 'C':
			return 1, nil
		case c == 'A', c == 'D':
			return -1, nil
		case c >= '@' && c <= '~': // the end of another sequence
			return 0, nil
		}
	}
}

// meaning returns what a key means: steps to go, or io.EOF for the end.
func meaning(key byte) (by int, err error) {
	switch key {
	case '\n', '\r', ' ':
		return 1, nil
	case 'b', '\b', '\x7f':
		return -1, nil
	case 'q', '\x03', '\x04': // q, Ctrl-C, Ctrl-D
		return 0, io.EOF
	}
	return 0, nil
}
