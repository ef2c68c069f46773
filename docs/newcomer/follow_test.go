package newcomer

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// block is a block of code on a page. A page that can be followed has three kinds:
//
//   - "In `FILE`:" or "New, `FILE`:" at the end of a paragraph, and then a block in the
//     language go or diff: a complete new file, or lines that exist (" ", "-") and the
//     lines that replace them (" ", "+").
//   - A block in the language console: "$ " and a command, then its output. The output
//     may leave out whole lines, or the text after "…". A command fails if and only if
//     a line of its output begins with FAIL or ✗.
//   - Every other block is for the reader only.
type block struct {
	line     int // of the page
	language string
	file     string // from the paragraph before it; "": none
	created  bool   // the file is new
	text     []string
}

var aboutFile = regexp.MustCompile("(In|New,) `([^`]+)`[^`]*:$")

// blocks returns the blocks of a page in order.
func blocks(page string) (list []block) {
	var open *block
	before := "" // the last line with text
	for i, line := range strings.Split(page, "\n") {
		switch language, fence := strings.CutPrefix(line, "```"); {
		case fence && open == nil:
			open = &block{line: i + 1, language: language}
			if m := aboutFile.FindStringSubmatch(before); m != nil {
				open.file, open.created = m[2], m[1] == "New,"
			}
		case fence:
			list = append(list, *open)
			open, before = nil, ""
		case open != nil:
			open.text = append(open.text, line)
		case strings.TrimSpace(line) != "":
			before = line
		}
	}
	return list
}

// watcher gets each command of a page, its output, and the time that processors spent.
type watcher func(command, out string, cpu time.Duration)

// follow follows a page in dir, and returns the error of the first step that differs.
// seen may be nil.
func follow(dir, page string, seen watcher) error {
	steps := 0
	for _, b := range blocks(page) {
		var err error
		switch {
		case b.language == "console":
			err = converse(dir, b.text, seen)
		case b.file == "":
			continue
		case b.created:
			err = create(filepath.Join(dir, b.file), b.text)
		case b.language == "diff":
			err = change(filepath.Join(dir, b.file), b.text)
		default:
			err = fmt.Errorf("a block about %s that is no diff", b.file)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", b.line, err)
		}
		steps++
	}
	if steps == 0 {
		return errors.New("there is nothing to follow")
	}
	return nil
}

func create(path string, text []string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.WriteString(strings.Join(text, "\n") + "\n")
	return errors.Join(err, file.Close())
}

// change applies a diff to a file, which must have the old lines exactly once.
func change(path string, diff []string) error {
	var before, after strings.Builder
	for _, line := range diff {
		mark, rest := " ", ""
		if line != "" {
			mark, rest = line[:1], line[1:]
		}
		if !strings.Contains(" -+", mark) {
			return fmt.Errorf("a line of a diff begins with %q: %s", mark, line)
		}
		if mark != "+" {
			before.WriteString(rest + "\n")
		}
		if mark != "-" {
			after.WriteString(rest + "\n")
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := strings.Count(string(text), before.String()); n != 1 || before.Len() == 0 {
		return fmt.Errorf("%s has these lines %d times, want once:\n%s", filepath.Base(path), n, before.String())
	}
	return os.WriteFile(path, []byte(strings.Replace(string(text), before.String(), after.String(), 1)), 0o666)
}

// converse runs the commands of a block, and compares their output and success with
// the block.
func converse(dir string, text []string, seen watcher) error {
	for i := 0; i < len(text); {
		command, ok := strings.CutPrefix(text[i], "$ ")
		if !ok {
			return fmt.Errorf("%q is no command", text[i])
		}
		var prints []string
		fails := false
		for i++; i < len(text) && !strings.HasPrefix(text[i], "$ "); i++ {
			prints = append(prints, text[i])
			fails = fails || strings.HasPrefix(text[i], "FAIL") || strings.HasPrefix(text[i], "✗")
		}
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "LOCKCHECK_TESTS=", "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH")) // as CONTRIBUTING.md says
		out, err := cmd.CombinedOutput()
		if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
			return err
		}
		if seen != nil {
			seen(command, string(out), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
		if (err != nil) != fails {
			return fmt.Errorf("$ %s\nfailed: %v, and the page says: %v\n%s", command, err != nil, fails, out)
		}
		if missing := missing(prints, string(out)); missing != "" {
			return fmt.Errorf("$ %s\ndoes not print, there,\n%s\nbut\n%s", command, missing, out)
		}
	}
	return nil
}

// Parts of the output that may differ: durations, (cached), and line numbers.
var (
	took = regexp.MustCompile(`\(cached\)|\b\d+(\.\d+)? ?s\b`)
	at   = regexp.MustCompile(`\.go:\d+(:\d+)?`)
)

// missing returns the first line that was not printed in the order of the page, or "".
func missing(shown []string, out string) string {
	plain := func(line string) string {
		return strings.Join(strings.Fields(at.ReplaceAllString(took.ReplaceAllString(line, "T"), ".go:N")), " ")
	}
	lines := strings.Split(out, "\n")
	for _, want := range shown {
		start, cut := strings.CutSuffix(want, "…")
		start = plain(start)
		if start == "" {
			continue
		}
		for {
			if len(lines) == 0 {
				return want
			}
			line := plain(lines[0])
			lines = lines[1:]
			if line == start || cut && strings.HasPrefix(line, start) {
				break
			}
		}
	}
	return ""
}
