package checker

import (
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/faults"
)

// Every pair of fault and property has a hazard in words, and the line of another
// pair does not hide it.
func TestEveryPairHasAHazard(t *testing.T) {
	t.Parallel()
	names := []string{"", NoFault}
	for _, f := range faults.All() {
		names = append(names, f.Name)
		if kindOf(f.Name) == otherKind {
			t.Errorf("the checker does not know %s", f.Name)
		}
	}
	for _, fault := range names {
		for _, p := range Properties {
			h := HazardOf(fault, p)
			if h.Reached == "" || h.Missing == "" || h.Reached == h.Missing {
				t.Errorf("%s and %s: %+v", fault, p, h)
			}
			if none := fault == "" || fault == NoFault; none != (h == contention || h == rivals) {
				t.Errorf("%s and %s need contention: %v", fault, p, !none)
			}
		}
	}
	used := map[int]bool{}
	for _, fault := range names[2:] {
		for _, p := range Properties {
			for i, line := range hazardTable {
				if (line.faults == nil || slices.Contains(line.faults, fault)) && slices.Contains(line.properties, p) {
					used[i] = true
					break
				}
			}
		}
	}
	for i, line := range hazardTable {
		if !used[i] {
			t.Errorf("nothing needs line %d: %v", i+1, line)
		}
		for _, fault := range line.faults {
			if !slices.Contains(names, fault) {
				t.Errorf("line %d: no fault %s", i+1, fault)
			}
		}
	}
}

