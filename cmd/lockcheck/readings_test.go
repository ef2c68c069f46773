package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// fresh returns a history in EDN of n acquires and releases, each with a value of its
// own, as in Jepsen's Hazelcast tests. Two clients take turns; with both, each of them
// acquires the lock twice in a row.
func fresh(n int, both bool) string {
	var b strings.Builder
	for i := range n {
		f := []string{":acquire", ":release"}[i%2]
		if both {
			f = ":acquire"
		}
		for _, typ := range []string{":invoke", ":ok"} {
			fmt.Fprintf(&b, "{:process %d, :type %s, :f %s, :name \"a\", :value \"uid-%d\"}\n", i/2%2, typ, f, i)
		}
	}
	return b.String()
}

func TestWhatAFileLeavesOpenIsAskedFor(t *testing.T) {
	const refusedTry = `{:process 0, :type :invoke, :f :try, :value "a"}
{:process 0, :type :ok, :f :try, :value %s}
{:process 1, :type :invoke, :f :try, :value "a"}
{:process 1, :type :ok, :f :try}
`
	const refusedRelease = `{:process 0, :type :invoke, :f :acquire}
{:process 0, :type :ok, :f :acquire}
{:process 0, :type :invoke, :f :release}
{:process 0, :type :ok, :f :release, :value false}
{:process 1, :type :invoke, :f :acquire}
{:process 1, :type :ok, :f :acquire}
`
	dir := writeAll(t, map[string]string{
		"turns.edn": fresh(20, false), "twice.edn": fresh(20, true), "short.edn": fresh(2, false),
		"false.edn": fmt.Sprintf(refusedTry, "false"), "word.edn": fmt.Sprintf(refusedTry, `"false"`), "empty.edn": fmt.Sprintf(refusedTry, `""`),
		"lines.jsonl": `{"process":0,"type":"invoke","f":"try"}
{"process":0,"type":"ok","f":"try","value":false}
{"process":1,"type":"invoke","f":"try"}
{"process":1,"type":"ok","f":"try"}
`,
		"release.edn": refusedRelease,
		"first.edn":   "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 1}\n",
		"ours.jsonl":  ours + fine,
	})
	for _, tt := range []struct {
		args   string
		code   int
		stdout string
		stderr string
	}{
		{"turns.edn", usage, "", "20 of 20 names of locks occur in one operation only, this one is \"uid-0\": if they name operations, use --one-lock, or --lock-from FIELD"},
		{"turns.edn --one-lock", held, "✓ owner-mutex valid", ""},
		{"turns.edn --lock-from name", held, "✓ owner-mutex valid", ""},
		{"turns.edn --lock-from :name", held, "✓ owner-mutex valid", ""},
		{"turns.edn --lock-from value", violated, "released", ""},
		{"turns.edn --lock-from nothing", usage, "", "\"nothing\" is missing: --lock-from names it"},
		{"twice.edn", usage, "", "twice.edn:1: 20 of 20 names"},
		{"twice.edn --one-lock", violated, "process 0 held the lock from line 2 on", ""},
		{"twice.edn --lock-from name", violated, "process 0 held \"a\" from line 2 on", ""},
		{"short.edn", violated, "", "2 of 2 names of locks occur in one operation only"},
		{"turns.edn --one-lock --lock-from name", usage, "", "leave out one of them"},
		{"ours.jsonl --one-lock", usage, "", "the file has lockcheck's first line"},
		{"false.edn", held, "✓ owner-mutex valid", "an acquire is ok with false once and counts as refused"},
		{"word.edn", held, "✓ owner-mutex valid", "counts as refused"},
		{"empty.edn", held, "✓ owner-mutex valid", "counts as refused"},
		{"lines.jsonl", held, "✓ owner-mutex valid", "counts as refused"},
		{"false.edn --ok-false granted", violated, "was granted it in line 4", ""},
		{"false.edn --ok-false refused", held, "✓ owner-mutex valid", ""},
		{"release.edn", usage, "", "release.edn:4: release is ok, and :value is false: use --ok-false refused to read it as failed, or --ok-false granted to read it as ok"},
		{"release.edn --ok-false granted", held, "✓ owner-mutex valid", ""},
		{"release.edn --ok-false refused", violated, "process 0 held the lock from line 2 on", ""},
		{"release.edn --ok-false perhaps", usage, "", "it can be refused, granted"},
		{"first.edn --model register", held, "", ""},
		{"first.edn --model register=0", violated, "nobody ever wrote 1; 0 was there at first", ""},
		{"first.edn --model cas-register=1", held, "✓ cas-register=1 valid", ""},
		{"first.edn --model register=x", usage, "", "want a 64-bit integer"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			args := strings.Fields("check " + tt.args)
			args[1] = filepath.Join(dir, args[1])
			r := fed(t, nil, args...)
			if r.code != tt.code || !strings.Contains(flat(r.stdout), tt.stdout) || !strings.Contains(flat(r.stderr), tt.stderr) || tt.stderr == "" && r.stderr != "" {
				t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
}

// flat returns a text without the line breaks of its paragraphs.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
