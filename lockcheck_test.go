package lockcheck_test

import (
	"context"
	"flag"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck"
	"github.com/lockcheck/lockcheck/internal/alltests"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silentRedis{}) // go-redis reports each server that is down
	os.Exit(m.Run())
}

type silentRedis struct{}

func (silentRedis) Printf(context.Context, string, ...any) {}

// long lets all runs happen, however slow the machine is.
var long = lockcheck.For(10 * time.Minute)

// A lock that releases only what it holds keeps these promises, whatever happens to
// clients and connections.
func TestOwned(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), owned, lockcheck.Promise("lease-exclusion", "ownership", "answers", "liveness"),
		lockcheck.Faults("none", "pause", "kill", "partition", "delay", "drop-reply", "kill-connection", "server-pause", "restart"), lockcheck.Runs(runs(30)), long)
}

// On a machine that has no time for its runs, each fault still gets those that test the
// promise.
func TestSlowly(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), owned, lockcheck.Promise("lease-exclusion", "ownership"),
		lockcheck.Faults("none", "pause", "kill"), lockcheck.Slowly())
}

// The examples that pass; testNaive is among those that fail.
func TestRepaired(t *testing.T) { testRepaired(t) }
func TestRedsync(t *testing.T)  { testRedsync(t) }

func TestRenews(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), watchdog, lockcheck.Renews(), lockcheck.Promise("exclusion", "lease-exclusion", "ownership"),
		lockcheck.Faults("none", "server-pause"), lockcheck.Runs(runs(30)), long)
}

func TestWatched(t *testing.T) {
	lockcheck.Test(t, lockcheck.RedisSentinel(2), watched, lockcheck.Promise("ownership", "liveness"),
		lockcheck.Faults("none", "failover", "kill-connection"), lockcheck.Runs(runs(30)), long)
}

func TestQueue(t *testing.T) {
	lockcheck.Test(t, lockcheck.ZooKeeper(), queue, lockcheck.Promise("exclusion", "ownership", "liveness"),
		lockcheck.Faults("none", "kill"), lockcheck.Runs(runs(30)), long)
}

// runs returns how many runs a fault gets.
func runs(few int) int {
	if alltests.Wanted() {
		return 3 * few
	}
	return few
}

