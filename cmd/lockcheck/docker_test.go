package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// binary builds the command once for a test; the workers are this binary, too.
func binary(t *testing.T) string {
	t.Helper()
	dockertest.Require(t)
	return built(t)
}

// command runs the built command to its end.
func command(t *testing.T, path string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// nothingLeft asks clean, which finds the leftovers of every process that has ended.
func nothingLeft(t *testing.T, path string) {
	t.Helper()
	if r := command(t, path, "clean"); r.code != held || !strings.Contains(r.stdout, "nothing to remove") {
		t.Errorf("something was left behind:\n%s%s", r.stdout, r.stderr)
	}
}

// running is a command that has not ended yet.
type running struct {
	*exec.Cmd
	ended chan struct{}
}

// start runs the command until the history below out has some lines.
func start(t *testing.T, path, out string, args ...string) running {
	t.Helper()
	cmd := running{exec.Command(path, append(args, "--out", out)...), make(chan struct{})}
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		cmd.Wait()
		close(cmd.ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-cmd.ended
	})
	for limit := time.After(3 * time.Minute); ; {
		select {
		case <-cmd.ended:
			t.Fatalf("the run has ended: %v", cmd.ProcessState)
		case <-limit:
			t.Fatal("the run did not begin")
		case <-time.After(50 * time.Millisecond):
		}
		files, _ := filepath.Glob(filepath.Join(out, "*", historyFile))
		for _, f := range files {
			if text, _ := os.ReadFile(f); bytes.Count(text, []byte("\n")) > 50 {
				return cmd
			}
		}
	}
}

var longRun = []string{"run", "redis-set-lua", "--on", "docker", "--fault", "pause", "--acquires", "1000", "--seed", "1"}

func TestCtrlCRemovesEverythingAndKeepsTheHistory(t *testing.T) {
	lockcheck, out := binary(t), t.TempDir()
	cmd := start(t, lockcheck, out, longRun...)
	cmd.Process.Signal(os.Interrupt)
	<-cmd.ended
	if code := cmd.ProcessState.ExitCode(); code != interrupted {
		t.Errorf("exit code %d", code)
	}
	nothingLeft(t, lockcheck)
	keptHistory(t, out)
	keptFiles(t, out, historyFile, rundir.PageFile, scheduleFile, storyFile, verdictFile)
}

// keptFiles checks the directory of each run: no file may be missing or left over.
func keptFiles(t *testing.T, out string, want ...string) {
	t.Helper()
	dirs, err := os.ReadDir(out)
	if err != nil || len(dirs) == 0 {
		t.Fatalf("nothing was kept (%v)", err)
	}
	for _, d := range dirs {
		if d.Name() == index.File {
			continue
		}
		files, err := os.ReadDir(filepath.Join(out, d.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Name())
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s has %q", d.Name(), names)
		}
	}
}

// keptHistory reads the history that a cut-short run has kept.
func keptHistory(t *testing.T, out string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(out, "*", historyFile))
	if len(files) != 1 {
		t.Fatalf("the histories are %q", files)
	}
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, _, err := history.Decode(f, files[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Entries) < 40 {
		t.Errorf("only %d entries were kept", len(h.Entries))
	}
	for _, v := range checker.JudgeBoth(h) {
		if v.Outcome == checker.Violated && v.Property != checker.Exclusion && v.Property != checker.Resource {
			t.Errorf("%s is violated in what was kept: %s", v.Property, v.Witness.Sentence)
		}
	}
}

