package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker/models"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/judging"
	"github.com/lockcheck/lockcheck/report"
)

// Histories in the format of other programs: one object a line, and no header.
const (
	// The clients hold one after the other.
	fine = `{"process":1,"type":"invoke","f":"acquire"}
{"process":1,"type":"ok","f":"acquire"}
{"process":1,"type":"invoke","f":"release"}
{"process":1,"type":"ok","f":"release"}
{"process":2,"type":"invoke","f":"acquire"}
{"process":2,"type":"ok","f":"acquire"}
`
	// Both clients hold from line 4.
	both = `{"process":1,"type":"invoke","f":"acquire"}
{"process":1,"type":"ok","f":"acquire"}
{"process":2,"type":"invoke","f":"acquire"}
{"process":2,"type":"ok","f":"acquire"}
{"process":1,"type":"invoke","f":"release"}
{"process":1,"type":"ok","f":"release"}
`
	// Both clients hold, unless the failed release means that the lock was gone
	// already.
	undecided = `{"process":1,"type":"invoke","f":"acquire"}
{"process":1,"type":"ok","f":"acquire"}
{"process":1,"type":"invoke","f":"release"}
{"process":1,"type":"fail","f":"release"}
{"process":2,"type":"invoke","f":"acquire"}
{"process":2,"type":"ok","f":"acquire"}
`
	// Nobody got the lock.
	refused = `{"process":1,"type":"invoke","f":"acquire"}
{"process":1,"type":"fail","f":"acquire","error":"held"}
`
)

// ours is the header of a history that lockcheck recorded.
const ours = `{"lockcheck":1,"lease_ms":10000}` + "\n"

// writeAll writes texts to files in a new directory.
func writeAll(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}

// fed runs the command with the given standard input.
func fed(t *testing.T, stdin io.Reader, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), args, stdin, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// checked returns the document of one file.
func (r result) checked(t *testing.T) judging.Document {
	t.Helper()
	var doc judging.Document
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || doc.Schema != 1 {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	return doc
}

func TestWhatAHistoryIsHeldAgainst(t *testing.T) {
	dir := writeAll(t, map[string]string{"bare.jsonl": both, "ours.jsonl": ours + both})
	bare, own := filepath.Join(dir, "bare.jsonl"), filepath.Join(dir, "ours.jsonl")
	for _, tt := range []struct {
		name  string
		args  []string
		code  int
		words []string
		not   string
	}{
		{
			"a bare history against owner-mutex",
			[]string{bare},
			violated,
			[]string{"✗ owner-mutex  violated: ", "   2  {\"process\":1,", "   4  {\"process\":2,", "by the model owner-mutex", "Judged   6 entries, ", "File     " + bare},
			"lease-exclusion",
		},
		{
			"a bare history against properties, if they are promised",
			[]string{bare, "--promise", "exclusion"},
			violated,
			[]string{"✗ exclusion        VIOLATED", "exclusion\n\n   2  {\"process\":1,", "   4  {\"process\":2,"},
			"owner-mutex",
		},
		{
			"one of ours against properties",
			[]string{own},
			violated,
			[]string{"✗ VIOLATED exclusion", "✗ exclusion        VIOLATED", "   3  {\"process\":1,", "   5  {\"process\":2,"},
			"owner-mutex",
		},
		{
			"one of ours against a model, if it is named",
			[]string{own, "--model", "owner-mutex"},
			violated,
			[]string{"✗ owner-mutex  violated: ", "   3  {\"process\":1,", "   5  {\"process\":2,"},
			"lease-exclusion",
		},
		{"another model", []string{bare, "--model", "semaphore=2"}, held, []string{"✓ semaphore", "  valid\n"}, "   2  {"},
		{"a model with its number", []string{bare, "--model", "reentrant-mutex=2"}, violated, []string{"✗ reentrant-mutex"}, ""},
		{"quietly", []string{bare, "-q"}, violated, []string{"✗ owner-mutex  violated: "}, "   2  {"},
		{
			"a reading that changes nothing is said",
			[]string{own, "--strict-try"},
			violated,
			[]string{"lockcheck: " + own + " is judged by properties: --strict-try and --failed-release change nothing"},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := lockcheck(t, append([]string{"check"}, tt.args...)...)
			r.wants(t, tt.code, tt.words...)
			if tt.not != "" && strings.Contains(r.stdout, tt.not) {
				t.Errorf("%q is said:\n%s", tt.not, r.stdout)
			}
		})
	}
}

