package main

import (
	"bytes"
	"debug/buildinfo"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/harness"
)

// little returns a small repository in place of the real one, with a tag of version
// 0.9.10.
func little(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range map[string]string{
		"CHANGELOG.md": "# Changelog\n\n## [0.9.10] - 2026-01-01\n", "go.mod": "module example.org/little\n\ngo 1.26\n",
		"cmd/lockcheck/main.go": "package main\n\nfunc main() {}\n", ".gitignore": "/dist/\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, root, "git", "init", "-q")
	run(t, root, "git", "add", "-A")
	run(t, root, "git", "commit", "-q", "-m", "all")
	run(t, root, "git", "tag", "v0.9.10")
	return root
}

func TestWhatNoReleaseIsMadeOf(t *testing.T) {
	root := little(t)
	r := release{version: "0.9.10", targets: []string{"linux"}, out: filepath.Join(root, "dist"), log: io.Discard}
	wants := func(words string) {
		t.Helper()
		if err := r.make(root); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	wants("write it as linux/amd64")
	run(t, root, "git", "tag", "v0.9.1")
	wants("the tags v0.9.1 and v0.9.10: a release is of one version")
	run(t, root, "git", "tag", "-d", "v0.9.10")
	wants("the commit has no tag v0.9.10")
	r.version = "0.9.1"
	wants(`CHANGELOG.md has no section "## 0.9.1"`)
	r.trial = true
	wants(`CHANGELOG.md has no section "## 0.9.1"`)
	r.trial = false
	if err := os.WriteFile(filepath.Join(root, "more.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	wants("differs from its commit, in more.go")
	run(t, root, "git", "add", "more.go")
	run(t, root, "git", "commit", "-q", "-m", "more")
	wants("the commit has no tag v0.9.1")
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	wants("want seconds since 1970")
	r.out = ""
	if err := r.make(t.TempDir()); err == nil || !strings.Contains(err.Error(), "git status") {
		t.Errorf("outside a repository: %v", err)
	}
}

// Only a release has the name and the version of one. Other settings of Go on the
// machine do not change a release.
func TestOnlyAReleaseIsCalledSo(t *testing.T) {
	root := little(t)
	made := func(trial bool) map[string][]byte {
		t.Helper()
		r := release{version: "0.9.10", targets: []string{"linux/arm64"}, out: t.TempDir(), trial: trial, log: t.Output()}
		if err := r.make(root); err != nil {
			t.Fatal(err)
		}
		return files(t, r.out)
	}
	binary := func(made map[string][]byte, version string) *buildinfo.BuildInfo {
		t.Helper()
		folder := "lockcheck_" + version + "_linux_arm64"
		if names := slices.Sorted(maps.Keys(made)); !slices.Equal(names, []string{checksums, folder + ".tar.gz"}) {
			t.Fatalf("the archives are %q, want %s", names, folder)
		}
		info, err := buildinfo.Read(bytes.NewReader(untar(t, made[folder+".tar.gz"])[folder+"/lockcheck"].text))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	right := made(false)
	if info := binary(right, "0.9.10"); info.Main.Version != "v0.9.10" {
		t.Errorf("the release is of %s", info.Main.Version)
	}
	binary(made(true), "0.9.10-trial")

	work := filepath.Join(filepath.Dir(root), "go.work")
	if err := os.WriteFile(work, []byte("go 1.26\n\nuse ./"+filepath.Base(root)+"\n\ngodebug panicnil=1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(config, []byte("GOEXPERIMENT=nodwarf5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"GOFLAGS": "-tags=other -buildvcs=false", "GOFIPS140": "latest", "GOWORK": work, "GOENV": config, "GODEBUG": "panicnil=1",
		"GOARM64": "v9.0", "CGO_ENABLED": "1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			for archive, text := range made(false) {
				if !bytes.Equal(text, right[archive]) {
					t.Errorf("%s differs where %s is %s", archive, name, value)
				}
			}
		})
	}

	run(t, root, "git", "tag", "-d", "v0.9.10")
	if err := os.WriteFile(filepath.Join(root, "more.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if info := binary(made(true), "0.9.10-trial"); info.Main.Version == "v0.9.10" {
		t.Errorf("the trial is of %s", info.Main.Version)
	}
}

func TestTheTimeOfAReleaseCanBeSaid(t *testing.T) {
	root := little(t)
	t.Setenv("SOURCE_DATE_EPOCH", "1800000000")
	if s, err := sourceOf(root); err != nil || s.time.Unix() != 1_800_000_000 {
		t.Errorf("%v, %v", s, err)
	}
}

// A new version has an entry in the changelog.
func TestTheChangelogHasThisVersion(t *testing.T) {
	s := source{root: filepath.Join("..", "..")}
	if err := s.changelog(harness.Version); err != nil {
		t.Error(err)
	}
}
