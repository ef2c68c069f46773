package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/worker"
)

var update = flag.Bool("update", false, "write the expected texts below testdata anew")

// TestMain makes this binary the command lockcheck where a script calls it, and the
// worker of the reference lock where a test on docker does.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == referenceWorker {
		if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, referenceFactory(os.Args[2])); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Unsetenv("GITHUB_ACTIONS") // results of tests are not results of the job that runs them
	testscript.Main(tests{m}, map[string]func(){"lockcheck": scripted})
}

// tests are the tests of this package. The command that they have built goes with them.
type tests struct{ *testing.M }

func (m tests) Run() int {
	defer func() { os.RemoveAll(theCommand.dir) }()
	return m.M.Run()
}

// TestScripts runs the files of testdata/script; its README explains them.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			// No script starts a container. GOMAXPROCS is that of the tests.
			env.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
			env.Setenv("GOMAXPROCS", os.Getenv("GOMAXPROCS"))
			env.Setenv("CALLS", filepath.Join(env.Getenv("WORK"), ".tmp", "calls"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"alike":   scriptAlike,
			"calls":   scriptCalls,
			"count":   scriptCount,
			"edit":    scriptEdit,
			"exit":    scriptExit,
			"gzip":    scriptGzip,
			"json":    scriptJSON,
			"rejects": scriptRejects,
			"repeat":  scriptRepeat,
			"same":    scriptSame,
			"says":    scriptSays,
		},
	})
}

// plain ends a script that calls a command wrongly.
func plain(ts *testscript.TestScript, neg bool, args []string, least int, usage string) {
	if neg || len(args) < least {
		ts.Fatalf("usage: %s", usage)
	}
}

// scriptExit runs a program, which has to end with an exit code, and checks the width of
// what it prints.
func scriptExit(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, "exit CODE PROGRAM ARGS…")
	var ended *exec.ExitError
	err, code := ts.Exec(args[1], args[2:]...), 0
	if errors.As(err, &ended) {
		code = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
	if wide := tooWide(ts.ReadFile("stdout")); wide != "" {
		ts.Fatalf("%d columns: %s", len([]rune(wide)), wide)
	}
}

// ofAFile matches a quoted line of a history with its number. Such lines are not
// wrapped.
var ofAFile = regexp.MustCompile(`^ *\d+  .*[{"\[(]`)

// tooWide returns a line of a text that does not fit a terminal. Documents are not
// wrapped, nor are names of files.
func tooWide(text string) string {
	if strings.HasPrefix(text, "{") {
		return ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if len([]rune(line)) > layout.Columns && !strings.Contains(line, "lockcheck-out") && !strings.Contains(line, os.TempDir()) && !ofAFile.MatchString(line) {
			return line
		}
	}
	return ""
}

// scriptRejects runs lockcheck with arguments that are wrong usage: it says so on
// standard error, briefly and with the words, and nothing on standard output.
func scriptRejects(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 1, "rejects WORDS ARGS…")
	scriptExit(ts, false, append([]string{strconv.Itoa(exit.Usage), "lockcheck"}, args[1:]...))
	text := ts.ReadFile("stderr")
	if ts.ReadFile("stdout") != "" || strings.Count(text, "\n") > 3 || strings.Contains(text, "goroutine") || strings.Contains(text, "panic") {
		ts.Fatalf("want a short message on standard error")
	}
	scriptSays(ts, false, strings.Split(args[0], " … "))
}

// scriptSays checks that a program has printed each of some texts. Lines may be wrapped
// anywhere between two words.
func scriptSays(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, false, args, 1, "[!] says WORDS…")
	text := ts.ReadFile("stdout") + ts.ReadFile("stderr")
	for _, words := range args {
		pattern := regexp.MustCompile(`(\S) (\S)`).ReplaceAllString(regexp.QuoteMeta(words), `$1\s+$2`)
		pattern = regexp.MustCompile(`(\S) (\S)`).ReplaceAllString(pattern, `$1\s+$2`) // words of one letter
		if regexp.MustCompile(pattern).MatchString(text) == neg {
			ts.Fatalf("%q: said: %v", words, neg)
		}
	}
}

// scriptJSON checks values in a JSON file, or in standard output. In a path, * stands for
// all elements and # for their number. If there is one pattern, all values match it; else
// each value matches its own. "none" stands for no value at all.
func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 3, "json FILE PATH PATTERN…")
	var doc any
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.UseNumber()
	ts.Check(d.Decode(&doc))
	got, want := valuesAt(doc, strings.Split(args[1], ".")), args[2:]
	if len(got) == 0 {
		got = []string{"none"}
	}
	if len(want) == 1 {
		want = slices.Repeat(want, len(got))
	}
	if !slices.EqualFunc(got, want, func(v, pattern string) bool { return regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString(v) }) {
		ts.Fatalf("%s: %q, want %q", args[1], got, want)
	}
}

