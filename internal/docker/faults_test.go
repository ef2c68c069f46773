package docker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

const redis1 = "redis-1"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// acquire returns the grant of an acquire that must succeed.
func acquire(t *testing.T, c env.Client, o env.Op, timeout time.Duration) env.Grant {
	t.Helper()
	g, err := c.Acquire(o, timeout)
	must(t, err)
	return g
}

// async runs f in the background; wait waits for its end.
func async(f func()) (wait func()) {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	return func() { <-done }
}

// outages are the ways in which a server is out of reach of the others, and their ends.
var outages = map[string]struct {
	begin, end func(p *docker.Environment, server string) error
}{
	"dies":         {func(p *docker.Environment, s string) error { return p.Stop(s, !p.Keeps(s)) }, (*docker.Environment).Start},
	"stands still": {(*docker.Environment).Pause, (*docker.Environment).Resume},
	"is cut off": {
		func(p *docker.Environment, s string) error { return p.Isolate(7, []string{s}) },
		func(p *docker.Environment, _ string) error { _, err := p.Restore(7); return err },
	},
}

// restore ends a disturbance that must have touched something.
func restore(t *testing.T, p *docker.Environment, id int) {
	t.Helper()
	if hits, err := p.Restore(id); hits == 0 || err != nil {
		t.Errorf("touched %d, %v", hits, err)
	}
}

// A killed server keeps its synced data; one that stops cleanly keeps everything.
func TestRestart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fsync catalogue.Fsync
		lose  bool
		kept  bool
	}{
		{catalogue.FsyncNone, true, false},
		{catalogue.FsyncNone, false, true},
		{catalogue.FsyncAlways, true, true},
		{catalogue.FsyncAlways, false, true},
	} {
		t.Run(fmt.Sprintf("fsync=%s lose=%v", c.fsync, c.lose), func(t *testing.T) {
			w := &witness{}
			observed(t, setup{server: catalogue.Server{Fsync: c.fsync}, lease: 20 * time.Second}.run(t, w, func(p *docker.Environment) {
				acquire(t, p.Client("c1"), op(1), time.Second)
				must(t, p.Stop(redis1, c.lose))
				if _, err := p.Client("c2").Acquire(op(2), 100*time.Millisecond); !locks.IsDefinite(err) {
					t.Errorf("acquire while the server is down: %v", err)
				}
				must(t, p.Start(redis1))
				_, err := p.Client("c2").Acquire(op(3), time.Second)
				if (err == nil) == c.kept {
					t.Errorf("acquire after the restart: %v", err)
				}
			}))
			if c.kept {
				wantLines(t, w, "grant a of 1 by 1")
			} else {
				wantLines(t, w, "grant a of 1 by 1", "lose a of 1 by nobody", "grant a of 3 by 3")
			}
		})
	}
}

// A jump of the server's clock ends leases early, or prolongs them.
func TestJump(t *testing.T) {
	t.Parallel()
	w := &witness{}
	schedule := []faults.Injection{{Fault: "server-jump", On: []string{redis1}}}
	observed(t, setup{schedule: schedule, lease: 4 * time.Second}.run(t, w, func(p *docker.Environment) {
		acquire(t, p.Client("c1"), op(1), time.Second)
		must(t, p.Jump(redis1, 8*time.Second))
		acquire(t, p.Client("c2"), op(2), time.Second)
		must(t, p.Jump(redis1, -8*time.Second))
		p.Sleep(4200 * time.Millisecond)
		if _, err := p.Client("c1").Acquire(op(3), 100*time.Millisecond); !errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("acquire of a lease that the clock prolongs: %v", err)
		}
	}))
	wantLines(t, w, "grant a of 1 by 1", "expire a of 1 by nobody", "grant a of 2 by 2")
}

