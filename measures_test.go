package lockcheck_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Limits of the tree. Who reaches one makes something simpler.
const (
	mostIdentifiers = 450 // exported names and methods of the packages that others may import
	mostLines       = 80  // of a function; tables may be longer
	mostInCircle    = 12  // files of a package of which each needs each other
	mostOfCommand   = 3000
	mostBytes       = 1 << 20 // of a file
)

// The packages that others may import are small.
func TestThePublicPackagesAreSmall(t *testing.T) {
	all, of := 0, map[string]int{}
	for _, s := range sources(t) {
		if strings.HasPrefix(s.room, "internal/") || strings.HasPrefix(s.room, "cmd/") || s.file.Name.Name == "main" {
			continue
		}
		n := exported(s.file)
		all += n
		of[s.room] += n
	}
	t.Logf("%d exported names: %v", all, of)
	if all > mostIdentifiers {
		t.Errorf("%d exported names, want at most %d", all, mostIdentifiers)
	}
}

// exported counts the exported names of a file, and the exported methods of exported
// types.
func exported(file *ast.File) (n int) {
	count := func(id *ast.Ident) {
		if id.IsExported() {
			n++
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || token.IsExported(receiver(d)) {
				count(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					count(s.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						count(id)
					}
				}
			}
		}
	}
	return n
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	id, _ := typ.(*ast.Ident)
	return id.Name
}

func TestFunctionsAreShort(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			// A function with a single composite literal is a table.
			lines, line := 0, func(p token.Pos) int { return s.set.Position(p).Line }
			lines = line(f.End()) - line(f.Pos()) + 1
			ast.Inspect(f, func(n ast.Node) bool {
				if c, ok := n.(*ast.CompositeLit); ok {
					lines -= line(c.End()) - line(c.Pos())
					return false
				}
				return true
			})
			if lines > mostLines {
				t.Errorf("%s: %s has %d lines, want at most %d", s.set.Position(f.Pos()), f.Name.Name, lines, mostLines)
			}
		}
	}
}

func TestTheCommandIsThin(t *testing.T) {
	n := 0
	for _, s := range sources(t) {
		if s.room == "cmd/lockcheck" {
			n += s.set.File(s.file.Pos()).LineCount()
		}
	}
	t.Logf("cmd/lockcheck has %d lines", n)
	if n > mostOfCommand {
		t.Errorf("cmd/lockcheck has %d lines, want at most %d", n, mostOfCommand)
	}
}

// A checkout has no binary that a build left. An unpacked archive, without .git, has no
// list of tracked files.
func TestTrackedFilesAreSmall(t *testing.T) {
	if _, err := os.Stat(".git"); errors.Is(err, fs.ErrNotExist) {
		return
	}
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if info, err := os.Lstat(path); err == nil && info.Size() > mostBytes {
			t.Errorf("%s has %d bytes, want at most %d", path, info.Size(), mostBytes)
		}
	}
}

// Of the files of a package below the command, no more than a few need each other in a
// circle.
func TestFilesDoNotGoInCircles(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Export,Dir,GoFiles,Standard", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	type pkg struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
		Standard                bool
	}
	var ours []pkg
	export := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		export[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, module) && !strings.HasPrefix(p.ImportPath, module+"cmd/") {
			ours = append(ours, p)
		}
	}
	for _, p := range ours {
		set := token.NewFileSet()
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })}
		if _, err := conf.Check(p.ImportPath, set, files, info); err != nil {
			t.Fatal(err)
		}
		file := func(p token.Pos) string { return filepath.Base(set.Position(p).Filename) }
		needs := map[string]map[string]bool{}
		for id, of := range info.Uses {
			if of.Pkg() == nil || of.Pkg().Path() != p.ImportPath {
				continue
			}
			from := file(id.Pos())
			if needs[from] == nil {
				needs[from] = map[string]bool{}
			}
			needs[from][file(of.Pos())] = true
		}
		if c := circle(needs); len(c) > mostInCircle {
			t.Errorf("%s: %d files need each other in a circle, want at most %d: %s", p.ImportPath, len(c), mostInCircle, strings.Join(c, " "))
		}
	}
}

// circle returns the largest set of files of which each needs each other.
func circle(needs map[string]map[string]bool) (most []string) {
	reach := map[string]map[string]bool{}
	for from := range needs {
		seen := map[string]bool{}
		for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
			for to := range needs[todo[0]] {
				if !seen[to] {
					seen[to] = true
					todo = append(todo, to)
				}
			}
		}
		reach[from] = seen
	}
	for from := range reach {
		var c []string
		for to := range reach[from] {
			if reach[to][from] {
				c = append(c, to)
			}
		}
		if len(c) > len(most) {
			most = c
		}
	}
	slices.Sort(most)
	return most
}
