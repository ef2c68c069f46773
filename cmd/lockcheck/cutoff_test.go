package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A lockcheck history without its last line proves nothing, whichever judge reads it.
// Violations in it still count.
func TestAHistoryThatWasCutOffIsIncomplete(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	args := []string{"run", "redis-set-lua", "--fault", "pause", "--seed", "1", "--runs", "4", "--keep", "all", "--no-shrink", "--out", out}
	lockcheck(t, args...).wants(t, violated, "exclusion")
	for _, kept := range []struct {
		run  string
		code int
	}{{"redis-set-lua-pause-1", unproven}, {"redis-set-lua-pause-4", violated}} {
		dir := filepath.Join(out, kept.run)
		file := filepath.Join(dir, historyFile)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		whole := len(lines) - 2 // the last line is empty, and the one before is the end of the run
		if !strings.Contains(lines[whole], `"ended"`) {
			t.Fatalf("the last line is %s", lines[whole])
		}
		write := func(text string) {
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		write(strings.Join(lines[:whole], ""))
		lockcheck(t, "check", "--promise", "exclusion,ownership", file).wants(t, kept.code, "the history is incomplete")
		lockcheck(t, "check", "--model", "mutex", file).wants(t, kept.code)
		foreign := strings.Replace(lines[0], `"version"`, `"versions"`, 1)
		write(foreign + strings.Join(lines[1:whole], ""))
		if kept.code == unproven { // it names no version, so another program recorded it
			lockcheck(t, "check", "--promise", "exclusion,ownership", file).wants(t, held)
		}
		write(strings.Join(lines[:whole], ""))
		lockcheck(t, "replay", "--promise", "ownership", filepath.Join(dir, scheduleFile), "--out", t.TempDir()).
			wants(t, held, "The recorded history is incomplete")
	}
}

// A run is complete only if its last line says so. A run that used up its budget is not
// cut off. Both hold for properties and for models.
func TestOnlyTheLastLineEndsARun(t *testing.T) {
	t.Parallel()
	const head = `{"lockcheck":1,"version":"0.1.0","on":"sim","lease_ms":1000}
{"index":1,"time":1,"process":1,"client":"c1","type":"invoke","f":"acquire","lock":"a"}
{"index":2,"time":2,"process":1,"client":"c1","type":"ok","f":"acquire","lock":"a","grant":1}
`
	for name, tt := range map[string]struct{ text, want string }{
		"a line behind the end": {`{"index":3,"time":3,"process":"nemesis","type":"info","f":"ended"}
{"index":4,"time":4,"process":1,"client":"c1","type":"invoke","f":"release","lock":"a","grant":1}
{"index":5,"time":5,"process":1,"client":"c1","type":"ok","f":"release","lock":"a","grant":1}
`, "the history is incomplete"},
		"the budget": {`{"index":3,"time":3,"process":"nemesis","type":"info","f":"budget","text":"200 events"}
`, "used up its budget: 200 events"},
	} {
		file := filepath.Join(t.TempDir(), historyFile)
		if err := os.WriteFile(file, []byte(head+tt.text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, how := range []string{"--promise=exclusion", "--model=owner-mutex"} {
			if r := lockcheck(t, "check", how, file); r.code != unproven || !strings.Contains(r.stdout, tt.want) {
				t.Errorf("%s, %s: exit code %d\n%s", name, how, r.code, r.stdout)
			}
		}
	}
}