// An expired lease is reported. A late release by a bare DEL removes another client's
// grant.
func TestExpiryAndUnownedRelease(t *testing.T) {
	t.Parallel()
	w := &witness{}
	setup{lock: "redis-set-del", lease: 2 * time.Second}.run(t, w, func(p *docker.Environment) {
		acquire(t, p.Client("c1"), op(1), time.Second)
		acquire(t, p.Client("c2"), op(2), 10*time.Second)
		w.add("c2 acquired")
		must(t, p.Client("c1").Release(op(3)))
	})
	wantLines(t, w, "grant a of 1 by 1", "expire a of 1 by nobody", "grant a of 2 by 2", "c2 acquired", "remove a of 2 by 3")
}

// A client that is paused at a point sends nothing, in every round.
func TestNoByteLeavesAStoppedClient(t *testing.T) {
	t.Parallel()
	times := 1000
	if !alltests.Wanted() {
		times = 50
	}
	w := &witness{}
	var environment *docker.Environment
	observing := make(chan struct{})
	w.point = func(client string, _ env.Op, p faults.Point) {
		if p.OK || client != "c1" || p.Op != history.Release {
			return
		}
		must(t, environment.Pause("c1"))
		<-observing // the client is released from the point while it is stopped
	}
	schedule := []faults.Injection{{Fault: "pause", On: []string{"c1"}, Point: &faults.Point{Client: "c1", Acquisition: 1, Op: history.Release, Last: true}}}
	setup{schedule: schedule, lease: 20 * time.Second, lock: "redis-set-del"}.run(t, w, func(p *docker.Environment) {
		environment = p
		for i := range times {
			acquire(t, p.Client("c1"), op(2*i+1), time.Second)
			released := async(func() {
				must(t, p.Client("c1").Release(op(2*i+2)))
				w.add("released")
			})
			observing <- struct{}{}
			p.Sleep(500 * time.Microsecond) // a running client would have read its release by now
			if n := len(w.told()); n != 3*i+1 {
				t.Errorf("round %d: a stopped client did something: %v", i, w.told()[n-2:])
			}
			must(t, p.Resume("c1"))
			released()
			if t.Failed() {
				break
			}
		}
	})
}

// Points are announced at the requests that the schedule names. The operation does not
// change.
func TestPoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lock  string
		point faults.Point
		want  string
	}{
		{"redis-setnx-expire", faults.Point{Op: history.Acquire, Request: 1}, "acquire: before request 1, SETNX; grant shorten ok read write remove ok"},
		{"redis-setnx-expire", faults.Point{Op: history.Acquire, Request: 1, After: true}, "grant acquire: after request 1, SETNX; shorten ok read write remove ok"},
		{"redis-setnx-expire", faults.Point{Op: history.Acquire, Last: true}, "grant acquire: before request 2, PEXPIRE after SETNX; shorten ok read write remove ok"},
		{"redis-setnx-expire", faults.Point{Op: history.Acquire, Request: 7, After: true}, "grant shorten acquire: after request 2, PEXPIRE; ok read write remove ok"},
		{"redis-set-get-del", faults.Point{Op: history.Release, Request: 2}, "grant ok read write release: before request 2, DEL after GET; remove ok"},
		{"redis-set-get-del", faults.Point{Op: history.Release, Last: true, After: true}, "grant ok read write remove release: after request 2, DEL; ok"},
		{"redis-set-lua", faults.Point{Op: history.Write, Request: 1}, "grant ok read write: before request 1; write remove ok"},
		{"redis-set-lua", faults.Point{Op: history.Write, Request: 1, After: true}, "grant ok read write write: after request 1; remove ok"},
	} {
		t.Run(c.lock+" "+c.point.String(), func(t *testing.T) {
			c.point.Client, c.point.Acquisition = "c1", 1
			lock, _ := catalogue.FindLock(c.lock)
			steps := map[string]int{history.Acquire: lock.Steps.Acquire, history.Release: lock.Steps.Release, history.Read: 1, history.Write: 1}
			w := &witness{}
			w.point = func(_ string, op env.Op, reached faults.Point) {
				if c.point.At(reached, steps[reached.Op]) {
					w.add("%s;", strings.TrimPrefix(reached.String(), "c1 "))
				}
			}
			w.access = func(a env.Access) { w.add("%s", map[bool]string{true: "write", false: "read"}[a.Write]) }
			setup{lock: c.lock, clients: []string{"c1"}, schedule: []faults.Injection{{Fault: "pause", On: []string{"c1"}, Point: &c.point}}}.run(t, w, func(p *docker.Environment) {
				c1 := p.Client("c1")
				acquire(t, c1, op(1), time.Second)
				w.add("ok")
				_, err := c1.Read(op(2))
				must(t, err)
				must(t, c1.Write(op(3), 1))
				must(t, c1.Release(op(4)))
				w.add("ok")
			})
			var got []string
			for _, line := range w.told() {
				f, _, _ := strings.Cut(line, " a of ")
				got = append(got, f)
			}
			if g := strings.Join(got, " "); g != c.want {
				t.Errorf("got\n  %s\nwant\n  %s", g, c.want)
			}
		})
	}
}

