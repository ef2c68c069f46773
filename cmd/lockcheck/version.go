package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and the source of the build",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	info, _ := debug.ReadBuildInfo()
	d := newVersion(info, programDigest)
	if a.JSON {
		return a.PrintJSON(d)
	}
	a.Printf("%s", d.text())
	return nil
}

// versionDocument is the output of version: the release, and the data of the build
// about its source. A build by go test, or of a source without version control, has
// only the release.
type versionDocument struct {
	Schema   int    `json:"schema"`             // version of this document
	Version  string `json:"version"`            // version of lockcheck, which histories name
	History  int    `json:"history"`            // format of histories
	Go       string `json:"go"`                 // the Go that it was built with
	OS       string `json:"os"`                 // operating system that it was built for
	Arch     string `json:"arch"`               // processor that it was built for
	Module   string `json:"module,omitempty"`   // version that go install was given, or derived
	Revision string `json:"revision,omitempty"` // commit of the source
	Time     string `json:"time,omitempty"`     // time of that commit
	Modified bool   `json:"modified,omitempty"` // the source had changed since that commit
	Program  string `json:"program,omitempty"`  // beginning of the digest of the program, if the fields above do not identify it
}

// newVersion returns the version of a binary with this build info, which may be nil,
// and this digest.
func newVersion(info *debug.BuildInfo, program func() string) versionDocument {
	d := versionDocument{
		Schema: results.Schema, Version: harness.Version, History: history.Format,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
	}
	if info != nil {
		d.built(info)
	}
	if d.dirty() != "" || d.Revision == "" && d.Module == "" {
		d.Program = program()
	}
	return d
}

// built copies the data about the source from the build info.
func (d *versionDocument) built(info *debug.BuildInfo) {
	if info.Main.Version != "(devel)" {
		d.Module = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			d.Revision = s.Value
		case "vcs.time":
			d.Time = s.Value
		case "vcs.modified":
			d.Modified = s.Value == "true"
		}
	}
}

// text returns two lines for people: they recognise a commit by its first digits. A
// third line has the program's digest if only that identifies the binary.
func (d versionDocument) text() string {
	source := cmp.Or(d.Module, "an unknown revision")
	if d.Revision != "" {
		source = "revision " + d.Revision[:min(12, len(d.Revision))] + d.dirty()
		if day, _, ok := strings.Cut(d.Time, "T"); ok {
			source += " of " + day
		}
	}
	text := "lockcheck " + d.Version + ", history format " + strconv.Itoa(d.History) + "\n" +
		d.Go + " " + d.OS + "/" + d.Arch + ", built from " + source + "\n"
	if d.Program != "" {
		text += "program " + d.Program + "\n"
	}
	return text
}

// revision names the source of this binary, so that two different binaries do not
// report the same.
func revision() string {
	info, _ := debug.ReadBuildInfo()
	return newVersion(info, programDigest).revision()
}

// revision returns the commit, or the version that go install was asked for. If the
// build knows neither, or the source had changed since, it adds the digest of the
// program. It returns "" if that is not known either.
func (d versionDocument) revision() string {
	source := d.Revision + d.dirty()
	return strings.TrimSpace(cmp.Or(source, d.Module) + " " + d.Program)
}

// programDigest returns the beginning of the digest of the running program, or "" if
// the program cannot be read.
var programDigest = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return fmt.Sprintf("sha256:%.8x", sum.Sum(nil))
})

func (d versionDocument) dirty() string {
	if d.Revision != "" && d.Modified {
		return "+dirty"
	}
	return ""
}
