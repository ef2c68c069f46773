package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// The engine is that of the docker command, and its containers are reached at their
// published ports.
func TestTheEngineAndItsPorts(t *testing.T) {
	for _, tt := range []struct {
		name, host, context, current string // DOCKER_HOST, DOCKER_CONTEXT, the settings' context
		engine, at, bind             string
	}{
		{name: "plain Linux", at: "127.0.0.1", bind: "127.0.0.1"},
		{name: "the default context", current: "default", at: "127.0.0.1", bind: "127.0.0.1"},
		{name: "a socket", host: "unix:///var/run/docker.sock", engine: "unix:///var/run/docker.sock", at: "127.0.0.1", bind: "127.0.0.1"},
		{name: "a private socket", host: "unix:///run/user/1000/docker.sock", engine: "unix:///run/user/1000/docker.sock", at: "127.0.0.1", bind: "127.0.0.1"},
		{name: "Docker Desktop", current: "desktop-linux", engine: "unix:///home/me/.docker/desktop/docker.sock", at: "127.0.0.1", bind: "127.0.0.1"},
		{name: "Colima", current: "colima", engine: "unix:///home/me/.colima/default/docker.sock", at: "127.0.0.1", bind: "127.0.0.1"},
		{name: "Windows", host: "npipe:////./pipe/docker_engine", engine: "npipe:////./pipe/docker_engine", at: "127.0.0.1", bind: "127.0.0.1"},
		{name: "a port of this machine", host: "tcp://127.0.0.1:2375", engine: "tcp://127.0.0.1:2375", at: "127.0.0.1", bind: "127.0.0.1"},
		{name: "its name", host: "tcp://localhost:2375", engine: "tcp://localhost:2375", at: "127.0.0.1", bind: "127.0.0.1"},
		{name: "a remote engine", host: "tcp://build.example:2376", engine: "tcp://build.example:2376", at: "build.example", bind: "0.0.0.0"},
		{name: "a remote context", current: "remote", engine: "tcp://10.0.0.7:2376", at: "10.0.0.7", bind: "0.0.0.0"},
		{name: "DOCKER_CONTEXT goes before the settings", context: "remote", current: "colima", engine: "tcp://10.0.0.7:2376", at: "10.0.0.7", bind: "0.0.0.0"},
		{name: "DOCKER_HOST goes before both", host: "unix:///x.sock", context: "remote", engine: "unix:///x.sock", at: "127.0.0.1", bind: "127.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			config := t.TempDir()
			for name, host := range map[string]string{
				"desktop-linux": "unix:///home/me/.docker/desktop/docker.sock",
				"colima":        "unix:///home/me/.colima/default/docker.sock",
				"remote":        "tcp://10.0.0.7:2376",
			} {
				sum := sha256.Sum256([]byte(name))
				write(t, filepath.Join(config, "contexts", "meta", hex.EncodeToString(sum[:]), "meta.json"),
					`{"Name":"`+name+`","Metadata":{},"Endpoints":{"docker":{"Host":"`+host+`","SkipTLSVerify":false}}}`)
			}
			if tt.current != "" {
				write(t, filepath.Join(config, "config.json"), `{"auths":{},"currentContext":"`+tt.current+`"}`)
			}
			env := map[string]string{"DOCKER_HOST": tt.host, "DOCKER_CONTEXT": tt.context}
			engine, err := engineURL(func(name string) string { return env[name] }, config)
			if err != nil || engine != tt.engine {
				t.Errorf("the engine is at %q (%v), want %q", engine, err, tt.engine)
			}
			if at, bind := published(engine); at != tt.at || bind.String() != tt.bind {
				t.Errorf("ports are at %s, bound to %s; want %s and %s", at, bind, tt.at, tt.bind)
			}
		})
	}
}

func TestAContextThatDoesNotExist(t *testing.T) {
	if _, err := engineURL(func(string) string { return "" }, t.TempDir()); err != nil {
		t.Errorf("no settings at all: %v", err)
	}
	env := map[string]string{"DOCKER_CONTEXT": "gone"}
	if _, err := engineURL(func(name string) string { return env[name] }, t.TempDir()); err == nil {
		t.Error("a missing context is no error")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