// valuesAt returns the values that a path leads to. Those that are neither text nor
// number are in JSON.
func valuesAt(v any, path []string) (list []string) {
	if len(path) == 0 {
		if text, ok := v.(string); ok {
			return []string{text}
		}
		text, err := json.Marshal(v)
		return []string{cmp.Or(string(text), fmt.Sprint(err))}
	}
	step, rest := path[0], path[1:]
	switch v := v.(type) {
	case map[string]any:
		if step == "#" {
			return []string{fmt.Sprint(len(v))}
		}
		if of, ok := v[step]; ok {
			return valuesAt(of, rest)
		}
	case []any:
		if step == "#" {
			return []string{fmt.Sprint(len(v))}
		}
		for i, of := range v {
			if step == "*" || step == fmt.Sprint(i) {
				list = append(list, valuesAt(of, rest)...)
			} else if key, is, ok := strings.Cut(step, "="); ok && slices.Contains(valuesAt(of, []string{key}), is) {
				list = append(list, valuesAt(of, rest)...)
			}
		}
	}
	return list
}

// scriptEdit replaces what a pattern matches in files.
func scriptEdit(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 3, "edit PATTERN REPLACEMENT FILE…")
	for _, name := range args[2:] {
		before := ts.ReadFile(name)
		after := regexp.MustCompile(`(?m)`+args[0]).ReplaceAllString(before, args[1])
		if after == before {
			ts.Fatalf("%s is as before", name)
		}
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(after), 0o666))
	}
}

// scriptCount counts the files that a pattern matches.
func scriptCount(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, "count NUMBER GLOB")
	if list, err := filepath.Glob(ts.MkAbs(args[1])); err != nil || fmt.Sprint(len(list)) != args[0] {
		ts.Fatalf("%d files: %q, %v", len(list), list, err)
	}
}

// scriptSame compares all files of two directories.
func scriptSame(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, "same DIR DIR")
	one, err1 := filesBelow(ts.MkAbs(args[0]))
	two, err2 := filesBelow(ts.MkAbs(args[1]))
	ts.Check(errors.Join(err1, err2))
	if len(one) == 0 {
		ts.Fatalf("there are no files")
	}
	for name := range one {
		if one[name] != two[name] {
			ts.Fatalf("%s differs", name)
		}
	}
	if len(one) != len(two) {
		ts.Fatalf("%d and %d files", len(one), len(two))
	}
}

// scriptAlike compares two documents of commands, but for durations and directories.
func scriptAlike(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, "alike FILE FILE")
	one, err1 := essential(ts.ReadFile(args[0]))
	two, err2 := essential(ts.ReadFile(args[1]))
	if ts.Check(errors.Join(err1, err2)); one != two {
		ts.Fatalf("%s:\n%s\n%s:\n%s", args[0], one, args[1], two)
	}
}

// scriptGzip compresses a file.
func scriptGzip(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, "gzip FILE FILE.gz")
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(cmp.Or(err, w.Close(), os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o666)))
}

// scriptRepeat appends a text, with \n for the end of a line, to a file several times.
// %d is the number of the copy, from 0.
func scriptRepeat(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 3, "repeat NUMBER TEXT FILE")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[2]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	ts.Check(err)
	var b bytes.Buffer
	for i := range n {
		b.WriteString(strings.NewReplacer(`\n`, "\n", "%d", strconv.Itoa(i)).Replace(args[1]))
	}
	_, err = f.Write(b.Bytes())
	ts.Check(cmp.Or(err, f.Close()))
}

// scriptCalls checks how many runs the last command did in the engine.
func scriptCalls(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 1, "calls NUMBER")
	if got := ts.ReadFile(ts.Getenv("CALLS")); got != args[0] {
		ts.Fatalf("%s calls, want %s", got, args[0])
	}
}

// essential returns a document without what depends on the machine: durations,
// directories and shards, and the seed where it was typed.
func essential(text string) (string, error) {
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return "", err
	}
	var strip func(any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"seconds", "file", "shrunk", "replay", "shards"} {
				delete(v, name)
			}
			if settings, ok := v["settings"].(map[string]any); ok {
				delete(settings, "seed")
			}
			for _, of := range v {
				strip(of)
			}
		case []any:
			for _, of := range v {
				strip(of)
			}
		}
	}
	strip(doc)
	out, err := json.MarshalIndent(doc, "", " ")
	return string(out), err
}

// filesBelow returns the texts of the files below dir by path.
func filesBelow(dir string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = string(text)
		return err
	})
	return all, err
}
