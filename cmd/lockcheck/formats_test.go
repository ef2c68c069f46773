package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shapes are common formats for the same history, in which both clients hold. Each has
// the lines that prove it: those of the first and of the second ok.
var shapes = []struct {
	name          string
	text          string
	first, second int
	quoted        []string // as lockcheck prints them
}{
	{
		"a-map-a-line.edn",
		`{:process 0, :type :invoke, :f :acquire, :value nil}
{:process 0, :type :ok, :f :acquire, :value nil}
{:process 1, :type :invoke, :f :acquire, :value nil}
{:process 1, :type :ok, :f :acquire, :value nil}
{:process 0, :type :invoke, :f :release, :value nil}
{:process 0, :type :ok, :f :release, :value nil}
`, 2, 4,
		[]string{"   2  {:process 0, :type :ok, :f :acquire, :value nil}\n", "   4  {:process 1, :type :ok, :f :acquire, :value nil}\n"},
	},
	{
		"vector.edn",
		`[{:process 0 :type :invoke :f :acquire}
 {:process 0 :type :ok :f :acquire}
 {:process 1 :type :invoke :f :acquire}
 {:process 1 :type :ok :f :acquire}
 {:process 0 :type :invoke :f :release}
 {:process 0 :type :ok :f :release}]
`, 2, 4,
		[]string{"   2  {:process 0 :type :ok :f :acquire}\n", "   4  {:process 1 :type :ok :f :acquire}\n"},
	},
	{
		"list.edn",
		`(

{:process 0 :type :invoke :f :acquire} {:process 1 :type :invoke :f :acquire}
{:process 0 :type :ok :f :acquire}

{:process 1 :type :ok :f :acquire}
{:process 0 :type :invoke :f :release} {:process 0 :type :ok :f :release}
)`, 4, 6,
		[]string{"   4  {:process 0 :type :ok :f :acquire}\n", "   6  {:process 1 :type :ok :f :acquire}\n"},
	},
	{
		"one-line.edn",
		`[{:process 0 :type :invoke :f :acquire} {:process 0 :type :ok :f :acquire} {:process 1 :type :invoke :f :acquire} {:process 1 :type :ok :f :acquire} {:process 0 :type :invoke :f :release}]`,
		2, 4,
		[]string{"   2  {:index ", ":process 0, :type :ok, :f :acquire", "   4  {:index ", "the numbers count operations"},
	},
	{
		"comments.edn",
		`; recorded on a Tuesday
{:process 0 :type :invoke :f :acquire} ; asks
{:process 0 :type :ok :f :acquire} ; {holds}
#_{:process 9 :type :ok :f :release}
; and now the other one
{:process 1 :type :invoke :f :acquire}
{:process 1 :type :ok :f :acquire}
{:process 0 :type :invoke :f :release}
`, 3, 7,
		[]string{"   3  {:process 0 :type :ok :f :acquire} ; {holds}\n", "   7  {:process 1 :type :ok"},
	},
	{
		"keywords.edn",
		`{:process :left, :type :invoke, :f :acquire}
{:process :left, :type :ok, :f :acquire}
{:process :right, :type :invoke, :f :acquire}
{:process :right, :type :ok, :f :acquire}
{:process :left, :type :invoke, :f :release}
`, 2, 4,
		[]string{"   2  {:process :left, ", "   4  {:process :right, ", "left", "right"},
	},
	{
		"strings.edn",
		`{:process "n1", :type "invoke", :f "acquire"}
{:process "n1", :type "ok", :f "acquire"}
{:process "n2", :type "invoke", :f "acquire"}
{:process "n2", :type "ok", :f "acquire"}
{:process "n1", :type "invoke", :f "release"}
`, 2, 4,
		[]string{`   2  {:process "n1", `, `   4  {:process "n2", `},
	},
	{
		"nemesis.edn",
		`{:process :nemesis, :type :info, :f :start-partition, :value :majority}
{:process 0, :type :invoke, :f :acquire}
{:process 0, :type :ok, :f :acquire}
{:process :nemesis, :type :info, :f :start-partition, :value {"n1" #{"n2"}}}
{:process 1, :type :invoke, :f :acquire}
{:process 1, :type :ok, :f :acquire}
{:process :nemesis, :type :info, :f :stop-partition, :value nil}
{:process 0, :type :invoke, :f :release}
`, 3, 6,
		[]string{"   3  {:process 0, ", "   6  {:process 1, "},
	},
	{
		"records.edn",
		`#jepsen.history.Op{:index 0, :time 10, :type :invoke, :process 0, :f :acquire, :value nil}
#jepsen.history.Op{:index 1, :time 20, :type :ok, :process 0, :f :acquire, :value nil}
#jepsen.history.Op{:index 2, :time 30, :type :invoke, :process 1, :f :acquire, :value nil}
#jepsen.history.Op{:index 3, :time 40, :type :ok, :process 1, :f :acquire, :value nil}
#jepsen.history.Op{:index 4, :time 50, :type :invoke, :process 0, :f :release, :value nil}
`, 2, 4,
		[]string{"   2  #jepsen.history.Op{:index 1, ", "   4  #jepsen.history.Op{:index 3, "},
	},
	{
		"spread.edn",
		`[{:process 0
  :type :invoke
  :f :acquire}
 {:process 0
  :type :ok
  :f :acquire}
 {:process 1
  :type :invoke
  :f :acquire}
 {:process 1
  :type :ok
  :f :acquire}
 {:process 0, :type :invoke, :f :release}]
`, 4, 10,
		[]string{"   4  {:index ", ":process 0, :type :ok, :f :acquire", "  10  {:index "},
	},
	{
		"array.json",
		`[
  {"process": 0, "type": "invoke", "f": "acquire"},
  {"process": 0, "type": "ok", "f": "acquire"},
  {"process": 1, "type": "invoke", "f": "acquire"},
  {"process": 1, "type": "ok", "f": "acquire"},
  {"process": 0, "type": "invoke", "f": "release"}
]
`, 3, 5,
		[]string{`   3  {"process": 0, "type": "ok"`, `   5  {"process": 1, "type": "ok"`},
	},
	{
		"one-line.json",
		`[{"process":0,"type":"invoke","f":"acquire"},{"process":0,"type":"ok","f":"acquire"},{"process":1,"type":"invoke","f":"acquire"},{"process":1,"type":"ok","f":"acquire"}]`,
		2, 4,
		[]string{`   2  {"index":`, `"process":0,"type":"ok"`, `   4  {"index":`, "the numbers count operations"},
	},
	{"lines.jsonl", both, 2, 4, []string{`   2  {"process":1,"type":"ok","f":"acquire"}` + "\n", `   4  {"process":2,`}},
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEachShapeOfAHistoryIsJudgedAndQuoted(t *testing.T) {
	for _, s := range shapes {
		for name, text := range map[string]string{s.name: s.text, s.name + ".gz": zipped(t, s.text)} {
			t.Run(name, func(t *testing.T) {
				file := filepath.Join(writeAll(t, map[string]string{name: text}), name)
				lockcheck(t, "check", file).wants(t, violated, append(s.quoted, "✗ owner-mutex  violated: ")...)
				fed(t, strings.NewReader(text), "check", "-").wants(t, violated, s.quoted...)
				doc := lockcheck(t, "check", "--json", file).checked(t)
				if len(doc.Properties) != 1 {
					t.Fatalf("%+v", doc)
				}
				p := doc.Properties[0]
				if !slices.Contains(p.Lines, s.first) || !slices.Contains(p.Lines, s.second) {
					t.Errorf("the lines are %v, want %d and %d: %s", p.Lines, s.first, s.second, p.Sentence)
				}
				r := lockcheck(t, "check", file, "--promise", "exclusion")
				r.wants(t, violated, append(s.quoted, "✗ exclusion        VIOLATED")...)
				lockcheck(t, "check", file, "--model", "semaphore=2").wants(t, held)
			})
		}
	}
}

// Every format of a history gives the same verdict, also after a conversion. A
// converted history of another program does not become one of lockcheck's.
func TestAConvertedHistoryIsTheSame(t *testing.T) {
	for _, s := range shapes {
		for _, to := range []string{"edn", "jsonl"} {
			t.Run(s.name+"/"+to, func(t *testing.T) {
				dir := writeAll(t, map[string]string{s.name: s.text})
				out := lockcheck(t, "check", "--to", to, filepath.Join(dir, s.name))
				if out.code != held || out.stderr != "" {
					t.Fatalf("exit code %d\n%s", out.code, out.stderr)
				}
				if piped := fed(t, strings.NewReader(s.text), "check", "-", "--to", to); piped != out {
					t.Errorf("from a pipe:\n%s", piped.stdout)
				}
				r := fed(t, strings.NewReader(out.stdout), "check", "-")
				r.wants(t, violated, "✗ owner-mutex  violated: ")
				again := fed(t, strings.NewReader(out.stdout), "check", "-", "--to", to)
				if again.stdout != out.stdout {
					t.Errorf("once:\n%stwice:\n%s", out.stdout, again.stdout)
				}
			})
		}
	}
	// A converted lockcheck history remains one, and an empty file remains a history.
	for _, to := range []string{"edn", "jsonl"} {
		out := fed(t, strings.NewReader(ours+both), "check", "-", "--to", to)
		fed(t, strings.NewReader(out.stdout), "check", "-").wants(t, violated, "✗ exclusion        VIOLATED")
		out = fed(t, strings.NewReader("[]"), "check", "-", "--to", to)
		fed(t, strings.NewReader(out.stdout), "check", "-").wants(t, unproven, "nothing to judge")
	}
}

func TestBadFiles(t *testing.T) {
	binary := built(t)
	pressed := zipped(t, strings.Repeat(fine, 50))
	const header = "{:process 0, :type :invoke, :f :acquire}\n"
	for _, tt := range []struct {
		name  string
		text  string
		code  int
		words []string
	}{
		{"truncated.jsonl.gz", pressed[:len(pressed)/2], usage, []string{"gzip", "cut off"}},
		{"damaged.jsonl.gz", pressed[:12] + "\xff\xff\xff\xff\xff\xff" + pressed[18:], usage, []string{"gzip"}},
		{"no-utf-8.edn", header + "{:process 0, :type :ok, :f :acquire, :text \"\xff\"}\n", usage, []string{":2: ", "UTF-8"}},
		{"no-utf-8.jsonl", fine + `{"process":9,"type":"invoke","f":"acquire","text":"` + "\xff" + `"}` + "\n", usage, []string{":7: ", "UTF-8"}},
		{"operation.edn", header + "{:process 1, :type :invoke, :f :knock}\n", usage, []string{":2: ", "knock"}},
		{"nothing-invoked.edn", header + "{:process 1, :type :ok, :f :acquire}\n", usage, []string{":2: ", "without an invoke"}},
		{"two-at-once.edn", header + header, usage, []string{":2: ", "while its acquire"}},
		{"backwards.edn", "{:process 0, :type :invoke, :f :acquire, :time 7}\n{:process 0, :type :ok, :f :acquire, :time 6}\n", usage, []string{":2: ", "backwards"}},
		{"long-operation.edn", header + `{:process 0, :type :ok, :f :acquire, :text "` + strings.Repeat("x", 10<<20) + "\"}\n", usage, []string{":2: ", "longer than"}},
		{"results.edn", "{:valid? true, :count 7}\n", usage, []string{":1: "}},
		{"empty.edn", "", unproven, []string{"the file is empty: nothing to judge"}},
		{"empty.jsonl.gz", zipped(t, ""), unproven, []string{"nothing to judge"}},
		{"empty-list.edn", "[]\n", unproven, []string{"nothing to judge"}},
		{"empty-list.json", "[]\n", unproven, []string{"nothing to judge"}},
		{"comments.edn", "; nothing yet\n", unproven, []string{"nothing to judge"}},
		{"refused.edn", header + "{:process 0, :type :fail, :f :acquire}\n", unproven, []string{"? owner-mutex  unknown: ", "nothing to judge"}},
	} {
		t.Run(tt.name, func(t *testing.T) { saysOfABadHistory(t, binary, tt.name, tt.text, tt.code, tt.words) })
	}
}

// An empty file is reported as empty once.
func TestAnEmptyHistoryIsSaidToBeEmptyOnce(t *testing.T) {
	for text, want := range map[string]string{
		"": "the file is empty: nothing to judge\n", "[]": "the history has no operations: nothing to judge\n",
		"; nothing": "the history has no operations: nothing to judge\n", " \n\n": "the history has no operations: nothing to judge\n",
	} {
		r := fed(t, strings.NewReader(text), "check", "-")
		if r.code != unproven || !strings.HasSuffix(r.stdout, want) || r.stderr != "" {
			t.Errorf("%q: exit code %d\n%s%s", text, r.code, r.stdout, r.stderr)
		}
	}
}

func TestADirectoryOfJepsenIsCheckedByItsHistory(t *testing.T) {
	dir := writeAll(t, map[string]string{
		"etcd/1/history.edn":   shapes[0].text,
		"etcd/1/results.edn":   "{:valid? false}",
		"etcd/1/history.txt":   "0 :invoke :acquire nil",
		"etcd/2/history.edn":   "{:process 0, :type :invoke, :f :acquire}\n{:process 0, :type :ok, :f :acquire}\n",
		"etcd/2/results.edn":   "{:valid? true}",
		"etcd/2/test.jepsen":   "JEPSEN",
		"more/third.edn.gz":    zipped(t, shapes[0].text),
		"more/fourth.jsonl.gz": zipped(t, fine),
	})
	r := lockcheck(t, "check", dir)
	r.stdout = strings.ReplaceAll(r.stdout, "\n  ", " ")
	r.wants(t, violated, "4 files: 2 violated, 2 valid\n")
}

// A long history is read as a stream, and its judge keeps little of it in memory.
func TestALongHistoryIsQuotedFromItsFile(t *testing.T) {
	const n = 20_000
	var b strings.Builder
	for i := range n {
		p := i % 5
		for _, f := range []string{"acquire", "release"} {
			fmt.Fprintf(&b, "{:process %d, :type :invoke, :f :%s}\n{:process %d, :type :ok, :f :%s}\n", p, f, p, f)
		}
	}
	b.WriteString(shapes[0].text)
	file := filepath.Join(t.TempDir(), "long.edn.gz")
	if err := os.WriteFile(file, []byte(zipped(t, b.String())), 0o666); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "check", file).wants(t, violated, fmt.Sprint(4*n+2, "  {:process 0, :type :ok, :f :acquire"), fmt.Sprint(4*n+4, "  {:process 1, :type :ok, :f :acquire"))
}

// The README shows the output of check for a history that Jepsen recorded.
func TestTheReadmeJudgesAHistory(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	r := lockcheck(t, "check", "testdata/etcd.edn")
	r.wants(t, violated)
	want := asShown("$ lockcheck check etcd.edn\n" + strings.ReplaceAll(r.stdout, "testdata/", ""))
	if !strings.Contains(string(readme), want) {
		t.Errorf("the README shows something else, want\n%s", want)
	}
}
