package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// Replay returns the command that replays a schedule with these flags. It returns "" if
// the file is missing: it could not be written, or has been lost.
func Replay(schedule string, flags ...string) string {
	if !rundir.Exists(schedule) {
		return ""
	}
	command := Program() + " replay " + Quoted(schedule)
	for _, word := range flags {
		command += " " + Quoted(word)
	}
	return command
}

// ReplayLine prints the command that replays the run in a directory with these flags, so
// that it can be copied and run here, and the run's page.
func (t *Terminal) ReplayLine(dir string, flags ...string) {
	if command := Replay(filepath.Join(dir, rundir.ScheduleFile), flags...); command != "" {
		t.CommandLine("Again    ", command)
	}
	t.PageLine(dir)
}

// PageLine prints the file of the page of the run in a directory, if there is one.
func (t *Terminal) PageLine(dir string) {
	if page := filepath.Join(dir, rundir.PageFile); rundir.Exists(page) {
		t.Printf("Page     %s\n", page)
	}
}

// CommandLine prints a command that can be copied. It splits a long command into lines
// that a shell joins.
func (t *Terminal) CommandLine(head, command string) {
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
			t.Printf("%s \\\n", line)
			line = indent
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	t.Printf("%s\n", line)
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

// Program returns the command that starts this program again from the same directory. A
// binary of go run is gone by then, so the command is a go run again in that case.
func Program() string {
	if !strings.Contains(os.Args[0], "go-build") {
		return Quoted(os.Args[0])
	}
	if _, err := os.Stat("cmd/lockcheck/main.go"); err == nil {
		return "go run ./cmd/lockcheck"
	}
	return "go run github.com/lockcheck/lockcheck/cmd/lockcheck"
}

// ProgramFrom is like program, but for another directory.
func ProgramFrom(dir string) string {
	name := os.Args[0]
	if strings.Contains(name, "go-build") || !strings.ContainsRune(name, filepath.Separator) || filepath.IsAbs(name) {
		return Program()
	}
	from, err := filepath.Abs(dir)
	if path, errPath := filepath.Abs(name); err == nil && errPath == nil {
		if rel, err := filepath.Rel(from, path); err == nil {
			return Quoted(rel)
		}
	}
	return Program()
}

// Quoted returns a word with quotes if a shell needs them.
func Quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// WorkerCommand returns the command of a plan's worker, quoted for a shell.
func WorkerCommand(plan *harness.Plan) string {
	words := make([]string, len(plan.Worker))
	for i, word := range plan.Worker {
		words[i] = Quoted(word)
	}
	return strings.Join(words, " ")
}
