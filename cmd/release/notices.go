package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// notices is the name of the file with the licences of all linked code. Most of these
// licences must be distributed with the binary.
const notices = "NOTICES.txt"

// licence matches the names of licence files.
var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-]|$)`)

// notices returns the licences of Go and of each module that is linked into a binary,
// ordered by name. A module without a licence is an error, because it must not be
// distributed.
func (s *source) notices(binary string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	root, err := s.output("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "lockcheck is under the terms of LICENSE. It contains the following, each under\nthe terms that stand below its name.\n")
	if err := addLicences(&text, "Go, "+info.GoVersion, strings.TrimSpace(root)); err != nil {
		return nil, err
	}
	args := []string{"go", "list", "-m", "-f", "{{.Path}}\t{{.Version}}\t{{.Dir}}"}
	for _, dep := range info.Deps {
		args = append(args, dep.Path)
	}
	if len(info.Deps) == 0 {
		return text.Bytes(), nil
	}
	list, err := s.output(args...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(list) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if err := addLicences(&text, fields[0]+" "+fields[1], fields[2]); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

func addLicences(text *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("the licence of %s: %w", name, err)
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licence.MatchString(e.Name()) {
			continue
		}
		found = true
		terms, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 80), name, e.Name(), bytes.TrimSpace(terms))
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s: it may not be passed on", name, dir)
	}
	return nil
}
