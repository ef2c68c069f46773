package workers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/results"
)

// The locks of popular libraries get verdicts under all faults. Of each there is a broken
// variant: lockcheck finds it, and its story names the cause.
func TestLibraries(t *testing.T) {
	dockertest.Require(t)
	dockertest.Module(t, "redis, kazoo, pymysql")
	command := filepath.Join(t.TempDir(), "lockcheck")
	if out, err := exec.Command("go", "build", "-o", command, "../../cmd/lockcheck").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tt := range []struct {
		store, worker, args string
		breaks              checker.Property // "": ownership and answers hold
		story               []string
	}{
		{"redis", "redis_py.py --extend", "--fault all --mix --faults 8 --acquires 8 --clients 4", "", nil},
		{
			"redis", "redis_py.py --del", "--fault pause --faults 6 --acquires 8 --clients 3",
			checker.Ownership,
			[]string{"entry expires", "release removes"},
		},
		{"zookeeper", "kazoo_lock.py", "--fault all --mix --faults 5 --acquires 6 --clients 3", "", nil},
		{
			"zookeeper", "kazoo_lock.py --unwatched", "--fault session-expiry --faults 10 --acquires 6 --clients 4 --lease 4s",
			checker.Exclusion,
			[]string{"is closed from elsewhere", "session ends: zk-"},
		},
		{"mysql", "get_lock.py", "--fault all --mix --faults 8 --acquires 8 --clients 4", "", nil},
		{
			"mysql", "get_lock.py --swallow", "--fault kill-connection --faults 8 --acquires 8 --clients 4",
			checker.Answers,
			[]string{"will reset the connection", "is told that it"},
		},
	} {
		t.Run(tt.worker, func(t *testing.T) {
			t.Parallel()
			// Real time decides what a run shows: one of a few has to show it.
			const tries = 6
			why := ""
			for i := range tries {
				if why = show(t, command, tt.store, tt.worker, fmt.Sprint(tt.args, " --seed ", i+1), tt.breaks, tt.story); why == "" {
					return
				}
				t.Log(why)
			}
			t.Errorf("none of %d runs: %s", tries, why)
		})
	}
}

// show runs a worker once, and returns why the run does not show what it should; "": it
// does. Without a property that breaks it has to have verdicts on ownership and answers, and
// ownership must not be violated.
func show(t *testing.T, command, store, worker, args string, breaks checker.Property, says []string) (why string) {
	t.Helper()
	out := t.TempDir()
	if breaks != "" {
		args += " --promise " + string(breaks)
	}
	run := exec.Command(command, append([]string{
		"run", "--on", "docker", "--store", store, "--json", "--out", out, "--worker", dockertest.Python + " libraries/" + worker,
	}, strings.Fields(args)...)...)
	run.Stderr = t.Output()
	text, err := run.Output()
	var doc results.Document
	if err := json.Unmarshal(text, &doc); err != nil || len(doc.Cells) != 1 {
		t.Fatalf("%v\n%s", err, text)
	}
	t.Logf("%v, verdict %s", err, doc.Cells[0].Verdict)
	is := func(p checker.Property, outcome checker.Outcome) bool {
		return doc.Cells[0].Property(p).Runs[outcome.String()].Count == 1
	}
	if breaks == "" {
		if is(checker.Ownership, checker.Violated) {
			t.Fatalf("ownership is violated:\n%s", text)
		}
		if !is(checker.Ownership, checker.Valid) || !is(checker.Answers, checker.Valid) && !is(checker.Answers, checker.Violated) {
			return "ownership and answers have no verdict:\n" + string(text)
		}
		return ""
	}
	if !is(breaks, checker.Violated) {
		return string(breaks) + " is not violated"
	}
	files, err := filepath.Glob(filepath.Join(out, "*", "story.txt"))
	if err != nil || len(files) != 1 {
		t.Fatalf("stories %q (%v)", files, err)
	}
	story, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range says {
		if !strings.Contains(string(story), words) {
			return fmt.Sprintf("the story lacks %q:\n%s", words, story)
		}
	}
	return ""
}
