package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The suite may be anywhere in a repository, and lockcheck may be run anywhere in it.
func TestAnnotationsNameTheSuiteFromTheRootOfTheRepository(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "a", "b"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(root, "a"))
	for _, tt := range []struct{ workspace, file, want string }{
		{root, "lockcheck.yaml", "a/lockcheck.yaml"},
		{root, "b/../lockcheck.yaml", "a/lockcheck.yaml"},
		{root, filepath.Join(root, "lockcheck.yaml"), "lockcheck.yaml"},
		{"", "lockcheck.yaml", "lockcheck.yaml"},
		{filepath.Join(root, "a", "b"), "lockcheck.yaml", "lockcheck.yaml"},
	} {
		t.Setenv("GITHUB_WORKSPACE", tt.workspace)
		if got := inRepository(tt.file); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}
