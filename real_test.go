package lockcheck_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck"
	_ "github.com/lockcheck/lockcheck/docker"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

// session is a lock with GET_LOCK, which ends with its connection.
func session(e *lockcheck.Env) (lockcheck.Lock, error) {
	db, err := sql.Open("mysql", e.DSN())
	if err != nil {
		return lockcheck.Lock{}, err
	}
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			c, err := db.Conn(ctx)
			if err != nil {
				return lockcheck.Grant{}, err
			}
			got := 0
			if err = c.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", name).Scan(&got); err == nil && got == 0 {
				err = errTaken
			}
			if err != nil {
				c.Close()
			}
			return lockcheck.Grant{Release: func(ctx context.Context) error {
				defer c.Close()
				freed := sql.NullInt64{}
				err := c.QueryRowContext(ctx, "SELECT RELEASE_LOCK(?)", name).Scan(&freed)
				if err == nil && freed.Int64 == 0 {
					err = errNotOurs
				}
				return err
			}}, err
		},
		Refused: func(err error) bool { return errors.Is(err, errTaken) },
		NotHeld: func(err error) bool { return errors.Is(err, errNotOurs) },
		Close:   db.Close,
	}, nil
}

// patient is queue with waits that end.
func patient(e *lockcheck.Env) (lockcheck.Lock, error) {
	c, _, err := zk.Connect(e.Addrs(), e.Lease(), zk.WithDialer(e.DialTimeout), zk.WithLogger(silent{}))
	if err != nil {
		return lockcheck.Lock{}, err
	}
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			l := zk.NewLock(c, "/locks/"+name, zk.WorldACL(zk.PermAll))
			got := make(chan error, 1)
			go func() { got <- l.Lock() }()
			select {
			case err := <-got:
				return lockcheck.Grant{Release: func(context.Context) error { return l.Unlock() }}, err
			case <-ctx.Done():
				go func() {
					if <-got == nil {
						l.Unlock()
					}
				}()
				return lockcheck.Grant{}, ctx.Err()
			}
		},
		NotHeld: func(err error) bool { return errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNotLocked) },
		Close:   func() error { c.Close(); return nil },
	}, nil
}

// careful is patient, repaired: after an error it ends its session, so that no node stays.
func careful(e *lockcheck.Env) (lockcheck.Lock, error) {
	var c lockcheck.Lock
	connected := false
	failed := func(err error) error {
		if err != nil && connected {
			connected = false
			go c.Close()
		}
		return err
	}
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			if !connected {
				var err error
				if c, err = patient(e); err != nil {
					return lockcheck.Grant{}, err
				}
				connected = true
			}
			g, err := c.Acquire(ctx, name)
			release := g.Release
			g.Release = func(ctx context.Context) error { return failed(release(ctx)) }
			return g, failed(err)
		},
		NotHeld: func(err error) bool { return errors.Is(err, zk.ErrNoNode) },
	}, nil
}

// last is owned on the last server, where keys have a prefix.
func last(e *lockcheck.Env) (lockcheck.Lock, error) {
	l, err := ownedBy(e, redis.NewClient(&redis.Options{Addr: e.Addrs()[len(e.Addrs())-1], Dialer: e.DialContext, MaxRetries: -1}))
	for _, f := range []*func(context.Context, string) (lockcheck.Grant, error){&l.Acquire, &l.Try} {
		ask := *f
		*f = func(ctx context.Context, name string) (lockcheck.Grant, error) { return ask(ctx, "orders:{"+name+"}") }
	}
	return l, err
}

// forgetful is owned, but a client that has started again takes every answer for a yes.
func forgetful(e *lockcheck.Env) (lockcheck.Lock, error) {
	l, err := owned(e)
	if os.Mkdir(fmt.Sprint(e.Client(), "-", os.Getppid()), 0o700) == nil { // its first start in this run
		return l, err
	}
	acquire := l.Acquire
	l.Acquire = func(ctx context.Context, name string) (lockcheck.Grant, error) {
		g, err := acquire(ctx, name)
		if err != nil {
			g.Release = func(context.Context) error { return nil }
		}
		return g, nil
	}
	return l, err
}

