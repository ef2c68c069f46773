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

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/judging"
)

// fine is a history of another program, in which the clients hold one after the other.
const fine = `{"process":1,"type":"invoke","f":"acquire"}
{"process":1,"type":"ok","f":"acquire"}
{"process":1,"type":"invoke","f":"release"}
{"process":1,"type":"ok","f":"release"}
{"process":2,"type":"invoke","f":"acquire"}
{"process":2,"type":"ok","f":"acquire"}
`

// writeAll writes texts to files in a new directory.
func writeAll(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
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
