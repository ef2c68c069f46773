package deploy_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// The names that GitHub has for the machine of the tests.
var (
	runnerOS   = map[string]string{"linux": "Linux", "darwin": "macOS"}[runtime.GOOS]
	runnerArch = map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH]
)

// release starts a server with a release of a binary for this machine. done may change
// the files by path after the checksums were made.
func release(t *testing.T, binary []byte, done func(files map[string][]byte)) (url string) {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	must(t, err)
	w := tar.NewWriter(z)
	name := fmt.Sprintf("lockcheck_%s_%s_%s", harness.Version, runtime.GOOS, runtime.GOARCH)
	must(t, w.WriteHeader(&tar.Header{Name: name + "/lockcheck", Mode: 0o755, Size: int64(len(binary))}))
	w.Write(binary)
	must(t, w.Close())
	must(t, z.Close())
	at := "/v" + harness.Version + "/"
	files := map[string][]byte{
		at + name + ".tar.gz": b.Bytes(),
		at + "checksums.txt":  fmt.Appendf(nil, "%064d  lockcheck_other.tar.gz\n%x  %s.tar.gz\n", 0, sha256.Sum256(b.Bytes()), name),
	}
	if done != nil {
		done(files)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(file)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// newRunner returns a runner for a repository with a suite. Its docker command has no
// images, and records its arguments.
func newRunner(t *testing.T, suiteText, releases string) *runner {
	t.Helper()
	for _, program := range []string{"bash", "curl", "tar"} {
		dockertest.Program(t, program)
	}
	bin := t.TempDir()
	script := "#!/bin/sh\necho \"docker $*\"\n[ \"$1\" != image ]\n"
	must(t, os.WriteFile(filepath.Join(bin, "docker"), []byte(script), 0o755))
	r := &runner{
		artifacts: t.TempDir(), path: bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		values: map[string]string{"inputs.releases": releases},
	}
	r.checkout(t, suiteText)
	return r
}

// checkout begins a job in a new directory.
func (r *runner) checkout(t *testing.T, suiteText string) {
	t.Helper()
	r.dir = t.TempDir()
	must(t, os.WriteFile(filepath.Join(r.dir, suite.File), []byte(suiteText), 0o644))
}

const keepsItsPromise = `lockcheck: 1
runs: 400
locks:
  - lock: redis-set-lua
    faults: [pause, drop-reply]
    promises: [ownership, liveness]
`

// A suite that breaks its promise: a late release removes the entry of another client.
const breaksItsPromise = `lockcheck: 1
runs: 400
locks:
  - lock: redis-set-del
    faults: [pause]
    promises: [ownership]
`

// The whole workflow, from a release to the merged result.
func TestTheWorkflowsStepsRunAsTheyStand(t *testing.T) {
	t.Parallel()
	releases := release(t, []byte(readText(t, filepath.Join(lockcheck(t, runtime.GOOS), "lockcheck"))), nil)
	var w workflow
	load(t, workflowFile, &w)
	shards := w.Jobs.Shard.Strategy.Matrix.Shard
	for _, c := range []struct {
		name, suite string
		verdict     results.Verdict
	}{
		{"a lock that keeps its promise", keepsItsPromise, results.Held},
		{"a lock that breaks it", breaksItsPromise, results.Violated},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, c.suite, releases)
			failed := 0
			for _, shard := range shards {
				r.checkout(t, c.suite)
				r.values["matrix.shard"], r.values["strategy.job-total"] = shard, strconv.Itoa(len(shards))
				if !r.steps(t, w.Jobs.Shard.Steps, r.values, r.path) {
					failed++
				}
			}
			if (failed > 0) != (c.verdict == results.Violated) {
				t.Errorf("%d of %d shards failed\n%s", failed, len(shards), r.said.String())
			}
			if !strings.Contains(r.said.String(), "docker pull --quiet debian") {
				t.Error("the base image was not asked for")
			}
			r.checkout(t, c.suite)
			ok := r.steps(t, w.Jobs.Merge.Steps, r.values, r.path)
			d, err := results.Read(filepath.Join(r.artifacts, "lockcheck"))
			if err != nil {
				t.Fatalf("%v\n%s", err, r.said.String())
			}
			if d.Verdict != c.verdict || ok != (d.ExitCode == 0) || r.values["outputs.exit-code"] != strconv.Itoa(d.ExitCode) {
				t.Errorf("the result is %s, want %s; the job went well: %v; exit-code %q\n%s", d.Verdict, c.verdict, ok, r.values["outputs.exit-code"], r.said.String())
			}
			if d.Shards == nil || len(d.Shards.Have) != len(shards) || d.Runs%400 != 0 {
				t.Errorf("%d runs of the shards %+v", d.Runs, d.Shards)
			}
			if _, err := os.Stat(filepath.Join(r.artifacts, "lockcheck", index.File)); err != nil || !strings.Contains(r.summary.String(), "](https://github.example/artifacts/lockcheck)**") {
				t.Errorf("the pages are not linked, %v, in\n%s", err, r.summary.String())
			}
			if junit := written(t, filepath.Join(r.artifacts, "lockcheck", "junit.xml")); !strings.Contains(junit, "<testsuites") {
				t.Errorf("junit.xml is\n%s", junit)
			}
		})
	}
}