// Each story reaches exactly the hazards of the properties that its line names.
func TestHazards(t *testing.T) {
	t.Parallel()
	const granted = `
		0 c1 acquire
		1 redis grant of=c1 by=c1
		1 c1 acquire ok
		1 c2 acquire`
	past := []Property{Exclusion, LeaseExclusion, Ownership, Fencing, Resource, Answers, Liveness, Handover}
	for _, c := range []struct {
		name, story string
		fault       string
		reached     []Property
	}{
		{"a pause that is shorter than the lease", granted + `
			2 nemesis pause id=1 on=c1
			10 nemesis pause-end id=1 on=c1
			10 c1 release
			10.5 c1 release ok
			10.6 c2 acquire ok`, "pause", []Property{Answers, Liveness, Handover}},
		{"a server ends the lease of a holder that was paused, and no client is granted it before the release", granted + `
			2 nemesis pause id=1 on=c1
			10.9 redis expire of=c1
			11 nemesis pause-end id=1 on=c1
			11 c1 release
			12 c1 release ok
			12 c2 acquire ok`, "pause", []Property{Exclusion, LeaseExclusion, Answers, Liveness, Handover}},
		{"the same, and another client is granted it before", granted + `
			2 nemesis pause id=1 on=c1
			10.9 redis expire of=c1
			10.9 redis grant of=c2 by=c2
			11 nemesis pause-end id=1 on=c1
			11 c1 release
			12 c1 release ok
			12 c2 acquire ok`, "pause", past},
		{"a release was under way when its lease ran out and another client was granted the lock", granted + `
			2 c1 release
			2 nemesis pause id=1 on=c1
			10.9 redis expire of=c1
			10.9 redis grant of=c2 by=c2
			11 c2 acquire ok
			12 nemesis pause-end id=1 on=c1
			12 c1 release ok
			13 c3 acquire`, "pause", past},
		{"a holder is paused for longer than T, and no server says anything", granted1 + `
			1 c2 acquire
			2 nemesis pause id=1 on=c1
			13 nemesis pause-end id=1 on=c1
			14 c1 release
			14 c1 release ok`, "pause", []Property{Exclusion, LeaseExclusion, Answers, Liveness, Handover}},
		{"the same, and the client that waits gave up before", granted1 + `
			1 c2 acquire
			2 nemesis pause id=1 on=c1
			3 c2 acquire fail error=timeout
			13 nemesis pause-end id=1 on=c1
			14 c1 release
			14 c1 release ok`, "pause", []Property{Answers}},
		{"a pause that is certain for less than T", granted1 + `
			1 c2 acquire
			2 nemesis pause id=1 on=c1
			4 nemesis pause-done id=1 on=c1
			12 nemesis pause-end id=1 on=c1
			14 nemesis pause-end-done id=1 on=c1
			14 c1 release
			14 c1 release ok`, "pause", []Property{Answers, Liveness, Handover}},
		{"no client waits for a holder that is paused for longer than T", granted1 + `
			2 nemesis pause id=1 on=c1
			13 nemesis pause-end id=1 on=c1
			14 c1 release
			14 c1 release ok`, "pause", []Property{Answers}},
		{"a lock that has no lease keeps another client out for 1.5 T", granted + `
			2 nemesis pause id=1 on=c1
			18 nemesis pause-end id=1 on=c1
			18 c1 release
			18 redis remove of=c1 by=c1
			18 c1 release ok
			18 c2 acquire ok`, "pause", past},
		{"the same, and the other client asks for it when T is over", `
			0 c1 acquire
			1 redis grant of=c1 by=c1
			1 c1 acquire ok
			2 nemesis pause id=1 on=c1
			13 c2 acquire
			18 nemesis pause-end id=1 on=c1
			18 c1 release
			18 redis remove of=c1 by=c1
			18 c1 release ok
			18 c2 acquire ok`, "pause", past},
		{"the same, and the other client had held it before, during the pause", `
			0 nemesis pause id=1 on=c1
			0 c2 acquire
			0 redis grant of=c2 by=c2
			0 c2 acquire ok
			0 c2 release
			0 redis remove of=c2 by=c2
			0 c2 release ok
			0 c1 acquire
			1 redis grant of=c1 by=c1
			1 c1 acquire ok
			2 c2 acquire
			18 nemesis pause-end id=1 on=c1
			18 c1 release
			18 redis remove of=c1 by=c1
			18 c1 release ok
			18 c2 acquire ok`, "pause", past},
		{"a holder hangs for longer than T, and its lock renews the lease", `
			0 c1 acquire
			1 c1 acquire ok until=10
			1 c2 acquire
			2 nemesis hang id=1 on=c1
			6 c1 valid until=16
			12 c1 valid until=22
			13 nemesis hang-end id=1 on=c1
			14 c1 release
			14 c1 release ok`, "hang", []Property{Answers, Liveness, Handover}},
		{"the lease ends after the holder has released", granted + `
			2 c1 release
			2 c1 release ok
			2 nemesis pause id=1 on=c1
			11 redis expire of=c1
			13 nemesis pause-end id=1 on=c1
			13 c2 acquire ok`, "pause", nil},
		{"one of two waiting clients is paused", granted + `
			1 c3 acquire
			2 nemesis pause id=1 on=c3
			3 nemesis pause-end id=1 on=c3`, "pause", []Property{Answers, Liveness, Handover, Fairness}},
		{"a client is paused that waits beside one that waits for another lock", granted + `
			1 c3 acquire lock=b
			2 nemesis pause id=1 on=c3
			3 nemesis pause-end id=1 on=c3`, "pause", []Property{Answers, Liveness, Handover}},
		{"two clients wait one after another while a server stands still", granted + `
			2 nemesis server-pause id=1 on=redis
			3 c2 acquire fail error=timeout
			9 c3 acquire
			12 nemesis server-pause-end id=1 on=redis`, "server-pause", []Property{Exclusion, LeaseExclusion, Ownership, Fencing, Resource, Liveness, Handover}},
		{"a pause of a client that wants nothing", granted + `
			2 nemesis pause id=1 on=c3
			3 nemesis pause-end id=1 on=c3`, "pause", nil},
		{"a holder dies, and nobody wants the lock any more", granted1 + `
			2 nemesis kill id=1 on=c1`, "kill", []Property{Fencing, Answers}},
		{"a holder dies, and another client wants the lock later", granted1 + `
			2 nemesis kill id=1 on=c1
			3 c2 acquire`, "kill", []Property{Exclusion, LeaseExclusion, Ownership, Fencing, Resource, Answers, Liveness, Handover}},
		{"a client dies that wants nothing", granted + `
			1 c3 acquire
			2 c3 acquire fail error=held
			3 nemesis kill id=1 on=c3`, "kill", nil},
		{"an acquirer dies while two others wait", granted + `
			1 c3 acquire
			1 c4 acquire
			2 nemesis kill id=1 on=c3`, "kill", Properties[:]},
		{"a delay that hits nothing", granted + `
			2 nemesis delay id=1 on=c1,redis
			3 nemesis delay-end id=1 on=c1,redis hits=0`, "delay", nil},
		{"a delay within the wait for a holder", granted + `
			2 nemesis delay id=1 on=c2,redis
			3 nemesis delay-end id=1 on=c2,redis hits=1
			4 c1 release
			4 c1 release ok
			4 c2 acquire ok`, "delay", []Property{Fencing, Liveness, Handover}},
		{"a try that is refused during a delay", granted1 + `
			2 nemesis delay id=1 on=c2,redis
			2 c2 try
			3 c2 try fail error=held
			4 nemesis delay-end id=1 on=c2,redis hits=1`, "delay", []Property{Fencing}},
		{"a delay of a release for which another client waits", granted + `
			2 nemesis delay id=1 on=c1,redis
			2 c1 release
			4 nemesis delay-end id=1 on=c1,redis hits=1
			4 c1 release ok
			4 c2 acquire ok`, "delay", past},
		{"a delay of a release for which nobody waits", granted1 + `
			2 nemesis delay id=1 on=c1,redis
			2 c1 release
			4 nemesis delay-end id=1 on=c1,redis hits=1
			4 c1 release ok`, "delay", []Property{Fencing, Answers}},
		{"a delay after which an acquire is in doubt", granted + `
			2 nemesis delay id=1 on=c2,redis
			3 c2 acquire info error=timeout
			4 nemesis delay-end id=1 on=c2,redis hits=1`, "delay", []Property{Exclusion, LeaseExclusion, Ownership, Fencing, Resource, Answers}},
		{"a delay during which a lease runs out", granted + `
			2 nemesis delay id=1 on=c1,redis
			10.9 redis expire of=c1
			11 c2 acquire ok
			12 nemesis delay-end id=1 on=c1,redis hits=1`, "delay", []Property{Exclusion, LeaseExclusion, Ownership, Fencing, Resource}},
		{"a failover in which no replica becomes the master", granted + `
			2 nemesis failover id=1 on=redis
			3 nemesis failover-end id=1 on=redis`, "failover", []Property{Liveness, Handover}},
		{"a master goes while the lock is held", granted + `
			2 nemesis failover id=1 on=redis
			3 c1 release
			4 redis-b promote text=redis
			5 nemesis failover-end id=1 on=redis`, "failover", []Property{Exclusion, LeaseExclusion, Ownership, Fencing, Resource, Answers, Liveness, Handover}},
		{"a master goes before the lock is held", `
			1 nemesis failover id=1 on=redis
			2 redis-b promote text=redis
			3 c1 acquire
			3 c1 acquire ok
			5 nemesis failover-end id=1 on=redis`, "failover", []Property{Answers}},
		{"the entry of a holder is evicted", granted + `
			2 nemesis evict id=1 on=redis
			2 redis lose of=c1
			3 nemesis evict-end id=1 on=redis`, "evict", []Property{Exclusion, LeaseExclusion, Ownership, Fencing, Resource, Answers, Liveness, Handover}},
		{"memory is full while an entry is made", granted + `
			2 c1 release
			2 redis remove of=c1 by=c1
			2 c1 release ok
			3 nemesis evict id=1 on=redis
			4 redis grant of=c2 by=c2
			4 c2 acquire ok
			5 nemesis evict-end id=1 on=redis
			6 c1 acquire`, "evict", []Property{Answers, Liveness, Handover}},
		{"the session of a client that does not hold is closed", granted + `
			2 nemesis session-expiry id=1 on=c2
			3 c2 acquire fail`, "session-expiry", []Property{Answers, Liveness, Handover}},
		{"an operator removes the entry of a holder", granted + `
			2 nemesis entry-lost id=1 on=redis
			2 redis remove of=c1`, "entry-lost", []Property{Exclusion, LeaseExclusion, Ownership, Fencing, Resource, Answers, Liveness, Handover}},
		{"an operator changes the entry of a holder", granted + `
			2 nemesis entry-changed id=1 on=redis
			2 redis takeover of=c1`, "entry-changed", []Property{Exclusion, LeaseExclusion, Ownership, Fencing, Resource, Answers, Liveness, Handover}},
		{"an operator changes what a node of a holder has", granted + `
			2 nemesis entry-changed id=1 on=redis
			2 redis change of=c1`, "entry-changed", []Property{Exclusion, LeaseExclusion, Ownership, Fencing, Resource, Answers, Liveness, Handover}},
		{"an operator who changes entries finds none", granted + `
			2 nemesis entry-changed id=1 on=redis
			3 c1 release
			4 redis remove of=c1 by=c1
			5 c1 release ok
			6 c1 acquire`, "entry-changed", []Property{Answers, Liveness, Handover, Fairness}},
		{"an operator finds no entry", granted + `
			2 nemesis entry-lost id=1 on=redis
			3 c1 release
			4 redis remove of=c1 by=c1
			5 c1 release ok
			6 c1 acquire`, "entry-lost", []Property{Answers, Liveness, Handover, Fairness}},
		{"a pause vouches for no evictions", granted + `
			2 nemesis pause id=1 on=c1
			3 nemesis evict id=2 on=redis-2
			4 nemesis evict-end id=2 on=redis-2
			10.9 redis expire of=c1
			10.9 redis grant of=c2 by=c2
			12 nemesis pause-end id=1 on=c1
			12 redis lose of=c2
			13 c1 release
			14 c1 release ok
			14 c2 acquire ok`, "evict", []Property{Answers, Liveness, Handover}},
		{"nothing goes wrong, and nobody else asks", granted1, NoFault, nil},
		{"nothing goes wrong, and another client asks", granted, NoFault, []Property{
			Exclusion, LeaseExclusion, Ownership, Fencing, Resource, Answers, Liveness, Handover,
		}},
		{"nothing goes wrong, and two others ask", granted + `
			1 c3 acquire`, NoFault, Properties[:]},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			counts, hazards := ReachHazards(story(t, c.story+"\n60 nemesis ended"))
			for _, p := range Properties {
				if got, want := hazards.Reached(c.fault, p), slices.Contains(c.reached, p); got != want {
					t.Errorf("%s: reached %v, want %v (%v)", p, got, want, counts.Map())
				}
			}
		})
	}
}
