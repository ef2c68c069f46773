package main

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/harness"
)

func TestWhatABinaryWasBuiltFromIsSaid(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: commit}, {Key: "vcs.time", Value: "2026-03-01T10:20:30Z"}, {Key: "vcs.modified", Value: modified}}
	}
	tests := map[string]struct {
		info     *debug.BuildInfo
		revision string
		says     string
	}{
		"no build info":        {nil, "sha256:1", "built from an unknown revision\nprogram sha256:1"},
		"no version control":   {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "sha256:1", "built from an unknown revision\nprogram sha256:1"},
		"go install":           {&debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, "v0.1.0", "built from v0.1.0"},
		"a commit":             {&debug.BuildInfo{Settings: vcs("false")}, commit, "built from revision 0123456789ab of 2026-03-01"},
		"a commit, and beyond": {&debug.BuildInfo{Settings: vcs("true")}, commit + "+dirty sha256:1", "built from revision 0123456789ab+dirty of 2026-03-01\nprogram sha256:1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := newVersion(tt.info, func() string { return "sha256:1" })
			if got := d.revision(); got != tt.revision {
				t.Errorf("revision %q, want %q", got, tt.revision)
			}
			text := d.text()
			if !strings.HasSuffix(text, tt.says+"\n") {
				t.Errorf("%q does not end with %q", text, tt.says)
			}
			for line := range strings.Lines(text) {
				if len(line) > 81 {
					t.Errorf("longer than 80 columns: %s", line)
				}
			}
		})
	}
}

func TestTheVersionAsJSON(t *testing.T) {
	var d versionDocument
	r := lockcheck(t, "version", "--json")
	r.wants(t, held)
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatal(err)
	}
	want := versionDocument{Schema: 1, Version: harness.Version, History: 1, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	d.Module, d.Revision, d.Time, d.Modified, d.Program = "", "", "", false, "" // the test binary may have these fields
	if d != want {
		t.Errorf("%+v, want %+v", d, want)
	}
}
