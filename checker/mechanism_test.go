package checker

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/history"
)

// overtaken1 is a story in which c1 is still a holder when c2 is granted the lock.
const overtaken1 = `
	30 c2 acquire ok until=40`

var mechanisms = []struct {
	name, text, want string
}{
	{"a holder that is paused beyond its lease", enteredUntil + `
		3 nemesis pause id=1 on=c1
		4 c2 acquire
		11 redis expire of=c1
		12 redis grant of=c2 by=c2` + overtaken1, "exclusion:entry-expired:pause"},
	{"the same without a fault", enteredUntil + `
		4 c2 acquire
		11 redis expire of=c1
		12 redis grant of=c2 by=c2` + overtaken1, "exclusion:entry-expired:none"},
	{"a clock of the server that jumps", enteredUntil + `
		4 c2 acquire
		5 nemesis server-jump id=1 on=redis
		5 redis expire of=c1
		6 redis grant of=c2 by=c2
		6 c2 acquire ok until=16`, "lease-exclusion:entry-expired-early:server-jump"},
	{"a slow answer from which a client counts its lease", `
		0 c1 acquire
		1 redis grant of=c1 by=c1
		1 nemesis delay id=1 on=c1,redis
		5 c1 acquire ok until=15
		6 c2 acquire
		11 redis expire of=c1
		12 redis grant of=c2 by=c2
		12 c2 acquire ok until=22`, "lease-exclusion:lease-counted-too-long:delay"},
	{"an answer that comes after the end of the lease", `
		0 c1 acquire
		0 nemesis delay id=1 on=c1,redis
		1 redis grant of=c1 by=c1
		6 c2 acquire
		11 redis expire of=c1
		12 redis grant of=c2 by=c2
		12 c2 acquire ok until=22
		13 c1 acquire ok until=23`, "exclusion:entry-expired-unheard:delay"},
	{"a server without its data", enteredUntil + `
		3 c2 acquire
		4 nemesis restart-lost id=1 on=redis
		5 redis lose of=c1
		6 redis grant of=c2 by=c2
		6 c2 acquire ok until=16`, "exclusion:entry-lost:restart-lost"},
	{"a session that ends", entered + `
		3 nemesis pause id=1 on=c1
		3 c2 acquire
		5 redis lose of=c1 text=session-over
		6 redis grant of=c2 by=c2
		6 c2 acquire ok`, "exclusion:session-over:pause"},
	{"an operator", enteredUntil + `
		3 nemesis entry-lost id=1 on=redis
		3 redis remove of=c1
		4 c2 acquire
		5 redis grant of=c2 by=c2
		5 c2 acquire ok until=15`, "exclusion:outsider-removed-entry:entry-lost"},
	{"an operator who changes it", enteredUntil + `
		3 nemesis entry-changed id=1 on=redis
		3 redis takeover of=c1
		4 c2 acquire
		5 redis takeover by=c2
		5 redis grant of=c2 by=c2
		5 c2 acquire ok until=15`, "exclusion:outsider-took-over-entry:entry-changed"},
	{"a request that arrives when nobody waits for its answer", `
		0 c2 acquire
		0 nemesis delay id=1 on=c2,redis
		1 c2 acquire info error=timeout
		2 c1 acquire
		2 redis grant of=c1 by=c1
		3 c1 acquire ok until=12
		4 redis takeover of=c1 by=c2
		5 c3 acquire
		6 redis remove of=c2 by=c3
		6 redis grant of=c3 by=c3
		6 c3 acquire ok until=16`, "ownership:late-acquire-took-over-others-entry:delay"},
	{"a late release", enteredUntil + `
		3 nemesis pause id=1 on=c1
		11 redis expire of=c1
		11 c2 acquire
		12 redis grant of=c2 by=c2
		12 c2 acquire ok until=22
		13 nemesis pause-end id=1
		13 c1 release
		14 redis remove of=c2 by=c1`, "ownership:release-removed-others-entry:pause"},
	{"a release for no grant", enteredUntil + `
		3 c2 release
		4 redis remove of=c1 by=c2`, "ownership:ungranted-release-removed-others-entry:none"},
	{"a release of an older grant of the same client", enteredUntil + `
		11 redis expire of=c1
		11 c1' acquire
		12 redis grant of=c1' by=c1'
		12 c1' acquire ok until=22
		13 c1 release
		14 redis remove of=c1' by=c1`, "ownership:release-removed-own-newer-entry:none"},
	{"a grant that no server made", enteredUntil + `
		3 c2 acquire
		4 c2 acquire ok until=14`, "exclusion:granted-without-entry:none"},
	{"a grant without a majority", `
		.nodes 3
		0 c1 acquire
		1 r1 grant of=c1 by=c1
		1 r2 grant of=c1 by=c1
		2 c1 acquire ok until=11
		3 c2 acquire
		4 r3 grant of=c2 by=c2
		4 c2 acquire ok until=14`, "exclusion:granted-without-majority:none"},
	{"a waiter that passes an entry in the queue", keyed1 + `
		3 c2 acquire
		4 redis-1 grant of=c2 by=c2 key=l
		5 c2 acquire ok`, "exclusion:entered-beside-entry:none"},
	{"a write that was on its way", enteredUntil + `
		2 c1 read
		2 resource read value=1 by=c1
		3 c1 read ok value=1
		3 nemesis delay id=1 on=c1,resource
		3 c1 write value=2
		4 c1 write info error=timeout
		5 c1' release grant=1
		6 redis remove of=c1 by=c1'
		6 c1' release ok grant=1
		7 c2 acquire
		7 redis grant of=c2 by=c2
		7 c2 acquire ok until=17
		7 c2 read
		7 resource read value=1 by=c2
		7 c2 read ok value=1
		8 c2 write value=3
		8 resource write value=3 was=1 by=c2
		8 c2 write ok value=3
		9 resource write value=2 was=3 by=c1`, "resource:late-write:delay"},
	{"tokens of a server that lost its counter", `
		0 c1 acquire
		0 redis grant of=c1 by=c1
		1 c1 acquire ok token=7
		1 nemesis restart-lost id=1 on=redis
		2 redis lose of=c1
		3 c2 acquire
		3 redis grant of=c2 by=c2
		4 c2 acquire ok token=1`, "fencing:token-fell:restart-lost"},
	{"a refusal that left an entry", entered + `
		3 c1 release
		3 redis remove of=c1 by=c1
		3 c1 release ok
		4 c2 acquire
		5 redis grant of=c2 by=c2
		6 c2 acquire fail error=held`, "answers:refused-with-entry:none"},
	{"a release that removed nothing", entered + `
		3 c1 release
		4 c1 release ok
		11 redis expire of=c1`, "answers:released-with-entry:none"},
	{"a release that had nothing to remove, and said yes", expiredTold + `
		12 c1 release
		13 c1 release ok`, "answers:released-nothing:none"},
	{"a release that removed the entry, and said no", `
		.tells` + entered + `
		3 c1 release
		4 redis remove of=c1 by=c1
		5 c1 release fail error=not-held`, "answers:refused-after-removal:none"},
	{"the entry of a dead client", `
		0 c1 acquire
		0 redis grant of=c1 by=c1
		0 c1 acquire ok
		1 nemesis kill id=1 on=c1
		2 c2 acquire
		50 c2 acquire fail error=timeout`, "liveness:entry-of-dead-client:kill"},
	{"the entry of an acquire that got no answer", `
		0 c1 acquire
		0 c1 acquire ok
		0 c1 release
		0 c1 release ok
		1 c3 acquire
		1 nemesis drop-reply id=1 on=c3,redis hits=1
		1 redis grant of=c3 by=c3
		2 c3 acquire info error=timeout
		2 c2 acquire
		50 c2 acquire fail error=timeout`, "liveness:entry-of-uncertain-acquire:drop-reply"},
	{"no entry", `
		0 c1 acquire
		0 c1 acquire ok
		0 c1 release
		0 c1 release ok
		2 c2 acquire
		50 c2 acquire fail error=timeout`, "handover:no-entry:none"},
}

