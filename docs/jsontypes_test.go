package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

const module = "github.com/lockcheck/lockcheck/"

// goType names a type of the tree by its directory and its name.
type goType struct{ dir, name string }

// schema reads from the source how types are written in JSON.
type schema struct {
	t    *testing.T
	read map[string]bool // directories
	decl map[goType]declared
	text map[goType]bool // types that write themselves as a string
}

// declared is a type, and the file whose imports explain its names.
type declared struct {
	spec   *ast.TypeSpec
	doc    string
	file   *ast.File
	values []value // of a string type: its constants, if all of them have comments
}

// value is a possible value of a string type.
type value struct{ text, means string }

// field is one line of a table.
type field struct{ name, kind, there, means string }

// written are types with a format of their own in JSON.
var written = map[goType]string{
	{"history", "Fencing"}:     "boolean or string",
	{"internal/env", "Choice"}: "list: a name and an integer",
}

// basic has the names of Go's basic types, for one value and for many.
var basic = map[string][2]string{
	"string": {"string", "strings"}, "bool": {"boolean", "booleans"}, "float64": {"number", "numbers"},
	"int": {"integer", "integers"}, "int32": {"integer", "integers"}, "int64": {"integer", "integers"}, "uint64": {"integer", "integers"},
}

// find returns the declaration of a type.
func (s *schema) find(of goType) declared {
	s.t.Helper()
	if !s.read[of.dir] {
		s.read[of.dir] = true
		files, err := filepath.Glob(filepath.Join("..", of.dir, "*.go"))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, path := range files {
			if !strings.HasSuffix(path, "_test.go") {
				s.parse(of.dir, path)
			}
		}
	}
	d, ok := s.decl[of]
	if !ok {
		s.t.Fatalf("no type %s in %s", of.name, of.dir)
	}
	return d
}

func (s *schema) parse(dir, path string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Name.Name == "MarshalText" {
				s.text[goType{dir, ast.Unparen(decl.Recv.List[0].Type).(*ast.Ident).Name}] = true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					of := goType{dir, spec.Name.Name}
					doc := words(decl.Doc, spec.Doc)
					s.decl[of] = declared{spec, doc, file, s.decl[of].values}
				case *ast.ValueSpec:
					if name, ok := spec.Type.(*ast.Ident); ok && decl.Tok == token.CONST {
						s.constant(goType{dir, name.Name}, spec)
					}
				}
			}
		}
	}
}

// constant notes the meaning of a constant of a string type.
func (s *schema) constant(of goType, spec *ast.ValueSpec) {
	if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			s.t.Fatal(err)
		}
		d := s.decl[of]
		d.values = append(d.values, value{text, words(spec.Doc, spec.Comment)})
		s.decl[of] = d
	}
}

// words joins comments into one line.
func words(groups ...*ast.CommentGroup) string {
	var parts []string
	for _, g := range groups {
		if g != nil {
			parts = append(parts, strings.Fields(g.Text())...)
		}
	}
	return strings.Join(parts, " ")
}

// fields returns the fields of a struct, with those of embedded structs. only says when
// they are present, or is "" if they are always present.
func (s *schema) fields(of goType, only string) (list []field, refers []goType) {
	d := s.find(of)
	for _, f := range d.spec.Type.(*ast.StructType).Fields.List {
		tag := ""
		if f.Tag != nil {
			tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		}
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case len(f.Names) == 0 && name == "":
			when := only
			if _, pointer := f.Type.(*ast.StarExpr); pointer {
				when = words(f.Doc, f.Comment)
				if !strings.HasPrefix(when, "only ") {
					s.t.Errorf("%s in %s: the comment of what it embeds by a pointer has to begin with: only", of.name, of.dir)
				}
			}
			inside, more := s.fields(s.named(of.dir, d.file, f.Type), when)
			list, refers = append(list, inside...), append(refers, more...)
		case tag == "-" || !f.Names[0].IsExported():
		case name == "":
			s.t.Errorf("%s.%s in %s has no name for JSON", of.name, f.Names[0], of.dir)
		default:
			kind, more := s.kind(of.dir, d.file, f.Type)
			refers = append(refers, more...)
			line := field{name, kind[0], "always", about(f.Names[0].Name, words(f.Doc, f.Comment))}
			if options != "" {
				line.there = unless(f.Type, kind[0])
			}
			if only != "" && line.there == "always" {
				line.there = only
			}
			if line.means == "" {
				s.t.Errorf("%s.%s in %s: a comment has to say what it is to those who read it in JSON", of.name, f.Names[0], of.dir)
			}
			list = append(list, line)
		}
	}
	return list, refers
}