func TestKill9LeavesNothingThatCleanDoesNotRemove(t *testing.T) {
	lockcheck, out := binary(t), t.TempDir()
	cmd := start(t, lockcheck, out, longRun...)
	cmd.Process.Signal(syscall.SIGKILL)
	<-cmd.ended
	time.Sleep(200 * time.Millisecond)
	if r := command(t, lockcheck, "clean"); r.code != held || !strings.Contains(r.stdout, "removed container") {
		t.Errorf("clean: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	nothingLeft(t, lockcheck)
	keptHistory(t, out)
	keptFiles(t, out, historyFile, scheduleFile)
}

func TestAStrangersWorkerGoesThroughTheSameFaults(t *testing.T) {
	t.Parallel()
	dockertest.Program(t, "python3")
	lockcheck := binary(t)
	worker := "python3 ../../examples/workers/python/worker.py"
	args := []string{"run", "--on", "docker", "--seed", "1", "--clients", "3", "--acquires", "6", "--lease", "2s", "--worker"}
	t.Run("undisturbed", func(t *testing.T) {
		command(t, lockcheck, append(args, worker, "--fault", "none", "--out", t.TempDir())...).wants(t, held, "exclusion        valid")
	})
	t.Run("paused", func(t *testing.T) {
		// A pause beyond the lease lets another client in. Real time decides in which
		// runs such a pause happens.
		out := t.TempDir()
		r := command(t, lockcheck, append(args, worker, "--fault", "pause", "--runs", "6", "--promise", "lease-exclusion", "--out", out)...)
		r.wants(t, held, "of 6")
		keptFiles(t, out, historyFile, rundir.PageFile, scheduleFile, storyFile, verdictFile)
	})
	t.Run("with a bare DEL", func(t *testing.T) {
		command(t, lockcheck, append(args, worker+" --del", "--fault", "none", "--out", t.TempDir())...).wants(t, held)
	})
}

func TestAWorkerThatMakesNoSenseEndsNothingButItsOwnOperation(t *testing.T) {
	t.Parallel()
	dockertest.Program(t, "python3")
	lockcheck, dir := binary(t), t.TempDir()
	script := filepath.Join(dir, "worker.py")
	// Answers init, then prints rubbish instead of the answer to its third request, and
	// ends.
	text := `
import json, sys
n = 0
for line in sys.stdin:
    q = json.loads(line)
    n += 1
    if n > 3:
        print("Traceback: something is wrong here", file=sys.stderr)
        print("what?", flush=True)
        sys.exit(3)
    if q["op"] == "acquire":
        print(json.dumps({"id": q["id"], "ok": False, "error": "held"}), flush=True)
    else:
        print(json.dumps({"id": q["id"], "ok": True, "name": "odd", "features": []}), flush=True)
`
	if err := os.WriteFile(script, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	r := command(t, lockcheck, "run", "--on", "docker", "--fault", "none", "--clients", "2", "--acquires", "2",
		"--worker", "python3 "+script, "--out", filepath.Join(dir, "out"))
	if r.code != unproven {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if !strings.Contains(r.stderr+r.stdout, "something is wrong here") {
		t.Errorf("the worker's log is not shown:\n%s%s", r.stdout, r.stderr)
	}
	nothingLeft(t, lockcheck)
}

// A worker that counts wrongly, or speaks another protocol, proves nothing about its
// lock.
func TestAWorkerThatDoesNotKeepToTheProtocol(t *testing.T) {
	t.Parallel()
	dockertest.Program(t, "python3")
	lockcheck := binary(t)
	for _, tt := range []struct{ name, does, want string }{
		{"ids", `print(json.dumps({"id": q["id"] + (n > 2), "ok": True}), flush=True)`, `"id": 4`},
		{"version", `print(json.dumps({"id": q["id"], "ok": True, "protocol": 2}), flush=True)`, `"protocol": 2`},
		{"first line", `print("ready", flush=True)`, `"ready"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := t.TempDir()
			text := "import json, sys\nn = 0\nfor line in sys.stdin:\n    q = json.loads(line)\n    n += 1\n    " + tt.does + "\n"
			script := filepath.Join(out, "worker.py")
			if err := os.WriteFile(script, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			command(t, lockcheck, "run", "--on", "docker", "--fault", "none", "--clients", "2", "--acquires", "4", "--seed", "1",
				"--worker", "python3 "+script, "--out", filepath.Join(out, "out")).wants(t, usage, "does not keep to the protocol", tt.want, "expected")
		})
	}
	nothingLeft(t, lockcheck)
}

func TestWithoutAnEngine(t *testing.T) {
	lockcheck := binary(t)
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
	for _, args := range []string{"case --on docker", "run redis-set-lua --on docker", "clean"} {
		r := command(t, lockcheck, strings.Fields(args)...)
		r.wants(t, unavailable, "no Docker engine answers", "DOCKER_HOST")
	}
}

func TestAFaultThatIsTooSlowForTheSessions(t *testing.T) {
	dockertest.Require(t)
	lockcheck(t, strings.Fields("run zk-recipe --on docker --fault server-jump")...).
		wants(t, usage, "none of these faults applies", "too slow for the sessions of zk-recipe")
}

// A lock on an ensemble keeps its promise while members die, the leader among them.
func TestALockOnAnEnsembleThatLosesMembers(t *testing.T) {
	t.Parallel()
	lockcheck, out := binary(t), t.TempDir()
	r := command(t, lockcheck, "run", "zk-recipe", "--on", "docker", "--fault", "failover", "--runs", "3", "--fencing",
		"--promise", "fencing,resource,ownership", "--out", out)
	r.wants(t, held, "ownership        valid", "fencing          valid", "failover in")
	// Whether a client wants the lock after the last member is back is up to real time.
	if strings.Contains(r.stdout, "✗ liveness") {
		t.Errorf("liveness is violated:\n%s", r.stdout)
	}
	nothingLeft(t, lockcheck)
}

func TestContentionOnDocker(t *testing.T) {
	lockcheck, out := binary(t), t.TempDir()
	r := command(t, lockcheck, "bench", "contention", "--on", "docker", "--clients", "1,3", "--for", "1s", "--out", out)
	r.wants(t, held, "on a real Redis server", "cores", "contention-docker.svg")
	if _, err := os.Stat(filepath.Join(out, "contention-docker.svg")); err != nil {
		t.Error(err)
	}
	command(t, lockcheck, "bench", "contention", "--on", "docker", "--seed", "2").wants(t, usage, "real time does not repeat")
	nothingLeft(t, lockcheck)
}

func TestFairnessOnDocker(t *testing.T) {
	lockcheck, out := binary(t), t.TempDir()
	r := command(t, lockcheck, "bench", "fairness", "--on", "docker", "--clients", "2,4", "--for", "3s", "--out", out)
	r.wants(t, held, "on a real MySQL server", "cores", "fairness-docker.svg")
	if _, err := os.Stat(filepath.Join(out, "fairness-docker.svg")); err != nil {
		t.Error(err)
	}
	for args, words := range map[string]string{"--seed 2": "real time does not repeat", "--clients 129": "from 1 to 128"} {
		command(t, lockcheck, append([]string{"bench", "fairness", "--on", "docker"}, strings.Fields(args)...)...).wants(t, usage, words)
	}
	nothingLeft(t, lockcheck)
}

func TestTheHerdOnDocker(t *testing.T) {
	lockcheck, out := binary(t), t.TempDir()
	r := command(t, lockcheck, "bench", "herd", "--on", "docker", "--clients", "2,4", "--for", "1s", "--out", out)
	r.wants(t, held, "on a real ZooKeeper ensemble", "cores", "N^2.0", "herd-docker.svg")
	if _, err := os.Stat(filepath.Join(out, "herd-docker.svg")); err != nil {
		t.Error(err)
	}
	for args, words := range map[string]string{
		"--seed 2": "real time does not repeat", "--clients 129": "from 1 to 128", "--lease 20s": "from 1s to 10s",
	} {
		command(t, lockcheck, append([]string{"bench", "herd", "--on", "docker"}, strings.Fields(args)...)...).wants(t, usage, words)
	}
	nothingLeft(t, lockcheck)
}

// The shipped worker finds the master through the links that lockcheck can disturb: the
// Sentinels name no other addresses.
func TestTheExampleWorkerSurvivesAFailover(t *testing.T) {
	t.Parallel()
	dockertest.Program(t, "python3")
	worker, err := filepath.Abs("../../examples/workers/python/worker.py")
	if err != nil {
		t.Fatal(err)
	}
	r := command(t, built(t), "run", "--worker", "python3 "+worker, "--on", "docker", "--fault", "failover", "--acquires", "5",
		"--promise", "liveness", "--out", t.TempDir())
	if strings.Contains(r.stdout, "never granted") || r.code == violated {
		t.Errorf("exit code %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
}

// A lock whose release removes any entry, even another client's, passes no suite:
// either a lease that ran out during a hold shows the violation, or the cell is
// untested.
func TestABrokenWorkerPassesNoSuite(t *testing.T) {
	t.Parallel()
	dockertest.Program(t, "python3")
	lockcheck, dir := binary(t), t.TempDir()
	script, err := filepath.Abs(filepath.Join("testdata", "setnx.py"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, suite.File)
	text := "lockcheck: 1\nlocks:\n  - name: mine\n    worker: python3 " + script + "\n    faults: [pause]\n    promises: [exclusion]\n    runs: 2\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	r := inFolder(t, dir, lockcheck, "suite", "--seed", "1")
	if r.code != violated && (r.code != unproven || !strings.Contains(r.stdout, "not tested: no lease ran out")) {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	nothingLeft(t, lockcheck)
}
