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

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/report"
)

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

// lost returns the reason why output to a reader that is still there was lost, or nil.
func (o *output) lost() error {
	if o.err == nil || errors.Is(o.err, syscall.EPIPE) || errors.Is(o.err, io.ErrClosedPipe) {
		return nil
	}
	return exit.Errorf(exit.Usage, "cannot write what was found: %w", o.err)
}

// printJSON prints one document.
func (a *app) printJSON(doc any) error {
	e := json.NewEncoder(a.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(doc)
}

// printf prints a part of the result.
func (a *app) printf(format string, args ...any) {
	if !a.json {
		fmt.Fprint(a.stdout, a.safe(fmt.Sprintf(format, args...)))
	}
}

// say prints a message to stderr that is not part of the result.
func (a *app) say(format string, args ...any) {
	fmt.Fprint(a.stderr, a.safe(fmt.Sprintf(format, args...)))
}

// colours matches the escape sequences that lockcheck itself prints. Sequences like
// these in a file are harmless: they hide nothing.
var colours = regexp.MustCompile(`\x1b\[(0|2|31|32|33)?m`)

// safe returns text that cannot control a terminal, except for line breaks and
// lockcheck's own colours. Names in the text may come from anybody's file.
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

// options returns the options for output on the terminal.
func (a *app) options() report.Options { return report.Options{Color: a.color} }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// replayOf returns the command that replays a schedule. It returns "" if the file is
// missing: it could not be written, or has been lost.
func replayOf(schedule string) string {
	if !canRead(schedule) {
		return ""
	}
	return program() + " replay " + quoted(schedule)
}

// replayLine prints the command that replays the run in a directory, so that it can be
// copied and run here.
func (a *app) replayLine(dir string) {
	if command := replayOf(filepath.Join(dir, scheduleFile)); command != "" {
		a.commandLine("Again    ", command)
	}
}

// commandLine prints a command that can be copied. It splits a long command into lines
// that a shell joins.
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

// shellWords splits a command at single spaces like a shell. Quoted parts stay together
// and keep their quotes.
func shellWords(command string) (words []string) {
	start, quote := 0, false
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case c == '\'':
			quote = !quote
		case c == '\\' && !quote:
			i++ // the escaped character is literal
		case c == ' ' && !quote:
			words = append(words, command[start:i])
			start = i + 1
		}
	}
	return append(words, command[start:])
}

// program returns the command that starts this program again from the same directory. A
// binary of go run is gone by then, so the command is a go run again in that case.
func program() string {
	if !strings.Contains(os.Args[0], "go-build") {
		return quoted(os.Args[0])
	}
	if _, err := os.Stat("cmd/lockcheck/main.go"); err == nil {
		return "go run ./cmd/lockcheck"
	}
	return "go run github.com/lockcheck/lockcheck/cmd/lockcheck"
}

// programFrom is like program, but for another directory.
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

// quoted returns a word with quotes if a shell needs them.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