// real are the tests that run on real servers, each in a process of its own.
var real = map[string]func(*testing.T){
	"redis": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Promise("exclusion"), lockcheck.Faults("pause"))
	},
	"zookeeper": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.ZooKeeper(), patient, lockcheck.Promise("exclusion"), lockcheck.Faults("pause"))
	},
	"mysql": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.MySQL(), session, lockcheck.Promise("exclusion"), lockcheck.Faults("session-expiry"))
	},
	"forgetful": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), forgetful, lockcheck.Promise("exclusion"), lockcheck.Faults("kill"))
	},
	"operator": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), owned, lockcheck.Promise("exclusion"), lockcheck.Faults("entry-lost"))
	},
	"nodes": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(3), last, lockcheck.Promise("ownership", "answers"), lockcheck.Faults("kill-connection"))
	},
	"sentinels": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.RedisSentinel(1), watched, lockcheck.Promise("lease-exclusion", "ownership", "liveness"), lockcheck.Faults("none"))
	},
	"sessions": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.ZooKeeper(), careful, lockcheck.Promise("liveness"), lockcheck.Faults("restart"))
	},
	"misuse": broken(func(l *lockcheck.Lock, _ *lockcheck.Env) {
		l.Acquire = func(context.Context, string) (lockcheck.Grant, error) { return lockcheck.Grant{}, nil }
	}),
	"no lock": broken(func(l *lockcheck.Lock, _ *lockcheck.Env) { l.Acquire = nil }),
	"long": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), owned, lockcheck.Promise("exclusion"), lockcheck.Faults("none"), lockcheck.Runs(100))
	},
}

// TestReal is started by the other tests, and by itself for each client.
func TestReal(t *testing.T) {
	if os.Getenv(failingEnv) == "" {
		t.Skip("TestRealServers runs these tests")
	}
	for name, f := range real {
		t.Run(name, f)
	}
}

// realCommand returns the command of one of them.
func realCommand(dir, name string, flags ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestReal$/^" + strings.ReplaceAll(name, " ", "_") + "$", "-test.v", "-lockcheck.on=docker"}, flags...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), failingEnv+"=1")
	return cmd
}

// Real servers confirm what a lock does wrong, with the test that says so in virtual
// time. Time is real, so one of a few runs must do.
func TestRealServersConfirmViolations(t *testing.T) {
	for _, name := range []string{"redis", "zookeeper", "mysql", "forgetful", "operator"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dockertest.Require(t)
			dir := t.TempDir()
			out, err := "", error(nil)
			for seed := range 5 {
				text, failed := realCommand(dir, name, fmt.Sprint("-lockcheck.seed=", seed+1)).CombinedOutput()
				if out, err = string(text), failed; err != nil {
					break
				}
			}
			if err == nil {
				t.Fatalf("five runs do not violate exclusion:\n%s", out)
			}
			has(t, out, "exclusion is violated in 1 of 1 run on real servers", "✗ VIOLATED exclusion", "on docker", "-lockcheck.replay=testdata")
			for _, file := range []string{"history.jsonl", "report.html", "schedule.json", "story.txt", "verdict.json"} {
				found, _ := filepath.Glob(filepath.Join(dir, "testdata", "lockcheck", "TestReal", name, "*", "docker", "exclusion", file))
				if len(found) != 1 {
					t.Errorf("no %s is kept", file)
				}
			}
			_, replay, _ := strings.Cut(out, "-lockcheck.replay=")
			replay, _, _ = strings.Cut(replay, "\n")
			text, _ := realCommand(dir, name, "-lockcheck.replay="+replay).CombinedOutput()
			if again := string(text); !strings.Contains(again, "exclusion is violated again") && !strings.Contains(again, "violates no promise now") {
				t.Errorf("the replay of %s: %s", replay, again)
			}
			nothingLeft(t)
		})
	}
}

// A test on real servers passes, or says in one line what is wrong with it.
func TestRealServers(t *testing.T) {
	for name, want := range map[string]string{
		"sentinels": "lease-exclusion is not judged on docker:",
		"nodes":     "ownership, answers held under kill-connection in 1 run",
		"sessions":  "liveness held under restart in 1 run",
		"misuse":    "c1: Acquire returned a Grant without Release",
		"no lock":   "lockcheck: the factory returned a Lock without Acquire",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dockertest.Require(t)
			out, err := realCommand(t.TempDir(), name).CombinedOutput()
			if passes := err == nil; passes == (name == "misuse" || name == "no lock") {
				t.Errorf("it passes: %v\n%s", passes, out)
			}
			has(t, strings.NewReplacer("c2:", "c1:", "c3:", "c1:", "c4:", "c1:").Replace(string(out)), want)
			nothingLeft(t)
		})
	}
}

