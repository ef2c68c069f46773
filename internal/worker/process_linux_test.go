package worker

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockcheck/lockcheck/internal/env"
)

// shell starts a worker that is a shell script.
func shell(t *testing.T, h Handler, script string) *Process {
	t.Helper()
	p, err := Start([]string{"sh", "-c", script}, []string{"GREETING=hello"}, h)
	must(t, err)
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Two processes that never wait share one processor with a third: it has to wait for its
// turn, and Starved says so.
func TestStarved(t *testing.T) {
	t.Parallel()
	var ours, one unix.CPUSet
	must(t, unix.SchedGetaffinity(0, &ours))
	for cpu := 0; one.Count() == 0; cpu++ {
		if ours.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	var all []*Process
	for range 3 {
		p := shell(t, Handler{}, "while :; do :; done")
		must(t, unix.SchedSetaffinity(p.pid, &one))
		all = append(all, p)
	}
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		if all[0].Starved() > 0 && all[1].Starved() > 0 && all[2].Starved() > 0 {
			break
		}
		if time.Since(start) > time.Minute {
			t.Fatal("nobody waits")
		}
	}
	must(t, all[0].Kill())
	if d := all[0].Starved(); d != 0 {
		t.Errorf("a process that has ended waited %v", d)
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	p := shell(t, Handler{}, `read l; echo "{\"id\":1,\"ok\":true,\"name\":\"$GREETING\"}"; read l; echo '{"id":2,"ok":false,"error":"held"}'; read l; sleep 60`)
	a, err := p.Ask(Request{Op: OpInit}, time.Minute)
	if err != nil || a.Name != "hello" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := p.Ask(Request{Op: "acquire"}, time.Minute); err == nil {
		t.Error("a failed answer is no error")
	}
	if _, err := p.Ask(Request{Op: "acquire"}, 10*time.Millisecond); !errors.Is(err, ErrLate) {
		t.Errorf("no answer: %v", err)
	}
}

// A worker's last lines are handled before its end.
func TestExit(t *testing.T) {
	t.Parallel()
	p := shell(t, Handler{}, `read l; echo 'no more' >&2; echo '{"id":1,"ok":true}'; exit 3`)
	_, first := p.Call(Request{Op: "acquire"})
	_, second := p.Call(Request{Op: "acquire"})
	if r := <-first; r.Err != nil {
		t.Errorf("the answered one: %v", r.Err)
	}
	if r := <-second; r.Err != ErrExited {
		t.Errorf("the other one: %v", r.Err)
	}
	<-p.Done()
	if p.Exit() != "exit status 3" || p.Log() != "no more\n" {
		t.Errorf("exit %q, log %q", p.Exit(), p.Log())
	}
	if _, r := p.Call(Request{Op: "acquire"}); (<-r).Err != ErrExited {
		t.Error("a call after the end")
	}
	if err := p.Stop(); err != nil {
		t.Errorf("stop after the end: %v", err)
	}
}

func TestRubbish(t *testing.T) {
	t.Parallel()
	late := make(chan Answer, 1)
	p := shell(t, Handler{Late: func(a Answer) { late <- a }},
		`read l; echo '{"id":1,"ok":true}'; read l; echo 'Loading…'; sleep .05; echo '{"id":2,"ok":true}'; read l; echo '{"id":3,"ok":true}'; read l; head -c 2000000 /dev/zero; sleep 60`)
	if _, err := p.Ask(Request{Op: OpInit}, time.Minute); err != nil {
		t.Error(err)
	}
	_, r := p.Call(Request{Op: "acquire"})
	if got := <-r; got.Err != ErrRubbish {
		t.Errorf("rubbish: %v", got.Err)
	}
	if a := <-late; a.ID != 2 {
		t.Errorf("late: %+v", a)
	}
	if _, err := p.Ask(Request{Op: "acquire"}, time.Minute); err != nil {
		t.Errorf("after rubbish: %v", err)
	}
	if _, err := p.Ask(Request{Op: "acquire"}, time.Minute); !errors.Is(err, ErrRubbish) {
		t.Errorf("a line without an end: %v", err)
	}
	if p.Rubbish() != 2 || !strings.Contains(p.Log(), "Loading…") {
		t.Errorf("%d lines, log %q", p.Rubbish(), p.Log())
	}
}

// A protocol error proves nothing about the lock. It shows the worker's line and the
// expected one.
func TestAWorkerThatDoesNotKeepToTheProtocol(t *testing.T) {
	t.Parallel()
	const ready = `read l; echo '{"id":1,"ok":true,"protocol":1}'; `
	for _, tt := range []struct{ name, script, line, want string }{
		{"first line no JSON", `read l; echo 'Loading…'`, "Loading…", `{"id":1,"ok":true}`},
		{"first line no object of ours", `read l; echo '{"hello":1}'`, `{"hello":1}`, "neither an answer nor an event"},
		{"first line without an end", `read l; head -c 2000000 /dev/zero`, "", "an answer to request 1"},
		{"another version", `read l; echo '{"id":1,"ok":true,"protocol":2}'`, `"protocol":2`, `"protocol":1`},
		{"an unknown id", `read l; echo '{"id":7,"ok":true}'`, `{"id":7,"ok":true}`, "without an answer, of 1"},
		{"no id", `read l; echo '{"ok":true}'`, `{"ok":true}`, "an answer to request 1"},
		{"always the first id", ready + `read l; echo '{"id":1,"ok":true}'`, `{"id":1,"ok":true}`, "without an answer, of 2"},
		{"a request with an unknown id", ready + `read l; echo '{"id":9,"do":"resource.read"}'`, `"id":9`, "without an answer, of 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			broken := make(chan error, 2)
			p := shell(t, Handler{Broken: func(err error) { broken <- err }}, tt.script+"; read l; sleep 60")
			_, err := p.Ask(Request{Op: OpInit, Protocol: Protocol}, time.Minute)
			if strings.HasPrefix(tt.script, ready) {
				must(t, err)
				_, err = p.Ask(Request{Op: "acquire"}, time.Minute)
			}
			var wrong *env.ProtocolError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tt.line) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%v", err)
			}
			if reported := <-broken; reported != err {
				t.Errorf("told: %v", reported)
			}
			if _, err := p.Ask(Request{Op: "acquire"}, time.Minute); err != error(wrong) {
				t.Errorf("a later request ends with %v", err)
			}
		})
	}
}

