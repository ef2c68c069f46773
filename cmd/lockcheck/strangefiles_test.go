package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/workloads"
)

// strangeSchedule writes a schedule that somebody has changed or made up, and returns
// its name. The unchanged run violates ownership.
func strangeSchedule(t *testing.T, name string, change func(*harness.Plan)) string {
	t.Helper()
	pastRun(t, "strange")
	plan, err := rundir.ReadPlan(filepath.Join("strange", scheduleFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll("strange"); err != nil {
		t.Fatal(err)
	}
	change(plan)
	var b strings.Builder
	if err := plan.Write(&b); err != nil {
		t.Fatal(err)
	}
	write(t, name, b.String())
	return name
}

// withWorker gives a plan a worker.
func withWorker(p *harness.Plan) {
	p.On, p.Choices, p.Lock, p.Worker = "docker", nil, "redis-set-del", []string{"touch", "it ran"}
}

// No name in a schedule can write outside the directory for output.
func TestNamesInAScheduleStayBelowOut(t *testing.T) {
	for name, change := range map[string]func(*harness.Plan){
		"a case":           func(p *harness.Plan) { p.Case = "../../x" },
		"an absolute case": func(p *harness.Plan) { p.Case = "/tmp/x" },
		"a case in parts":  func(p *harness.Plan) { p.Case = "a/../../../x" },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "a", "b", "c")
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			t.Chdir(dir)
			file := strangeSchedule(t, "schedule.json", change)
			for command, code := range map[string]int{"replay": violated, "shrink": held} {
				lockcheck(t, command, file, "--out", "out").wants(t, code)
			}
			inside := 0
			if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
				rel, relErr := filepath.Rel(dir, path)
				switch {
				case err != nil || d.IsDir() || rel == "schedule.json":
					return err
				case relErr != nil || !strings.HasPrefix(rel, "out"+string(filepath.Separator)):
					t.Errorf("it has written %s", path)
				}
				inside++
				return nil
			}); err != nil || inside < len(rundir.Files) {
				t.Errorf("%d files, %v", inside, err)
			}
		})
	}
}

// Neither can the name of a suite's entry.
func TestTheDirectoryOfARunHasOnePart(t *testing.T) {
	for _, lock := range []string{"../../x", "our lock/v2", `..\x`} {
		if name := rundir.Name(&harness.Plan{Lock: lock, Seed: 1}); !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
			t.Errorf("%q: %q", lock, name)
		}
	}
}

// The worker of a schedule is a command from whoever wrote the schedule. It runs only
// if a flag allows it, or if the suite has the same command.
func TestTheWorkerOfAScheduleRunsOnlyWhereItIsAllowed(t *testing.T) {
	t.Chdir(t.TempDir())
	file := strangeSchedule(t, "kept/schedule.json", withWorker)
	started := 0
	e := &engine{seen: func(p *harness.Plan) {
		if p.Worker != nil {
			started++
		}
	}}
	for _, command := range []string{"replay", "shrink"} {
		e.runs(t, command, file, "--out", "out").wants(t, usage, filepath.FromSlash(file)+" starts a worker: touch 'it ran'", "--allow-worker allows it")
	}
	e.runs(t, "shrink", file, "--allow-worker", "--out", "out").wants(t, usage, "cannot be shrunk")
	if started != 0 {
		t.Fatal("it was started")
	}
	e.runs(t, "replay", file, "--allow-worker", "--out", "out")
	if started == 0 {
		t.Error("it was not started, and was allowed")
	}
	if err := os.Rename("kept", regressionsDir); err != nil {
		t.Fatal(err)
	}
	const entry = "runs: 1\nlocks:\n  - {name: mine, worker: %, faults: none, promises: exclusion}\n"
	for worker, may := range map[string]bool{
		"touch 'it ran'": true,
		"touch it ran":   false,
		"touch":          false,
		"true":           false,
	} {
		started = 0
		of := func(p *harness.Plan) {
			if p.Worker != nil && p.Cell == "" {
				started++
			}
		}
		e.seen = of
		r, _ := suiteRun(t, e, strings.Replace(entry, "%", `"`+worker+`"`, 1))
		if !may {
			r.wants(t, usage, "that no entry of the suite names: touch 'it ran'", filepath.Join(regressionsDir, scheduleFile))
		}
		if (started > 0) != may {
			t.Errorf("%s: started %d times\n%s", worker, started, r.stderr)
		}
	}
}

// A schedule that no environment can carry out is rejected in one line, also among kept
// counterexamples.
func TestAStrangeScheduleIsAnOrdinaryError(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*harness.Plan)
		says   string
	}{
		"replicas":            {func(p *harness.Plan) { p.Server.Replicas = 6 }, "replicas: a node can have up to 5"},
		"replicas below zero": {func(p *harness.Plan) { p.Server.Replicas = -7 }, "replicas: a node can have up to 5"},
		"nodes":               {func(p *harness.Plan) { p.Server.Nodes = 300_000_000 }, "nodes: there can be up to 9"},
		"a worker on sim": {func(p *harness.Plan) {
			p.Lock, p.Worker = "theirs", []string{"true"}
		}, "does not run on sim"},
		"a worker beside a lock": {func(p *harness.Plan) { p.Worker = []string{"true"} }, "does not run on sim"},
		"a worker of nothing":    {func(p *harness.Plan) { p.Worker = []string{""} }, "worker: it has no command"},
		"shrunk for a path":      {func(p *harness.Plan) { p.Shrunk = &harness.Shrunk{For: checker.Property("../x")} }, "there is no such property"},
		"clients": {func(p *harness.Plan) {
			for i := len(p.Clients); i < 100_000; i++ {
				p.Clients = append(p.Clients, fmt.Sprint("c", i+1))
			}
		}, "clients: 100000, and there can be up to 200"},
		"acquires": {func(p *harness.Plan) { p.Acquires = 1_000_000_000 }, "acquires of a client: 1000000000, and there can be up to 1000"},
		"faults": {func(p *harness.Plan) {
			p.Faults = slices.Repeat([]faults.Injection{{Fault: "pause", On: p.Clients[:1], At: time.Second, For: time.Second}}, 100_000)
		}, "faults: 100000, and there can be up to 10000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			file := strangeSchedule(t, filepath.Join(regressionsDir, "k", scheduleFile), tt.change)
			for _, command := range []string{"replay", "shrink"} {
				lockcheck(t, command, file, "--allow-worker", "--out", "out").wants(t, usage, tt.says)
			}
			r, _ := suiteRun(t, new(engine), quick)
			r.wants(t, usage, tt.says)
		})
	}
}

