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
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// CI builds for some systems of a release. For the others this test type-checks the
// code of this module, which takes seconds instead of minutes.
func TestTheCommandCanBeBuiltForEveryTarget(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	loop := regexp.MustCompile(`for target in (.*); do`).FindStringSubmatch(string(script))
	if loop == nil {
		t.Fatal("the script has no list of targets")
	}
	built := strings.Fields(loop[1])
	for _, target := range built {
		if !slices.Contains(targets, target) {
			t.Errorf("CI builds for %s, which is no target", target)
		}
	}
	for _, target := range targets {
		if slices.Contains(built, target) || target == runtime.GOOS+"/"+runtime.GOARCH {
			continue
		}
		t.Run(target, func(t *testing.T) {
			goos, arch, _ := strings.Cut(target, "/")
			if err := typeCheck(root, goos, arch); err != nil {
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

// typeCheck type-checks the command and its imports for a system. In packages of other
// modules it checks declarations only.
func typeCheck(root, goos, arch string) error {
	s, err := sourceOf(root)
	if err != nil {
		return err
	}
	s.env = append(s.env, "GOOS="+goos, "GOARCH="+arch)
	list, err := s.output("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error", "./cmd/lockcheck")
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
		case p.ImportPath == "unsafe":
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