// failing are tests that fail: each runs in a process of its own, which this test starts.
var failing = map[string]func(*testing.T){
	"naive": testNaive,
	"naive with seed 2": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Promise("exclusion"), lockcheck.Faults("pause"), lockcheck.Seed(2), long)
	},
	"an operator": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), owned, lockcheck.Promise("exclusion"), lockcheck.Faults("entry-lost"), long)
	},
	"a release of two requests": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), readsFirst, lockcheck.Promise("ownership"), lockcheck.Faults("pause"), long)
	},
	"a takeover by two requests": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), takesOver, lockcheck.Promise("ownership"), lockcheck.Faults("pause"), lockcheck.Clients(2), long)
	},
	"it extends any key": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), extendsAny, lockcheck.Promise("lease-exclusion"), lockcheck.Faults("pause"), long)
	},
	"it renews any key": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), renews(extendsAny), lockcheck.Renews(), lockcheck.Promise("lease-exclusion"), lockcheck.Faults("pause"), lockcheck.Runs(300), long)
	},
	"it never renews": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), neverRenews, lockcheck.Renews(), lockcheck.Promise("exclusion"), lockcheck.Faults("none"), long)
	},
	"it is correct where it is shorter": func(t *testing.T) {
		lock := naive
		if os.Getenv("LOCKCHECK_REPEAT") != "" && flag.Lookup("lockcheck.replay").Value.String() != "" {
			lock = owned
		}
		lockcheck.Test(t, lockcheck.Redis(1), lock, lockcheck.Promise("ownership"), lockcheck.Faults("pause"), long)
	},
	"no promise": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Faults("pause", "kill"), lockcheck.Runs(40), long)
	},
	"few runs of a fault": func(t *testing.T) {
		promise := lockcheck.Promise()
		if list := os.Getenv(promiseEnv); list != "" {
			promise = lockcheck.Promise(strings.Split(list, " ")...)
		}
		lockcheck.Test(t, lockcheck.Redis(1), owned, promise, lockcheck.Faults("pause", "server-pause"), lockcheck.Runs(2), long)
	},
	"parallel": func(t *testing.T) {
		t.Parallel()
		lockcheck.Test(t, lockcheck.Redis(1), naive)
	},
	"unknown fault": func(t *testing.T) { lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Faults("paus")) },
	"a fault that does not apply": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Faults("failover"))
	},
	"no servers":       func(t *testing.T) { lockcheck.Test(t, lockcheck.Redis(0), naive) },
	"zero servers":     func(t *testing.T) { lockcheck.Test(t, lockcheck.Servers{}, naive) },
	"a server too far": broken(func(_ *lockcheck.Lock, e *lockcheck.Env) { e.Addr(3) }),
	"two at once": func(t *testing.T) {
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				lockcheck.Test(t, lockcheck.Redis(1), owned, lockcheck.Promise("ownership"), lockcheck.Faults("none"))
			})
		}
		both.Wait()
	},
	"no clients": func(t *testing.T) { lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Clients(0)) },
	"few runs":   func(t *testing.T) { lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Runs(-1)) },
	"no time":    func(t *testing.T) { lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.For(-1)) },
	"nowhere":    func(t *testing.T) { lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.On("mars")) },
	"a workload that does not fit": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Workload("finally"))
	},
	"no factory":          func(t *testing.T) { lockcheck.Test(t, lockcheck.Redis(1), nil) },
	"a no without a name": broken(func(l *lockcheck.Lock, _ *lockcheck.Env) { l.Refused = nil }),
	"unknown property":    func(t *testing.T) { lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Promise("fenced")) },
	"nothing reached": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), owned, lockcheck.Promise("lease-exclusion"), lockcheck.Faults("pause"), lockcheck.Runs(1), lockcheck.Clients(1))
	},
	"no time to reach anything": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), owned, lockcheck.Promise("lease-exclusion"), lockcheck.Faults("pause"), lockcheck.For(1))
	},
	"the factory panics": broken(func(*lockcheck.Lock, *lockcheck.Env) { panic("boom") }),
	"the factory fails": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), func(*lockcheck.Env) (lockcheck.Lock, error) { return lockcheck.Lock{}, io.ErrUnexpectedEOF })
	},
	"no acquire": broken(func(l *lockcheck.Lock, _ *lockcheck.Env) { l.Acquire = nil }),
	"no release": broken(func(l *lockcheck.Lock, _ *lockcheck.Env) {
		l.Acquire = func(context.Context, string) (lockcheck.Grant, error) { return lockcheck.Grant{}, nil }
	}),
	"one lock for all": func(t *testing.T) {
		var one *lockcheck.Lock
		lockcheck.Test(t, lockcheck.Redis(1), func(e *lockcheck.Env) (lockcheck.Lock, error) {
			if one == nil {
				l, err := naive(e)
				one = &l
				return l, err
			}
			return *one, nil
		})
	},
	"a release without an end": broken(func(l *lockcheck.Lock, _ *lockcheck.Env) {
		acquire := l.Acquire
		l.Acquire = func(ctx context.Context, name string) (lockcheck.Grant, error) {
			g, err := acquire(ctx, name)
			g.Release = func(context.Context) error { select {} }
			return g, err
		}
	}),
	"it ends its goroutine": broken(func(l *lockcheck.Lock, _ *lockcheck.Env) {
		l.Acquire = func(context.Context, string) (lockcheck.Grant, error) { runtime.Goexit(); panic("unreachable") }
	}),
	"Close panics":             broken(func(l *lockcheck.Lock, _ *lockcheck.Env) { l.Close = func() error { panic("shut") } }),
	"Close ends its goroutine": broken(func(l *lockcheck.Lock, _ *lockcheck.Env) { l.Close = func() error { runtime.Goexit(); return nil } }),
	"Close without an end":     broken(func(l *lockcheck.Lock, _ *lockcheck.Env) { l.Close = func() error { select {} } }),
	"a factory without an end": broken(func(*lockcheck.Lock, *lockcheck.Env) { select {} }),
	"an acquire without an end": broken(func(l *lockcheck.Lock, _ *lockcheck.Env) {
		l.Acquire = func(context.Context, string) (lockcheck.Grant, error) { select {} }
	}),
	"it never grants": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), func(e *lockcheck.Env) (lockcheck.Lock, error) {
			l, err := naive(e)
			l.Acquire = func(context.Context, string) (lockcheck.Grant, error) { return lockcheck.Grant{}, errTaken }
			return l, err
		}, lockcheck.Faults("none"), lockcheck.Runs(2))
	},
	"no dialer": dialing(func(e *lockcheck.Env) *redis.Options { return &redis.Options{Addr: "127.0.0.1:1"} }),
	"a side connection": broken(func(*lockcheck.Lock, *lockcheck.Env) {
		if c, err := net.Dial("tcp", "127.0.0.1:1"); err == nil {
			c.Close()
		}
	}),
	"a side connection after an error": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), func(e *lockcheck.Env) (lockcheck.Lock, error) {
			l, err := naive(e)
			acquire := l.Acquire
			l.Acquire = func(ctx context.Context, name string) (lockcheck.Grant, error) {
				g, err := acquire(ctx, name)
				if err != nil && !l.Refused(err) {
					_, _ = net.Dial("tcp", "127.0.0.1:1")
				}
				return g, err
			}
			return l, err
		}, lockcheck.Faults("restart"), lockcheck.Promise("ownership"))
	},
	"a side socket": broken(func(l *lockcheck.Lock, _ *lockcheck.Env) {
		if c, err := net.ListenPacket("udp", "127.0.0.1:0"); err == nil {
			l.Close = c.Close
		}
	}),
	"a name of the network": broken(func(*lockcheck.Lock, *lockcheck.Env) { _, _ = net.LookupHost("example.invalid") }),
	"a process":             broken(func(*lockcheck.Lock, *lockcheck.Env) { _ = exec.Command("true").Run() }),
	"a fault twice": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Faults("pause", "none", "pause"))
	},
	"a host name": dialing(func(e *lockcheck.Env) *redis.Options {
		return &redis.Options{Addr: "localhost:6379", Dialer: e.DialContext}
	}),
	"no faults": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Faults([]string{}...), lockcheck.Promise("ownership"), long)
	},
	"datagrams": dialing(func(e *lockcheck.Env) *redis.Options {
		return &redis.Options{Addr: e.Addr(0), Network: "udp", Dialer: e.DialContext}
	}),
	"a client of Redis at ZooKeeper": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.ZooKeeper(), owned, lockcheck.Promise("exclusion"))
	},
	"a key without the name": func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), func(e *lockcheck.Env) (lockcheck.Lock, error) {
			l, err := naive(e)
			acquire := l.Acquire
			l.Acquire = func(ctx context.Context, _ string) (lockcheck.Grant, error) { return acquire(ctx, "mine") }
			return l, err
		}, lockcheck.Promise("ownership"))
	},
	"a panic": broken(func(l *lockcheck.Lock, _ *lockcheck.Env) {
		l.Acquire = func(context.Context, string) (lockcheck.Grant, error) { panic("ouch") }
	}),
	"a command that the model lacks": broken(func(l *lockcheck.Lock, e *lockcheck.Env) {
		c := redis.NewClient(&redis.Options{Addr: e.Addr(0), Dialer: e.DialContext})
		l.Acquire = func(ctx context.Context, name string) (lockcheck.Grant, error) {
			return lockcheck.Grant{}, c.XAdd(ctx, &redis.XAddArgs{Stream: name, Values: []string{"f", "v"}}).Err()
		}
		l.Close = c.Close
	}),
	"an address of nobody": broken(func(l *lockcheck.Lock, e *lockcheck.Env) {
		_, err := e.DialContext(context.Background(), "tcp", "10.9.9.9:6379")
		panic(err)
	}),
	"a goroutine is left": broken(func(*lockcheck.Lock, *lockcheck.Env) { go func() { select {} }() }),
	"it never waits": broken(func(l *lockcheck.Lock, _ *lockcheck.Env) {
		l.Acquire = func(context.Context, string) (lockcheck.Grant, error) {
			//lint:ignore SA5002 this is what is tested
			for {
			}
		}
	}),
	"it sleeps for a microsecond": broken(func(*lockcheck.Lock, *lockcheck.Env) {
		go func() {
			for {
				time.Sleep(time.Microsecond)
			}
		}()
	}),
	"it waits outside": broken(func(l *lockcheck.Lock, _ *lockcheck.Env) {
		l.Acquire = func(context.Context, string) (lockcheck.Grant, error) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err == nil {
				_, err = listener.Accept()
			}
			return lockcheck.Grant{}, err
		}
	}),
}

