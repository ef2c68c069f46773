package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/report"
)

// output is stdout. A reader that has gone away is no error: what it does not
// want to see is dropped, and the command goes on to its end.
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

// lost says why not everything could be written to somebody who wanted it.
func (o *output) lost() error {
	if o.err == nil || errors.Is(o.err, syscall.EPIPE) || errors.Is(o.err, io.ErrClosedPipe) {
		return nil
	}
	return fail(usage, "cannot write what was found: %w", o.err)
}

// printJSON prints one document.
func (a *app) printJSON(doc any) error {
	e := json.NewEncoder(a.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(doc)
}

// printf writes a result.
func (a *app) printf(format string, args ...any) {
	if !a.json {
		fmt.Fprint(a.stdout, a.safe(fmt.Sprintf(format, args...)))
	}
}

// say writes to stderr what is no result.
func (a *app) say(format string, args ...any) {
	fmt.Fprint(a.stderr, a.safe(fmt.Sprintf(format, args...)))
}

// colours are the sequences that lockcheck itself puts into text. A file may have them,
// too, and they hide nothing.
var colours = regexp.MustCompile(`\x1b\[(0|2|31|32|33)?m`)

// safe is text that does nothing to a terminal but begin lines and change colours, and
// these only where lockcheck does: names in it may come from anybody's file.
func (a *app) safe(text string) string {
	var own [][]int
	if a.color {
		own = colours.FindAllStringIndex(text, -1)
	}
	var b strings.Builder
	end := 0
	for _, at := range append(own, []int{len(text), len(text)}) {
		for i, line := range strings.Split(text[end:at[0]], "\n") {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(printable(line))
		}
		b.WriteString(text[at[0]:at[1]])
		end = at[1]
	}
	return b.String()
}

// options of what is printed on the terminal.
func (a *app) options() report.Options { return report.Options{Color: a.color} }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// replayOf is the command that does again what a schedule has kept; "": it is not
// there, as it could not be written or has been lost since.
func replayOf(schedule string) string {
	if !canRead(schedule) {
		return ""
	}
	return program() + " replay " + quoted(schedule)
}

// replayLine prints how to replay what is kept in a directory: a command as it has to be typed
// here and now.
func (a *app) replayLine(dir string) {
	if command := replayOf(filepath.Join(dir, scheduleFile)); command != "" {
		a.commandLine("Again    ", command)
	}
}

// commandLine prints a command that can be copied. Where it is too long for a
// line a shell joins several.
func (a *app) commandLine(head, command string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(head))
	line := head
	var words []string
	for _, word := range shellWords(command) {
		if n := len(words); n > 0 && strings.HasPrefix(words[n-1], "--") && !strings.HasPrefix(word, "--") {
			words[n-1] += " " + word // a flag and its value stay together
		} else {
			words = append(words, word)
		}
	}
	for i, word := range words {
		room := layout.Columns
		if i < len(words)-1 {
			room -= len(" \\")
		}
		if i > 0 && utf8.RuneCountInString(line+" "+word) > room {
			a.printf("%s \\\n", line)
			line = indent
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	a.printf("%s\n", line)
}

// shellWords cuts a command where a shell does, at single spaces. What is quoted
// stays together, and quoted.
func shellWords(command string) (words []string) {
	start, quote := 0, false
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case c == '\'':
			quote = !quote
		case c == '\\' && !quote:
			i++ // what follows stands for itself
		case c == ' ' && !quote:
			words = append(words, command[start:i])
			start = i + 1
		}
	}
	return append(words, command[start:])
}

// program is how this program was called, so that it can be called again from
// the same directory. What go run built is gone by then.
func program() string {
	if !strings.Contains(os.Args[0], "go-build") {
		return quoted(os.Args[0])
	}
	if _, err := os.Stat("cmd/lockcheck/main.go"); err == nil {
		return "go run ./cmd/lockcheck"
	}
	return "go run github.com/lockcheck/lockcheck/cmd/lockcheck"
}

// programFrom is the same, to be called from another directory.
func programFrom(dir string) string {
	name := os.Args[0]
	if strings.Contains(name, "go-build") || !strings.ContainsRune(name, filepath.Separator) || filepath.IsAbs(name) {
		return program()
	}
	from, err := filepath.Abs(dir)
	if path, errPath := filepath.Abs(name); err == nil && errPath == nil {
		if rel, err := filepath.Rel(from, path); err == nil {
			return quoted(rel)
		}
	}
	return program()
}

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