// unless says when a field with omitempty is present.
func unless(t ast.Expr, kind string) string {
	if _, pointer := t.(*ast.StarExpr); pointer {
		return "only if there is one"
	}
	switch kind {
	case "boolean":
		return "only if true"
	case "integer", "number":
		return "only if not 0"
	}
	return "only if not empty"
}

// named returns the type that an expression names.
func (s *schema) named(dir string, in *ast.File, t ast.Expr) goType {
	switch t := t.(type) {
	case *ast.StarExpr:
		return s.named(dir, in, t.X)
	case *ast.Ident:
		return goType{dir, t.Name}
	case *ast.SelectorExpr:
		from := t.X.(*ast.Ident).Name
		for _, imported := range in.Imports {
			path := strings.Trim(imported.Path.Value, `"`)
			if strings.HasSuffix("/"+path, "/"+from) {
				return goType{strings.TrimPrefix(path, module), t.Sel.Name}
			}
		}
	}
	s.t.Fatalf("%s: what is %T?", dir, t)
	return goType{}
}

// kind returns the name of a type on the page, for one value and for many, and the
// types in it that have tables of their own.
func (s *schema) kind(dir string, in *ast.File, t ast.Expr) (kind [2]string, refers []goType) {
	switch t := t.(type) {
	case *ast.StarExpr:
		return s.kind(dir, in, t.X)
	case *ast.ArrayType:
		kind, refers = s.kind(dir, in, t.Elt)
		return [2]string{"list of " + kind[1], "lists of " + kind[1]}, refers
	case *ast.MapType:
		kind, refers = s.kind(dir, in, t.Value)
		return [2]string{"object of " + kind[1], "objects of " + kind[1]}, refers
	case *ast.Ident:
		if kind, ok := basic[t.Name]; ok {
			return kind, nil
		}
	}
	of := s.named(dir, in, t)
	switch {
	case of == goType{"time", "Duration"}:
		return basic["int64"], nil
	case written[of] != "":
		return [2]string{written[of], written[of]}, nil
	}
	d := s.find(of)
	_, structure := d.spec.Type.(*ast.StructType)
	switch {
	case s.text[of]:
		return basic["string"], nil
	case structure || s.valued(of):
		link := fmt.Sprintf("[%s](#%s)", title(of), anchor(title(of)))
		return [2]string{link, link}, []goType{of}
	}
	return s.kind(of.dir, d.file, d.spec.Type)
}

// valued reports whether all values of a string type have comments in the source.
func (s *schema) valued(of goType) bool {
	values := s.find(of).values
	for _, v := range values {
		if v.text == "" || v.means == "" {
			return false
		}
	}
	return len(values) > 0
}

// title returns the title of a type on the page: propertyVerdict is "property verdict".
func title(of goType) string {
	if d := documentOf(of); d != nil {
		return d.title
	}
	var b strings.Builder
	for i, r := range of.name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// anchor returns the anchor of a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// about returns a comment without the Go name at its start.
func about(name, comment string) string {
	for _, verb := range []string{" is ", " are ", ": ", " "} {
		if rest, ok := strings.CutPrefix(comment, name+verb); ok {
			comment = rest
			break
		}
	}
	return strings.ReplaceAll(strings.TrimSuffix(comment, "."), "|", `\|`)
}