// A name in a schedule cannot control the terminal of the user who replays it.
func TestAStrangeNameIsPrintedWithoutItsEscapes(t *testing.T) {
	const name = "\x1b]0;title\x07\x1b[2Jc1\rx"
	for what, change := range map[string]func(*harness.Plan){
		"a client of a step": func(p *harness.Plan) {
			p.Workload, p.Scripts = "", slices.Repeat([]workloads.Script{{Client: name, Steps: []workloads.Step{{Do: "sing"}}}}, len(p.Clients))
		},
		"a worker": func(p *harness.Plan) {
			withWorker(p)
			p.Worker = []string{name}
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Chdir(t.TempDir())
			file := strangeSchedule(t, scheduleFile, change)
			for _, command := range []string{"replay", "shrink"} {
				r := lockcheck(t, command, file, "--out", "out")
				r.wants(t, usage, "c1")
				if out := r.stdout + r.stderr; strings.ContainsAny(out, "\x1b\x07\r") {
					t.Errorf("%s: %q", command, out)
				}
			}
		})
	}
}

func TestNumbersBelowZeroAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	file := strangeSchedule(t, "s.json", func(*harness.Plan) {})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, "s.json", strings.Replace(string(text), `"lockcheck_schedule": 1`, `"lockcheck_schedule": -1`, 1))
	lockcheck(t, "replay", "s.json").wants(t, usage, "a schedule of format -1")
	for _, header := range []string{`{"lockcheck":1}` + "\n", ""} {
		write(t, "h.jsonl", header+`{"index":-1,"process":1,"type":"invoke","f":"acquire"}`+"\n"+`{"index":0,"process":1,"type":"ok","f":"acquire"}`+"\n")
		lockcheck(t, "check", "h.jsonl").wants(t, usage, "index -1")
	}
	write(t, "h.edn", "{:index -1, :process 1, :type :invoke, :f :acquire}\n{:index 0, :process 1, :type :ok, :f :acquire}\n")
	lockcheck(t, "check", "h.edn").wants(t, usage, "index -1")
}

// A result may come from anybody, and so may links below it: merging never copies other
// files through them.
func TestMergeCopiesNothingThatALinkLeadsTo(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, run string){
		"a history": func(t *testing.T, run string) {
			link(t, "../../secret/file", filepath.Join(run, historyFile))
		},
		"a story": func(t *testing.T, run string) {
			link(t, "../../secret/file", filepath.Join(run, storyFile))
		},
		"a directory": func(t *testing.T, run string) {
			if err := os.Rename(run, "elsewhere"); err != nil {
				t.Fatal(err)
			}
			link(t, "../elsewhere", run)
		},
		"a file of somebody else's": func(t *testing.T, run string) {
			write(t, filepath.Join(run, historyFile), "mine\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			lockcheck(t, strings.Fields("run redis-set-lua --fault pause --seed 1 --runs 20 --promise exclusion --no-shrink --shard 1/1 --out s")...).wants(t, violated)
			write(t, "secret/file", "secret\n")
			text, err := os.ReadFile("s/result.json")
			if err != nil {
				t.Fatal(err)
			}
			runs := map[string]bool{}
			for _, m := range regexp.MustCompile(`"([^"]*)/history\.jsonl"`).FindAllStringSubmatch(string(text), -1) {
				runs[filepath.Join("s", filepath.Base(m[1]))] = true
			}
			for run := range runs {
				change(t, run)
				break
			}
			r := lockcheck(t, "merge", "s", "--out", "merged")
			r.wants(t, violated)
			if !strings.Contains(r.stderr, "its counterexample is named, and not kept") {
				t.Errorf("it is not said:\n%s", r.stderr)
			}
			if list, err := os.ReadDir("merged"); err != nil || len(list) != len(runs) || list[len(list)-1].Name() != results.File {
				t.Errorf("merged has %v, %v", list, err)
			}
		})
	}
}

// link replaces a file with a link to another.
func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.FromSlash(to), path); err != nil {
		t.Fatal(err)
	}
}

// An endless file is an error for every command that reads it.
func TestAFileWithoutAnEndIsAnError(t *testing.T) {
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err != nil {
		t.Skipf("this system has no file without an end: %v", err)
	}
	out := t.TempDir()
	for _, args := range [][]string{
		{"replay", endless},
		{"shrink", endless},
		{"suite", endless},
		{"check", endless},
		{"run", "redis-set-lua", "--runs", "1", "--baseline", endless},
	} {
		lockcheck(t, append(args, "--out", out)...).wants(t, usage)
	}
}