// broken is the test of a lock that spoil has changed.
func broken(spoil func(*lockcheck.Lock, *lockcheck.Env)) func(*testing.T) {
	return func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), func(e *lockcheck.Env) (lockcheck.Lock, error) {
			l, err := naive(e)
			spoil(&l, e)
			return l, err
		}, lockcheck.Faults("none"), lockcheck.Promise("exclusion"))
	}
}

// dialing is the test of a lock whose client connects in its own way.
func dialing(options func(*lockcheck.Env) *redis.Options) func(*testing.T) {
	return func(t *testing.T) {
		lockcheck.Test(t, lockcheck.Redis(1), func(e *lockcheck.Env) (lockcheck.Lock, error) {
			return ownedBy(e, redis.NewClient(options(e)))
		}, lockcheck.Promise("exclusion"))
	}
}

// failingEnv is set in the processes that run them.
const failingEnv = "LOCKCHECK_FAILING"

func TestFailing(t *testing.T) {
	if os.Getenv(failingEnv) == "" {
		t.Skip("these tests fail: TestFailures runs them")
	}
	for name, f := range failing {
		t.Run(name, f)
	}
}

// promiseEnv is the promise of one of them.
const promiseEnv = "LOCKCHECK_PROMISE"

// fail runs one of them, in a directory, and returns what it prints.
func fail(t *testing.T, dir, name string, flags ...string) string {
	t.Helper()
	out, err := run(dir, name, "", flags...)
	if err == nil {
		t.Errorf("%s passes:\n%s", name, out)
	}
	return out
}

