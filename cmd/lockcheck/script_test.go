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

// workers are the workers that this binary can be, by their first argument. The second is
// for the factory.
var workers = map[string]func(string) worker.Factory{
	referenceWorker: referenceFactory,
	storeWorker:     storeFactory,
}

// TestMain makes this binary the command lockcheck where a script calls it, and a worker
// where a test on docker does.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && workers[os.Args[1]] != nil {
		if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, workers[os.Args[1]](os.Args[2])); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testscript.Main(tests{m}, map[string]func(){"lockcheck": scripted})
}

// tests are the tests of this package. The command that they have built goes with them.
type tests struct{ *testing.M }

func (m tests) Run() int {
	os.Unsetenv("GITHUB_ACTIONS") // results of tests are not results of the job that runs them
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
		ContinueOnError:     true,
		Setup: func(env *testscript.Env) error {
			source, err := filepath.Abs("../..")
			env.Setenv("SOURCE", source)
			// No script starts a container. GOMAXPROCS is that of the tests.
			env.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
			env.Setenv("GOMAXPROCS", os.Getenv("GOMAXPROCS"))
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"alike":   scriptAlike,
			"count":   scriptCount,
			"edit":    scriptEdit,
			"exit":    scriptExit,
			"gzip":    scriptGzip,
			"json":    scriptJSON,
			"rejects": scriptRejects,
			"repeat":  scriptRepeat,
			"same":    scriptSame,
			"says":    scriptSays,
			"shards":  scriptShards,
		},
	})
}

// plain ends a script that calls a command wrongly.
func plain(ts *testscript.TestScript, neg bool, args []string, least int, usage string) {
	if neg || len(args) < least {
		ts.Fatalf("usage: %s", usage)
	}
}

// scriptExit runs a program, which has to end with an exit code and to say some words and
// not others, and checks the width of what it prints.
func scriptExit(ts *testscript.TestScript, neg bool, args []string) {
	const usage = "exit CODE [NAME=VALUE…] PROGRAM ARGS… [< FILE] [> FILE] [-> WORDS…] [!-> WORDS…]"
	plain(ts, neg, args, 2, usage)
	want, args := args[0], args[1:]
	args, unsaid := cutAt(args, "!->")
	args, said := cutAt(args, "->")
	args, to := cutAt(args, ">")
	args, from := cutAt(args, "<")
	for ; len(args) > 0 && environment.MatchString(args[0]); args = args[1:] {
		name, value, _ := strings.Cut(args[0], "=")
		before := ts.Getenv(name)
		ts.Setenv(name, value)
		defer ts.Setenv(name, before)
	}
	if len(args) == 0 || len(from) > 1 || len(to) > 1 {
		ts.Fatalf("usage: %s", usage)
	}
	if len(from) > 0 {
		args = slices.Concat([]string{"sh", "-c", `exec "$@" <"$0"`, from[0]}, args)
	}
	var ended *exec.ExitError
	err, code := ts.Exec(args[0], args[1:]...), 0
	if errors.As(err, &ended) {
		code = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
	stdout := ts.ReadFile("stdout")
	if wide := tooWide(stdout); wide != "" {
		ts.Fatalf("%d columns: %s", len([]rune(wide)), wide)
	}
	for _, file := range to {
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(stdout), 0o666))
	}
	scriptSays(ts, false, said)
	scriptSays(ts, true, unsaid)
}

var environment = regexp.MustCompile(`^[A-Z_]+=`)

// cutAt returns the arguments before and behind a word.
func cutAt(args []string, word string) (before, behind []string) {
	if i := slices.Index(args, word); i >= 0 {
		return args[:i], args[i+1:]
	}
	return args, nil
}

// ofAFile matches a quoted line of a history with its number, and a path that can be
// copied. Such lines are not wrapped.
var ofAFile = regexp.MustCompile(`^ *\d+  .*[{"\[(]|^Page     `)

