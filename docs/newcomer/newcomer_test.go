// Package newcomer follows the pages for people who change lockcheck.
package newcomer

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/alltests"
)

const root = "../.."

// pages are the pages that explain how to change something.
var pages = []string{"CONTRIBUTING.md", "docs/add-a-lock.md", "docs/add-a-fault.md", "docs/add-a-case.md", "docs/add-a-store.md"}

// Following the pages word by word, in a copy of the tree, has the results that they
// show: the failures, the fixes, the new lock in all lists, and finally its failure in
// a case.
func TestTheLockOfThePageCanBeAdded(t *testing.T) {
	if !alltests.Wanted() {
		t.Skip("builds and tests a copy of the tree for minutes: LOCKCHECK_TESTS=all runs it")
	}
	dir := t.TempDir()
	copyTree(t, dir)
	t.Setenv("GOFLAGS", "-trimpath") // one build cache for every copy
	for _, page := range []string{"docs/add-a-lock.md", "docs/add-a-case.md"} {
		if err := follow(dir, read(t, page), nil); err != nil {
			t.Fatalf("%s, %v", page, err)
		}
	}
}

// A page with a wrong step is not followed to its end.
func TestAWrongStepIsNoticed(t *testing.T) {
	file := func(how, language, text string) string {
		return how + " `a.txt`:\n\n```" + language + "\n" + text + "\n```\n\n"
	}
	console := func(text string) string { return "```console\n" + text + "\n```\n" }
	here := file("New,", "go", "one\ntwo\nthree")
	for name, tt := range map[string]struct {
		page  string
		right bool
	}{
		"all is right":            {here + file("In", "diff", " one\n-two\n+2\n three") + console("$ cat a.txt\none\n2\nthr…\n$ echo FAIL; false\nFAIL"), true},
		"times are not compared":  {console("$ echo ok 1.25s; echo in 3 s\nok 0.1s\nin 17 s"), true},
		"nothing to do":           {"# A page\n", false},
		"a file that is there":    {here + here, false},
		"a line that is not":      {here + file("In", "diff", " one\n+1\n three"), false},
		"lines that are twice":    {file("New,", "go", "one\none") + file("In", "diff", " one\n+two"), false},
		"no line to go by":        {here + file("In", "diff", "+two"), false},
		"no diff":                 {here + file("In", "go", "four"), false},
		"another output":          {console("$ echo one\ntwo"), false},
		"output in another order": {console("$ echo one; echo two\ntwo\none"), false},
		"a failure unannounced":   {console("$ echo one; false\none"), false},
		"a success unannounced":   {console("$ echo FAIL\nFAIL"), false},
		"no command":              {console("echo one"), false},
	} {
		if err := follow(t.TempDir(), tt.page, nil); (err == nil) != tt.right {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every file and every test that a page names exists.
func TestWhatThePagesNameIsThere(t *testing.T) {
	file := regexp.MustCompile("`((?:\\.{1,2}/)?[a-z.][a-zA-Z_0-9.-]*(?:/[a-zA-Z_0-9.-]+)*/?)`")
	test := regexp.MustCompile(`\b(Test|Fuzz|Benchmark)[A-Z]\w+`)
	functions := functions(t)
	for _, page := range pages {
		text := read(t, page)
		created := map[string]bool{}
		for _, b := range blocks(text) {
			created[b.file] = created[b.file] || b.created
		}
		for _, m := range file.FindAllStringSubmatch(text, -1) {
			if name := m[1]; !strings.Contains(name, "/") && !strings.HasSuffix(name, ".go") || created[name] {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s: %v", page, m[1], err)
			}
		}
		for _, name := range test.FindAllString(text, -1) {
			if !functions[name] {
				t.Errorf("%s names %s, which is no test", page, name)
			}
		}
	}
}

// Names of locks and faults are also in generated files. The pages for adding one tell
// the reader to generate each file again.
func TestPagesSayWhatIsMadeAnew(t *testing.T) {
	made := regexp.MustCompile(`(?m)^\t\$\(GO\) test (.*) -update$`).FindStringSubmatch(read(t, "Makefile"))
	if made == nil {
		t.Fatal("the Makefile has no command with -update")
	}
	for _, page := range []string{"docs/add-a-lock.md", "docs/add-a-fault.md"} {
		for _, packages := range strings.Fields(made[1]) {
			if command := "go test " + packages + " -update"; !strings.Contains(read(t, page), command) {
				t.Errorf("%s does not say %s", page, command)
			}
		}
	}
}

// functions returns the names of the tests of the tree.
func functions(t *testing.T) map[string]bool {
	found := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	walk(t, func(path string, _ fs.DirEntry) {
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range function.FindAllStringSubmatch(read(t, path), -1) {
				found[m[1]] = true
			}
		}
	})
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// walk visits the files of the tree, except those of git and of runs.
func walk(t *testing.T, visit func(path string, d fs.DirEntry)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == ".git" || d.Name() == "lockcheck-out" || path == "dist"):
			return fs.SkipDir
		case d.Type().IsRegular() && path != "lockcheck" && path != ".git":
			visit(path, d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// copyTree copies the tree to dir.
func copyTree(t *testing.T, dir string) {
	t.Helper()
	walk(t, func(path string, d fs.DirEntry) {
		to := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(read(t, path)), 0o666); err != nil {
			t.Fatal(err)
		}
	})
}
