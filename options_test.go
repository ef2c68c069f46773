package lockcheck

import (
	"go/ast"
	"go/parser"
	"go/token"
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
	doc := file.Scope.Lookup("Promise").Decl.(*ast.FuncDecl).Doc.Text()
	_, list, _ := strings.Cut(doc, ":")
	list, _, _ = strings.Cut(list, ".")
	for _, p := range checker.Properties {
		if !strings.Contains(list+",", " "+string(p)+",") && !strings.Contains(list+",", "\n"+string(p)+",") {
			t.Errorf("%s is missing in %q", p, list)
		}
	}
}
