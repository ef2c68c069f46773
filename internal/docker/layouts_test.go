package docker_test

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

// say sends one command from a client to a server, over its link, in an operation. It
// returns the first line of the answer, and the second one of a string.
func say(p *docker.Environment, client, server string, op int, command string) (string, error) {
	docker.As(p, client, op)
	c, err := net.DialTimeout("tcp", docker.Via(p, client, server), patience)
	if err != nil {
		return "", err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	if _, err := fmt.Fprintf(c, "%s\r\n", command); err != nil {
		return "", err
	}
	r := bufio.NewReader(c)
	line, err := r.ReadString('\n')
	for i := 0; err == nil && i < 2 && (line[0] == '*' || line[0] == '$' && line != "$-1\r\n"); i++ {
		line, err = r.ReadString('\n')
	}
	return strings.TrimSpace(line), err
}

func wantSaid(t *testing.T, p *docker.Environment, server string, op int, command, want string) {
	t.Helper()
	if got, err := say(p, "c1", server, op, command); got != want || err != nil {
		t.Errorf("%s to %s: %q %v, want %q", command, server, got, err, want)
	}
}

// Independent nodes: each has its own link, data and reports, and fails alone.
func TestNodes(t *testing.T) {
	t.Parallel()
	w := &witness{names: true}
	setup{server: catalogue.Server{Nodes: 5}, options: catalogue.Options{OwnToken: true}, lease: 20 * time.Second}.run(t, w, func(p *docker.Environment) {
		targets := docker.Targets(p, "c1")
		if len(targets["redis"]) != 5 || len(targets["tokens"]) != 1 || len(targets) != 2 {
			t.Errorf("targets %v", targets)
		}
		for i, at := range targets["redis"] {
			name := fmt.Sprint("redis-", i+1)
			if via := docker.Via(p, "c1", name); at != via {
				t.Errorf("%s is at %s, and the worker has %s", name, via, at)
			}
			wantSaid(t, p, name, i+1, "SET a v NX PX 60000", "+OK")
		}
		wantSaid(t, p, "tokens", 6, "INCR a", ":1")
		must(t, p.Stop("redis-2", true))
		if said, err := say(p, "c1", "redis-2", 7, "PING"); err == nil {
			t.Errorf("a stopped server answers %q", said)
		}
		must(t, p.Impair(1, faults.Impairment{Client: "c1", Server: "redis-3", Action: faults.Reset}))
		if said, err := say(p, "c1", "redis-3", 7, "DEL a"); err == nil {
			t.Errorf("a link that is reset delivers %q", said)
		}
		wantSaid(t, p, "redis-4", 8, "DEL a", ":1")
		must(t, p.Start("redis-2"))
		wantSaid(t, p, "redis-2", 9, "EXISTS a", ":0")
		if err := p.Stop("tokens", true); err == nil {
			t.Error("the server of tokens can be stopped")
		}
		if err := p.Isolate(2, []string{"redis-1"}); err == nil {
			t.Error("servers that do not communicate can be cut off")
		}
	})
	wantLines(t, w, "redis-1: grant a of 1 by 1", "redis-2: grant a of 2 by 2", "redis-3: grant a of 3 by 3",
		"redis-4: grant a of 4 by 4", "redis-5: grant a of 5 by 5", "redis-2: lose a of 2 by nobody", "redis-4: remove a of 4 by 8")
}

// In a Redis Cluster one node serves a key; others redirect its clients. A restarted
// node has its kept data.
func TestRedisCluster(t *testing.T) {
	t.Parallel()
	w := &witness{names: true}
	observed(t, setup{server: catalogue.Server{Nodes: 3, Cluster: true}, lease: 20 * time.Second}.run(t, w, func(p *docker.Environment) {
		for i, name := range []string{"redis-1", "redis-2", "redis-3"} { // the slot of "a" is 15495
			said, err := say(p, "c1", name, i+1, "SET a v NX PX 60000")
			if want := map[bool]string{true: "+OK", false: "-MOVED 15495 "}[name == "redis-3"]; !strings.HasPrefix(said, want) || err != nil {
				t.Errorf("%s answers %q %v, not %q", name, said, err, want)
			}
		}
		for i, lose := range []bool{false, true} {
			must(t, p.Stop("redis-3", lose))
			must(t, p.Start("redis-3"))
			eventually(t, p, patience, "the node rejoins the cluster", func() bool {
				said, err := say(p, "c1", "redis-3", 4+i, "SET a v PX 60000")
				return err == nil && said == "+OK"
			})
		}
	}))
	wantLines(t, w, "redis-3: grant a of 3 by 3", "redis-3: takeover a of 3 by 4", "redis-3: grant a of 4 by 4",
		"redis-3: lose a of 4 by nobody", "redis-3: grant a of 5 by 5")
}

const (
	replicatedLease = 4 * time.Second
	// untuned is how long Sentinels with default settings wait before they miss a
	// master. Ours have another one up in less than 2 s if nothing else runs.
	untuned = 30 * time.Second
	// unasked is below the 10 s after which Sentinels ask a master again for its role.
	// Ours know it after 1.1 s.
	unasked = 9 * time.Second
)

// replicated returns a setup of a master with two replicas, and Sentinels.
func replicated() setup {
	return setup{server: catalogue.Server{Replicas: 2}, lease: replicatedLease}
}

// wantTargets checks that a worker knows how to reach the servers that Sentinels name.
func wantTargets(t *testing.T, p *docker.Environment) {
	t.Helper()
	targets := docker.Targets(p, "c1")
	if len(targets["redis"]) != 3 || len(targets["sentinels"]) != 3 || !slices.Equal(targets["masters"], []string{redis1}) {
		t.Errorf("targets %v", targets)
	}
	for _, at := range slices.Concat(targets["redis"], targets["sentinels"]) {
		if !strings.HasPrefix(at, "127.0.0.1:") {
			t.Errorf("a target %q", at)
		}
	}
	if master := masterOf(p, "sentinel-1"); master != docker.Via(p, "c2", redis1) {
		t.Errorf("a Sentinel names the master %q", master)
	}
}

// masterOf returns the address of the master that a Sentinel names to client c2; "": none.
func masterOf(p *docker.Environment, sentinel string) string {
	c, err := net.DialTimeout("tcp", docker.Via(p, "c2", sentinel), patience)
	if err != nil {
		return ""
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprint(c, "SENTINEL GET-MASTER-ADDR-BY-NAME redis-1\r\n")
	var host, port string
	if _, err := fmt.Fscanf(c, "*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", new(int), &host, new(int), &port); err != nil {
		return ""
	}
	return net.JoinHostPort(host, port)
}

// promoted waits until a replica is the master and all Sentinels report it.
func promoted(t *testing.T, p *docker.Environment, w *witness, how string) (name string) {
	t.Helper()
	first := eventually(t, p, untuned, "a replica is promoted", func() bool {
		for _, line := range w.told() {
			if who, _, ok := strings.Cut(line, ": promote after redis-1"); ok {
				name = who
			}
		}
		return name != ""
	})
	addr := docker.Via(p, "c2", name)
	all := eventually(t, p, patience, "all Sentinels name the new master", func() bool {
		for i := range 3 {
			if masterOf(p, fmt.Sprint("sentinel-", i+1)) != addr {
				return false
			}
		}
		return true
	})
	t.Logf("%s: promoted after %v, known to all Sentinels after %v", how, first, first+all)
	return name
}

// rejoins waits until the old master is a replica.
func rejoins(t *testing.T, p *docker.Environment) {
	t.Helper()
	took := eventually(t, p, unasked, "the old master follows the new one", func() bool {
		said, err := say(p, "c2", redis1, 0, "ROLE")
		return err == nil && said == "slave"
	})
	t.Logf("a replica after %v", took)
}

// After any failure of a master a replica takes its place in time, with the data that
// it got from the master. The old master comes back as a replica.
func TestFailover(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"dies", "stands still"} {
		t.Run(how, func(t *testing.T) {
			w := &witness{names: true}
			var name string
			var up time.Duration
			pace := dockertest.Pace(t)
			began := time.Now()
			observed(t, replicated().run(t, w, func(p *docker.Environment) {
				up = time.Since(began)
				t.Logf("up after %v", up)
				wantTargets(t, p)
				wantSaid(t, p, redis1, 1, "SET a v1 NX PX 60000", "+OK")
				wantSaid(t, p, redis1, 1, "WAIT 2 30000", ":2")
				must(t, outages[how].begin(p, redis1))
				name = promoted(t, p, w, how)
				wantSaid(t, p, name, 2, "GET a", "v1")
				wantSaid(t, p, name, 3, "DEL a", ":1")
				wantSaid(t, p, name, 4, "SET a v4 NX PX 60000", "+OK")
				must(t, outages[how].end(p, redis1))
				rejoins(t, p)
				if said, _ := say(p, "c1", redis1, 5, "SET a v5"); !strings.HasPrefix(said, "-READONLY") {
					t.Errorf("a replica accepts a write: %q", said)
				}
			}))
			withinPaces(t, up, upPaces, pace)
			wantLines(t, w, "redis-1: grant a of 1 by 1", name+": promote after redis-1", name+": remove a of 1 by 3", name+": grant a of 4 by 4")
		})
	}
}

// A master that is cut off from the other servers goes on for the clients that reach
// it, and loses their changes.
func TestSplitBrain(t *testing.T) {
	t.Parallel()
	w := &witness{names: true}
	var name string
	observed(t, replicated().run(t, w, func(p *docker.Environment) {
		wantSaid(t, p, redis1, 1, "SET a v1 NX PX 60000", "+OK")
		wantSaid(t, p, redis1, 1, "WAIT 2 30000", ":2")
		must(t, p.Isolate(7, []string{redis1}))
		wantSaid(t, p, redis1, 2, "DEL a", ":1")
		wantSaid(t, p, redis1, 3, "SET a v3 NX PX 60000", "+OK")
		name = promoted(t, p, w, "cut off")
		wantSaid(t, p, name, 4, "GET a", "v1")
		wantSaid(t, p, redis1, 5, "DEL a", ":1")
		wantSaid(t, p, redis1, 6, "SET a v6 NX PX 60000", "+OK")
		restore(t, p, 7)
		rejoins(t, p)
		wantSaid(t, p, name, 7, "DEL a", ":1")
	}))
	wantLines(t, w, "redis-1: grant a of 1 by 1", "redis-1: remove a of 1 by 2", "redis-1: grant a of 3 by 3",
		name+": promote after redis-1", name+": lose a of 3 by nobody", name+": grant a of 1 by nobody",
		"redis-1: grant a of 6 by 6", "redis-1: lose a of 6 by nobody", name+": remove a of 1 by 7")
}

// A master that is back before it is missed stays the master, and its replicas lose the
// same data.
func TestQuickRestart(t *testing.T) {
	t.Parallel()
	w := &witness{names: true}
	s := replicated()
	s.lease = 2 * time.Minute // Sentinels wait for a tenth of it
	s.run(t, w, func(p *docker.Environment) {
		wantSaid(t, p, redis1, 1, "SET a v1 NX PX 60000", "+OK")
		wantSaid(t, p, redis1, 1, "WAIT 2 30000", ":2")
		must(t, p.Stop(redis1, true))
		must(t, p.Start(redis1))
		wantSaid(t, p, redis1, 2, "SET a v2 NX PX 60000", "+OK")
		eventually(t, p, patience, "the replicas have the master's data", func() bool {
			said, err := say(p, "c1", "redis-1c", 3, "GET a")
			return err == nil && said == "v2"
		})
	})
	wantLines(t, w, "redis-1: grant a of 1 by 1", "redis-1: lose a of 1 by nobody", "redis-1: grant a of 2 by 2")
}

// After a loss of power a server that syncs every second has the data of a moment
// before, including entries that were removed since.
func TestLossOfASecond(t *testing.T) {
	t.Parallel()
	w := &witness{}
	first := 0 // operation of the round that counts
	observed(t, setup{server: catalogue.Server{Fsync: catalogue.FsyncEverysec}, lease: 20 * time.Second}.run(t, w, func(p *docker.Environment) {
		for quick := false; !quick && !t.Failed(); {
			if first += 10; first > 300 {
				t.Fatal("the writes and the stop take longer than 700 ms")
			}
			wantSaid(t, p, redis1, first, fmt.Sprint("SET a v", first, " PX 60000"), "+OK")
			p.Sleep(2100 * time.Millisecond) // the data is synced now
			p.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
			wantSaid(t, p, redis1, first+1, "SET tick 1", "+OK") // makes it sync, and not again in this second
			p.Sleep(50 * time.Millisecond)
			begun := p.Now()
			w.add("the second begins")
			wantSaid(t, p, redis1, first+2, "DEL a", ":1")
			wantSaid(t, p, redis1, first+3, "SET a w PX 60000", "+OK")
			must(t, p.Stop(redis1, true))
			quick = p.Now()-begun < 700*time.Millisecond
			must(t, p.Start(redis1))
		}
	}))
	got := w.told()
	want := []string{
		"the second begins", fmt.Sprintf("remove a of %d by %d", first, first+2), fmt.Sprintf("grant a of %d by %d", first+3, first+3),
		fmt.Sprintf("lose a of %d by nobody", first+3), fmt.Sprintf("grant a of %d by nobody", first),
	}
	if len(got) < len(want) || !slices.Equal(got[len(got)-len(want):], want) {
		t.Errorf("observed %q, want at the end %q", got, want)
	}
}

// A paused server keeps its connections and their requests, and executes them
// afterwards.
func TestServerPause(t *testing.T) {
	t.Parallel()
	w := &witness{}
	observed(t, setup{lease: 20 * time.Second}.run(t, w, func(p *docker.Environment) {
		acquire(t, p.Client("c1"), op(1), time.Second)
		must(t, p.Pause(redis1))
		released := async(func() {
			must(t, p.Client("c1").Release(op(2)))
			w.add("released")
		})
		greeted := async(func() {
			acquire(t, p.Client("c2"), op(3), 5*time.Second)
		})
		p.Sleep(1500 * time.Millisecond) // longer than the timeout for a running server
		w.add("goes on")
		must(t, p.Resume(redis1))
		released()
		greeted()
	}))
	want := []string{"grant a of 1 by 1", "goes on", "remove a of 1 by 2", "released", "grant a of 3 by 3"}
	if got := w.told(); slices.Index(got, "released") < 0 || !slices.Equal(without(got, "released"), without(want, "released")) {
		t.Errorf("observed %q", got)
	}
}

func without(lines []string, line string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l == line })
}

