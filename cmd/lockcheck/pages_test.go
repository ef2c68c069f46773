package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/ask"
)

// word is a part of a command line: in quotes, or up to a blank.
var word = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)

// typed matches the beginning of a command, but not of lockcheck's own output.
var typed = regexp.MustCompile(`^lockcheck [^0-9…]`)

// goesOn matches the end of a line that continues in the next.
var goesOn = regexp.MustCompile(`\s*\\\n\s*`)

// commandsOf returns the lockcheck commands that a page shows, one a line, without the
// comments beside them.
func commandsOf(page string) (lines []string) {
	page = goesOn.ReplaceAllString(page, " ")
	quoted := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			quoted = !quoted
		}
		if !quoted && !strings.HasPrefix(line, "    ") {
			continue
		}
		line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
		line, _, _ = strings.Cut(line, "   ")
		line, _, _ = strings.Cut(line, " #")
		for part := range strings.SplitSeq(strings.ReplaceAll(line, "||", "&&"), " && ") {
			if part = strings.TrimSpace(part); typed.MatchString(part) {
				lines = append(lines, part)
			}
		}
	}
	return lines
}

// Every command that a page shows exists, and has the flags that the page uses.
func TestCommandsOfThePagesCanBeTyped(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../deploy/*/README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range slices.Concat([]string{"../../README.md", "../../CHANGELOG.md"}, pages, more) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "./lockcheck ") {
			t.Errorf("%s calls the command by a path: it is on the PATH", filepath.ToSlash(page))
		}
		for _, line := range commandsOf(string(text)) {
			found++
			var args []string
			for _, w := range word.FindAllString(line, -1)[1:] {
				if strings.ContainsAny(w, "|<>&;") && w[0] != '\'' {
					break // the rest is for the shell
				}
				args = append(args, variable.ReplaceAllString(strings.Trim(w, `'"`), "1"))
			}
			root := newApp(strings.NewReader(""), io.Discard, io.Discard).root()
			cmd, rest, err := root.Find(args)
			if err == nil && cmd == root {
				err = ask.Unknown("command", args[0], commandNames(root))
			}
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil && !slices.Contains(args, "--help") {
				t.Errorf("%s: %s: %v", filepath.ToSlash(page), line, err)
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d commands were found", found)
	}
}

// variable matches a shell variable. The test replaces it by 1, which is valid as a
// number, as a name and as a shard.
var variable = regexp.MustCompile(`\$[A-Z_]+`)

// readPage returns the text of a page of docs/.
func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fence is a fenced block of a page.
type fence struct{ language, text string }

// fences returns the fenced blocks of a page in the given languages, in order.
func fences(page string, languages ...string) (list []fence) {
	pattern := regexp.MustCompile("(?s)```(" + strings.Join(languages, "|") + ")\n(.*?)```")
	for _, found := range pattern.FindAllStringSubmatch(page, -1) {
		list = append(list, fence{found[1], found[2]})
	}
	return list
}

// shell returns a function that runs the commands of a block in a directory, with the
// built lockcheck, and returns their output. All of them have to succeed. env is added
// to the environment variables of the test.
func shell(t *testing.T, dir string, env ...string) func(commands string) (printed string) {
	t.Helper()
	path := "PATH=" + filepath.Dir(built(t)) + string(filepath.ListSeparator) + os.Getenv("PATH")
	return func(commands string) string {
		t.Helper()
		cmd := exec.Command("sh", "-e", "-c", commands)
		cmd.Dir, cmd.Env = dir, slices.Concat(os.Environ(), []string{path}, env)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", commands, err, out)
		}
		return string(out)
	}
}
