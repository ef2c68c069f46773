package docker_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/env"
)

// abandonArgument makes this program a run that will be killed.
const abandonArgument = "abandon"

// abandon builds an environment, stops a client and waits for its own end.
func abandon() {
	lock, _ := catalogue.FindLock("redis-set-lua")
	p, err := docker.New(context.Background(), env.Config{
		Lock: lock, Lease: time.Second, Clients: []string{"c1", "c2"}, Names: []string{"a"},
	}, &witness{}, docker.Options{})
	if err == nil {
		err = p.Pause("c1")
	}
	if err == nil {
		_, err = docker.TempDir()
	}
	fmt.Println("\nready", err)
	select {}
}

// The leftovers of a killed run are removed: its workers end with it, even stopped
// ones, and its container goes at the next start or with Clean. Everything of a living
// run stays.
//
// It runs alone: each new environment removes leftovers, too.
func TestCleanRemovesLeftoversOfKilledRuns(t *testing.T) {
	w := &witness{}
	setup{}.run(t, w, func(p *docker.Environment) {
		cmd := exec.Command(os.Args[0], abandonArgument)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "ready") {
		}
		if lines.Text() != "ready <nil>" {
			t.Fatalf("the other run is not ready: %q", lines.Text())
		}
		owned := fmt.Sprintf("%s=%d:", docker.OwnerEnv, cmd.Process.Pid)
		if n := len(processesWith(owned)); n != 2 {
			t.Errorf("the other run has %d workers", n)
		}
		removed, err := docker.Clean(t.Context())
		if len(removed) > 0 || err != nil {
			t.Errorf("with all runs alive Clean removed %q, %v", removed, err)
		}

		must(t, cmd.Process.Signal(syscall.SIGKILL))
		cmd.Wait()
		for limit := time.Now().Add(patience); len(processesWith(owned)) > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("workers outlive their run: %v", processesWith(owned))
			}
		}
		removed, err = docker.Clean(t.Context())
		if len(removed) != 2 || !strings.HasPrefix(removed[0], "directory ") || !strings.HasPrefix(removed[1], "container ") || err != nil {
			t.Errorf("Clean removed %q, %v", removed, err)
		}
		removed, err = docker.Clean(t.Context())
		if len(removed) != 0 || err != nil {
			t.Errorf("a second Clean removed %q, %v", removed, err)
		}
		acquire(t, p.Client("c1"), op(1), time.Second)
	})
}

// The engine creates a container whose run has been killed meanwhile: Clean waits for
// it, and for further ones.
func TestCleanWaitsForContainersUnderWay(t *testing.T) {
	dockertest.Require(t)
	dead := exec.Command("true")
	must(t, dead.Run())
	owner := docker.OwnerOf(dead.Process.Pid, 1)
	var late sync.WaitGroup
	var ids []string
	late.Go(func() {
		for range 2 {
			time.Sleep(500 * time.Millisecond)
			id, err := docker.Create(t.Context(), owner)
			if err != nil {
				t.Error(err)
				return
			}
			ids = append(ids, "container "+id[:12])
		}
	})
	removed, err := docker.CleanUntil(t.Context(), 10*time.Second) // a slow engine takes its time
	late.Wait()
	if !slices.Equal(removed, ids) || err != nil {
		t.Errorf("Clean removed %q, %v; there came %q", removed, err, ids)
		docker.Clean(t.Context())
	}
}

// Clean kills a worker that its parent's death does not end, because another process is
// between them.
func TestCleanKillsWorkers(t *testing.T) {
	dockertest.Require(t)
	dead := exec.Command("true")
	must(t, dead.Run())
	cmd := exec.Command("sleep", "60")
	cmd.Env = append(os.Environ(), docker.OwnerEnv+"="+docker.OwnerOf(dead.Process.Pid, 1))
	must(t, cmd.Start())
	living := exec.Command("sleep", "60")
	living.Env = append(os.Environ(), docker.OwnerEnv+"="+docker.OwnerOf(os.Getpid(), 0))
	must(t, living.Start())
	defer func() {
		living.Process.Kill()
		living.Wait()
	}()
	removed, err := docker.Clean(t.Context())
	if err != nil || len(removed) != 1 || removed[0] != fmt.Sprintf("worker %d", cmd.Process.Pid) {
		cmd.Process.Kill()
		t.Errorf("removed %q, %v", removed, err)
	}
	cmd.Wait()
}

// processesWith returns the other processes with an environment variable that begins
// like that.
func processesWith(variable string) (pids []string) {
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		env, err := os.ReadFile("/proc/" + d.Name() + "/environ")
		if err == nil && strings.Contains("\x00"+string(env), "\x00"+variable) {
			pids = append(pids, d.Name())
		}
	}
	return pids
}

// An interrupted run ends at once and leaves no server, even if its servers are stopped
// and cut off.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setup
		script func(p *docker.Environment, interrupt func())
	}{
		"two clients": {setup{lease: unhurried}, func(p *docker.Environment, interrupt func()) {
			p.Client("c1").Acquire(op(1), time.Second)
			p.After(100*time.Millisecond, interrupt)
			p.Client("c2").Acquire(op(2), time.Minute)
			p.Sleep(time.Minute)
		}},
		"servers without a master": {setup{
			lease: replicatedLease, clients: []string{"c1"},
			server: catalogue.Server{Replicas: 1}, options: catalogue.Options{OwnToken: true},
		}, func(p *docker.Environment, interrupt func()) {
			must(t, p.Isolate(1, []string{redis1, "sentinel-1"}))
			must(t, p.Pause("redis-1b"))
			must(t, p.Pause(redis1))
			p.After(100*time.Millisecond, interrupt)
			p.Client("c1").Acquire(op(1), time.Minute)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pace := dockertest.Pace(t)
			ctx, interrupt := context.WithCancel(t.Context())
			p := c.open(ctx, t, &witness{})
			p.Go(func() { c.script(p, interrupt) })
			begun := time.Now()
			if err := p.Run(); err != context.Canceled {
				t.Errorf("Run: %v", err)
			}
			must(t, p.Close())
			withinPaces(t, time.Since(begun), endPaces, pace)
			wantNothingLeft(t, p)
		})
	}
}