func TestWhatCheckRefuses(t *testing.T) {
	dir := writeAll(t, map[string]string{"a.jsonl": both, "b.jsonl": fine, "empty/notes.txt": ""})
	a, b := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	for _, tt := range []struct {
		args  []string
		words []string
	}{
		{[]string{"--model", "nonsense", a}, []string{`no model "nonsense"; the nearest are `, "lockcheck list models"}},
		{[]string{"--model", "owner-mutx", a}, []string{"did you mean owner-mutex"}},
		{[]string{"--model", "OWNER-MUTEX", a}, []string{`no model "OWNER-MUTEX"; did you mean owner-mutex?`}},
		{[]string{"--model", "MUTEX", a}, []string{"did you mean mutex?"}},
		{[]string{"--promise", "Exclusion", a}, []string{"did you mean exclusion?"}},
		{[]string{"--model", "semaphore=none", a}, []string{"--model semaphore=none: "}},
		{[]string{"--model", "semaphore=0", a}, []string{"--model semaphore=0: "}},
		{[]string{"--model=", a}, []string{`no model ""; the nearest are `}},
		{[]string{"--model", "owner-mutex", "--promise", "exclusion", a}, []string{"--model judges by one model, --promise by properties"}},
		{[]string{"--strict-try", "--promise", "exclusion", a}, []string{"--strict-try is about models"}},
		{[]string{"--failed-release", "released", "--promise", "exclusion", a}, []string{"--failed-release is about models"}},
		{[]string{"--failed-release", "maybe", a}, []string{`--failed-release "maybe": it can be no-effect, released`}},
		{[]string{"--failed-release", "release", a}, []string{"did you mean released?"}},
		{[]string{"--timeout", "-1s", a}, []string{"--timeout -1s: it has to be 0 or more"}},
		{[]string{"--timeout", "soon", a}, []string{"--timeout", "want a duration, as 2s or 1m"}},
		{[]string{"--timeout", "2", a}, []string{"--timeout", "want a duration, as 2s or 1m"}},
		{[]string{"--memory", "much", a}, []string{"--memory", "as 1500000, 500MB or 2GiB"}},
		{[]string{"--memory", "200", a}, []string{"--memory", "200 is bytes; did you mean 200MB?"}},
		{[]string{"--to", "xml", a}, []string{`--to "xml": it can be edn, jsonl`}},
		{[]string{"--to", "jsonl", a, b}, []string{"--to takes one file, and there are 2"}},
		{[]string{"--to", "jsonl", "--model", "owner-mutex", a}, []string{"judges nothing: leave out --model"}},
		{[]string{"--to", "jsonl", "--json", a}, []string{"judges nothing: leave out --json"}},
		{[]string{"--html", "x.html", a, b}, []string{"--html takes one file, and there are 2"}},
		{[]string{"--html=", a}, []string{"--html needs the name of a file"}},
		{[]string{"--html", filepath.Join(dir, "none", "x.html"), a}, []string{"cannot write --html " + filepath.Join(dir, "none", "x.html") + ": there is no directory " + filepath.Join(dir, "none")}},
		{[]string{"--html", dir, a}, []string{"cannot write --html " + dir + ": it is a directory"}},
		{[]string{"--html", filepath.Join(a, "x.html"), a}, []string{"cannot write --html " + filepath.Join(a, "x.html") + ": "}},
		{[]string{filepath.Join(dir, "empty")}, []string{"there is no history below"}},
	} {
		r := lockcheck(t, append([]string{"check"}, tt.args...)...)
		r.wants(t, usage, tt.words...)
		if r.stdout != "" || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%q: it is said in more than a line, or in none:\n%s", tt.args, r.stderr)
		}
	}
}

