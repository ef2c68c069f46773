package newcomer

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/catalogue"
)

const goTestPage = "docs/go-test.md"

// Following the page in an empty module has the results that it shows: the naive lock
// fails with its story, and the repaired one passes. The module replaces lockcheck with
// this tree, and its other modules come from the cache: nothing is loaded.
func TestTheLockOfTheGoTestPageCanBeTested(t *testing.T) {
	tree, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(filepath.Join(setting(t, "GOMODCACHE"), "cache", "download")))
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	page := replace(t, read(t, goTestPage), "\n$ go get ", "\n$ go mod edit -replace=github.com/lockcheck/lockcheck="+tree+"\n$ go get ")
	if !alltests.Wanted() {
		page = replace(t, page, "-lockcheck.runs=1000\n", "-lockcheck.runs=10\n")
		page = replace(t, page, " in 1,000 runs\n", "…\n")
	}
	dir := t.TempDir()
	before := ""
	err = follow(dir, page, func(command, out string, cpu time.Duration) {
		switch {
		case strings.HasPrefix(command, "go mod init"):
			before = goMod(t, dir)
		case strings.HasPrefix(command, "go test -failfast"):
			limit(t, command, out, cpu, 10*time.Second)
		case strings.Contains(command, "-lockcheck.runs=1000"):
			limit(t, command, out, cpu, 2*30*time.Second) // 30 s if nothing else runs
		}
	})
	if err != nil {
		t.Fatalf("%s, %v", goTestPage, err)
	}
	after := goMod(t, dir)
	if n := strings.Count(after, "\n") - strings.Count(before, "\n"); n > 15 {
		t.Errorf("go.mod has %d lines more, which is more than 15:\n%s", n, after)
	}
}

// The page lists the faults that apply to each kind of server.
func TestTheFaultsOfTheGoTestPage(t *testing.T) {
	_, table, _ := strings.Cut(read(t, goTestPage), "| servers | faults |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := map[string]string{} // servers by fault
	for line := range strings.Lines(table) {
		servers, names, _ := strings.Cut(strings.Trim(line, "| \n"), " | ")
		for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(names, -1) {
			rows[m[1]] = servers
		}
	}
	for _, kind := range []struct {
		name string
		lock *catalogue.Lock
	}{
		{"Redis(n)", bubble.Lock("a", catalogue.StoreRedis, 1, 0)},
		{"RedisSentinel(r)", bubble.Lock("a", catalogue.StoreRedis, 1, 2)},
		{"ZooKeeper()", bubble.Lock("a", catalogue.StoreZooKeeper, 0, 0)},
	} {
		for _, f := range faults.All() {
			applies, listed := bubble.Applies(kind.lock, f) == nil, rows[f.Name] == "all" || strings.Contains(rows[f.Name], kind.name)
			if applies != listed {
				t.Errorf("%s applies to %s: %v; the page lists it: %v", f.Name, kind.name, applies, listed)
			}
		}
	}
}

// replace replaces a text, which a page must have once.
func replace(t *testing.T, page, old, text string) string {
	t.Helper()
	if n := strings.Count(page, old); n != 1 {
		t.Fatalf("the page has %q %d times, want once", old, n)
	}
	return strings.Replace(page, old, text, 1)
}

// setting returns a setting of the go command.
func setting(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// goMod returns the go.mod of a module as go mod tidy groups it, without what it replaces.
func goMod(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "edit", "-print", "-dropreplace=github.com/lockcheck/lockcheck")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

var testTook = regexp.MustCompile(`(?m)^(?:ok|FAIL)\s+\S+\s+([\d.]+s)$`)

// limit reports a test that took longer than it may. Compiling does not count, nor does
// the time in which a busy machine did something else.
func limit(t *testing.T, command, out string, cpu, most time.Duration) {
	t.Helper()
	m := testTook.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("$ %s\ndoes not print how long it took\n%s", command, out)
	}
	wall, err := time.ParseDuration(m[1])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("$ %s: %v, cpu %v", command, wall, cpu)
	if took := min(wall, cpu); took > most {
		t.Errorf("$ %s\ntook %v, want at most %v", command, took, most)
	}
}