// Short memory costs entries if the server may evict them, and otherwise refuses new
// ones.
func TestEvict(t *testing.T) {
	t.Parallel()
	for _, policy := range []catalogue.Eviction{catalogue.EvictVolatile, catalogue.EvictNothing} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			w := &witness{}
			setup{server: catalogue.Server{Eviction: policy}, lease: 20 * time.Second}.run(t, w, func(p *docker.Environment) {
				wantSaid(t, p, redis1, 1, "SET a v1 PX 60000", "+OK")
				must(t, p.Evict(redis1))
				w.add("full")
				said, err := say(p, "c1", redis1, 2, "SET a v2 NX PX 60000")
				must(t, err)
				if refused := strings.HasPrefix(said, "-OOM"); refused != (policy == catalogue.EvictNothing) {
					t.Errorf("a full server answers %q", said)
				}
				must(t, p.Relieve(redis1))
				wantSaid(t, p, redis1, 3, "SET a v3 PX 60000", "+OK")
			})
			if policy == catalogue.EvictNothing {
				wantLines(t, w, "grant a of 1 by 1", "full", "takeover a of 1 by 3", "grant a of 3 by 3")
			} else {
				wantLines(t, w, "grant a of 1 by 1", "lose a of 1 by nobody", "full", "grant a of 2 by 2", "takeover a of 2 by 3", "grant a of 3 by 3")
			}
		})
	}
}
