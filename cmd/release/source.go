package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// source is the commit of a release.
type source struct {
	root    string
	env     []string  // environment of commands
	time    time.Time // of all files in the archives: SOURCE_DATE_EPOCH, or the commit's
	tags    []string  // of the commit, those that Go reads as versions
	changed []string  // files that differ from the commit
}

func sourceOf(root string) (*source, error) {
	s := &source{root: root, env: os.Environ()}
	status, err := s.output("git", "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(status) {
		s.changed = append(s.changed, strings.TrimSpace(line[min(2, len(line)):]))
	}
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		if epoch, err = s.output("git", "log", "-1", "--format=%ct"); err != nil {
			return nil, err
		}
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(epoch), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH is %q: want seconds since 1970", epoch)
	}
	s.time = time.Unix(seconds, 0).UTC()
	tags, err := s.output("git", "tag", "--points-at", "HEAD", "--list", "v[0-9]*")
	if err != nil {
		return nil, err
	}
	s.tags = strings.Fields(tags)
	s.env, err = s.environment()
	return s, err
}

// released returns an error unless the source is exactly the commit with the version's
// tag. Go writes the tags of the commit into a binary, so another tag on the commit
// would give another binary.
func (s *source) released(version string) error {
	if len(s.changed) > 0 {
		return fmt.Errorf("the source differs from its commit, in %s\n"+
			"         commit it, or make a trial with -trial", strings.Join(s.changed, ", "))
	}
	tag := "v" + version
	switch {
	case !slices.Contains(s.tags, tag):
		return fmt.Errorf("the commit has no tag %s\n"+
			"         git checkout %s, or make a trial with -trial", tag, tag)
	case len(s.tags) > 1:
		return fmt.Errorf("the commit has the tags %s: a release is of one version\n"+
			"         remove the others, or make a trial with -trial", strings.Join(s.tags, " and "))
	}
	return nil
}

// changelog returns an error if CHANGELOG.md has no entry for the version.
func (s *source) changelog(version string) error {
	text, err := os.ReadFile(filepath.Join(s.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	heading := regexp.MustCompile(`(?m)^## \[?` + regexp.QuoteMeta(version) + `\]?( |$)`)
	if !heading.Match(text) {
		return fmt.Errorf("CHANGELOG.md has no section %q: say there what a user gains", "## "+version)
	}
	return nil
}

// kept are the settings of Go that choose the Go version, and the source and cache of
// modules. Every other setting can change the binary.
var kept = []string{
	"GOTOOLCHAIN", "GOPATH", "GOMODCACHE", "GOCACHE", "GOTMPDIR", "GOPROXY", "GOSUMDB",
	"GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOINSECURE", "GOAUTH", "GOVCS",
}

// environment returns the environment of this machine without the settings of Go:
// variables, go env -w, and a workspace around the source.
func (s *source) environment() (env []string, err error) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GO") && !strings.HasPrefix(v, "CGO_") {
			env = append(env, v)
		}
	}
	values, err := s.output(append([]string{"go", "env"}, kept...)...)
	if err != nil {
		return nil, err
	}
	for i, value := range strings.SplitN(values, "\n", len(kept)+1)[:len(kept)] {
		env = append(env, kept[i]+"="+strings.TrimSpace(value))
	}
	return append(env, "GOENV=off", "GOWORK=off", "GOFIPS140=off", "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0"), nil
}

// build builds the binary for one system. It contains nothing from this machine: no
// path, no C library, no setting of Go. From the repository it has the commit, and the
// version that the commit's tags give.
func (s *source) build(binary, goos, arch string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s", "-o", binary, "./cmd/lockcheck")
	cmd.Dir = s.root
	cmd.Env = append(slices.Clone(s.env), "GOOS="+goos, "GOARCH="+arch)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

// pages are the files in each archive beside the binary: the README and all pages that
// it leads to, directly or through other pages. Tests among them are left out.
var pages = []string{
	"LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "deploy", "examples", "tools/base-image",
	"internal/suite/lockcheck.schema.json", "internal/worker/protocol.go", "adapters/README.md", "adapters/testdata/findings", "locks",
	":(exclude)docs/*.go", ":(exclude)deploy/*.go", ":(exclude)examples/*_test.go", ":(exclude)locks/*_test.go", ":(exclude)deploy/kubernetes/schema",
}

// pages returns the files of git that belong into an archive.
func (s *source) pages() (members []member, err error) {
	list, err := s.output(append([]string{"git", "ls-files", "--stage", "-z", "--"}, pages...)...)
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		m := member{name, filepath.Join(s.root, filepath.FromSlash(name)), 0o644}
		if strings.HasPrefix(about, "100755 ") {
			m.mode = 0o755
		}
		members = append(members, m)
	}
	return members, nil
}

// output runs a command in the source and returns its output.
func (s *source) output(command ...string) (string, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = s.root, s.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w %s", strings.Join(command[:2], " "), err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}
