package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// Every signal to end stops a command in order, like Ctrl-C. A command that has to
// outlive its terminal does so.
func TestASignalEndsACommandInOrder(t *testing.T) {
	binary := built(t)
	// If these tests have to outlive a terminal, their children would, too.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(handled) })
	for _, tt := range []struct {
		what    string
		shell   string
		signals []os.Signal
		code    int
	}{
		{"Ctrl-C", "", []os.Signal{os.Interrupt}, interrupted},
		{"a build server", "", []os.Signal{syscall.SIGTERM}, interrupted},
		{"a terminal that is closed", "", []os.Signal{syscall.SIGHUP}, interrupted},
		{"a terminal that is closed, and its shell", "", []os.Signal{syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP}, interrupted},
		{"a terminal that is closed, under nohup", `trap "" HUP; `, []os.Signal{syscall.SIGHUP}, unavailable},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			asked, gone, answer := make(chan struct{}, 10), make(chan struct{}, 10), make(chan struct{})
			engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked <- struct{}{}
				select {
				case <-answer:
					http.Error(w, "no engine", http.StatusInternalServerError)
				case <-r.Context().Done():
					gone <- struct{}{}
				}
			}))
			t.Cleanup(engine.Close)
			cmd := exec.Command("sh", "-c", tt.shell+`exec "$0" run redis-setnx --on docker`, binary)
			said, stderr := fullPipe(t)
			cmd.Dir, cmd.Stderr = t.TempDir(), stderr
			cmd.Env = append(os.Environ(), "DOCKER_HOST="+strings.Replace(engine.URL, "http", "tcp", 1))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			t.Cleanup(func() { cmd.Process.Kill() })
			select {
			case <-asked: // the command has begun, and waits
			case err := <-ended:
				t.Fatal("it has ended:", err)
			}
			for i, s := range tt.signals {
				if i == 1 {
					<-gone // it has got the first signal, and ends after its message
				}
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
			if tt.code != interrupted {
				close(answer) // now it ends by itself
			}
			stderr.Close()
			go io.Copy(io.Discard, said)
			if err := <-ended; cmd.ProcessState.ExitCode() != tt.code {
				t.Errorf("%v, want exit code %d", err, tt.code)
			}
		})
	}
}

// fullPipe returns a pipe that takes a write only when somebody reads.
func fullPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if err := w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("it is not full:", err)
	}
	return r, w
}

// A command that is slow to end says so, and says what a second Ctrl-C costs.
func TestASlowEndIsSaid(t *testing.T) {
	const slow, last = "lockcheck: cleaning up; a second Ctrl-C leaves the rest to lockcheck clean", "lockcheck: interrupted; what there was until then is kept"
	for _, tt := range []struct {
		silence time.Duration
		want    string
	}{
		{1, slow + "\n" + last},
		{time.Hour, last},
		{0, last},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		said, stderr := io.Pipe()
		lines := make(chan string, 10)
		go func() {
			defer close(lines)
			for in := bufio.NewScanner(said); in.Scan(); {
				lines <- in.Text()
			}
		}()
		a := newApp(nil, io.Discard, stderr)
		a.silence = tt.silence
		a.servers.Store(true)
		var got []string
		e := &engine{ctx: ctx, seen: func(*harness.Plan) {
			if cancel(); tt.want != last {
				got = append(got, <-lines) // its end takes until then
			}
		}}
		a.open = func(ctx context.Context, _ ask.Environment) (*batch.Runner, error) { return e.runner(ctx, a), nil }
		code := a.execute(ctx, []string{"run", "redis-set-lua", "--on", "docker", "--fault", "none", "--out", filepath.Join(t.TempDir(), "out")})
		stderr.Close()
		for line := range lines {
			got = append(got, line)
		}
		if said := strings.Join(got, "\n"); said != tt.want || code != interrupted {
			t.Errorf("silence %v: exit code %d, and\n%s", tt.silence, code, said)
		}
	}
}

// A command that does not react to a signal, because one of its steps takes long, ends
// anyway.
func TestAStuckCommandEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	a := newApp(nil, io.Discard, io.Discard)
	a.exit = func(code int) { ended <- code }
	stuck := make(chan struct{})
	a.open = func(ctx context.Context, _ ask.Environment) (*batch.Runner, error) {
		cancel()
		<-stuck
		return nil, ctx.Err()
	}
	go a.execute(ctx, []string{"run", "redis-set-lua", "--out", filepath.Join(t.TempDir(), "out")})
	begun := time.Now()
	select {
	case code := <-ended:
		if code != interrupted {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(10 * time.Second):
		t.Errorf("it goes on after %v", time.Since(begun))
	}
	close(stuck)
}