// Without an engine a test fails, and says why.
func TestRealServersNeedAnEngine(t *testing.T) {
	cmd := realCommand(t.TempDir(), "redis")
	cmd.Env = append(cmd.Env, "DOCKER_HOST=tcp://127.0.0.1:1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("it passes:\n%s", out)
	}
	has(t, string(out), "lockcheck: ", "127.0.0.1:1")
}

// nothingLeft fails the test if a run has left something.
func nothingLeft(t *testing.T) {
	t.Helper()
	removed, err := docker.Clean(context.Background())
	if err != nil || len(removed) > 0 {
		t.Errorf("left behind: %v, %v", removed, err)
	}
}

// TestServed is a test whose process is a client: see TestClientProcess.
func TestServed(t *testing.T) {
	if os.Getenv("LOCKCHECK_WORKER") == "" {
		t.Skip("TestClientProcess runs this test")
	}
	fmt.Println("what the test prints")
	for token := range uint64(3) {
		lockcheck.Test(t, lockcheck.Redis(1), func(e *lockcheck.Env) (lockcheck.Lock, error) {
			fmt.Println("what the factory prints")
			return lockcheck.Lock{Acquire: func(context.Context, string) (lockcheck.Grant, error) {
				g := lockcheck.Grant{Token: token, Release: func(context.Context) error { return errNotOurs }}
				if e.Addr(0) != "127.0.0.1:1" {
					return g, io.ErrUnexpectedEOF
				}
				return g, nil
			}, NotHeld: func(err error) bool { return errors.Is(err, errNotOurs) }}, nil
		})
	}
}

// The process of a client serves the call of Test that it was started for, keeps its
// standard output to the protocol, and ends well with its input.
func TestClientProcess(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestServed$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), "LOCKCHECK_WORKER=TestServed#3")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(pipe)
	for _, l := range [][2]string{
		{`{"id":1,"op":"init","protocol":1,"clients":["c1"],"locks":["a"],"ttl_ms":1000,"targets":{"redis":["127.0.0.1:1"]}}`, `{"id":1,"ok":true,"name":"lockcheck","features":["token","deadline","clock"]}`},
		{`{"id":2,"op":"acquire","client":"c1","lock":"a","timeout_ms":500}`, `{"id":2,"ok":true,"token":2}`},
		{`{"id":3,"op":"release","client":"c1","lock":"a"}`, `{"id":3,"ok":false,"error":"not-held","text":"lock not held: it is not ours"}`},
	} {
		if fmt.Fprintln(in, l[0]); !lines.Scan() || lines.Text() != l[1] {
			t.Fatalf("it answers %s\nwith %s\nnot %s", l[0], lines.Text(), l[1])
		}
	}
	in.Close()
	if lines.Scan() {
		t.Errorf("it adds %s", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	has(t, log.String(), "what the test prints", "what the factory prints")
}

// Whatever ends a test, its clients end with it, and a later run removes its servers.
func TestRealServersAfterInterrupts(t *testing.T) {
	for name, end := range map[string]func(*os.Process) error{
		"Ctrl-C":  func(p *os.Process) error { return p.Signal(os.Interrupt) },
		"kill -9": func(p *os.Process) error { return p.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			dockertest.Require(t)
			cmd := realCommand(t.TempDir(), "long")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			for begin := time.Now(); len(clients()) < 4; time.Sleep(10 * time.Millisecond) {
				if time.Since(begin) > time.Minute {
					t.Fatal("its clients do not start")
				}
			}
			if err := end(cmd.Process); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); name == "Ctrl-C" && code != 130 {
				t.Errorf("exit code %d", code)
			}
			for begin := time.Now(); len(clients()) > 0; time.Sleep(10 * time.Millisecond) {
				if time.Since(begin) > 5*time.Second {
					t.Fatalf("clients are left: %v", clients())
				}
			}
			if name == "Ctrl-C" {
				nothingLeft(t)
			} else if _, err := docker.Clean(context.Background()); err != nil {
				t.Error(err)
			}
			if left, _ := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("lockcheck-%d_*", cmd.Process.Pid))); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// clients returns the processes that are clients of TestReal.
func clients() (list []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && bytes.Contains(text, []byte("LOCKCHECK_WORKER=TestReal/long#1")) {
			list = append(list, filepath.Dir(f))
		}
	}
	return list
}
