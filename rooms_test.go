// Package lockcheck_test holds what is true of the tree as a whole.
package lockcheck_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

const module = "github.com/lockcheck/lockcheck/"

// rooms are the packages from the ground up: each may import those before it.
var rooms = []string{
	"examples", "internal/alltests", "internal/browsertest", "internal/rapidtest",
	"history", "history/formats", "faults", "checker", "checker/models", "internal/exit", "locks", "internal/lockstest",
	"internal/stores/redis", "internal/stores/redis/client", "internal/stores/redis/model", "internal/stores/redis/wire", "internal/stores/redis/porttest",
	"internal/stores/zookeeper", "internal/stores/zookeeper/jute", "internal/stores/zookeeper/client", "internal/stores/zookeeper/model", "internal/stores/zookeeper/porttest", "internal/stores/zookeeper/wire",
	"internal/stores/mysql", "internal/stores/mysql/client", "internal/stores/mysql/model", "internal/stores/mysql/porttest",
	"locks/redis", "locks/zookeeper", "locks/mysql", "workloads", "internal/catalogue", "internal/endpoints", "internal/names",
	"internal/env", "internal/harness", "internal/explore",
	"internal/sim", "internal/userlock", "internal/bubble", "internal/bubble/bubbletest", "internal/worker", "internal/workercheck", "internal/clients", "internal/external", "internal/docker", "internal/docker/dockertest",
	"internal/layout", "report", "internal/rundir", "internal/terminal", "internal/results", "internal/index", "internal/outdir", "internal/batch", "internal/gotest", "internal/environments", "internal/suite", "internal/ask", "internal/suiterun", "internal/summary", "internal/judging", "internal/merge", "internal/replay", "internal/cases", "internal/serve", "internal/ci", "internal/chart", "internal/bench", "internal/openfiles",
	"cmd/lockcheck", "cmd/release", ".", "docker",
}

// only are rooms that may import nothing of ours but what is listed.
var only = map[string][]string{
	"history":            {},
	"history/formats":    {"history"},
	"faults":             {"history"},
	"checker":            {"history", "faults"},
	"checker/models":     {"history", "faults", "checker"},
	"locks":              {},
	"internal/lockstest": {"locks"},
	"locks/redis":        {"locks", "internal/stores/redis"},
	"locks/zookeeper":    {"locks", "internal/stores/zookeeper"},
	"locks/mysql":        {"locks", "internal/stores/mysql"},
	"internal/names":     {"checker", "faults", "workloads", "internal/catalogue"},
	"internal/exit":      {"checker"},
	"internal/suite":     {"checker", "faults", "workloads", "internal/catalogue", "internal/endpoints", "internal/names", "internal/harness"},
	"report":             {"history", "faults", "checker"},
	"internal/chart":     {},
	"internal/layout":    {},
	"internal/terminal":  {"history", "checker", "report", "internal/exit", "internal/harness", "internal/layout", "internal/names", "internal/rundir"},
	"internal/rundir":    {"history", "checker", "internal/catalogue", "report", "internal/exit", "internal/harness", "internal/layout"},
	"internal/harness":   {"history", "checker", "locks", "faults", "workloads", "internal/catalogue", "internal/names", "internal/env"},
	"internal/explore":   {"history", "checker", "faults", "workloads", "internal/catalogue", "internal/names", "internal/env", "internal/harness"},
	"internal/results":   {"history", "checker", "faults", "internal/catalogue", "internal/names", "internal/env", "internal/explore", "internal/exit", "internal/layout", "internal/rundir"},
	"internal/index":     {"checker", "internal/names", "report", "internal/rundir", "internal/results"},
	"internal/outdir":    {"history", "checker", "internal/explore", "internal/index", "internal/exit", "internal/harness", "internal/names", "internal/rundir", "internal/results", "internal/terminal"},
	"internal/batch":     {"checker", "faults", "workloads", "internal/catalogue", "internal/exit", "internal/env", "internal/harness", "internal/explore", "internal/rundir", "internal/terminal", "internal/results", "internal/outdir"},
	"internal/gotest":    {"internal/endpoints", "internal/userlock", "internal/batch"},
	"internal/ask":       {"history", "checker", "faults", "workloads", "internal/catalogue", "internal/endpoints", "internal/exit", "internal/names", "internal/harness", "internal/explore", "internal/rundir", "internal/batch", "internal/suite"},
	"internal/suiterun":  {"history", "checker", "faults", "workloads", "internal/catalogue", "internal/endpoints", "internal/exit", "internal/names", "internal/harness", "internal/explore", "internal/rundir", "internal/terminal", "internal/results", "internal/index", "internal/outdir", "internal/batch", "internal/suite", "internal/ask"},
	"internal/summary":   {"checker", "faults", "internal/catalogue", "internal/exit", "internal/names", "internal/harness", "internal/explore", "internal/layout", "internal/rundir", "internal/terminal", "internal/results", "internal/index", "internal/outdir", "internal/batch", "internal/suite", "internal/ask"},
	"internal/judging":   {"history", "history/formats", "checker", "checker/models", "internal/exit", "internal/names", "internal/layout", "report", "internal/rundir", "internal/terminal", "internal/results", "internal/ask"},
	"internal/merge":     {"internal/exit", "internal/rundir", "internal/terminal", "internal/results", "internal/outdir"},
	"internal/replay":    {"history", "checker", "internal/catalogue", "internal/endpoints", "internal/exit", "internal/names", "internal/harness", "internal/rundir", "internal/terminal", "internal/outdir", "internal/batch", "internal/ask", "internal/summary", "internal/judging"},
	"internal/cases":     {"checker", "faults", "internal/catalogue", "internal/exit", "internal/names", "internal/harness", "internal/layout", "report", "internal/rundir", "internal/batch", "internal/ask", "internal/summary", "internal/judging", "internal/terminal", "internal/results", "internal/index"},
	"internal/serve":     {"checker", "internal/exit", "internal/names", "report", "internal/rundir", "internal/terminal", "internal/results", "internal/index", "internal/outdir"},
	"internal/ci":        {"checker", "internal/names", "internal/results"},
	"internal/openfiles": {},
}