// The operation of a killed client is uncertain and ends at once. Later ones report
// that the client is dead. The server notices a kill, but not a power-off.
func TestKillAndPowerOff(t *testing.T) {
	t.Parallel()
	for _, power := range []bool{false, true} {
		t.Run(fmt.Sprintf("power=%v", power), func(t *testing.T) {
			t.Parallel()
			w := &witness{}
			setup{lease: 2 * time.Minute}.run(t, w, func(p *docker.Environment) {
				acquire(t, p.Client("c1"), op(1), time.Second)
				alone, err := docker.Connections(p)
				must(t, err)
				waits := async(func() {
					if _, err := p.Client("c2").Acquire(op(2), time.Minute); !errors.Is(err, env.ErrCrashed) {
						t.Errorf("acquire of a client that is killed: %v", err)
					}
				})
				connected := func() int {
					n, err := docker.Connections(p)
					must(t, err)
					return n
				}
				eventually(t, p, patience, "c2 is connected, too", func() bool { return connected() > alone })
				end := p.Kill
				if power {
					end = p.PowerOff
				}
				must(t, p.Pause("c2"))
				before := connected()
				must(t, end("c2"))
				waits()
				if power {
					p.Sleep(50 * time.Millisecond)
					if after := connected(); after != before {
						t.Errorf("the server had %d connections, and has %d", before, after)
					}
				} else {
					eventually(t, p, patience, "the server notices the kill", func() bool { return connected() < before })
				}
				if err := p.Client("c2").Release(op(3)); !errors.Is(err, env.ErrCrashed) {
					t.Errorf("release of a dead client: %v", err)
				}
				must(t, p.Resume("c2"))
				must(t, p.Client("c1").Release(op(4)))
			})
			wantLines(t, w, "grant a of 1 by 1", "remove a of 1 by 4")
		})
	}
}

// A worker that breaks the protocol or ends makes its operation uncertain. The error
// has its log.
func TestBadWorkers(t *testing.T) {
	t.Parallel()
	const ready = `read l; echo '{"id":1,"ok":true,"name":"bad"}'; `
	for _, c := range []struct {
		name, script string
		crashed      bool
		want         string
	}{
		{"exits", ready + `read l; echo oh dear >&2; exit 3`, true, "oh dear"},
		{"rubbish", ready + `read l; echo not JSON; read l; exit 0`, false, "no sense"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			setup{worker: []string{"sh", "-c", c.script}, clients: []string{"c1"}}.run(t, &witness{}, func(p *docker.Environment) {
				_, err := p.Client("c1").Acquire(op(1), time.Second)
				if err == nil || locks.IsDefinite(err) || errors.Is(err, env.ErrCrashed) != c.crashed || !strings.Contains(err.Error(), c.want) {
					t.Errorf("acquire: %v", err)
				}
			})
		})
	}
}
