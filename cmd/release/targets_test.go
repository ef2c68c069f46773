package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every package has to compile on every system, with its tests where people may run
// them. Nothing is compiled: to type-check takes seconds, and to compile takes minutes.
func TestEveryPackageCompilesForEveryTarget(t *testing.T) {
	t.Parallel()
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			goos, arch, _ := strings.Cut(target, "/")
			if err := typeCheck(filepath.Join("..", ".."), goos, arch); err != nil {
				t.Error(err)
			}
		})
	}
}

// A mistake for one system is found on that system only.
func TestATargetsMistakeIsNoticed(t *testing.T) {
	t.Parallel()
	root := little(t)
	wrong := filepath.Join(root, "cmd", "lockcheck", "wrong_darwin_amd64.go")
	if err := os.WriteFile(wrong, []byte("package main\n\nfunc f() int { return nothing }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := typeCheck(root, "darwin", "amd64"); err == nil || !strings.Contains(err.Error(), "undefined: nothing") {
		t.Errorf("%v", err)
	}
	if err := typeCheck(root, "darwin", "arm64"); err != nil {
		t.Error(err)
	}
}

// listed is the output of go list for a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
	Error           *struct{ Err string }
}

// typeCheck type-checks all packages, their tests and their imports for a system. In
// packages of other modules it checks declarations only.
func typeCheck(root, goos, arch string) error {
	s, err := sourceOf(root)
	if err != nil {
		return err
	}
	s.env = append(s.env, "GOOS="+goos, "GOARCH="+arch)
	list, err := s.output("go", "list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error", "./...")
	if err != nil {
		return err
	}
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	for d := json.NewDecoder(strings.NewReader(list)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		switch {
		case p.Error != nil:
			return errors.New(p.Error.Err)
		case p.ImportPath == "unsafe", strings.HasSuffix(p.ImportPath, ".test"): // the latter runs the tests of a package
			continue
		}
		if done[p.ImportPath], err = p.check(arch, done); err != nil {
			return err
		}
	}
}

// check checks a package after its imports.
func (p *listed) check(arch string, done map[string]*types.Package) (*types.Package, error) {
	fset, files := token.NewFileSet(), []*ast.File(nil)
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	var wrong []error
	conf := types.Config{
		Importer: importer(func(path string) (*types.Package, error) {
			if mapped, ok := p.ImportMap[path]; ok {
				path = mapped
			}
			if done[path] == nil {
				return nil, errors.New("not listed: " + path)
			}
			return done[path], nil
		}),
		IgnoreFuncBodies: p.Module == nil || !p.Module.Main,
		Sizes:            types.SizesFor("gc", arch),
		Error:            func(err error) { wrong = append(wrong, err) },
	}
	checked, _ := conf.Check(p.ImportPath, fset, files, nil)
	return checked, errors.Join(wrong...)
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