// run runs one of them with that promise, and returns what it prints.
func run(dir, name, promise string, flags ...string) (string, error) {
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestFailing$/^" + strings.ReplaceAll(name, " ", "_") + "$", "-test.count=1"}, flags...)...)
	// With LOCALDOMAIN package net asks the C library for names, as it does on macOS.
	cmd.Dir, cmd.Env = dir, append(os.Environ(), failingEnv+"=1", promiseEnv+"="+promise, "LOCALDOMAIN=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// has reports the texts that a test does not print.
func has(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("it does not print %q:\n%s", text, out)
		}
	}
}

// Each mistake ends with one clear message, and never with a verdict.
func TestFailures(t *testing.T) {
	for name, texts := range map[string][]string{
		"no promise":                       {"the test makes no promise", "exclusion        violated under pause", "answers          held", `lockcheck.Promise("answers"`},
		"parallel":                         {"lockcheck_test.go", "remove t.Parallel"},
		"unknown fault":                    {`no fault "paus"; did you mean pause`},
		"a fault that does not apply":      {"failover needs servers with replicas"},
		"no servers":                       {"Redis(0): it goes from 1 to 9"},
		"zero servers":                     {"the test has no servers: use lockcheck.Redis,"},
		"a server too far":                 {": Addr(3): there is no such server: the test has 1 server, from Addr(0) on\n"},
		"two at once":                      {"another call of lockcheck.Test goes on"},
		"no clients":                       {"Clients(0): it goes from 1 to 100"},
		"few runs":                         {"Runs(-1): it goes from 1 to 1,000,000,000"},
		"no time":                          {"For(-1ns): it has to be positive"},
		"nowhere":                          {`no environment "mars"`},
		"a workload that does not fit":     {"finally needs a lock that releases by name"},
		"no factory":                       {"the factory is nil"},
		"a no without a name":              {"somebody else has it", "let Refused return true for it"},
		"unknown property":                 {`no property "fenced"`},
		"nothing reached":                  {"1 run under pause:", "do more runs (-lockcheck.runs, lockcheck.Runs), with more clients (lockcheck.Clients)"},
		"no time to reach anything":        {"of 100 (time was over) under pause:", "give the test more time (lockcheck.For)"},
		"the factory panics":               {"the factory panicked: boom", "lockcheck_test.go"},
		"the factory fails":                {"the factory failed: unexpected EOF"},
		"no acquire":                       {"the factory returned a Lock without Acquire"},
		"no release":                       {"Acquire returned a Grant without Release"},
		"one lock for all":                 {"this client has made no connection"},
		"a release without an end":         {"Release has not returned, 1m40s after its context ended"},
		"it ends its goroutine":            {"has ended the goroutine that called it"},
		"Close panics":                     {"Close panicked: shut"},
		"Close ends its goroutine":         {"has ended the goroutine that called it"},
		"Close without an end":             {"Close has not returned by the end of the run", "lockcheck_test.go"},
		"a factory without an end":         {"the factory has not returned by the end of the run", "lockcheck_test.go"},
		"an acquire without an end":        {"Acquire has not returned by the end of the run", "lockcheck_test.go"},
		"it never grants":                  {"no client ever got the lock in 2 runs under each fault"},
		"no dialer":                        {"this client has made no connection", "with its Env: dial tcp 127.0.0.1:1"},
		"a side connection":                {"has tried to make a connection without the dialer of Env"},
		"a side connection after an error": {"has tried to make a connection without the dialer of Env"},
		"a side socket":                    {"has opened a socket without the dialer of Env"},
		"a name of the network":            {"has looked up the name of a host"},
		"a process":                        {"has started a process, for which virtual time does not wait"},
		"a fault twice":                    {"the fault pause is named twice"},
		"a host name":                      {"this client has made no connection", "no server listens on localhost:6379: the servers are at [10.0.0.1:6379]"},
		"datagrams":                        {`no network "udp": the servers use tcp`},
		"a client of Redis at ZooKeeper":   {"zk-1 cannot read a request: not the protocol of ZooKeeper"},
		"a key without the name":           {"a grant has left no entry that lockcheck knows"},
		"a panic":                          {"Acquire panicked: ouch", "lockcheck_test.go"},
		"a command that the model lacks":   {"redis-1: the model of this server has no XADD: run with -lockcheck.on=docker"},
		"an address of nobody":             {"no server listens on 10.9.9.9:6379: the servers are at [10.0.0.1:6379]"},
		"a goroutine is left":              {"goroutines of the lock or of its client library go on after the run", "lockcheck_test.go"},
		"it never waits":                   {"nothing has moved for 10 s", "lockcheck_test.go"},
		"it sleeps for a microsecond":      {"for 5 s virtual time has moved by less than 10s a second", "lockcheck_test.go"},
		"it waits outside":                 {"nothing has moved for 10 s", "lockcheck_test.go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := fail(t, t.TempDir(), name)
			has(t, out, texts...)
			if strings.Contains(out, "is violated") {
				t.Errorf("there is a verdict:\n%s", out)
			}
		})
	}
}

