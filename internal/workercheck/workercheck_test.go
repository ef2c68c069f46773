package workercheck

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/worker"
	"github.com/lockcheck/lockcheck/locks"
)

// TestMain makes this program a right worker for the tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		worker.Serve(context.Background(), os.Stdin, os.Stdout, func(s worker.Setup) (locks.Locker, func() error, error) {
			s.Init.Options = worker.LockOptions("redis-set-lua", catalogue.Options{Token: true})
			return worker.Catalogue(s)
		})
		return
	}
	os.Exit(m.Run())
}

func converse(t *testing.T, store string, servers int, command ...string) (wrong int, said string) {
	t.Helper()
	var b strings.Builder
	wrong, err := Run(Options{Command: command, Store: store, Servers: servers, Lease: time.Minute, Out: &b})
	if err != nil {
		t.Fatal(err)
	}
	return wrong, b.String()
}

// A right worker goes through the whole conversation.
func TestARightWorker(t *testing.T) {
	t.Parallel()
	wrong, said := converse(t, worker.TargetRedis, 1, os.Args[0], "worker")
	for _, step := range []string{
		"✓ c1: init", "✓ c1: acquire", "✓ c1: read", "✓ c1: write", "✓ c1: release", "✓ c2: acquire", "✓ c2: an unknown operation",
		"✓ c2: a line that is not JSON", "✓ c1: close",
	} {
		if !strings.Contains(said, step+"\n") {
			t.Errorf("no %q", step)
		}
	}
	if wrong != 0 || strings.Contains(said, "✗") || strings.Contains(said, "–") {
		t.Errorf("%d wrong:\n%s", wrong, said)
	}
}

// Without a server operations may fail, if the answers are right.
func TestWithoutServers(t *testing.T) {
	t.Parallel()
	failed := func(id int) string { return fmt.Sprintf(`{"id":%d,"ok":false,"error":"unavailable"}`, id) }
	wrong, said := converse(t, worker.TargetZooKeeper, 0, writes(`{"id":1,"ok":true,"entries":[{"zookeeper":"/{name}"}]}`, failed(2), failed(3))...)
	if wrong != 0 || !strings.Contains(said, "– c1: read: left out") {
		t.Errorf("%d wrong:\n%s", wrong, said)
	}
}

// writes returns the command of a worker that writes these lines, one for each request.
func writes(lines ...string) []string {
	script := ""
	for _, l := range lines {
		script += fmt.Sprintf("read q; echo '%s'; ", l)
	}
	return []string{"sh", "-c", script + "exec cat >/dev/null"}
}

// Each wrong message is shown, with what was expected and where the page says so.
func TestWrongMessagesAreExplained(t *testing.T) {
	t.Parallel()
	const ready, granted = `{"id":1,"ok":true,"features":["token"]}`, `{"id":2,"ok":true,"token":1}`
	for name, tt := range map[string]struct {
		lines []string
		want  []string
	}{
		"a log on standard output": {[]string{"starting"}, []string{"✗ c1: init", "the worker wrote  starting", "one JSON object a line", "a log belongs on standard error", "“The protocol”"}},
		"a wrong id":               {[]string{`{"id":7,"ok":true}`}, []string{`"id":1, which the request has`}},
		"no ok":                    {[]string{`{"id":1}`}, []string{`"ok":true or "ok":false`}},
		"another version":          {[]string{`{"id":1,"ok":true,"protocol":2}`}, []string{`"protocol":1, or none`}},
		"an unknown feature":       {[]string{`{"id":1,"ok":true,"features":["tokens"]}`}, []string{`no feature "tokens": there are token, `}},
		"a deadline without clock": {[]string{`{"id":1,"ok":true,"features":["deadline"]}`}, []string{"the feature clock beside deadline"}},
		"a wrong entry":            {[]string{`{"id":1,"ok":true,"entries":[{"redis":"lock"}]}`}, []string{"does not contain {name}", "“Entries”"}},
		"a failed init":            {[]string{`{"id":1,"ok":false,"error":"no"}`}, []string{`"ok":true: without it no run begins`}},
		"no error":                 {[]string{ready, `{"id":2,"ok":false}`}, []string{"✓ c1: init", "✗ c1: acquire", `an "error" beside "ok":false`, "“The meaning of an answer”"}},
		"refused without a holder": {[]string{ready, `{"id":2,"ok":false,"error":"held"}`}, []string{"no client holds the lock", "– c1: read: left out"}},
		"no token":                 {[]string{ready, `{"id":2,"ok":true}`}, []string{`a "token": the worker has that feature`}},
		"a read of its own":        {[]string{ready, granted, `{"id":3,"ok":true,"value":0}`}, []string{"✗ c1: read", `first {"id":3,"do":"resource.read"}`}},
		"a do without token":       {[]string{ready, granted, `{"id":3,"do":"resource.read"}`}, []string{`the "token" of the grant`}},
		"another do":               {[]string{ready, granted, `{"id":3,"do":"resource.write"}`}, []string{`"do":"resource.read"`}},
		"the wrong value":          {[]string{ready, granted, `{"id":3,"do":"resource.read","token":1}`, `{"id":3,"ok":true,"value":5}`}, []string{`"value":0, which the resource answered`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := tt.lines
			for len(lines) < 9 { // so that the rest of the conversation does not wait
				lines = append(lines, "{}")
			}
			wrong, said := converse(t, worker.TargetRedis, 1, writes(lines...)...)
			if wrong == 0 {
				t.Error("nothing is wrong")
			}
			for _, w := range tt.want {
				if !strings.Contains(said, w) {
					t.Errorf("no %q in\n%s", w, said)
				}
			}
		})
	}
	if wrong, said := converse(t, worker.TargetRedis, 1, "false"); wrong != 1 || !strings.Contains(said, "the worker has ended with exit status 1") {
		t.Errorf("a worker that ends: %d\n%s", wrong, said)
	}
}
