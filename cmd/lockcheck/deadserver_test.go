package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	dockerapi "github.com/moby/moby/client"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/results"
)

// midway waits until a command's run has recorded some lines, and returns the container
// of its server, which must differ from last. It returns "" if the command ends before.
func midway(t *testing.T, api *dockerapi.Client, pid int, out, last string, ended <-chan error) string {
	t.Helper()
	for {
		select {
		case <-ended:
			return ""
		case <-time.After(20 * time.Millisecond):
		}
		list, err := api.ContainerList(t.Context(), dockerapi.ContainerListOptions{Filters: make(dockerapi.Filters).Add("label", "lockcheck.owner")})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list.Items {
			files, _ := filepath.Glob(filepath.Join(out, "*", historyFile))
			if c.ID == last || len(files) != 1 || !strings.HasPrefix(c.Labels["lockcheck.owner"], fmt.Sprint(pid, ":")) {
				continue
			}
			if text, _ := os.ReadFile(files[0]); bytes.Count(text, []byte("\n")) > 50 {
				return c.ID
			}
		}
	}
}

// A server that is killed from outside is not the lock's fault, although all clients
// end without it. The run is tried again, and no client in it waits for ever.
func TestAServerThatIsKilledFromOutsideConvictsNobody(t *testing.T) {
	t.Parallel()
	path := binary(t)
	api, err := dockerapi.New(dockerapi.FromEnv)
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	kill := func(id string) error {
		x, err := api.ExecCreate(t.Context(), id, dockerapi.ExecCreateOptions{Cmd: []string{"sh", "-c", `kill -9 "$(cat /data/pid)"`}})
		if err == nil {
			_, err = api.ExecStart(t.Context(), x.ID, dockerapi.ExecStartOptions{Detach: true})
		}
		return err
	}
	remove := func(id string) error {
		_, err := api.ContainerRemove(t.Context(), id, dockerapi.ContainerRemoveOptions{Force: true})
		return err
	}
	for _, tt := range []struct {
		name string
		ends []func(id string) error // one for each try
		code int
		runs int
	}{
		{"once", []func(string) error{kill}, held, 1},
		{"twice, and with its container", []func(string) error{kill, remove}, unavailable, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := t.TempDir()
			cmd := exec.Command(path, "run", "redis-set-lua", "--on", "docker", "--fault", "none", "--runs", "1", "--acquires", "12", "--lease", "2s", "--seed", "1", "--json", "--out", out)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait(); close(ended) }()
			last := ""
			for _, end := range tt.ends {
				if last = midway(t, api, cmd.Process.Pid, out, last, ended); last == "" {
					t.Fatalf("it has ended before\n%s%s", stdout.String(), stderr.String())
				}
				if err := end(last); err != nil {
					t.Fatal(err)
				}
			}
			for range ended {
			}
			result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}.wants(t, tt.code,
				"is tried again, as the environment failed: redis-1 has ended, and no fault was to end it")
			var doc results.Document
			if err := json.Unmarshal(stdout.Bytes(), &doc); err != nil {
				t.Fatal(err)
			}
			if doc.Retried != 1 || doc.Runs != tt.runs {
				t.Errorf("%d retried, %d runs", doc.Retried, doc.Runs)
			}
			for _, c := range doc.Cells {
				for _, p := range c.Properties {
					if p.Outcome == checker.Violated.String() {
						t.Errorf("%s is violated", p.Property)
					}
				}
			}
			nothingLeft(t, path)
		})
	}
}
