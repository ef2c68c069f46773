package docker_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

// If neither this machine nor a registry has the base image, the error says what to do.
func TestAMissingBaseImage(t *testing.T) {
	dockertest.Require(t)
	t.Setenv(docker.BaseEnv, "127.0.0.1:1/lockcheck-nowhere:1")
	var log bytes.Buffer
	_, remove, err := docker.Redis(t.Context(), docker.Options{Log: &log})
	if err == nil {
		must(t, remove(t.Context()))
	}
	if err == nil || !strings.Contains(err.Error(), "tools/base-image") || !strings.Contains(err.Error(), docker.BaseEnv) {
		t.Errorf("%v", err)
	}
	if want := "pulling 127.0.0.1:1/lockcheck-nowhere:1; this is done once\n"; log.String() != want {
		t.Errorf("the log is %q, want %q", &log, want)
	}
}

// A machine without the image may make several environments at once, as a case does.
func TestParallelEnvironmentsBuildTheImageOnce(t *testing.T) {
	dockertest.Require(t)
	base, remove, err := docker.NewBase(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, remove(context.Background())) })
	t.Setenv(docker.BaseEnv, base)
	var group sync.WaitGroup
	var said [3]bytes.Buffer
	for i := range said {
		group.Go(func() {
			if _, err := docker.ServersImage(t.Context(), &said[i]); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	built := 0
	for i := range said {
		built += strings.Count(said[i].String(), "building image")
		if strings.Count(said[i].String(), "\n") > 1 {
			t.Errorf("the log of a successful build has more than its end:\n%s", &said[i])
		}
	}
	if built != 1 {
		t.Errorf("the image is built %d times", built)
	}
}

// Without a network the user reads the package manager's error, and none of the
// hundreds of lines before it.
func TestAFailedBuildShowsItsLastLines(t *testing.T) {
	log := strings.Repeat("Unpacking a package ...\n", 500) +
		"Step 4/7 : RUN apt-get install" + strings.Repeat(" a-package", 100) + "\n" +
		"(Reading database ... 5%\r(Reading database ... 100%\r\n" +
		"\x1b[91mE: Unable to locate package tini\n\x1b[0m"
	last := docker.LastLines(log)
	if !strings.HasSuffix(last, "    (Reading database ... 100%\n    E: Unable to locate package tini\n") {
		t.Errorf("%q", last)
	}
	if n := strings.Count(last, "\n"); n > 20 {
		t.Errorf("%d lines", n)
	}
	if !strings.Contains(last, "\n    Step 4/7 : RUN apt-get install a-package") || len(last) > 20*160 {
		t.Errorf("the step's own line fills the screen:\n%s", last)
	}
	if last := docker.LastLines(""); last != "" {
		t.Errorf("for an empty log: %q", last)
	}
}