// tooWide returns a line of a text that does not fit a terminal. Documents and names of
// files are not wrapped.
func tooWide(text string) string {
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[{") {
		return ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if len([]rune(line)) > layout.Columns && len(strings.Fields(line)) > 1 && !strings.Contains(line, "lockcheck-out") && !strings.Contains(line, os.TempDir()) && !ofAFile.MatchString(line) {
			return line
		}
	}
	return ""
}

// scriptRejects runs lockcheck with arguments that are wrong usage: it says so on
// standard error, in a line with the words, and nothing on standard output.
func scriptRejects(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 1, "rejects ARGS… -> WORDS…")
	scriptExit(ts, false, append([]string{strconv.Itoa(exit.Usage), "lockcheck"}, args...))
	text := regexp.MustCompile(`(?m)^lockcheck: (\S+ is )?skipped: .*\n`).ReplaceAllString(ts.ReadFile("stderr"), "")
	if ts.ReadFile("stdout") != "" || strings.Count(text, "\n") != 1 || strings.Contains(text, "goroutine") || strings.Contains(text, "panic") {
		ts.Fatalf("want one line on standard error only")
	}
}

// scriptSays checks that a program has printed each of some texts. Lines may be wrapped
// anywhere between two words.
func scriptSays(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, false, args, 0, "[!] says WORDS…")
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
// all elements, len for their number, and KEY=TEXT for those with a field. If there is one
// pattern, all values match it; else each value matches its own. "none" stands for no
// value at all. A comma begins the next path.
func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 3, "json FILE PATH PATTERN… [, PATH PATTERN…]")
	var doc any
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.UseNumber()
	ts.Check(d.Decode(&doc))
	for rest := args[1:]; len(rest) > 0; {
		check := rest
		if i := slices.Index(rest, ","); i >= 0 {
			check, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		got, want := valuesAt(doc, regexp.MustCompile(`(?:\\.|[^.])+`).FindAllString(check[0], -1)), check[1:]
		if len(got) == 0 {
			got = []string{"none"}
		}
		if len(want) == 1 {
			want = slices.Repeat(want, len(got))
		}
		if !slices.EqualFunc(got, want, func(v, pattern string) bool { return regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString(v) }) {
			ts.Fatalf("%s: %q, want %q", check[0], got, want)
		}
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
	step, rest := strings.ReplaceAll(path[0], `\.`, "."), path[1:]
	switch v := v.(type) {
	case map[string]any:
		if step == "len" {
			return []string{fmt.Sprint(len(v))}
		}
		if of, ok := v[step]; ok {
			return valuesAt(of, rest)
		}
	case []any:
		if step == "len" {
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

// scriptShards runs lockcheck in parts, each with a directory of its own below DIR. They
// end with the exit codes in order.
func scriptShards(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 3, "shards CODES DIR ARGS…")
	codes := strings.Split(args[0], ",")
	for i, code := range codes {
		of, n := len(codes), strconv.Itoa(i+1)
		scriptExit(ts, false, slices.Concat([]string{code, "lockcheck"}, args[2:], []string{"--shard", fmt.Sprintf("%s/%d", n, of), "--out", args[1] + "/" + n}))
		if text := ts.ReadFile("stdout"); of > 1 && !strings.HasPrefix(text, "{") && !strings.Contains(text, fmt.Sprintf("Shard    %s of %d", n, of)) {
			ts.Fatalf("it is not said that this is a part")
		}
	}
}

// scriptAlike compares two documents, or two texts, of commands that had the directories
// for output.
func scriptAlike(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 4, "alike FILE FILE DIR DIR")
	one, err1 := essential(ts.ReadFile(args[0]), args[2])
	two, err2 := essential(ts.ReadFile(args[1]), args[3])
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

// scriptRepeat appends a text, with escapes as in Go, to a file several times. %d is the
// number of the copy, from 0.
func scriptRepeat(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 3, "repeat NUMBER TEXT FILE")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[2]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	ts.Check(err)
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	var b bytes.Buffer
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", strconv.Itoa(i)))
	}
	_, err = f.Write(b.Bytes())
	ts.Check(cmp.Or(err, f.Close()))
}

// essential returns what a command prints without what depends on the machine:
// durations, the directory for output, shards and line breaks; of a document also without
// the seed that was typed.
func essential(text, dir string) (string, error) {
	if !strings.HasPrefix(text, "{") {
		text = strings.Join(strings.Fields(strings.ReplaceAll(text, dir+"/", "OUT/")), " ")
		text, _, _ = strings.Cut(text, " Joined ")
		text = strings.ReplaceAll(text, `\ `, "")
		return regexp.MustCompile(`,? (in )?\d+\.\d s\b`).ReplaceAllString(text, ""), nil
	}
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