// badHistories are files that are not histories, each with the words of the error.
var badHistories = []struct {
	name  string
	text  string
	code  int
	words []string
}{
	{"not-a-history.jsonl", "Dear diary,\ntoday I locked myself out.\n", usage, []string{":1: "}},
	{"another-object.jsonl", `{"hello":1}` + "\n", usage, []string{":1: "}},
	{"operation.jsonl", `{"process":1,"type":"invoke","f":"knock"}` + "\n", usage, []string{":1: ", "knock"}},
	{"nothing-invoked.jsonl", fine + `{"process":2,"type":"ok","f":"release"}` + "\n", usage, []string{":7: process 2 completes release"}},
	{"two-at-once.jsonl", `{"process":1,"type":"invoke","f":"acquire"}` + "\n" + `{"process":1,"type":"invoke","f":"release"}` + "\n", usage, []string{":2: process 1 invokes release while its acquire"}},
	{"after-info.jsonl", `{"process":1,"type":"invoke","f":"acquire"}` + "\n" + `{"process":1,"type":"info","f":"acquire"}` + "\n" + `{"process":1,"type":"invoke","f":"acquire"}` + "\n", usage, []string{":3: "}},
	{"backwards.jsonl", `{"process":1,"type":"invoke","f":"acquire","time":7}` + "\n" + `{"process":1,"type":"ok","f":"acquire","time":6}` + "\n", usage, []string{":2: ", "backwards"}},
	{"long-line.jsonl", fine + `{"process":1,"type":"invoke","f":"acquire","text":"` + strings.Repeat("x", 10<<20) + `"}` + "\n", usage, []string{":7: ", "longer than"}},
	{"cut-off.jsonl", `{"process":1,` + "\n" + fine, usage, []string{":1: "}},
	{"empty.jsonl", "", unproven, []string{"empty.jsonl: the file is empty: nothing to judge"}},
	{"blank.jsonl", "\n\n", unproven, []string{"nothing to judge"}},
	{"refused.jsonl", refused, unproven, []string{"? owner-mutex  unknown: ", "nothing to judge"}},
	{"open.jsonl", `{"process":1,"type":"invoke","f":"acquire"}` + "\n", unproven, []string{"nothing to judge"}},
	{"faults-only.jsonl", `{"process":"nemesis","type":"info","f":"pause","id":1}` + "\n", unproven, []string{"nothing to judge"}},
	{"ours-empty.jsonl", ours, unproven, []string{"nothing to judge"}},
	{"ours-refused.jsonl", ours + refused, unproven, []string{"nothing to judge"}},
	{"later.jsonl", `{"lockcheck":7}` + "\n", usage, []string{":1: ", "this lockcheck reads format 1"}},
}

func TestBadHistories(t *testing.T) {
	binary := built(t)
	for _, tt := range badHistories {
		t.Run(tt.name, func(t *testing.T) { saysOfABadHistory(t, binary, tt.name, tt.text, tt.code, tt.words) })
	}
}

// saysOfABadHistory judges a text in three ways: as a file in this process, as a file
// with the built command, and as standard input.
func saysOfABadHistory(t *testing.T, binary, name, text string, code int, words []string) {
	t.Helper()
	file := filepath.Join(writeAll(t, map[string]string{name: text}), name)
	r := lockcheck(t, "check", file)
	r.wants(t, code, words...)
	if other := command(t, binary, "check", file); other != r {
		t.Errorf("the built command says something else: %+v", other)
	}
	if code == usage && (r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, name)) {
		t.Errorf("want one line that names the file:\n%s%s", r.stdout, r.stderr)
	}
	for line := range strings.Lines(r.stderr) {
		if len(line) > 300+len(file) {
			t.Errorf("%d bytes are said at once: %.300s…", len(line), line)
		}
	}
	if strings.Contains(r.stdout, "✓") && !strings.Contains(text, ours) {
		t.Errorf("something is valid:\n%s", r.stdout)
	}
	fed(t, strings.NewReader(text), "check", "-").wants(t, code)
	doc := lockcheck(t, "check", "--json", file).checked(t)
	if doc.File != file || (doc.Error == "") != (code != usage) || (len(doc.Properties) == 0) != (code == usage) {
		t.Errorf("%+v", doc)
	}
	for _, p := range doc.Properties {
		if p.Outcome == "valid" {
			t.Errorf("%s is valid", p.Property)
		}
	}
}

func TestAReleaseThatFailedIsReadInTwoWays(t *testing.T) {
	file := filepath.Join(writeAll(t, map[string]string{"a.jsonl": undecided, "b.jsonl": both}), "a.jsonl")
	const note = "With --failed-release=released the same history is valid.\n"
	lockcheck(t, "check", file).wants(t, violated, "violated: ", "   2  {", "   6  {", note)
	lockcheck(t, "check", file, "--failed-release", "no-effect").wants(t, violated, note)
	lockcheck(t, "check", file, "--failed-release", "released").wants(t, held, "✓ owner-mutex  valid")
	fed(t, strings.NewReader(undecided), "check", "-").wants(t, violated, note)
	if doc := lockcheck(t, "check", "--json", file).checked(t); doc.Note+"\n" != note {
		t.Errorf("%+v", doc)
	}
	lockcheck(t, "check", file, "--model", "fifo-mutex").wants(t, violated, "With --failed-release=released no violation is found, but no acquire says when")
	if r := lockcheck(t, "check", filepath.Join(filepath.Dir(file), "b.jsonl")); strings.Contains(r.stdout, "--failed-release") {
		t.Errorf("no release failed, and it is said:\n%s", r.stdout)
	}
}

