package checker

import (
	"maps"
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

func TestWhatARunReached(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, story string
		want        map[string]int
	}{
		{"nothing", ``, nil},
		{"two grants without contention", granted1 + `
			2 c1 release
			3 c1 release ok
			4 c2 acquire
			5 c2 acquire ok`, map[string]int{"grants": 2}},
		{"a client waits for the holder", released + `
			4 c2 acquire ok`, map[string]int{"grants": 2, "contended": 1}},
		{"a client waits, and another one gets it", `
			0 c1 acquire
			0 c2 acquire
			1 c1 acquire ok
			9 c2 acquire fail error=held`, map[string]int{"grants": 1, "contended": 1}},
		{"answers that never came", `
			0 c1 acquire
			1 c1 acquire info error=timeout
			2 c1' acquire
			3 c1' acquire ok
			4 c1' release
			5 c1' release info error=timeout`, map[string]int{"grants": 1, "ambiguous_acquires": 1, "ambiguous_releases": 1}},
		{"the entry of a holder expires, and nobody cares", entered + `
			11 redis expire of=c1`, map[string]int{"grants": 1, "lease_expired_while_held": 1}},
		{"the entry of a holder expires, and somebody waits for it", entered + `
			3 c2 acquire
			11 redis expire of=c1
			12 c2 acquire ok`, map[string]int{"grants": 2, "contended": 1, "lease_expired_while_held": 1, "lease_expired_while_held_and_waited": 1}},
		{"the entry of an acquire expires that its client gave up, and on which it holds", `
			0 c1 acquire
			1 zk grant of=c1 by=c1
			2 c1 acquire info error=timeout
			3 c1' acquire
			4 c1' acquire ok stands=c1
			11 zk expire of=c1`, map[string]int{"grants": 1, "ambiguous_acquires": 1, "lease_expired_while_held": 1}},
		{"the entry expires during the release", entered + `
			10 c1 release
			11 redis expire of=c1
			12 c1 release fail error=not-held`, map[string]int{"grants": 1, "lease_expired_while_releasing": 1}},
		{"the entry expires after the release", entered + `
			9 c1 release
			10 c1 release ok
			11 redis expire of=c1`, map[string]int{"grants": 1}},
		{"a refused client releases, and so does one that has released", `
			0 c1 acquire
			1 c2 acquire
			2 c1 acquire ok
			3 c2 acquire fail error=held
			4 c2 release
			5 c2 release ok
			6 c1 release
			7 c1 release ok
			8 c1 release
			9 c1 release ok`, map[string]int{"grants": 1, "contended": 1, "released_unheld": 2}},
		{"a release removes another's entry", enteredUntil + `
			3 c2 acquire
			11 redis expire of=c1
			12 redis grant of=c2 by=c2
			12 c2 acquire ok
			13 c1 release
			14 redis remove of=c2 by=c1`, map[string]int{"grants": 2, "contended": 1, "lease_expired_while_held": 1, "lease_expired_while_held_and_waited": 1, "released_unowned": 1}},
		{"a server restarts and loses the entry of a holder", entered + `
			3 nemesis restart-lost id=1 on=redis
			3 redis lose of=c1
			4 nemesis restart-lost-end id=1 on=redis`, map[string]int{"grants": 1, "entry_lost_while_held": 1, "restart_with_holder": 1, "fault_injected": 1, "fault_touched": 1}},
		{"a server restarts before the first client asks", `
			3 nemesis restart id=1 on=redis
			4 nemesis restart-end id=1 on=redis
			5 c1 acquire
			6 c1 acquire ok`, map[string]int{"grants": 1, "fault_injected": 1}},
		{"a jump of the server's clock", granted1 + `
			3 nemesis server-jump id=2 on=redis`, map[string]int{"grants": 1, "jump_with_holder": 1, "clock_off_with_holder": 1, "fault_injected": 1, "fault_touched": 1}},
		{"a failover that takes place while somebody holds", keyed1 + `
			3 nemesis failover id=1 on=redis-1
			6 redis-1b promote text=redis-1
			6 redis-1b lose of=c1 key=k
			8 nemesis failover-end id=1 on=redis-1`, map[string]int{"grants": 1, "promotions": 1, "failover_with_holder": 1, "entry_lost_while_held": 1, "fault_injected": 1, "fault_touched": 1}},
		{"a failover that nobody took part in", `
			0 c1 acquire
			2 c1 acquire ok
			3 nemesis failover id=1 on=redis-1
			4 nemesis failover-end id=1 on=redis-1`, map[string]int{"grants": 1, "fault_injected": 1, "fault_touched": 1}},
		{"a replica that becomes the master while nobody holds", `
			0 c1 acquire
			2 c1 acquire ok
			3 c1 release
			4 redis-1b promote text=redis-1`, map[string]int{"grants": 1, "promotions": 1}},
		{"the clock of a client that waits is wrong from the start", `
			0 nemesis skew id=1 on=c2
			1 c1 acquire
			2 c1 acquire ok
			3 c2 acquire`, map[string]int{"grants": 1, "contended": 1, "clock_off_with_holder": 1, "fault_injected": 1, "fault_touched": 1}},
		{"a clock that is right again before anybody holds", `
			0 nemesis server-skew id=1 on=redis
			1 nemesis server-skew-end id=1 on=redis
			1 c1 acquire
			2 c1 acquire ok`, map[string]int{"grants": 1, "fault_injected": 1}},
		{"the holder's clock is set wrong, and another one runs fast", `
			0 nemesis rate id=1 on=c2
			1 c1 acquire
			2 c1 acquire ok
			3 nemesis skew id=2 on=c1`, map[string]int{"grants": 1, "jump_with_holder": 1, "clock_off_with_holder": 1, "rate_with_holder": 1, "fault_injected": 2, "fault_touched": 1}},
		{"a server's clock runs slow while somebody waits", `
			0 nemesis server-rate id=1 on=redis
			1 c1 acquire
			2 nemesis server-rate-end id=1 on=redis
			3 c1 acquire fail`, map[string]int{"fault_injected": 1, "fault_touched": 1}},
		{"a holder hangs, renews, and learns of its loss", `
			0 c1 acquire
			1 c1 acquire ok until=10
			2 nemesis hang id=1 on=c1
			3 c1 valid until=13
			6 c1 valid until=16
			9 c1 lost`, map[string]int{"grants": 1, "hang_hit_holder": 1, "renewed": 2, "lost_noticed": 1, "fault_injected": 1, "fault_touched": 1}},
		{"one who waits hangs", `
			0 c1 acquire
			1 nemesis hang id=1 on=c1`, map[string]int{"fault_injected": 1, "fault_touched": 1}},
		{"a server stands still, and somebody is granted the lock by the others", `
			0 nemesis server-pause id=1 on=redis-2
			1 c1 acquire
			2 c1 acquire ok
			3 nemesis server-pause-end id=1 on=redis-2`, map[string]int{"grants": 1, "server_paused_with_holder": 1, "fault_injected": 1, "fault_touched": 1}},
		{"servers are cut off from the others", `
			0 c1 acquire
			1 nemesis partition-servers id=1 on=redis-1,sentinel-1`, map[string]int{"fault_injected": 1, "fault_touched": 1}},
		{"memory runs full, and the holder's entry is evicted", entered + `
			3 nemesis evict id=1 on=redis
			3 redis lose of=c1
			4 nemesis evict-end id=1 on=redis`, map[string]int{"grants": 1, "entry_lost_while_held": 1, "fault_injected": 1, "fault_touched": 1}},
		{"a pause hits the holder and another one who waits", paused + `
			4 nemesis pause id=2 on=c2
			5 nemesis pause-end id=1 on=c1
			6 nemesis pause-end id=2 on=c2`, map[string]int{"grants": 1, "contended": 1, "pause_hit_holder": 1, "pause_hit_waiter": 1, "fault_injected": 2, "fault_touched": 2}},
		{"a pause of somebody who is thinking", granted1 + `
			3 nemesis pause id=1 on=c2
			5 nemesis pause-end id=1 on=c2
			6 c2 acquire`, map[string]int{"grants": 1, "contended": 1, "fault_injected": 1}},
		{"a kill hits the holder and another one who waits", contended + `
			3 nemesis kill id=1 on=c1
			4 nemesis poweroff id=2 on=c2`, map[string]int{"grants": 1, "contended": 1, "kill_hit_holder": 1, "kill_hit_acquirer": 1, "fault_injected": 2, "fault_touched": 2}},
		{"a kill in a pause hits the holder", granted1 + `
			2 nemesis pause id=1 on=c1
			3 nemesis kill id=2 on=c1`, map[string]int{"grants": 1, "pause_hit_holder": 1, "kill_hit_holder": 1, "fault_injected": 2, "fault_touched": 2}},
		{"a reply that was dropped, and one that was not", `
			0 c1 acquire
			1 nemesis drop-reply id=1 on=c1,redis
			2 nemesis drop-reply-end id=1 on=c1,redis hits=1
			3 c1 acquire info error=timeout
			4 nemesis drop-reply id=2 on=c1,redis
			5 nemesis drop-reply-end id=2 on=c1,redis hits=0`, map[string]int{"ambiguous_acquires": 1, "reply_dropped": 1, "fault_injected": 2, "fault_touched": 1}},
		{"a partition that does not say what it hit", `
			0 c1 acquire
			1 nemesis partition id=1 on=c1,redis
			2 nemesis partition id=2 on=c2,redis
			3 nemesis partition-end id=1 on=c1,redis
			4 nemesis partition-end id=2 on=c2,redis`, map[string]int{"fault_injected": 2, "fault_touched": 1}},
		{"a fault of another name", `
			0 c1 acquire
			1 nemesis meteor id=1 on=everything`, map[string]int{"fault_injected": 1, "fault_touched": 1}},
		{"a write that arrives after its release", granted1 + `
			2 c1 write value=1
			3 c1 write info error=timeout
			4 c1' release grant=1
			5 resource write value=1 was=0 by=c1`, map[string]int{"grants": 1, "late_access": 1}},
		{"a write that arrives after its deadline and is refused", leased + `
			2 c1 write value=1
			12 resource refuse value=1 by=c1
			13 c1 write fail error=stale-token`, map[string]int{"grants": 1, "late_access": 1, "stale_refused": 1}},
		{"a write that is refused, as its client tells", granted1 + `
			2 c1 write value=1
			3 c1 write fail error=stale-token`, map[string]int{"grants": 1, "stale_refused": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			counts := Reach(story(t, c.story))
			if got := counts.Map(); !maps.Equal(got, c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}

// A majority of several servers has the entry of a client when it is paused, or not yet,
// or no longer.
func TestAPauseHitsWhoHasAMajority(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events string
		want   int
	}{
		"two of three":                   {"1 r1 grant of=c1 by=c1 \n 1 r2 grant of=c1 by=c1 \n 2 nemesis pause id=1 on=c1", 1},
		"one of three":                   {"1 r1 grant of=c1 by=c1 \n 2 nemesis pause id=1 on=c1 \n 3 r2 grant of=c1 by=c1", 0},
		"two, of which one has run out":  {"1 r1 grant of=c1 by=c1 \n 1 r2 grant of=c1 by=c1 \n 2 r1 expire of=c1 \n 3 nemesis pause id=1 on=c1", 0},
		"another client has a majority":  {"1 r1 grant of=c1 by=c1 \n 1 r2 grant of=c1 by=c1 \n 2 c2 acquire \n 3 nemesis pause id=1 on=c2", 0},
		"it has come back with the lock": {"1 r1 grant of=c1 by=c1 \n 1 r2 grant of=c1 by=c1 \n 2 c1 acquire ok \n 3 nemesis pause id=1 on=c1", 0},
	} {
		h := story(t, "0 c1 acquire \n "+c.events)
		h.Header.Nodes = 3
		if counts := Reach(h); counts[PauseHitVoted] != c.want {
			t.Errorf("%s: %d, want %d", name, counts[PauseHitVoted], c.want)
		}
	}
}

func TestEachKindCountsWhomItTouched(t *testing.T) {
	t.Parallel()
	counts := Reach(story(t, `
		0 c1 acquire
		1 nemesis pause id=1 on=c1
		2 nemesis pause id=2 on=c2
		3 nemesis meteor id=3 on=everything
		4 nemesis server-skew id=4 on=redis`))
	for kind, want := range map[string]int{"pause": 1, "meteor": 1, "server-skew": 1, "kill": 0} {
		if got := counts[TouchedBy(kind)]; got != want {
			t.Errorf("%s touched %d, want %d", kind, got, want)
		}
	}
}

func TestEveryCounterHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for c := range Counter(numCounters) {
		if c.Means() == "" {
			t.Errorf("what does %v count?", c)
		}
		if name := c.String(); name == "" || name == "?" || seen[name] {
			t.Errorf("counter %d is called %q", c, name)
		} else {
			seen[name] = true
		}
	}
	if got := TouchedBy("pause").String(); got != "pause_touched" {
		t.Errorf("the pauses that touched somebody are called %q", got)
	}
	if TouchedBy("meteor") != TouchedBy("other") {
		t.Error("unknown kinds have no counter")
	}
}

func TestCountsAddUp(t *testing.T) {
	t.Parallel()
	var sum Counts
	sum.Add(Counts{Grants: 2, FaultTouched: 1})
	sum.Add(Counts{Grants: 3})
	if sum[Grants] != 5 || sum[FaultTouched] != 1 {
		t.Errorf("got %v", sum.Map())
	}
	if list := Counters(); len(list) != int(firstTouched) || list[0] != Grants {
		t.Errorf("the counters are %v", list)
	}
}

// An Examiner that has seen other histories judges like a new one.
func TestAnExaminerRemembersNothing(t *testing.T) {
	t.Parallel()
	var x Examiner
	for _, p := range Properties {
		for _, s := range specs[p] {
			h := story(t, s.story)
			verdicts, counts, _ := x.Examine(h)
			if got := told(verdicts, p); got != s.want {
				t.Errorf("%s, %s: got %s\nwant %s", p, s.name, got, s.want)
			}
			if counts != Reach(h) {
				t.Errorf("%s, %s: it reached something else", p, s.name)
			}
		}
		x.Examine(busyRun(t, 100))
	}
}

// Faults that stop or cut off a client or server excuse a slow hand-over. Faults that
// only change a clock or memory do not. A client that is stopped, or has a wrong
// clock, may never release the lock.
func TestKindsAreTheFaultsThatThereAre(t *testing.T) {
	t.Parallel()
	stops := []string{"pause", "hang"}
	idles := append(stops, "skew", "jump", "rate")
	excuses := append(stops, "server-pause", "restart", "restart-lost", "failover", "partition", "partition-oneway", "partition-servers", "delay")
	for _, f := range faults.All() {
		k := kindOf(f.Name)
		if kinds[k].Name != f.Name {
			t.Errorf("the checker does not know %s", f.Name)
		}
		for what, got := range map[string][2]bool{
			"ends its client for good":     {k.ends(), f.Name == "kill" || f.Name == "poweroff"},
			"stops its client":             {k.stopsClient(), slices.Contains(stops, f.Name)},
			"lets a holder keep the lock":  {k.idles(), slices.Contains(idles, f.Name)},
			"excuses a slow hand-over":     {k.excuses(), slices.Contains(excuses, f.Name)},
			"acts on servers and no links": {k.onServers(), f.On == faults.OnServer || f.On == faults.OnServers},
		} {
			if got[0] != got[1] {
				t.Errorf("%s %s: %v, want %v", f.Name, what, got[0], got[1])
			}
		}
	}
	for k, name := range map[kind]string{stall: history.Stall, otherKind: "other"} {
		if kinds[k].Name != name || int(otherKind) != len(kinds)-1 {
			t.Errorf("kind %d is %s, want %s", k, kinds[k].Name, name)
		}
		if !k.onServers() || k.ends() || k.idles() || k.excuses() != (k == stall) {
			t.Errorf("%s is taken for something else", name)
		}
	}
}