// source is one Go file that is no test.
type source struct {
	room string
	path string
	file *ast.File
	set  *token.FileSet
}

func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "tools" || d.Name() == "examples" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		list = append(list, source{filepath.ToSlash(filepath.Dir(path)), path, file, set})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestImportsGoUpwardsOnly(t *testing.T) {
	for _, s := range sources(t) {
		at := slices.Index(rooms, s.room)
		if at < 0 {
			t.Errorf("%s: the room %s is not in the list", s.path, s.room)
			continue
		}
		for _, imp := range s.file.Imports {
			room, ours := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), module)
			if !ours {
				continue
			}
			if i := slices.Index(rooms, room); i < 0 || i >= at {
				t.Errorf("%s imports %s, which is not below it", s.path, room)
			}
			if allowed, ok := only[s.room]; ok && !slices.Contains(allowed, room) {
				t.Errorf("%s imports %s; %s may import %q only", s.path, room, s.room, allowed)
			}
		}
	}
}

// Exploring in virtual time needs no containers.
func TestExploringInTheSimulatorLinksNoContainers(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./internal/explore", "./internal/sim", "./internal/suiterun", "./internal/results").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		if strings.Contains(pkg, "testcontainers") || strings.Contains(pkg, "/moby/") || strings.HasPrefix(pkg, module+"internal/docker") {
			t.Errorf("a room that explores in any environment depends on %s", pkg)
		}
	}
}

// A user's test in virtual time links neither containers nor our client libraries: the
// import of package docker adds them.
func TestTheGoAPILinksNoServers(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		for _, not := range []string{"testcontainers", "/moby/", module + "internal/docker", "redis/go-redis", "go-zookeeper/zk", "go-sql-driver/mysql"} {
			if strings.Contains(pkg, not) {
				t.Errorf("package lockcheck depends on %s", pkg)
			}
		}
	}
}

// Package docker is imported for its init, which is the only one.
func TestOnlyPackageDockerHasAnInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && (f.Name.Name == "init") != (s.path == "docker/docker.go") {
				t.Errorf("%s: %s", s.set.Position(f.Pos()), f.Name.Name)
			}
		}
	}
}

// Lock code blocks in its Host and its port, and nowhere else: else virtual
// time stands still, and a pause does not stop all of a client.
func TestLockCodeBlocksInHostAndPortOnly(t *testing.T) {
	for _, s := range sources(t) {
		if !strings.HasPrefix(s.room, "locks/") {
			continue
		}
		for _, imp := range s.file.Imports {
			switch path := strings.Trim(imp.Path.Value, `"`); {
			case path == "context", path == "errors", path == "fmt", path == "time", path == "strings", path == "strconv", path == "cmp", path == "slices":
			case strings.HasPrefix(path, module):
			default:
				t.Errorf("%s imports %s", s.path, path)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			bad := ""
			switch n := n.(type) {
			case *ast.GoStmt:
				bad = "a go statement"
			case *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
				bad = "a channel"
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					bad = "a channel"
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "recover" {
					bad = "recover, which would swallow the end of a killed task"
				}
			case *ast.SelectorExpr:
				pkg, ok := n.X.(*ast.Ident)
				if !ok {
					break
				}
				switch call := pkg.Name + "." + n.Sel.Name; {
				case pkg.Name == "context" && n.Sel.Name != "Context",
					slices.Contains([]string{"time.Sleep", "time.Now", "time.After", "time.AfterFunc", "time.NewTimer", "time.NewTicker", "time.Since", "time.Until", "time.Tick"}, call):
					bad = call
				}
			}
			if bad != "" {
				t.Errorf("%s: %s", s.set.Position(n.Pos()), bad)
			}
			return true
		})
	}
}

// Below cmd only the catalogue knows the ids of cases: other code must not depend on the
// name of a case.
func TestOnlyTheCatalogueKnowsCases(t *testing.T) {
	for _, s := range sources(t) {
		if s.room == "internal/catalogue" || strings.HasPrefix(s.room, "cmd/") {
			continue
		}
		text, err := os.ReadFile(s.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range catalogue.Cases {
			if strings.Contains(string(text), c.ID) {
				t.Errorf("%s names the case %s", s.path, c.ID)
			}
		}
	}
}

// What rapid.Check draws is new in each run.
func TestDrawnInputsAreTheSameInEachRun(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || filepath.ToSlash(filepath.Dir(path)) == "internal/rapidtest" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range []string{"Check", "MakeCheck"} {
			if strings.Contains(string(text), "rapid."+name+"(") {
				t.Errorf("%s calls rapid.%s: call rapidtest.Check instead", path, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
