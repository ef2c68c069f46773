// Command release makes a release: for each system an archive with the binary, and the
// checksums of all archives. A release is made from the commit that has the tag of the
// version, for example v0.1.0. The same tag and the same Go version give the same bytes
// on every machine. A trial is made from any source, and the names of its archives say
// so.
//
//	go run ./cmd/release            all systems, into dist/
//	go run ./cmd/release -target linux/arm64,windows/amd64
//	go run ./cmd/release -trial     of the source as it is
//
// It is a Go program of this module instead of a shell script for two reasons: tar and
// zip differ between systems, and go test can test it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/harness"
)

// targets are the systems of a release.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	r := release{version: harness.Version, log: os.Stdout}
	flag.StringVar(&r.out, "out", "dist", "`directory` for the archives and checksums.txt")
	flag.BoolVar(&r.trial, "trial", false, "of any source, also one that no tag names; the archives are called so")
	list := flag.String("target", strings.Join(targets, ","), "the `systems`, as OS/ARCH")
	flag.Parse()
	r.targets = strings.Split(*list, ",")
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(4)
	}
	if err := r.make("."); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release describes the release to make.
type release struct {
	version string
	targets []string
	out     string
	trial   bool
	log     io.Writer
}

// make makes the release of the source in root, which must be the root of a git work
// tree.
func (r *release) make(root string) error {
	s, err := sourceOf(root)
	if err != nil {
		return err
	}
	if !r.trial {
		if err := s.released(r.version); err != nil {
			return err
		}
	}
	if err := s.changelog(r.version); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	fmt.Fprintf(r.log, "lockcheck %s of %s, with %s, into %s\n", r.name(), s.time.Format(time.DateOnly), runtime.Version(), r.out)
	var archives []string
	for _, target := range r.targets {
		goos, arch, ok := strings.Cut(target, "/")
		if !ok {
			return fmt.Errorf("%s is no system: write it as linux/amd64", target)
		}
		name, err := r.archive(s, goos, arch)
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		archives = append(archives, name)
		fmt.Fprintln(r.log, name)
	}
	return writeChecksums(r.out, archives)
}

// name returns the version as it is written in the names of archives.
func (r *release) name() string {
	if r.trial {
		return r.version + "-trial"
	}
	return r.version
}

// archive makes the archive for one system, and returns its name.
func (r *release) archive(s *source, goos, arch string) (name string, err error) {
	dir, err := os.MkdirTemp("", "lockcheck-release-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary := filepath.Join(dir, "lockcheck")
	if goos == "windows" {
		binary += ".exe"
	}
	if err := s.build(binary, goos, arch); err != nil {
		return "", err
	}
	terms, err := s.notices(binary)
	if err != nil {
		return "", err
	}
	noticesFile := filepath.Join(dir, notices)
	if err := os.WriteFile(noticesFile, terms, 0o644); err != nil {
		return "", err
	}
	pages, err := s.pages()
	if err != nil {
		return "", err
	}
	members := append([]member{{filepath.Base(binary), binary, 0o755}, {notices, noticesFile, 0o644}}, pages...)
	folder := "lockcheck_" + r.name() + "_" + goos + "_" + arch
	write := writeTarGz
	name = folder + ".tar.gz"
	if goos == "windows" {
		write, name = writeZip, folder+".zip"
	}
	return name, toFile(filepath.Join(r.out, name), func(w io.Writer) error { return write(w, folder, members, s.time) })
}