// Kept counterexamples can be downloaded even if the suite failed. Downloading the
// results of shards gets nothing else.
func TestTheActionKeepsCounterexamples(t *testing.T) {
	t.Parallel()
	path := func(r *runner) string { return lockcheck(t, runtime.GOOS) + string(os.PathListSeparator) + r.path }
	for _, dir := range []string{"regressions", "kept"} {
		r := newRunner(t, strings.Replace(breaksItsPromise, "runs: 400", "regressions: "+dir+"\nruns: 400", 1), "")
		if r.action(t, map[string]string{"regressions": dir, "artifact": "lockcheck-shard-1"}, path(r)) {
			t.Fatalf("nothing was found:\n%s", r.said.String())
		}
		found, err := filepath.Glob(filepath.Join(r.artifacts, "regressions-lockcheck-shard-1", "*", rundir.ScheduleFile))
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %q are kept, %v", dir, found, err)
		}
		var w workflow
		load(t, workflowFile, &w)
		for _, s := range w.Jobs.Merge.Steps {
			if pattern := s.With["pattern"]; pattern != "" {
				if results, _ := filepath.Glob(filepath.Join(r.artifacts, pattern)); len(results) != 1 {
					t.Errorf("results of shards are in %q", results)
				}
			}
		}
	}
	r := newRunner(t, keepsItsPromise, "")
	if ok := r.action(t, nil, path(r)); !ok {
		t.Fatalf("it did not hold:\n%s", r.said.String())
	}
	if left, _ := filepath.Glob(filepath.Join(r.artifacts, "*")); len(left) != 1 {
		t.Errorf("uploaded, though nothing was kept: %q", left)
	}
}

// A release with other checksums is not unpacked.
func TestTheActionRefusesAReleaseThatWasChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, says string
		sha256     string // input: required checksum of checksums.txt
		done       func(files map[string][]byte)
	}{
		{"another archive", "is not the one of checksums.txt", "", func(files map[string][]byte) {
			for path := range files {
				if strings.HasSuffix(path, ".gz") {
					files[path] = append(slices.Clone(files[path]), 0)
				}
			}
		}},
		{"no checksum", "not there", "", func(files map[string][]byte) {
			for path := range files {
				if strings.HasSuffix(path, ".txt") {
					files[path] = nil
				}
			}
		}},
		{"no release", "404", "", func(files map[string][]byte) { clear(files) }},
		{"another release, with its own checksums", "checksums.txt is not the one with the SHA-256 that was named", strings.Repeat("0", 64), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, keepsItsPromise, release(t, []byte("#!/bin/sh\necho run\n"), c.done))
			ok := r.action(t, map[string]string{"version": "v" + harness.Version, "checksums": c.sha256}, r.path)
			if said, code := r.said.String(), r.values["outputs.exit-code"]; ok || !strings.Contains(said, c.says) || code != "3" {
				t.Errorf("it went well: %v, exit-code %q, and said\n%s", ok, code, said)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "lockcheck-out")); err == nil {
				t.Error("the suite was run")
			}
		})
	}
}

// A release with the given checksums is used.
func TestTheActionTakesTheReleaseThatWasNamed(t *testing.T) {
	t.Parallel()
	var digest string
	releases := release(t, []byte("#!/bin/sh\necho this one was run: \"$@\"\n"), func(files map[string][]byte) {
		digest = fmt.Sprintf("%X", sha256.Sum256(files["/v"+harness.Version+"/checksums.txt"]))
	})
	r := newRunner(t, keepsItsPromise, releases)
	ok := r.action(t, map[string]string{"version": harness.Version, "checksums": digest}, r.path)
	if said := r.said.String(); !ok || !strings.Contains(said, "this one was run: suite lockcheck.yaml") {
		t.Errorf("it went well: %v, and said\n%s", ok, said)
	}
}

// Checksums without a release would check nothing, so the action fails and does not run
// the binary on PATH.
func TestTheActionTakesNoChecksumsWithoutARelease(t *testing.T) {
	t.Parallel()
	r := newRunner(t, keepsItsPromise, "")
	path := lockcheck(t, runtime.GOOS) + string(os.PathListSeparator) + r.path
	ok := r.action(t, map[string]string{"checksums": strings.Repeat("0", 64)}, path)
	said, code := r.said.String(), r.values["outputs.exit-code"]
	if ok || code != "4" || !strings.Contains(said, "name it with the input version\nError: Process completed with exit code 4.\n") {
		t.Errorf("it went well: %v, exit-code %q, and said\n%s", ok, code, said)
	}
}

// The binary on PATH is used if no release is named, and gets the further arguments.
func TestTheActionUsesTheLockcheckThatIsThere(t *testing.T) {
	t.Parallel()
	r := newRunner(t, keepsItsPromise, "")
	if r.action(t, nil, "/usr/bin:/bin") || !strings.Contains(r.said.String(), "name a release") || r.values["outputs.exit-code"] != "3" {
		t.Errorf("without one: exit-code %q\n%s", r.values["outputs.exit-code"], r.said.String())
	}
	path := lockcheck(t, runtime.GOOS) + string(os.PathListSeparator) + r.path
	if r.action(t, map[string]string{"out": "lockcheck.yaml/out"}, path) || r.values["outputs.exit-code"] != "4" {
		t.Errorf("where nothing can be written: exit-code %q\n%s", r.values["outputs.exit-code"], r.said.String())
	}
	if strings.Contains(r.summary.String(), "Pages of all cells") {
		t.Errorf("pages are linked that are not there:\n%s", r.summary.String())
	}
	if ok := r.action(t, map[string]string{"arguments": "--runs 40 --seed 7", "out": "some where"}, path); !ok {
		t.Fatalf("with one:\n%s", r.said.String())
	}
	d, err := results.Read(filepath.Join(r.artifacts, "lockcheck"))
	if err != nil || d.Runs != 80 || d.Seed != 7 {
		t.Errorf("%+v, %v", d, err)
	}
}
