// Package terminal prints for people, on a terminal of 80 columns: text and stories to
// stdout, messages and progress to stderr, and commands that can be copied. Text cannot
// control the terminal, whatever is in it.
package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/layout"
)

// Terminal is where a command prints, and how much.
type Terminal struct {
	Stdout  *output
	Stderr  io.Writer
	Color   bool // of stdout
	JSON    bool // stdout is one document: text is dropped
	Verbose bool
	Quiet   bool // verdicts only, no stories
}

// New returns a terminal for these streams. It has colours if stdout is one and the
// user has not switched them off.
func New(stdout, stderr io.Writer) *Terminal {
	return &Terminal{
		Stdout: &output{to: stdout}, Stderr: stderr,
		Color: isTerminal(stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

// output is stdout. A reader that has gone away is no error: the rest of the output is
// dropped, and the command continues to its end.
type output struct {
	to  io.Writer
	err error // the first
}

func (o *output) Write(b []byte) (int, error) {
	if o.err == nil {
		_, o.err = o.to.Write(b)
	}
	return len(b), nil
}

// Lost returns the reason why output to a reader that is still there was lost, or nil.
func (o *output) Lost() error {
	if o.err == nil || errors.Is(o.err, syscall.EPIPE) || errors.Is(o.err, io.ErrClosedPipe) {
		return nil
	}
	return exit.Errorf(exit.Usage, "cannot write what was found: %w", o.err)
}

// PrintJSON prints one document.
func (t *Terminal) PrintJSON(doc any) error {
	e := json.NewEncoder(t.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(doc)
}

// Printf prints a part of the result.
func (t *Terminal) Printf(format string, args ...any) {
	if !t.JSON {
		fmt.Fprint(t.Stdout, t.safe(fmt.Sprintf(format, args...)))
	}
}

// Say prints a message to stderr that is not part of the result.
func (t *Terminal) Say(format string, args ...any) {
	fmt.Fprint(t.Stderr, t.safe(fmt.Sprintf(format, args...)))
}

// Complain prints an error on stderr, and returns the exit code for it.
func (t *Terminal) Complain(err error) int {
	if err == nil {
		return exit.Held
	}
	code, e := exit.Code(err), &exit.Error{Code: exit.Bug, Err: err}
	errors.As(err, &e)
	switch {
	case e.Err == nil: // the message has been printed
	case code == exit.Bug:
		line, stack, _ := strings.Cut(e.Error(), "\n")
		t.Say("lockcheck: this is a bug of lockcheck: %s; please report it with the command\n", line)
		if t.Verbose && stack != "" {
			t.Say("%s\n", stack)
		}
	default:
		t.Say("lockcheck: %v\n", e.Err)
	}
	return code
}

// colours matches the escape sequences that lockcheck itself prints. Sequences like
// these in a file are harmless: they hide nothing.
var colours = regexp.MustCompile(`\x1b\[(0|2|31|32|33)?m`)

// safe returns text that cannot control a terminal, except for line breaks and
// lockcheck's own colours. Names in the text may come from anybody's file.
func (t *Terminal) safe(text string) string {
	var own [][]int
	if t.Color {
		own = colours.FindAllStringIndex(text, -1)
	}
	var b strings.Builder
	end := 0
	for _, at := range append(own, []int{len(text), len(text)}) {
		for i, line := range strings.Split(text[end:at[0]], "\n") {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(Printable(line))
		}
		b.WriteString(text[at[0]:at[1]])
		end = at[1]
	}
	return b.String()
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// ShowsProgress reports whether somebody looks at progress.
func (t *Terminal) ShowsProgress() bool { return isTerminal(t.Stderr) && !t.Quiet }

// ShowProgress shows the progress of a command in one line, in place of what it showed before.
func (t *Terminal) ShowProgress(words string) {
	if t.ShowsProgress() {
		io.WriteString(t.Stderr, "\r"+layout.Clip(Printable(words), layout.Columns-1)+"\x1b[K")
	}
}

// ClearProgress removes the progress from the terminal.
func (t *Terminal) ClearProgress() { t.ShowProgress("") }

// Printable returns a text that cannot control a terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return utf8.RuneError
		}
		return r
	}, text)
}
