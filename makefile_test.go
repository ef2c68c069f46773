package lockcheck_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// targets are those of the Makefile, with what its help says of each.
func targets(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z-]*):(?:.*## (.*))?`).FindAllStringSubmatch(string(text), -1) {
		all[m[1]] = m[2]
	}
	return all
}

// What make prints without an argument lists every target, and fits 80 columns.
func TestMakeListsItsTargets(t *testing.T) {
	dockertest.Program(t, "make")
	cmd := exec.Command("make")
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, says := range targets(t) {
		if says == "" || !regexp.MustCompile(`(?m)^  make `+name+` +`+regexp.QuoteMeta(says)+`$`).Match(out) {
			t.Errorf("make does not list %s (%q)", name, says)
		}
		if dry, err := exec.Command("make", "-n", name).CombinedOutput(); err != nil {
			t.Errorf("make %s: %v\n%s", name, err, dry)
		}
	}
	for line := range strings.Lines(string(out)) {
		if len(line) > 81 {
			t.Errorf("longer than 80 columns: %s", line)
		}
	}
	if !strings.HasPrefix(string(out), "lockcheck "+harness.Version+":") {
		t.Errorf("make does not find the version:\n%s", out)
	}
}

// The format is right only where gofumpt ran, and had nothing to say.
func TestLintNeedsGofumpt(t *testing.T) {
	dockertest.Program(t, "make")
	for _, c := range []struct {
		name, gofumpt string
		ok            bool
	}{
		{"nothing to say", "exit 0", true},
		{"a file", "echo wrong.go", false},
		{"it cannot run", "exit 1", false},
	} {
		stub := filepath.Join(t.TempDir(), "go")
		script := "#!/bin/sh\ncase \"$*\" in *gofumpt*) " + c.gofumpt + ";; esac\n"
		if err := os.WriteFile(stub, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("make", "lint", "GO="+stub)
		cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=0")
		if out, err := cmd.CombinedOutput(); (err == nil) != c.ok {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
	}
}

// What pages tell one to type after make, make can make.
func TestWhatPagesMakeThereIs(t *testing.T) {
	known := targets(t)
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "deploy/*.md", "deploy/*/*.md", "examples/*/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	typed := regexp.MustCompile("(?m)(?:^    |^\\$ |`)make ([a-z][a-z-]*)")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range typed.FindAllStringSubmatch(string(text), -1) {
			if _, ok := known[m[1]]; !ok {
				t.Errorf("%s: there is no make %s, but %s", page, m[1], strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			}
		}
	}
}