// A fault of an operator strikes if it is named, and the story blames the operator.
func TestAnOperatorRemovesAnEntry(t *testing.T) {
	t.Parallel()
	out := fail(t, t.TempDir(), "an operator")
	has(t, out, "✗ VIOLATED exclusion", "an operator removes c1's entry on redis-1", "told that it no longer holds it")
}

// A list of faults that is empty is like none: the test has all.
func TestAnEmptyListOfFaults(t *testing.T) {
	t.Parallel()
	has(t, fail(t, t.TempDir(), "no faults"), "FAIL: TestFailing/no_faults/pause", "ownership is violated in")
}

// If the files of a run cannot be kept, the story is shown all the same, and says so.
func TestNoFilesAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "testdata"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	out := fail(t, dir, "naive with seed 2")
	has(t, out, "Files    none: mkdir testdata: not a directory", "Again    go test -run ")
}

// The promise that a test without one proposes is one that it keeps. A property that no run
// could have broken under one of the faults is not proposed.
func TestTheProposedPromisePasses(t *testing.T) {
	t.Parallel()
	out := fail(t, t.TempDir(), "few runs of a fault")
	has(t, out, "ownership        held, but no run could have broken it under ", "A property that no run could have broken is not proposed")
	_, list, _ := strings.Cut(out, "lockcheck.Promise(")
	list, _, _ = strings.Cut(list, ")")
	if list == "" || strings.Contains(list, "ownership") {
		t.Fatalf("it proposes %s:\n%s", list, out)
	}
	promise := strings.NewReplacer(`"`, "", ",", "").Replace(list)
	if out, err := run(t.TempDir(), "few runs of a fault", promise); err != nil {
		t.Errorf("the promise %s: %s", list, out)
	}
}

// A pattern that selects no fault skips the test, and says so.
func TestNoFaultIsSelected(t *testing.T) {
	t.Parallel()
	out, err := run(t.TempDir(), "no promise", "", "-test.run=^TestFailing$/^no_promise$/^paus$", "-test.v")
	if err != nil {
		t.Error(err)
	}
	has(t, out, "leaves out every fault of this test: pause, kill", "--- SKIP: TestFailing/no_promise")
}

