package deploy_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// step is one step of an action or of a workflow's job.
type step struct {
	ID, Name, If, Shell, Uses, Run string
	With, Env                      map[string]string
}

// action is action.yml.
type action struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []step
	}
}

// workflow is lockcheck.yml.
type workflow struct {
	Jobs struct{ Shard, Merge job }
}

type job struct {
	If       string
	Strategy struct{ Matrix struct{ Shard []string } }
	Steps    []step
}

func load(t *testing.T, path string, into any) (text string) {
	t.Helper()
	text = readText(t, path)
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return text
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

const (
	actionFile   = "github/action.yml"
	workflowFile = "github/lockcheck.yml"
	page         = "github/README.md"
)

// ours is the workflow's reference to the action.
const ours = "lockcheck/lockcheck/deploy/github@v" + harness.Version

// pinned matches references to other actions: by commit, with the version.
var pinned = regexp.MustCompile(`@[0-9a-f]{40} # (v\d+)\.\d+\.\d+`)

// GitHub puts an expression into a script before the shell reads it, so a branch name
// with shell commands would run. In the environment it is only a value.
func TestValuesReachTheActionsScriptsThroughTheEnvironment(t *testing.T) {
	var a action
	text := load(t, actionFile, &a)
	if a.Runs.Using != "composite" {
		t.Errorf("the action uses %s", a.Runs.Using)
	}
	for _, s := range a.Runs.Steps {
		if s.Run != "" && (s.Shell != "bash" || strings.Contains(s.Run, "${{")) {
			t.Errorf("%s: shell %q, script\n%s", s.Name, s.Shell, s.Run)
		}
		if s.Uses != "" && s.If != "always()" {
			t.Errorf("%s: results are kept of what fails, too", s.Name)
		}
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`\$\{\{ inputs\.([a-z-]+) \}\}`).FindAllStringSubmatch(text, -1) {
		used[m[1]] = true
		if _, ok := a.Inputs[m[1]]; !ok {
			t.Errorf("there is no input %s", m[1])
		}
	}
	for name := range a.Inputs {
		if !used[name] {
			t.Errorf("nothing uses the input %s", name)
		}
	}
}

func TestThePageSaysWhatTheActionTakesAndGives(t *testing.T) {
	var a action
	load(t, actionFile, &a)
	rows := map[string]bool{}
	for line := range strings.Lines(readText(t, page)) {
		if strings.HasPrefix(line, "| `") {
			rows[strings.TrimSpace(line)] = true
		}
	}
	want := func(name, what, usual string) {
		row := "| `" + name + "` | " + what + usual + " |"
		if !rows[row] {
			t.Errorf("the page has no row %s", row)
		}
		delete(rows, row)
	}
	for name, in := range a.Inputs {
		usual := ""
		if in.Default != "" {
			usual = " (`" + in.Default + "`)"
		}
		want(name, in.Description, usual)
	}
	for name, out := range a.Outputs {
		want(name, out.Description, "")
	}
	for row := range rows {
		t.Errorf("the page has a row that nothing is like: %s", row)
	}
}

func TestWhatTheWorkflowUsesIsPinned(t *testing.T) {
	for _, file := range []string{actionFile, workflowFile} {
		for line := range strings.Lines(readText(t, file)) {
			_, uses, ok := strings.Cut(strings.TrimSpace(line), "uses: ")
			if ok && uses != ours && !pinned.MatchString(uses) {
				t.Errorf("%s uses %s, which somebody else can change", file, uses)
			}
		}
	}
	var w workflow
	text := load(t, workflowFile, &w)
	for _, s := range slices.Concat(w.Jobs.Shard.Steps, w.Jobs.Merge.Steps) {
		if s.Uses == ours && s.With["version"] != harness.Version {
			t.Errorf("the workflow installs %s, want %s", s.With["version"], harness.Version)
		}
	}
	// A tag and a release can be changed later, so both files show how to pin them.
	for _, words := range []string{"@<commit> # v" + harness.Version, "checksums: <SHA-256 of checksums.txt>"} {
		if !strings.Contains(readText(t, page), words) || !strings.Contains(text, words) {
			t.Errorf("the workflow, or its page, does not say %s", words)
		}
	}
	if !strings.Contains(text, "docker pull --quiet "+docker.DefaultBase+"\n") {
		t.Errorf("the workflow does not pull %s", docker.DefaultBase)
	}
}

// actionlint checks the workflow as GitHub does: keys, expressions, and the inputs of
// actions, ours included.
func TestTheWorkflowIsOneThatGitHubTakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	linter := filepath.Join(dir, "actionlint")
	build := exec.Command("go", "build", "-modfile=tools/go.mod", "-o", linter, "github.com/rhysd/actionlint/cmd/actionlint")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build actionlint: %v\n%s", err, out)
	}
	workflows := filepath.Join(dir, ".github", "workflows")
	for _, d := range []string{".git", ".github/workflows"} {
		must(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	must(t, os.CopyFS(filepath.Join(dir, "action"), os.DirFS("github")))
	right := pinned.ReplaceAllString(strings.ReplaceAll(readText(t, workflowFile), ours, "./action"), "@$1")
	for _, m := range []struct{ right, wrong, says string }{
		{},
		{"shard: ${{ matrix", "shrad: ${{ matrix", `input "shrad" is not defined`},
		{"path: shards", "paths: shards", `input "paths" is not defined`},
		{"${{ strategy.job-total }}", "${{ strategi.job-total }}", `undefined variable "strategi"`},
		{"${{ matrix.shard }}/", "${{ matrix.shards }}/", `property "shards" is not defined`},
		{"needs: shard", "needs: shards", `job "merge" needs job "shards"`},
		{"timeout-minutes: 45", "timeout: 45", `unexpected key "timeout"`},
		{"contents: read", "contents: reed", `"reed" is invalid`},
	} {
		if !strings.Contains(right, m.right) {
			t.Errorf("the workflow has no %q", m.right)
		}
		wrong := strings.Replace(right, m.right, m.wrong, 1)
		must(t, os.WriteFile(filepath.Join(workflows, "lockcheck.yml"), []byte(wrong), 0o644))
		lint := exec.Command(linter, "-no-color", "-shellcheck=", "-pyflakes=")
		lint.Dir = dir
		out, err := lint.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if (err == nil) != (m.says == "") || !strings.Contains(string(out), m.says) {
			t.Errorf("with %q, actionlint says %q, want %q (%v)", m.wrong, out, m.says, err)
		}
	}
}