func TestSeveralFilesGetALineEach(t *testing.T) {
	dir := writeAll(t, map[string]string{"valid.jsonl": fine, "violated.jsonl": both, "unknown.jsonl": refused, "empty.jsonl": "", "broken.jsonl": "?", "ours.jsonl": ours + both})
	file := func(name string) string { return filepath.Join(dir, name+".jsonl") }
	for _, tt := range []struct {
		files []string
		code  int
		words []string
	}{
		{
			[]string{"violated", "unknown", "valid"},
			violated,
			[]string{"✗ " + file("violated") + ": owner-mutex violated: process 1 held", "? " + file("unknown"), "✓ " + file("valid") + ": owner-mutex valid\n", "3 files: 1 violated, 1 unknown, 1 valid\n"},
		},
		{[]string{"unknown", "violated"}, violated, []string{"2 files: 1 violated, 1 unknown\n"}},
		{[]string{"valid", "unknown", "empty"}, unproven, []string{"3 files: 2 unknown, 1 valid\n"}},
		{[]string{"valid", "valid"}, held, []string{"2 files: 2 valid\n"}},
		{
			[]string{"violated", "unknown", "broken", "nothing"},
			usage,
			[]string{"✗ " + file("violated"), "? " + file("unknown"), "lockcheck: " + file("broken") + ":1: ", "no file " + file("nothing"), "4 files: 1 violated, 1 unknown, 2 not read\n"},
		},
		{[]string{"ours", "violated"}, violated, []string{"✗ " + file("ours") + ": exclusion violated", "✗ " + file("violated") + ": owner-mutex violated: ", "2 files: 2 violated\n"}},
	} {
		args := []string{"check"}
		for _, name := range tt.files {
			args = append(args, file(name))
		}
		r := lockcheck(t, args...)
		r.stdout = strings.ReplaceAll(r.stdout, "\n  ", " ") // undo the wrapping of long lines
		if r.code != tt.code {
			t.Errorf("%q: exit code %d, want %d", tt.files, r.code, tt.code)
		}
		for _, w := range tt.words {
			if !strings.Contains(r.stdout+r.stderr, w) {
				t.Errorf("%q: %q is not said:\n%s%s", tt.files, w, r.stdout, r.stderr)
			}
		}
		r = lockcheck(t, append(args, "--json")...)
		var doc struct {
			Schema int
			Files  []judging.Document
		}
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || doc.Schema != 1 || len(doc.Files) != len(tt.files) || r.code != tt.code {
			t.Errorf("%q: %v, exit code %d\n%s", tt.files, err, r.code, r.stdout)
		}
	}
}

func TestCheckFindsTheHistoriesOfADirectory(t *testing.T) {
	dir := writeAll(t, map[string]string{
		"b/history.jsonl":                  both,
		"b/results.jsonl":                  "not ours",
		"b/verdict.json":                   "{}",
		"a/x.jsonl":                        fine,
		"a/schedule.json":                  `{"lockcheck_schedule":1}`,
		"a/verdict.json":                   "{}",
		"a/story.txt":                      "Once upon a time",
		"a/deep/deeper/another.jsonl":      fine,
		"c/history.jsonl":                  fine,
		"c/shrunk-exclusion/history.jsonl": both,
	})
	r := lockcheck(t, "check", dir)
	r.stdout = strings.ReplaceAll(r.stdout, "\n  ", " ")
	r.wants(t, violated, "5 files: 2 violated, 3 valid\n")
	at := -1
	for _, name := range []string{"a/deep/deeper/another", "a/x", "b/history", "c/history", "c/shrunk-exclusion/history"} {
		i := strings.Index(r.stdout, filepath.Join(dir, name+".jsonl"))
		if i <= at {
			t.Errorf("%s is not there, or not in its place:\n%s", name, r.stdout)
		}
		at = i
	}
	// A single file in a directory is explained like a file that was named. A link to
	// the directory works as well.
	link := filepath.Join(dir, "latest")
	if err := os.Symlink(filepath.Join(dir, "b"), link); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "check", link).wants(t, violated, "✗ owner-mutex  violated", "File     "+filepath.Join(link, "history.jsonl"))
}

