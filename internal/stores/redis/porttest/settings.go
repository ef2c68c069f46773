package porttest

import (
	"fmt"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// Server is one empty server with the requested options. A method that fails ends
// the test of the server.
type Server interface {
	Port() redis.Port
	// Kill ends the server's process (kill -9). Start starts it again with its
	// kept data.
	Kill()
	Start()
	// Evict makes memory so short that the server evicts all keys that its policy
	// allows. Relieve ends that.
	Evict()
	Relieve()
	Clock
}

// PowerLoser is a Server whose machine can lose power. It loses its memory and
// all data not synced to the disk. Start starts it again.
type PowerLoser interface{ PowerLoss() }

// logs lists what a server keeps after the end of its process and of its machine.
var logs = []struct {
	fsync        model.Fsync
	name         string
	kept, synced bool
}{
	{model.None, "none", false, false},
	{model.Everysec, "everysec", true, false},
	{model.Always, "always", true, true},
}

// RunDurability runs the tests of kept data for each sync setting, each on a new
// server from f.
func RunDurability(t *testing.T, f func(t *testing.T, o model.Options) Server) {
	t.Helper()
	for _, l := range logs {
		server := func(t *testing.T) (Server, *watch) {
			s := f(t, model.Options{Fsync: l.fsync})
			return s, &watch{t, s}
		}
		t.Run(l.name+", killed", func(t *testing.T) {
			s, w := server(t)
			w.on(s.Port(), set("k", "v", long), ok)
			w.on(s.Port(), set("brief", "v", brief), ok)
			w.on(s.Port(), setNX("deleted", "v"), number(1))
			w.on(s.Port(), grant("m", "v", "n", 0), number(1))
			w.on(s.Port(), del("deleted"), number(1))
			died := s.Now()
			s.Kill()
			s.Sleep(2 * brief)
			s.Start()
			w.on(s.Port(), get("brief"), none)
			w.on(s.Port(), get("deleted"), none)
			if !l.kept {
				w.on(s.Port(), get("k"), none)
				w.on(s.Port(), incr("n"), number(1))
				return
			}
			w.on(s.Port(), get("k"), bulk("v"))
			w.on(s.Port(), pttl("k"), number((long - (s.Now() - died)).Milliseconds()))
			w.on(s.Port(), incr("n"), number(2))
		})
	}
	if _, able := f(t, model.Options{}).(PowerLoser); able {
		runPowerLoss(t, f)
	}
}

// runPowerLoss runs the tests of data after a power loss.
func runPowerLoss(t *testing.T, f func(t *testing.T, o model.Options) Server) {
	for _, l := range logs {
		t.Run(l.name+", without power", func(t *testing.T) {
			s := f(t, model.Options{Fsync: l.fsync})
			w := &watch{t, s}
			w.on(s.Port(), set("old", "v", 0), ok)
			w.on(s.Port(), set("released", "v", 0), ok)
			s.Sleep(2500 * ms) // more than two seconds, and not a whole number
			w.on(s.Port(), set("new", "v", 0), ok)
			w.on(s.Port(), del("released"), number(1))
			s.(PowerLoser).PowerLoss()
			s.Start()
			if !l.kept {
				w.on(s.Port(), get("old"), none)
				return
			}
			w.on(s.Port(), get("old"), bulk("v"))
			switch {
			case l.synced:
				w.on(s.Port(), get("new"), bulk("v"))
				w.on(s.Port(), get("released"), none)
			case s.Slack() == 0: // else the fsync may have come in between
				w.on(s.Port(), get("new"), none)
				w.on(s.Port(), get("released"), bulk("v"))
			}
		})
	}
}

// RunMemory runs the tests of a server without memory for each policy, each on a
// new server from f.
func RunMemory(t *testing.T, f func(t *testing.T, o model.Options) Server) {
	t.Helper()
	for policy, left := range map[model.Policy]map[string]redis.Reply{
		model.VolatileLRU: {"lease": none, "forever": bulk("v"), "l": wrongType},
		model.AllKeys:     {"lease": none, "forever": none, "l": none},
		model.NoEviction:  {"lease": bulk("v"), "forever": bulk("v"), "l": wrongType},
	} {
		t.Run(fmt.Sprint(policy), func(t *testing.T) {
			s := f(t, model.Options{Policy: policy})
			w, p := &watch{t, s}, s.Port()
			w.on(p, set("lease", "v", long), ok)
			w.on(p, setNX("forever", "v"), number(1))
			w.on(p, rpush("l"), number(1))
			s.Evict()
			for key, want := range left {
				w.on(p, get(key), want)
			}
			if policy == model.NoEviction {
				refusals(w, p)
				s.Relieve()
			}
			w.on(p, set("lease", "w", long), ok)
			w.on(p, get("lease"), bulk("w"))
		})
	}
}

// refusals sends every command to p, which has no memory left.
func refusals(w *watch, p redis.Port) {
	refused := failure("OOM command not allowed when used memory > 'maxmemory'.")
	for _, c := range []struct {
		do   redis.Command
		want redis.Reply
	}{
		{set("lease", "w", 0), refused},
		{set("k", "w", -ms), refused},
		{setIfAbsent("lease", "w", 0), refused},
		{setNX("lease", "w"), refused},
		{getSet("lease", "w"), refused},
		{incr("l"), refused},
		{rpush("lease"), refused},
		{grant("lease", "w", "n", long), refused},
		{claim("lease", "v", "", long), refused},
		{replace("lease", "v", "w", long), refused},
		{replace("lease", "x", "w", -ms), refused},
		{pttl("forever"), number(-1)},
		{pexpire("forever", long), number(1)},
		{extend("lease", "v", long), number(1)},
		{extend("lease", "w", long), number(0)},
		{wait(0, 0), number(0)},
		{compareAndDelete("l", "v"), wrongType},
		{compareAndDelete("lease", "v"), number(1)},
		{del("forever"), number(1)},
	} {
		w.on(p, c.do, c.want)
	}
}

// Cluster is a server of a cluster with the slots 0–8000. Another one, at Other,
// has 8001–12000, and no server has the rest.
type Cluster struct {
	Port  redis.Port
	Other string
	Clock
}

// RunCluster runs the tests of a server that has only a part of the keys.
func RunCluster(t *testing.T, f func(t *testing.T) Cluster) {
	t.Helper()
	const own, others, nobodys = "k", "d", "foo" // slots 7629, 11298, 12182
	c := f(t)
	w := &watch{t, c}
	moved := failure("MOVED 11298 " + c.Other)
	crossing := failure("CROSSSLOT Keys in request don't hash to the same slot")
	unserved := failure("CLUSTERDOWN Hash slot not served")
	for _, s := range []step{
		{do: setIfAbsent(own, "v", long), want: ok},
		{do: setNX("{k}/x", "v"), want: number(1)},
		{do: get(own), want: bulk("v")},
		{do: grant("{k}/lock", "v", "{k}/n", long), want: number(1)},
		{do: grant(own, "v", others, long), want: crossing},
		{do: claim(own, "v", nobodys, long), want: crossing},
		{do: setIfAbsent(others, "v", long), want: moved},
		{do: get(others), want: moved},
		{do: del("x{d}{k}"), want: moved},
		{do: compareAndDelete(others, "v"), want: moved},
		{do: claim(others, "v", "", -ms), want: moved},
		{do: grant(others, "v", "{d}/n", long), want: moved},
		{do: grant(others, "v", own, long), want: crossing},
		{do: get(nobodys), want: unserved},
		{do: grant(nobodys, "v", own, long), want: unserved},
		{do: wait(0, 0), want: number(0)},
		{do: compareAndDelete(own, "v"), want: number(1)},
	} {
		w.on(c.Port, s.do, s.want)
	}
}
