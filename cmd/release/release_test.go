package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// commitTime is the time of the commits that tests make.
const commitTime = 1_700_000_000

// committed returns a repository with one commit of the tree on disk.
func committed(t *testing.T) (root string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "lockcheck")
	if err := copyTree(root, filepath.Join("..", "..")); err != nil {
		t.Fatal(err)
	}
	run(t, root, "git", "init", "-q")
	run(t, root, "git", "add", "-A")
	run(t, root, "git", "commit", "-q", "-m", "all")
	run(t, root, "git", "tag", "v"+harness.Version)
	return root
}

// copyTree copies the tree without git's own files and without the output of runs and
// releases. Other ignored files are ignored in the copy as well.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.Name() == ".git", d.IsDir() && (d.Name() == "lockcheck-out" || rel == "dist"):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, info.Mode().Perm())
	})
}

// run runs a command, with a fixed author and date for git.
func run(t *testing.T, dir string, command ...string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000", "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Two clones in two directories give the same bytes, even if git converts line ends.
// The checksums match, and the archives are complete: the binary knows its commit, and
// nothing about the machine that built it.
func TestOneCommitGivesTheSameBytesAnywhere(t *testing.T) {
	if !alltests.Wanted() {
		t.Skip("builds releases for minutes: LOCKCHECK_TESTS=all runs it")
	}
	t.Setenv("SOURCE_DATE_EPOCH", "")
	var first map[string][]byte
	repository := committed(t)
	for range 2 {
		root := filepath.Join(t.TempDir(), "clone")
		run(t, ".", "git", "clone", "-q", "-c", fmt.Sprintf("core.autocrlf=%v", first != nil), repository, root)
		r := release{version: harness.Version, targets: []string{"linux/amd64"}, out: filepath.Join(root, "dist"), log: t.Output()}
		if err := r.make(root); err != nil {
			t.Fatal(err)
		}
		run(t, r.out, "sha256sum", "-c", "--strict", checksums)
		made := files(t, r.out)
		if first == nil {
			first = made
			checkArchive(t, made, run(t, root, "git", "rev-parse", "HEAD"), root)
		}
		for name, text := range made {
			if name != checksums && !bytes.Equal(text, first[name]) {
				t.Errorf("%s differs", name)
			}
		}
		if changed := run(t, root, "git", "status", "--porcelain"); changed != "" {
			t.Errorf("a release leaves %s behind", changed)
		}
	}
}

func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, e := range entries {
		if all[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func checkArchive(t *testing.T, made map[string][]byte, commit, root string) {
	t.Helper()
	folder := "lockcheck_" + harness.Version + "_linux_amd64"
	if len(made) != 2 {
		t.Errorf("%d files", len(made))
	}
	members, binary := untar(t, made[folder+".tar.gz"]), folder+"/lockcheck"
	checkPages(t, folder, members)
	for name, m := range members {
		if !m.at.Equal(time.Unix(commitTime, 0)) {
			t.Errorf("%s is of %s, not of the commit", name, m.at)
		}
		want := fs.FileMode(0o644)
		if base := path.Base(name); name == binary || base == "base-image" {
			want = 0o755
		}
		if len(m.text) == 0 || m.mode.Perm() != want {
			t.Errorf("%s is empty, or has mode %s, want %s", name, m.mode, want)
		}
	}
	b := members[binary]
	info, err := buildinfo.Read(bytes.NewReader(b.text))
	if err != nil {
		t.Fatal(err)
	}
	if info.Main.Version != "v"+harness.Version {
		t.Errorf("%s is of version %s", binary, info.Main.Version)
	}
	if text := info.String(); !strings.Contains(text, "vcs.revision="+commit) || !strings.Contains(text, "vcs.modified=false") || !strings.Contains(text, "CGO_ENABLED=0") {
		t.Errorf("%s was built as\n%s", binary, text)
	}
	for _, dir := range []string{root, run(t, root, "go", "env", "GOMODCACHE")} {
		if bytes.Contains(b.text, []byte(dir)) {
			t.Errorf("%s names %s", binary, dir)
		}
	}
	for _, dep := range info.Deps {
		if !bytes.Contains(members[folder+"/"+notices].text, []byte("\n"+dep.Path+" "+dep.Version+": ")) {
			t.Errorf("%s: no licence of %s", folder, dep.Path)
		}
	}
}

// An archive for Windows is a zip file, with the same files but the binary.
func TestAZipFileHasTheSameFiles(t *testing.T) {
	root := little(t)
	r := release{version: "0.9.10", targets: []string{"linux/amd64", "windows/amd64"}, out: t.TempDir(), log: t.Output()}
	if err := r.make(root); err != nil {
		t.Fatal(err)
	}
	made := files(t, r.out)
	unix, windows := "lockcheck_0.9.10_linux_amd64", "lockcheck_0.9.10_windows_amd64"
	tarred, zipped := untar(t, made[unix+".tar.gz"]), unzip(t, made[windows+".zip"])
	if len(tarred) != len(zipped) {
		t.Errorf("%d files, and %d for Windows", len(tarred), len(zipped))
	}
	for name, want := range tarred {
		base := strings.TrimPrefix(name, unix)
		if base == "/lockcheck" {
			base, want.text = "/lockcheck.exe", zipped[windows+"/lockcheck.exe"].text
		}
		got, ok := zipped[windows+base]
		if !ok || got.mode != want.mode || !got.at.Equal(want.at) || !bytes.Equal(got.text, want.text) || len(got.text) == 0 {
			t.Errorf("%s: %d bytes, mode %s, of %s; want %d, %s, %s", base, len(got.text), got.mode, got.at, len(want.text), want.mode, want.at)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)\s#]+)[^)\s]*\)|(?:src|href)="([^"#]+)`)

// checkPages checks that an archive has no tests, and that it has every page that its
// pages link to.
func checkPages(t *testing.T, folder string, members map[string]packed) {
	t.Helper()
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", notices, "docs/ci.md", "examples/workers/python/worker.py"} {
		if _, ok := members[folder+"/"+name]; !ok {
			t.Errorf("%s has no %s", folder, name)
		}
	}
	there := map[string]bool{}
	for name := range members {
		if strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s is for those who have the repository", name)
		}
		for dir := name; dir != "."; dir = path.Dir(dir) {
			there[dir] = true
		}
	}
	followed := 0
	for name, m := range members {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, found := range link.FindAllStringSubmatch(string(m.text), -1) {
			to := found[1] + found[2]
			if strings.Contains(to, "://") {
				continue
			}
			followed++
			if !there[path.Join(path.Dir(name), to)] {
				t.Errorf("%s leads to %s, which is not in the archive", name, to)
			}
		}
	}
	if followed < 40 {
		t.Errorf("only %d links of %s were followed", followed, folder)
	}
}

// packed is the data of an archive about a member.
type packed struct {
	mode fs.FileMode
	at   time.Time
	text []byte
}

func untar(t *testing.T, archive []byte) map[string]packed {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() || z.Name != "" {
		t.Errorf("gzip names a time or a file: %v", z.Header)
	}
	all := map[string]packed{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" {
			t.Errorf("%s belongs to somebody", h.Name)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[h.Name] = packed{h.FileInfo().Mode(), h.ModTime, text}
	}
}

func unzip(t *testing.T, archive []byte) map[string]packed {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]packed{}
	for _, f := range r.File {
		text, err := fs.ReadFile(r, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name] = packed{f.Mode(), f.Modified, text}
	}
	return all
}