func TestStandardInputIsQuotedAsAFileIs(t *testing.T) {
	dir := writeAll(t, map[string]string{"a.jsonl": both})
	file := filepath.Join(dir, "a.jsonl")
	want := strings.ReplaceAll(lockcheck(t, "check", file).stdout, file, "standard input")
	r := fed(t, strings.NewReader(both), "check", "-")
	if r.wants(t, violated); r.stdout != want {
		t.Errorf("the file:\n%s\nstandard input:\n%s", want, r.stdout)
	}
	for _, stdin := range []string{both, ours + both} {
		fed(t, strings.NewReader(stdin), "check", "-", "--promise", "exclusion").wants(t, violated, "{\"process\":2,", "File     standard input\n")
	}
}

// Quoted text fits the terminal, and cannot control it.
func TestWhatIsQuotedIsHarmless(t *testing.T) {
	evil := strings.Replace(both, `"ok","f":"acquire"}`, `"ok","f":"acquire","text":"`+"\x7f\u009b31m\u202e"+`","error":"`+strings.Repeat("long ", 2000)+`"}`, 2)
	r := fed(t, strings.NewReader(evil), "check", "-")
	r.wants(t, violated, "…\n")
	if strings.ContainsAny(r.stdout, "\x7f\u009b\u202e\x1b") {
		t.Errorf("%q", r.stdout)
	}
}

func TestOfALongWitnessTheBeginningAndTheEndAreQuoted(t *testing.T) {
	for _, tt := range []struct {
		holders, quoted int
		left            string
	}{{14, 14, ""}, {15, 15, ""}, {16, 14, "\n      … and 2 more\n"}, {1300, 14, "\n      … and 1,286 more\n"}} {
		var b strings.Builder
		for p := range tt.holders {
			fmt.Fprintf(&b, `{"process":%d,"type":"invoke","f":"acquire"}`+"\n"+`{"process":%d,"type":"ok","f":"acquire"}`+"\n", p, p)
		}
		r := fed(t, strings.NewReader(b.String()), "check", "-", "--model", fmt.Sprintf("semaphore=%d", tt.holders-1))
		r.wants(t, violated, tt.left, `   2  {"process":0,`, fmt.Sprintf(`%4d  {"process":%d,`, 2*tt.holders, tt.holders-1))
		if n := strings.Count(r.stdout, `"type":"ok"`); n != tt.quoted || strings.Contains(r.stdout, "more\n") != (tt.left != "") {
			t.Errorf("of %d lines %d are quoted:\n%s", tt.holders, n, r.stdout)
		}
	}
}

