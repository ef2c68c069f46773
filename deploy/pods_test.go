package deploy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/results"
)

// place runs the containers of manifests. dirs are its volumes by mount path. run does
// the work of a manifest's container, or another command in it.
type place struct {
	dirs map[string]string
	run  func(t *testing.T, file, index string, command ...string) (output string, code int)
}

func TestThePodsCommandsRunInAShell(t *testing.T) {
	t.Parallel()
	dockertest.Program(t, "sh")
	thePodsCommandsRun(t, inAShell(t))
}

func TestThePodsCommandsRunInTheImage(t *testing.T) {
	dockertest.Require(t)
	tag := image(t)
	asItStands(t, tag)
	thePodsCommandsRun(t, inTheImage(t, tag))
}

// asItStands runs the image without a named volume, user or directory: results still
// have a place.
func asItStands(t *testing.T, tag string) {
	out, code := engine(t, "run", "--rm", "--network", "none", tag, "run", "redis-set-del", "--fault", "pause", "--runs", "100")
	if code != results.Violated.ExitCode() || !strings.Contains(out, "lockcheck-out/redis-set-del-pause-") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// thePodsCommandsRun runs all indexes and joins them, loses one, and runs it again.
func thePodsCommandsRun(t *testing.T, at *place) {
	config := func(more string) {
		for name, text := range only(t, "suite.yaml", "ConfigMap").Data {
			must(t, os.WriteFile(filepath.Join(at.dirs["/suite"], name), []byte(text+more), 0o644))
		}
	}
	config("")
	shards := only(t, "job.yaml", "Job").Spec.Completions
	for i := range shards {
		at.must(t, "job.yaml", strconv.Itoa(i))
	}
	for i := range shards { // a complete shard does not run again
		if out := at.must(t, "job.yaml", strconv.Itoa(i)); out != "" {
			t.Errorf("shard %d is done again:\n%s", i, out)
		}
	}
	all := at.merged(t, results.Held)
	if all.Shards == nil || len(all.Shards.Have) != shards {
		t.Errorf("of %d shards the result has %+v", shards, all.Shards)
	}
	for _, c := range all.Cells {
		if c.Runs != 400 {
			t.Errorf("%s has %d runs, want the 400 that the suite says", c.Name, c.Runs)
		}
	}
	at.must(t, "read.yaml", "", "rm", "-r", "/results/shard-2")
	if lost := at.merged(t, results.Inconclusive); lost.Shards == nil || fmt.Sprint(lost.Shards.Missing) != "[3]" {
		t.Errorf("the third shard is lost, and the result says %+v", lost.Shards)
	}
	at.must(t, "again.yaml", "2")
	if again := at.merged(t, results.Held); again.Runs != all.Runs || len(again.Cells) != len(all.Cells) {
		t.Errorf("with one shard run again there are %d runs in %d cells, want %d in %d", again.Runs, len(again.Cells), all.Runs, len(all.Cells))
	}
	config("# another suite\n")
	if out, code := at.run(t, "job.yaml", "0"); code != 4 || !strings.Contains(out, "complete result of shard 1/4") {
		t.Errorf("a complete shard of another suite: exit code %d\n%s", code, out)
	}
}

// must runs a command that has to succeed.
func (p *place) must(t *testing.T, file, index string, command ...string) (output string) {
	t.Helper()
	output, code := p.run(t, file, index, command...)
	if code != 0 {
		t.Fatalf("%s, index %q, %q: exit code %d\n%s", file, index, command, code, output)
	}
	return output
}

// merged returns the result that merge.yaml makes of the shards. Its exit code must be
// that of the verdict.
func (p *place) merged(t *testing.T, want results.Verdict) *results.Document {
	t.Helper()
	output, code := p.run(t, "merge.yaml", "")
	var d results.Document
	if err := json.Unmarshal([]byte(p.must(t, "read.yaml", "", "cat", "/results/merged/"+results.File)), &d); err != nil {
		t.Fatalf("%v; merge said\n%s", err, output)
	}
	if d.Verdict != want || code != want.ExitCode() {
		t.Fatalf("the result is %s, want %s; exit code %d\n%s", d.Verdict, want, code, output)
	}
	if junit := p.must(t, "read.yaml", "", "cat", "/results/merged/junit.xml"); !strings.Contains(junit, "<testsuites") {
		t.Errorf("junit.xml is\n%s", junit)
	}
	return &d
}