// The mechanism of a violation says what went wrong, with whose entry, under which fault.
func TestMechanism(t *testing.T) {
	t.Parallel()
	for _, tt := range mechanisms {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := story(t, tt.text)
			var got []string
			for _, v := range Judge(h) {
				if m := MechanismOf(h, v); m != "" {
					got = append(got, string(m))
					if m.Property() != v.Property {
						t.Errorf("%s is of %q, not of %s", m, m.Property(), v.Property)
					}
				} else if v.Outcome == Violated {
					t.Errorf("%s has no mechanism", v.Property)
				}
			}
			if !strings.Contains(" "+strings.Join(got, " ")+" ", " "+tt.want+" ") {
				t.Errorf("got %q\nwant %s", got, tt.want)
			}
		})
	}
}

// A mechanism does not depend on names, numbers and times of a run.
func TestAMechanismIsTheSameInEachRun(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z-]+:[a-z-]+:[a-z-]+$`)
	for _, tt := range mechanisms {
		h, other := story(t, tt.text), story(t, tt.text)
		for i := range other.Entries {
			e := &other.Entries[i]
			e.Time *= 2
			e.ValidUntil *= 2
			e.Amount *= 2
			if e.Client != "" {
				e.Client = "x" + e.Client
			}
			if e.Process.Name == "" {
				e.Process.N += 100
			}
			e.Lock = "other"
			for j, name := range e.On {
				if name != "redis" && name != history.Resource {
					e.On[j] = "x" + name
				}
			}
		}
		other.Header.LeaseMS *= 2
		a, b := Judge(h), Judge(other)
		for i := range a {
			x, y := MechanismOf(h, a[i]), MechanismOf(other, b[i])
			if x != y || x != "" && !form.MatchString(string(x)) {
				t.Errorf("%s: %q, and %q with other names and times", tt.name, x, y)
			}
		}
	}
}
