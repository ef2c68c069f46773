package deploy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// runner runs a job of the workflow like GitHub's runner. It runs the steps in order,
// with their values in the environment; after a failure it runs only the steps with
// "always". Scripts and the action run unchanged. Artifacts are directories.
type runner struct {
	dir       string            // of the job; contains the checkout
	artifacts string            // of the workflow run
	path      string            // PATH at the start of a job
	values    map[string]string // of expressions
	said      strings.Builder
	summary   strings.Builder // of the job
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// filled returns text with the values of its expressions. An expression is a list of
// names, and the first name with a value counts.
func (r *runner) filled(t *testing.T, text string, values map[string]string) string {
	t.Helper()
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		for name := range strings.SplitSeq(expression.FindStringSubmatch(e)[1], " || ") {
			value, ok := values[name]
			if !ok && !strings.HasPrefix(name, "steps.") { // the value of a step that did not run is empty
				t.Fatalf("%s has no known value", e)
			}
			if value != "" {
				return value
			}
		}
		return ""
	})
}

// steps runs the steps of a job or an action, and reports whether all of them succeeded.
func (r *runner) steps(t *testing.T, steps []step, values map[string]string, path string) (ok bool) {
	t.Helper()
	ok = true
	for _, s := range steps {
		if !ok && s.If != "always()" {
			continue
		}
		with := map[string]string{}
		for name, value := range s.With {
			with[name] = r.filled(t, value, values)
		}
		name, _, _ := strings.Cut(s.Uses, "@")
		switch name {
		case "":
			went := false
			path, went = r.script(t, s, values, path)
			ok = ok && went
		case "actions/checkout": // the directory is complete already
		case "actions/upload-artifact":
			r.copy(t, filepath.Join(r.dir, with["path"]), filepath.Join(r.artifacts, with["name"]))
			if _, err := os.Stat(filepath.Join(r.artifacts, with["name"])); err == nil {
				values[fmt.Sprintf("steps.%s.outputs.artifact-url", s.ID)] = "https://github.example/artifacts/" + with["name"]
			}
		case "actions/download-artifact":
			found, err := filepath.Glob(filepath.Join(r.artifacts, with["pattern"]))
			must(t, err)
			for _, dir := range found {
				r.copy(t, dir, filepath.Join(r.dir, with["path"], filepath.Base(dir)))
			}
		case "lockcheck/lockcheck/deploy/github":
			ok = r.action(t, with, path) && ok
		default:
			t.Fatalf("the runner does not support %s", s.Uses)
		}
	}
	return ok
}

// action runs the steps of the action with its inputs.
func (r *runner) action(t *testing.T, with map[string]string, path string) (ok bool) {
	t.Helper()
	var a action
	load(t, actionFile, &a)
	values := map[string]string{}
	for name, in := range a.Inputs {
		values["inputs."+name] = in.Default
	}
	for name, value := range r.values {
		if strings.HasPrefix(name, "inputs.") {
			values[name] = value
		}
	}
	for name, value := range with {
		values["inputs."+name] = value
	}
	ok = r.steps(t, a.Runs.Steps, values, path)
	for name, out := range a.Outputs {
		r.values["outputs."+name] = r.filled(t, out.Value, values)
	}
	return ok
}

// script runs a script unchanged, and reads the files that it wrote for the runner.
func (r *runner) script(t *testing.T, s step, values map[string]string, path string) (newPath string, ok bool) {
	t.Helper()
	temp := t.TempDir()
	output, paths, summary := filepath.Join(temp, "output"), filepath.Join(temp, "path"), filepath.Join(temp, "summary")
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "PATH="+path, "GITHUB_ACTIONS=true", "GITHUB_OUTPUT="+output, "GITHUB_PATH="+paths,
		"GITHUB_STEP_SUMMARY="+summary, "GITHUB_WORKSPACE="+r.dir, "RUNNER_TEMP="+temp, "RUNNER_OS="+runnerOS, "RUNNER_ARCH="+runnerArch)
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+r.filled(t, value, values))
	}
	said, code := do(t, cmd)
	r.said.WriteString(said)
	if code != 0 {
		fmt.Fprintf(&r.said, "Error: Process completed with exit code %d.\n", code)
	}
	for line := range strings.Lines(written(t, output)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[fmt.Sprintf("steps.%s.outputs.%s", s.ID, name)] = value
	}
	for line := range strings.Lines(written(t, paths)) {
		path = strings.TrimSpace(line) + string(os.PathListSeparator) + path
	}
	r.summary.WriteString(written(t, summary))
	return path, code == 0
}

// written returns the text that a script wrote to a file, or "".
func written(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// does runs a command of a page in the checkout of a user who looks at the run. gh
// downloads its artifacts, and … is a path that depends on the run.
func (r *runner) does(t *testing.T, command string) (output string, code int) {
	t.Helper()
	if m := download.FindStringSubmatch(command); m != nil {
		r.copy(t, filepath.Join(r.artifacts, m[1]), filepath.Join(r.dir, m[2]))
		return "", 0
	}
	cmd := exec.Command("bash", "-ec", strings.ReplaceAll(command, "…", "*/*"))
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), "PATH="+r.path)
	return do(t, cmd)
}

var download = regexp.MustCompile(`^gh run download RUN --name (\S+) --dir (\S+)$`)

func (r *runner) copy(t *testing.T, from, to string) {
	t.Helper()
	if _, err := os.Stat(from); err != nil {
		return
	}
	must(t, os.CopyFS(to, os.DirFS(from)))
}