// A request that was given up may still be answered, once.
func TestALateAnswerIsNoProtocolError(t *testing.T) {
	t.Parallel()
	late := make(chan Answer, 1)
	p := shell(t, Handler{Late: func(a Answer) { late <- a }}, `read l; read m; echo '{"id":1,"ok":true}'; echo '{"id":2,"ok":true}'; sleep 60`)
	first, _ := p.Call(Request{Op: "acquire"})
	p.Forget(first)
	if _, err := p.Ask(Request{Op: "release"}, time.Minute); err != nil {
		t.Error(err)
	}
	if a := <-late; a.ID != first {
		t.Errorf("late: %+v", a)
	}
}

// Stop stops the worker's child processes, too, and the group then does nothing.
// Killing a stopped group leaves no process.
func TestStopAndKillTheGroup(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/ticks"
	p := shell(t, Handler{}, `(while :; do echo x; done) >`+file+` & (sleep 1000) & wait`)
	size := func() int64 {
		s, err := os.Stat(file)
		if err != nil {
			return 0
		}
		return s.Size()
	}
	for size() == 0 {
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		must(t, p.Stop())
		before := size()
		time.Sleep(2 * time.Millisecond)
		if after := size(); after != before {
			t.Fatalf("a stopped group wrote %d bytes", after-before)
		}
		must(t, p.Continue())
		for limit := time.Now().Add(5 * time.Second); size() == before; time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatal("the group does not continue")
			}
		}
	}
	must(t, p.Stop())
	must(t, p.Kill())
	if members := group(p.pid); members != "" {
		t.Errorf("left behind: %s", members)
	}
}

// group lists the living members of a process group.
func group(pgid int) string {
	var members []string
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		state, g, err := stat("/proc/" + d.Name() + "/stat")
		if err == nil && g == pgid && state != 'Z' && state != 'X' {
			members = append(members, fmt.Sprintf("%s (%c)", d.Name(), state))
		}
	}
	return strings.Join(members, ", ")
}

// A worker ends with its input; one that does not is killed.
func TestClose(t *testing.T) {
	t.Parallel()
	good := shell(t, Handler{}, `while read l; do :; done; exit 0`)
	if err := good.Close(time.Minute); err != nil || good.Exit() != "exit status 0" {
		t.Errorf("%v, %s", err, good.Exit())
	}
	bad := shell(t, Handler{}, `sleep 1000`)
	if err := bad.Close(10 * time.Millisecond); err != nil || bad.Exit() != "signal: killed" {
		t.Errorf("%v, %s", err, bad.Exit())
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	if _, err := Start([]string{"/nowhere/worker"}, nil, Handler{}); err == nil {
		t.Error("a program that does not exist was started")
	}
	if _, err := Start(nil, nil, Handler{}); err == nil {
		t.Error("an empty command was started")
	}
}
