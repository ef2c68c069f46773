package docker_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

// Scripts of one container run side by side. One that fails, or whose context ends, harms no
// other.
func TestScriptsOfAContainer(t *testing.T) {
	t.Parallel()
	dockertest.Require(t)
	g, err := docker.RedisGroup(t.Context(), 1, docker.Options{Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(context.Background()) })
	m := g.Members[0]
	t.Log("each waits for the other")
	err = clients.Together([]string{"a b", "b a"}, func(names string) error {
		mine, other, _ := strings.Cut(names, " ")
		return m.Run(t.Context(), "touch /tmp/"+mine+"; until [ -e /tmp/"+other+" ]; do sleep 0.01; done", false)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ script, want string }{
		{"printf 'it''s'; exit 7", "exit status 7: its"},
		{"cat; false", "exit status 1: "},
		{"echo one; echo two >&2; cat <<'end'; exit 3\nthree\nend", "exit status 3: one\ntwo\nthree"},
	} {
		if err := m.Run(t.Context(), tt.script, false); err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.script, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- m.Run(ctx, "touch /tmp/begun; sleep 1000", false) }()
	if err := m.Run(t.Context(), "until [ -e /tmp/begun ]; do sleep 0.01; done", false); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
	for range 3 {
		if err := m.Run(t.Context(), "true", false); err != nil {
			t.Error(err)
		}
	}
}