// The files of a test with any name are in a directory of its own, below testdata/lockcheck,
// with a name that a Go module can have. The command that repeats a run fits in a shell.
func TestNamesOfTests(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"x":          {"x", "^x$"},
		"5%":         {"5%25", "^5%$"},
		"a b":        {"a_b", "^a_b$"},
		"../y":       {"%2E%2E/y", `^\.\.$/^y$`},
		`is "it's*?`: {"is_%22it%27s%2A%3F", `^is_"it\x27s\*\?$`},
	} {
		t.Run(name, func(t *testing.T) {
			top := "TestNamesOfTests"
			if dir := lockcheck.Directory(t); dir != filepath.Join("testdata", "lockcheck", top, want[0]) {
				t.Errorf("the directory is %s", dir)
			}
			if p := lockcheck.Pattern(t.Name()); p != "^"+top+"$/"+want[1] {
				t.Errorf("the pattern is %s", p)
			}
		})
	}
}

// A flag with the value 0 is not a flag that is missing.
func TestFlagsOfZero(t *testing.T) {
	t.Parallel()
	for flag, text := range map[string]string{
		"-lockcheck.runs=0":  "Runs(0): it goes from 1 to",
		"-lockcheck.runs=-1": "Runs(-1): it goes from 1 to",
		"-lockcheck.seed=0":  "first with seed 0",
	} {
		has(t, fail(t, t.TempDir(), "naive with seed 2", flag), text)
	}
}

// A pause strikes between two requests of one release.
func TestAReleaseOfTwoRequests(t *testing.T) {
	t.Parallel()
	has(t, fail(t, t.TempDir(), "a release of two requests"), "ownership is violated in", "between the GET and the DEL of its release")
}

// A pause strikes between two requests that a lock makes only when it finds an entry which
// is over.
func TestATakeoverOfTwoRequests(t *testing.T) {
	t.Parallel()
	has(t, fail(t, t.TempDir(), "a takeover by two requests"), "ownership is violated in", "between the GET and the SET of its acquire")
}

// An extend or a renewal that says yes after another client got the lock gives its client a
// lease, too.
func TestARenewalOfAnotherClientsEntry(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"it extends any key", "it renews any key"} {
		has(t, fail(t, t.TempDir(), name), "lease-exclusion is violated in")
	}
}

// With critical sections longer than a lease, a lock that does not renew breaks.
func TestAWatchdogThatNeverRenews(t *testing.T) {
	t.Parallel()
	has(t, fail(t, t.TempDir(), "it never renews"), "exclusion is violated in", "lease ends: redis-1 drops the entry")
}

// The run that is shown repeats in new processes: a shorter one, if it does.
func TestTheShownRunRepeats(t *testing.T) {
	t.Parallel()
	for name, shorter := range map[string]bool{"naive": true, "it is correct where it is shorter": false} {
		dir := t.TempDir()
		has(t, fail(t, dir, name), "ownership is violated in", "✗ VIOLATED ownership")
		story, err := os.ReadFile(filepath.Join(dir, "testdata", "lockcheck", "TestFailing", strings.ReplaceAll(name, " ", "_"), "pause", "ownership", "story.txt"))
		if err != nil || strings.Contains(string(story), "Shrunk   for ownership") != shorter {
			t.Errorf("%s: %v\n%s", name, err, story)
		}
	}
}

// A violation is told as a story, and its files are replayed first.
func TestAViolation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := fail(t, dir, "naive")
	has(t, out, "--- FAIL: TestFailing/naive/pause", "ownership is violated in", "✗ VIOLATED ownership",
		"release removed", "Again    go test -run '^TestFailing$/^naive$/^pause$' -lockcheck.seed=")
	kept := filepath.Join("testdata", "lockcheck", "TestFailing", "naive", "pause", "ownership")
	for _, file := range []string{"history.jsonl", "messages.jsonl", "report.html", "schedule.json", "story.txt", "verdict.json"} {
		if _, err := os.Stat(filepath.Join(dir, kept, file)); err != nil {
			t.Error(err)
		}
	}
	has(t, fail(t, dir, "naive"), "ownership is violated again in the run of "+kept, "✗ VIOLATED ownership")
	has(t, fail(t, dir, "naive", "-lockcheck.replay="+kept), "ownership is violated again in the run of "+kept)
	has(t, fail(t, dir, "naive", "-lockcheck.replay=nowhere"), "nowhere")
	_, seed, _ := strings.Cut(out, "-lockcheck.seed=")
	seed, _, _ = strings.Cut(seed, " ")
	has(t, fail(t, dir, "naive", "-lockcheck.seed="+seed, "-lockcheck.runs=1"), "ownership is violated in 1 of 1 run, first with seed "+seed)
}
