package adapters_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck"
)

// finding is a way in which a library breaks a property. testdata/findings has the
// shortest such run, with its history and its story, in a directory of this name.
type finding struct {
	name            string
	servers         lockcheck.Servers
	factory         func(*lockcheck.Env) (lockcheck.Lock, error)
	fault, property string
	options         []lockcheck.Option
}

// findings are all of docs/findings.md that run in virtual time, its limits included.
var findings = []finding{
	{"redislock-tokens", lockcheck.Redis(1), newRedislockNames, "none", "exclusion", []lockcheck.Option{lockcheck.Clients(10)}},
	{"redislock-reused", lockcheck.Redis(1), newRedislockNames, "delay", "ownership", []lockcheck.Option{lockcheck.Runs(300)}},
	{"redislock-evicted", lockcheck.Redis(1), newRedislock, "evict", "lease-exclusion", nil},
	{"redsync-lost", lockcheck.Redis(1), newRedsync, "restart-lost", "lease-exclusion", nil},
	{"redsync-five-lost", lockcheck.Redis(5), newRedsync, "restart-lost", "lease-exclusion", nil},
	{"redsync-five-left", lockcheck.Redis(5), newRedsync, "server-pause", "answers", nil},
	{"redsync-setnx", lockcheck.Redis(1), newRedsyncSetNX, "pause", "answers", nil},
	{"rueidislock-renewal", lockcheck.Redis(1), newRueidislock, "partition", "exclusion", []lockcheck.Option{lockcheck.Renews(), lockcheck.Runs(500)}},
	{"rueidislock-silent", lockcheck.Redis(1), newRueidislock, "partition", "answers", nil},
	{"zookeeper-session", lockcheck.ZooKeeper(), newZooKeeperLock, "session-expiry", "exclusion", nil},
	{"zookeeper-paused", lockcheck.ZooKeeper(), newZooKeeperLock, "pause", "exclusion", nil},
	{"zookeeper-unlock", lockcheck.ZooKeeper(), newZooKeeperLock, "kill-connection", "liveness", nil},
	{"zookeeper-node", lockcheck.ZooKeeper(), newZooKeeperLockPatient, "kill-connection", "liveness", nil},
	{"zookeeper-kept", lockcheck.ZooKeeper(), newZooKeeperLockKept, "session-expiry", "liveness", nil},
}

var update = flag.Bool("update", false, "search for the runs of all findings anew")

// Each finding is found again in its run.
func TestFindings(t *testing.T) {
	for _, f := range findings {
		t.Run(f.name, func(t *testing.T) {
			if on := flag.Lookup("lockcheck.on"); on.Value.String() != "" {
				t.Setenv(child, "1") // for the processes of its clients, too
			}
			if os.Getenv(child) != "" {
				lockcheck.Test(t, f.servers, f.factory, append(f.options, patience, lockcheck.Faults(f.fault), lockcheck.Promise(f.property))...)
				return
			}
			dir, err := filepath.Abs(filepath.Join("testdata", "findings", f.name))
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				f.search(t, dir)
			}
			if out := childFails(t, t.TempDir(), "-lockcheck.replay="+dir); !strings.Contains(out, f.property+" is violated again") {
				t.Errorf("the run does not violate %s:\n%s", f.property, out)
			}
		})
	}
}

// search looks for the shortest run of the finding, and keeps it.
func (f *finding) search(t *testing.T, dir string) {
	t.Helper()
	temp := t.TempDir()
	out := childFails(t, temp)
	t.Logf("%s", out)
	os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(temp, "testdata", "lockcheck", t.Name(), f.fault, f.property))); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// childFails runs the calling test in a process of its own, in which it must fail, and
// returns its output.
func childFails(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, append([]string{"-test.run=^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"}, flags...)...)
	cmd.Env = append(os.Environ(), child+"=1")
	cmd.Dir = dir // the files of failed runs stay there
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("lockcheck found nothing:\n%s", out)
	}
	return string(out)
}

// findingRow is a row of docs/findings.md: name, fault and property.
var findingRow = regexp.MustCompile(`(?m)^\| \[([a-z-]+)\]\(\.\./adapters/testdata/findings/([a-z-]+)/story\.txt\) \| [^|]* \| ` + "`([a-z-]+)` \\| `([a-z-]+)` \\|")

// docs/findings.md has each finding, and no other.
func TestFindingsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	type row struct{ name, fault, property string }
	var want, got []row
	for _, f := range findings {
		want = append(want, row{f.name, f.fault, f.property})
	}
	for _, m := range findingRow.FindAllStringSubmatch(string(page), -1) {
		if m[1] != m[2] {
			t.Errorf("%s links to the story of %s", m[1], m[2])
		}
		got = append(got, row{m[1], m[3], m[4]})
	}
	for _, r := range got {
		if !slices.Contains(want, r) {
			t.Errorf("no test replays %v", r)
		}
	}
	for _, r := range want {
		if !slices.Contains(got, r) {
			t.Errorf("the page lacks %v", r)
		}
	}
}