// -q prints the verdict and nothing else.
func TestQuietlyThereIsTheVerdictOnly(t *testing.T) {
	odd := "{:process 0 :type :invoke :f :try :time 5 :index 0}\n{:process 1 :type :invoke :f :try :time 4 :index 1}\n{:process 1 :type :ok :f :try :index 2}\n"
	for _, tt := range []struct {
		text string
		args []string
		code int
		want string
	}{
		{odd, nil, held, "✓ owner-mutex  valid\n"},
		{undecided, []string{"--model", "fifo-mutex"}, violated, "✗ fifo-mutex  violated: process 1 held the lock from line 2 on, and process 2\n  was granted it in line 6.\n"},
		{"[]", nil, unproven, "? standard input: the history has no operations: nothing to judge\n"},
	} {
		r := fed(t, strings.NewReader(tt.text), append([]string{"check", "-", "-q"}, tt.args...)...)
		if r.code != tt.code || r.stdout != tt.want || r.stderr != "" {
			t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
	r := fed(t, strings.NewReader(odd), "check", "-", "--json")
	const warning = "standard input:2: time runs backwards once, by up to 1ns: the order of the lines counts"
	if doc := r.checked(t); !slices.Equal(doc.Warnings, []string{warning}) || r.stderr != "lockcheck: "+warning+"\n" {
		t.Errorf("%q\n%s", doc.Warnings, r.stderr)
	}
	if r := fed(t, strings.NewReader(ours+both), "check", "-", "-q", "--strict-try"); r.stderr != "" || strings.Contains(r.stdout, "File") {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

func TestAnotherModelIsProposed(t *testing.T) {
	const hint = "The history has reads and writes, and no acquires: try the model register."
	file := filepath.Join(writeAll(t, map[string]string{"a.jsonl": `{"process":1,"type":"invoke","f":"write","value":1}
{"process":1,"type":"ok","f":"write"}
`}), "a.jsonl")
	lockcheck(t, "check", file).wants(t, unproven, "\n\n"+hint+"\n\nJudged   2 entries")
	r := lockcheck(t, "check", file, file)
	r.stdout = strings.ReplaceAll(r.stdout, "\n  ", " ")
	r.wants(t, unproven, ": owner-mutex unknown: ", ". "+hint+"\n")
	if doc := lockcheck(t, "check", "--json", file).checked(t); doc.Note != hint {
		t.Errorf("%+v", doc)
	}
}

func TestTheDocumentOfAModel(t *testing.T) {
	dir := writeAll(t, map[string]string{"a.jsonl": both, "b.jsonl": fine, "c.jsonl": ours + both})
	r := lockcheck(t, "check", "--json", filepath.Join(dir, "a.jsonl"))
	r.wants(t, violated)
	doc := r.checked(t)
	if doc.Model != "owner-mutex" || doc.Entries != 6 || doc.Operations == 0 || len(doc.Properties) != 1 {
		t.Fatalf("%+v", doc)
	}
	p := doc.Properties[0]
	if p.Property != "owner-mutex" || p.Outcome != "violated" || p.Sentence == "" || !slices.Contains(p.Lines, 2) || !slices.Contains(p.Lines, 4) {
		t.Errorf("%+v", p)
	}
	for _, name := range []string{`"schema": 1`, `"file": "`, `"model": "owner-mutex"`, `"operations": `, `"entries": 6`, `"properties": [`, `"sentence": "`} {
		if !strings.Contains(r.stdout, name) {
			t.Errorf("%s is missing:\n%s", name, r.stdout)
		}
	}
	r = lockcheck(t, "check", "--json", filepath.Join(dir, "b.jsonl"))
	r.wants(t, held)
	if doc = r.checked(t); doc.Properties[0].Outcome != "valid" || doc.Properties[0].Lines != nil {
		t.Errorf("%+v", doc)
	}
	r = lockcheck(t, "check", "--json", filepath.Join(dir, "c.jsonl"))
	r.wants(t, violated)
	if doc = r.checked(t); doc.Model != "" || doc.Properties[0].Property != "exclusion" || len(doc.Properties[0].Lines) == 0 {
		t.Fatalf("%+v", doc)
	}
	for i, n := range doc.Properties[0].Entries {
		if doc.Properties[0].Lines[i] != n+1 { // the header is not an entry
			t.Errorf("entry %d is in line %d", n, doc.Properties[0].Lines[i])
		}
	}
}

func TestThePictureIsWrittenWholeOrNotAtAll(t *testing.T) {
	dir := writeAll(t, map[string]string{"bare.jsonl": both, "ours.jsonl": ours + both, "fine.jsonl": ours + fine, "many.jsonl": ours + turns(500), "fencing.jsonl": ours + fine})
	for _, tt := range []struct {
		file  string
		flags []string
		code  int
		drawn bool
		words []string
	}{
		{"bare", nil, violated, true, []string{"Picture  "}},
		{"ours", nil, violated, true, []string{"Picture  "}},
		{"fine", nil, held, true, []string{"Picture  "}},
		{"many", nil, held, false, []string{"lockcheck: no picture: ", "too many to draw"}},
		{"fencing", []string{"--promise", "fencing"}, unproven, false, []string{"lockcheck: no picture: "}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			page := filepath.Join(t.TempDir(), "page.html")
			lockcheck(t, append([]string{"check", filepath.Join(dir, tt.file+".jsonl"), "--html", page}, tt.flags...)...).wants(t, tt.code, tt.words...)
			text, err := os.ReadFile(page)
			if tt.drawn && (err != nil || !bytes.Contains(text, []byte("<html"))) {
				t.Errorf("%v: %.100s", err, text)
			}
			if !tt.drawn && !os.IsNotExist(err) {
				t.Errorf("it is there: %v", err)
			}
			if left, _ := filepath.Glob(page + ".*"); len(left) > 0 {
				t.Errorf("%q is left behind", left)
			}
		})
	}
}

// turns returns a history in which n processes get the lock, one after the other.
func turns(n int) string {
	var b strings.Builder
	for p := 1; p <= n; p++ {
		for _, f := range []string{"acquire", "release"} {
			for _, kind := range []string{"invoke", "ok"} {
				fmt.Fprintf(&b, `{"process":%d,"type":%q,"f":%q}`+"\n", p, kind, f)
			}
		}
	}
	return b.String()
}

// pipe returns a standard input that ends when its reader is gone.
func pipe(t *testing.T, text string) io.Reader {
	r, w := io.Pipe()
	go func() {
		io.WriteString(w, text)
		<-t.Context().Done()
		w.Close()
	}()
	return r
}

func TestCheckIsInterrupted(t *testing.T) {
	for _, args := range [][]string{{"-"}, {"-", "--promise", "exclusion"}, {"-", "--to", "jsonl"}, {"-", "-", "--json"}} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(30*time.Millisecond, cancel)
		var stderr bytes.Buffer
		start := time.Now()
		code := execute(ctx, append([]string{"check"}, args...), pipe(t, fine), io.Discard, &stderr)
		if code != interrupted || stderr.String() != "lockcheck: interrupted\n" || time.Since(start) > 2*time.Second {
			t.Errorf("%q: exit code %d after %v\n%s", args, code, time.Since(start), &stderr)
		}
	}
}

// A search that would never end stops at its limit. An interrupted one says that it was
// interrupted.
func TestASearchThatTakesForEverEnds(t *testing.T) {
	file := filepath.Join(writeAll(t, map[string]string{"hard.jsonl": hard()}), "hard.jsonl")
	args := []string{"check", file, "--model", "cas-register", "--timeout"}
	const advice = "--timeout and --memory set how far it goes; they were 50ms and 1GiB.\n"
	lockcheck(t, append(args, "50ms")...).wants(t, unproven, "? cas-register  unknown: ", "50ms;", "\n"+advice+"\n", "by the model cas-register")
	if r := lockcheck(t, append(args, "50ms", file)...); !strings.HasSuffix(r.stdout, "2 files: 2 unknown\n"+advice) || strings.Count(r.stdout, advice) != 1 {
		t.Errorf("of two files it is said:\n%s", r.stdout)
	}

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	var stdout, stderr bytes.Buffer
	start := time.Now()
	code := execute(ctx, append(args, "0"), nil, &stdout, &stderr)
	if code != interrupted || !strings.Contains(stdout.String(), "? cas-register  unknown: ") || stderr.String() != "lockcheck: interrupted\n" {
		t.Errorf("exit code %d after %v\n%s%s", code, time.Since(start), &stdout, &stderr)
	}
}

// A loss that names no grant ends all grants that its process holds, also if the file
// names no grants at all.
func TestALossWithoutANameIsOfAllPermits(t *testing.T) {
	t.Parallel()
	op := func(p int, f, typ, more string) string {
		return fmt.Sprintf(`{"process":%d,"type":"invoke","f":"%s"%s}`+"\n"+`{"process":%d,"type":"%s","f":"%s"%s}`+"\n", p, f, more, p, typ, f, more)
	}
	two, others := op(1, "acquire", "ok", "")+op(1, "acquire", "ok", ""), op(2, "acquire", "ok", "")+op(3, "acquire", "ok", "")
	for _, c := range []struct {
		loss string
		code int
	}{
		{`{"process":1,"type":"event","f":"lost"}` + "\n", held},
		{op(1, "extend", "fail", `,"error":"lost"`), held},
		{`{"process":1,"type":"event","f":"lost","grant":1}` + "\n", violated},
		{op(1, "extend", "fail", `,"error":"lost","grant":1`), violated},
	} {
		file := filepath.Join(writeAll(t, map[string]string{"loss.jsonl": two + c.loss + others}), "loss.jsonl")
		lockcheck(t, "check", file, "--model", "semaphore=2").wants(t, c.code)
	}
}

// A long history gets no story, but its violations are shown.
func TestALongHistoryHasNoStory(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range report.StoryEntries / 4 {
		for _, f := range []string{"acquire", "release"} {
			fmt.Fprintf(&b, `{"process":%d,"type":"invoke","f":"%s"}`+"\n"+`{"process":%d,"type":"ok","f":"%s"}`+"\n", i%5, f, i%5, f)
		}
	}
	for p := range 2 {
		fmt.Fprintf(&b, `{"process":%d,"type":"invoke","f":"acquire"}`+"\n"+`{"process":%d,"type":"ok","f":"acquire"}`+"\n", p, p)
	}
	file := filepath.Join(writeAll(t, map[string]string{"long.jsonl": b.String()}), "long.jsonl")
	lockcheck(t, "check", file, "--promise", "exclusion").wants(t, violated,
		"The history has 100,004 entries: a story is told of up to 100,000.", "✗ exclusion        VIOLATED",
		"100002  {\"process\":0,\"type\":\"ok\",\"f\":\"acquire\"}", "100004  {\"process\":1,\"type\":\"ok\",\"f\":\"acquire\"}")
}

// --timeout also limits the judging of properties.
func TestPropertiesEndInTime(t *testing.T) {
	file := filepath.Join(writeAll(t, map[string]string{"hard.jsonl": hard()}), "hard.jsonl")
	lockcheck(t, "check", file, "--promise", "exclusion", "--timeout", "1ns").wants(t, unproven,
		"? UNKNOWN exclusion: had no answer after 1ns", "\n--timeout and --memory set how far it goes; they were 1ns and 1GiB.\n")
}

// hard returns a history with too many possible orders for any search: all processes
// read and write a few values at the same time, again and again.
func hard() string {
	var b strings.Builder
	draw := rand.New(rand.NewPCG(1, 2))
	const processes = 60
	for range 40 {
		var f [processes]string
		for p := range processes {
			if f[p] = "read"; draw.IntN(2) == 0 {
				f[p] = "write"
				fmt.Fprintf(&b, `{"process":%d,"type":"invoke","f":"write","value":%d}`+"\n", p, draw.IntN(4))
			} else {
				fmt.Fprintf(&b, `{"process":%d,"type":"invoke","f":"read"}`+"\n", p)
			}
		}
		for _, p := range draw.Perm(processes) {
			fmt.Fprintf(&b, `{"process":%d,"type":"ok","f":%q`, p, f[p])
			if f[p] == "read" {
				fmt.Fprintf(&b, `,"value":%d`, draw.IntN(4))
			}
			b.WriteString("}\n")
		}
	}
	return b.String()
}

func TestListModels(t *testing.T) {
	r := lockcheck(t, "list", "models")
	r.wants(t, held, "Remembers ", "Source: ")
	for _, m := range models.All() {
		if !strings.Contains(r.stdout, m.Name) {
			t.Errorf("%s is not listed", m.Name)
		}
	}
	var doc struct{ Models []listed }
	if err := json.Unmarshal([]byte(lockcheck(t, "list", "models", "--json").stdout), &doc); err != nil || len(doc.Models) != len(models.All()) {
		t.Fatalf("%v: %+v", err, doc)
	}
	for _, m := range doc.Models {
		if m.Name == "" || m.Does == "" || m.State == "" || m.Source == "" {
			t.Errorf("%+v", m)
		}
	}
}

// check finds the same verdicts in the file of a run as the run had: for each case,
// with its fault, without it, and with its remedy.
func TestEveryStoredHistoryIsJudgedAsItsRunWas(t *testing.T) {
	out := t.TempDir()
	lockcheck(t, "case", "-q", "--out", out).wants(t, held)
	var files []string
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if d.Name() == historyFile {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	stored := 0 // each case as documented, without the fault if it has one, and with the remedy
	for _, c := range catalogue.Cases {
		for _, sc := range c.Schedules {
			flawed, healthy, remedied := harness.CasePlans(c, sc, "sim", time.Second)
			for _, p := range []*harness.Plan{flawed, healthy, remedied} {
				if p != nil {
					stored++
				}
			}
		}
	}
	if len(files) != stored {
		t.Fatalf("%d histories are stored, want %d", len(files), stored)
	}
	violations := 0
	for _, file := range files {
		name, _ := filepath.Rel(out, file)
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), verdictFile))
		var then judging.Document
		if err == nil {
			err = json.Unmarshal(text, &then)
		}
		if err != nil {
			t.Fatal(err)
		}
		now := lockcheck(t, "check", "--json", file).checked(t)
		if len(now.Properties) != len(then.Properties) {
			t.Fatalf("%s: %d properties, then %d", name, len(now.Properties), len(then.Properties))
		}
		for i, was := range then.Properties {
			is := now.Properties[i]
			if is.Property != was.Property || is.Outcome != was.Outcome || is.Reason != was.Reason || is.Sentence != was.Sentence || !slices.Equal(is.Entries, was.Entries) {
				t.Errorf("%s: it was judged\n%+v, and is\n%+v", name, was, is)
			}
			if was.Outcome == "violated" {
				violations++
			}
		}
	}
	if violations == 0 {
		t.Error("nothing was violated")
	}
}
