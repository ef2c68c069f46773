package docker_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/lockcheck/lockcheck/cluster/docker"
	"github.com/lockcheck/lockcheck/cluster/docker/dockertest"
)

// Nothing is pulled: who has no base image reads what to type, before and after.
func TestABaseImageThatIsNotThere(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if pull := "\n    docker pull " + docker.DefaultBase + "\n"; !strings.Contains(string(page), pull) {
		t.Errorf("the README does not say%s", pull)
	}
	dockertest.Require(t)
	t.Setenv(docker.BaseEnv, "lockcheck-nowhere:1")
	_, remove, err := docker.Redis(t.Context(), docker.Options{Log: t.Output()})
	if err == nil {
		must(t, remove(t.Context()))
	}
	if err == nil || !strings.Contains(err.Error(), "docker pull lockcheck-nowhere:1,") || !strings.Contains(err.Error(), docker.BaseEnv) {
		t.Errorf("%v", err)
	}
}

// A machine that has no image yet may make several places at once, as a case does.
func TestTheImageIsBuiltOnceForPlacesSideBySide(t *testing.T) {
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
	}
	if built != 1 {
		t.Errorf("it is built %d times", built)
	}
}
