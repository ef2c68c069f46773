package main

import (
	"bytes"
	"os/exec"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

// BenchmarkAllCases measures `lockcheck case`: every case three times in virtual time,
// judged by both judges, explained and written to disk. It has to take less than 2 s.
func BenchmarkAllCases(b *testing.B) {
	out := b.TempDir()
	for b.Loop() {
		start := time.Now()
		var stdout, stderr bytes.Buffer
		if code := execute(b.Context(), []string{"case", "--out", out}, nil, &stdout, &stderr); code != held {
			b.Fatalf("exit code %d\n%s", code, &stderr)
		}
		if took := time.Since(start); took > 2*time.Second {
			b.Errorf("all cases took %v", took)
		}
	}
}

// BenchmarkCaseOnDocker measures one case with a real server: three containers, and
// clients in processes. It has to take less than 6 s.
func BenchmarkCaseOnDocker(b *testing.B) {
	dockertest.Require(b)
	path := built(b)
	for b.Loop() {
		start := time.Now()
		if out, err := exec.Command(path, "case", "redis-get-del-race", "--on", "docker", "--out", b.TempDir()).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		if took := time.Since(start); took > 6*time.Second {
			b.Errorf("the case took %v", took)
		}
	}
}
