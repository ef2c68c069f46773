package lockcheck

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
)

// The documentation of Promise names every property.
func TestPromiseNamesAllProperties(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "options.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	text := file.Scope.Lookup("Promise").Decl.(*ast.FuncDecl).Doc.Text()
	_, list, _ := strings.Cut(text, ":")
	list, _, _ = strings.Cut(list, ".")
	for _, p := range checker.Properties {
		if !strings.Contains(list+",", " "+string(p)+",") && !strings.Contains(list+",", "\n"+string(p)+",") {
			t.Errorf("%s is missing in %q", p, list)
		}
	}
}

// Each example is a whole file, which godoc shows with the lock.
func TestExamplesAreWholeFiles(t *testing.T) {
	var names []string
	files, _ := filepath.Glob("example_*_test.go")
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range doc.Examples(file) {
			if names = append(names, e.Name); !isFile(e.Code) || e.Doc == "" {
				t.Errorf("%s: the example %s is no whole file with a comment: %T", name, e.Name, e.Code)
			}
		}
	}
	if want := []string{"_naive", "_redsync", "_repaired"}; !slices.Equal(names, want) {
		t.Errorf("the examples are %q, want %q", names, want)
	}
}

func isFile(n ast.Node) bool {
	_, ok := n.(*ast.File)
	return ok
}
