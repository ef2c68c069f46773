package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// pseudoterminal returns both ends of a terminal: who types and reads, and the program.
func pseudoterminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// On a terminal keys count at once, one screen is shown at a time, and in the end the
// terminal is as before, however the walk ends.
func TestWalkOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	screens := []Screen{{"one", "first\n"}, {"two", "second\n"}}
	for _, tt := range []struct {
		name string
		end  func(person *os.File, cancel func())
		want error
	}{
		{"q", func(person *os.File, _ func()) { io.WriteString(person, "q") }, nil},
		{"a signal", func(_ *os.File, cancel func()) { cancel() }, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			person, program := pseudoterminal(t)
			before, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- New(program, nil).Walk(ctx, program, screens) }()
			text := readUntil(t, person, "q: end")
			io.WriteString(person, "\x1b[C")
			text += readUntil(t, person, "q: end")
			tt.end(person, cancel)
			if err := <-done; !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			text += readUntil(t, person, "\x1b[?1049l")
			first, second := strings.Index(text, "first\r\n"), strings.Index(text, "second\r\n")
			if !strings.HasPrefix(text, "\x1b[?1049h") || first < 0 || second < first || strings.Contains(text, "^[") {
				t.Errorf("%q", text)
			}
			if after, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS); err != nil || *after != *before {
				t.Errorf("the terminal is not as before: %+v, want %+v; %v", after, before, err)
			}
		})
	}
}

// A panic while a terminal reads keys restores it, too.
func TestAPanicRestoresTheTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	_, program := pseudoterminal(t)
	before, _ := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS)
	func() {
		defer func() { recover() }()
		New(program, nil).Walk(broken{t.Context()}, program, []Screen{{"one", "first\n"}})
		t.Error("no panic")
	}()
	if after, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS); err != nil || *after != *before {
		t.Errorf("the terminal is not as before: %+v, want %+v; %v", after, before, err)
	}
}

// broken is a context that panics when it is asked for its end.
type broken struct{ context.Context }

func (broken) Done() <-chan struct{} { panic("broken") }

// A run without a story has no steps: nobody is asked.
func TestAWalkWithoutScreensEnds(t *testing.T) {
	t.Setenv("TERM", "xterm")
	_, program := pseudoterminal(t)
	if err := New(program, nil).Walk(t.Context(), program, nil); err != nil {
		t.Error(err)
	}
}

// readUntil reads what a terminal shows, until it ends with some words.
func readUntil(t *testing.T, person *os.File, words string) string {
	t.Helper()
	var text strings.Builder
	b := make([]byte, 1)
	for !strings.HasSuffix(text.String(), words) {
		if _, err := person.Read(b); err != nil {
			t.Fatalf("%q, %v", text.String(), err)
		}
		text.Write(b)
	}
	return text.String()
}
