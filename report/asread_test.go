package report

import (
	"fmt"

	"github.com/lockcheck/lockcheck/checker"
)

// The beginnings of several histories: a grant on one server, and one on a majority that came
// late, with its release.
const (
	heldOnRedis = `{"lockcheck":1,"lease_ms":10000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":10000000000}`
	tellingOnRedis = `{"lockcheck":1,"lease_ms":10000,"release_tells":true,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":10000000000}`
	heldOnMySQL = `{"lockcheck":1,"lease_ms":10000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":0,"process":"mysql-1","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":1000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":10000000000}`
	lateMajorityReleases = `{"lockcheck":1,"lease_ms":10000,"nodes":3,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":5000000000,"process":"redis-2","type":"event","f":"grant","op":1,"by":1}
{"time":5000000000,"process":"redis-3","type":"event","f":"grant","op":1,"by":1}
{"time":5001000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":14900000000}
{"time":6000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}`
)

// enteredTwice is the history of a client whose lock enters once more by the same node, and
// then begins to release the first grant.
const enteredTwice = `{"lockcheck":1,"lease_ms":10000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"zk-1","type":"event","f":"grant","key":"/a/1","op":1,"by":1}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1}
{"time":1000000000,"client":"c1","process":2,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":2,"type":"ok","f":"acquire","grant":2,"op":1}
{"time":2000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}`

// pausedInRelease returns the history of a client that is paused at a point of its release,
// until its lease has ended and another client holds.
func pausedInRelease(point string) string {
	return heldOnRedis + fmt.Sprintf(`
{"time":9000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":9001000000,"process":"nemesis","type":"info","f":"pause","id":1,"on":["c1"],"point":"c1 release: %s"}
{"time":10002000000,"process":"redis-1","type":"event","f":"expire","op":1}
{"time":10100000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":10101000000,"process":"redis-1","type":"event","f":"grant","op":7,"by":7}
{"time":10102000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":20000000000}
{"time":12000000000,"process":"nemesis","type":"info","f":"pause-end","id":1,"on":["c1"]}
{"time":12001000000,"process":"redis-1","type":"event","f":"remove","op":7,"by":4}
{"time":12002000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}`, point)
}

// asRead are histories whose story a reader could take for something else than what the
// lines show.
var asRead = []truth{
	{
		"an entry that ended between two requests of a release", "", pausedInRelease("before request 2, DEL after GET"),
		[]string{"redis-1 dropped the entry, before the DEL of c1's release got there."},
		[]string{"before c1's release got there"},
	},
	{
		"an entry that ended after the first answer to a release", "", pausedInRelease("after request 1, GET"),
		[]string{"redis-1 dropped the entry, before the rest of c1's release got there."},
		[]string{"before c1's release got there"},
	},
	{
		"a majority that expired, and a late entry", "", `{"lockcheck":1,"lease_ms":10000,"nodes":3,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":1000000,"process":"redis-2","type":"event","f":"grant","op":1,"by":1}
{"time":200000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":10150000000}
{"time":300000000,"process":"redis-3","type":"event","f":"grant","op":1,"by":1}
{"time":5000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":10001000000,"process":"redis-1","type":"event","f":"expire","op":1}
{"time":10001000000,"process":"redis-2","type":"event","f":"expire","op":1}
{"time":10030000000,"process":"redis-1","type":"event","f":"grant","op":6,"by":6}
{"time":10030000000,"process":"redis-2","type":"event","f":"grant","op":6,"by":6}
{"time":10040000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":20000000000}
{"time":10200000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"c2 was granted the lock by redis-1 and redis-2, although c1 thought that its lease ran until 10.15 s"},
		[]string{"although c1's lease ran"},
	},
	{
		"a lost write of the client whose lease had ended", checker.Resource, `{"lockcheck":1,"lease_ms":10000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":0,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":1000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":10000000000}
{"time":2000000,"client":"c1","process":1,"type":"invoke","f":"read","grant":1}
{"time":3000000,"process":"resource","type":"event","f":"read","grant":1,"value":0,"by":4}
{"time":4000000,"client":"c1","process":1,"type":"ok","f":"read","grant":1,"value":0}
{"time":2000000000,"process":"nemesis","type":"info","f":"pause","id":1,"on":["c1"]}
{"time":3000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":10000000000,"process":"redis-1","type":"event","f":"expire","op":1}
{"time":10010000000,"process":"redis-1","type":"event","f":"grant","op":8,"by":8}
{"time":10011000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":20000000000}
{"time":10012000000,"client":"c2","process":2,"type":"invoke","f":"read","grant":2}
{"time":10013000000,"process":"resource","type":"event","f":"read","grant":2,"value":0,"by":12}
{"time":10014000000,"client":"c2","process":2,"type":"ok","f":"read","grant":2,"value":0}
{"time":12000000000,"process":"nemesis","type":"info","f":"pause-end","id":1,"on":["c1"]}
{"time":12001000000,"client":"c1","process":1,"type":"invoke","f":"write","grant":1,"value":1}
{"time":12100000000,"process":"resource","type":"event","f":"write","grant":1,"value":1,"was":0,"by":16}
{"time":12101000000,"client":"c1","process":1,"type":"ok","f":"write","grant":1,"value":1}
{"time":13000000000,"client":"c2","process":2,"type":"invoke","f":"write","grant":2,"value":2}
{"time":13001000000,"process":"resource","type":"event","f":"write","grant":2,"value":2,"was":1,"by":19}
{"time":13002000000,"client":"c2","process":2,"type":"ok","f":"write","grant":2,"value":2}`,
		[]string{
			"its lease ended and redis-1 dropped the entry, before c1 had released the lock. At 10.01 s c2 was granted the lock: from then on both held it.",
			"At 12.10 s it wrote 1. At 13.00 s c2 wrote 2 over c1's 1, which it had not read: c1's update was lost.",
		},
		nil,
	},
	{
		"waiters who came later", checker.Liveness, `{"lockcheck":1,"lease_ms":1000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":100000000,"client":"c1","process":1,"type":"invoke","f":"release"}
{"time":101000000,"client":"c1","process":1,"type":"ok","f":"release"}
{"time":200000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":900000000,"client":"c3","process":3,"type":"invoke","f":"acquire"}
{"time":1900000000,"client":"c4","process":4,"type":"invoke","f":"acquire"}
{"time":4201000000,"client":"c2","process":2,"type":"fail","f":"acquire","error":"held"}
{"time":4300000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"while c2, and later c3 and c4, waited"},
		nil,
	},
	{
		"a minority of entries that nobody lost", "", `{"lockcheck":1,"lease_ms":10000,"nodes":5,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":1000000,"process":"redis-2","type":"event","f":"grant","op":1,"by":1}
{"time":200000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":10000000000}
{"time":300000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":400000000,"process":"redis-3","type":"event","f":"grant","op":5,"by":5}
{"time":400000000,"process":"redis-4","type":"event","f":"grant","op":5,"by":5}
{"time":400000000,"process":"redis-5","type":"event","f":"grant","op":5,"by":5}
{"time":500000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":10000000000}
{"time":900000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"although c1's lease ran until 10.00 s"},
		[]string{"thought"},
	},
	{
		"a lease by a clock that was set back", "", `{"lockcheck":1,"lease_ms":10000}
{"time":0,"process":"nemesis","type":"info","f":"skew","id":1,"on":["c1"],"amount_ns":-15000000000}
{"time":1000000,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"redis-1","type":"event","f":"grant","op":2,"by":2}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":11000000000}
{"time":1000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":1001000000,"process":"redis-1","type":"event","f":"takeover","op":2,"by":5}
{"time":1002000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":12000000000}
{"time":2000000000,"process":"nemesis","type":"info","f":"skew-end","id":1,"on":["c1"]}
{"time":2000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"although c1 thought that its lease ran until 11.00 s", "c1's clock was set 15 s back. "},
		[]string{"for 2 s"},
	},
	{
		"a release that removed its entry and was answered no", checker.Exclusion, `{"lockcheck":1,"lease_ms":10000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":0,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":11000000000}
{"time":2000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":3000000000,"process":"redis-1","type":"event","f":"takeover","op":1,"by":4}
{"time":3000000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":13000000000}
{"time":4000000000,"client":"c2","process":2,"type":"invoke","f":"release","grant":2}
{"time":4000000000,"process":"redis-1","type":"event","f":"remove","op":4,"by":7}
{"time":4100000000,"client":"c2","process":2,"type":"fail","f":"release","grant":2,"error":"not-held"}
{"time":5000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":5100000000,"client":"c1","process":1,"type":"fail","f":"release","grant":1,"error":"not-held"}`,
		[]string{"c1 releases the lock and is told that it no longer holds it"},
		nil,
	},
	{
		"an entry that went with its session", "", `{"lockcheck":1,"version":"1","lease_ms":10000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":0,"process":"mysql-1","type":"event","f":"grant","op":1,"by":1}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1}
{"time":2000000000,"process":"mysql-1","type":"event","f":"lose","op":1,"text":"session-over"}
{"time":3000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":3000000000,"process":"mysql-1","type":"event","f":"grant","op":5,"by":5}
{"time":3000000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2}`,
		[]string{"mysql-1 dropped c1's entry with its session, while c1 still believed", " T 10 s At"},
		[]string{"lost", "lease 10 s"},
	},
	{
		"grants without a visible entry, one of which is visible later", checker.Exclusion, `{"lockcheck":1,"version":"1","lease_ms":10000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":11000000000}
{"time":3000000000,"client":"c2","process":2,"type":"invoke","f":"acquire","text":"out of turn"}
{"time":3000000000,"process":"mysql-1","type":"event","f":"grant","op":3,"by":3}
{"time":3000000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":13000000000}
{"time":4000000000,"process":"mysql-1","type":"event","f":"grant","op":1,"by":1}
{"time":4000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{
			"c1 was told that it had the lock, with a lease until 11.00 s, but its entry was visible only from 4.00 s on.",
			"c2 was granted the lock without a place in the queue", " lease 10 s At",
		},
		[]string{"no server had granted", "out of turn"},
	},
	{
		"a grant without an entry", checker.Answers, `{"lockcheck":1,"lease_ms":10000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":11000000000}
{"time":4000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"c1 was told that it holds the lock, and no entry for it was visible lease", "but no entry for it was visible."},
		nil,
	},
	{
		"a server that is paused in a time without an end", "", `{"lockcheck":1,"lease_ms":10000,"nodes":3}
{"time":0,"process":"nemesis","type":"info","f":"server-pause","id":1,"on":["redis-2"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"process":"nemesis","type":"info","f":"server-pause-done","id":1,"on":["redis-2"]}
{"time":1250000000,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":2000000000,"client":"c1","process":1,"type":"invoke","f":"release"}
{"time":2000000000,"client":"c1","process":1,"type":"ok","f":"release"}
{"time":3000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"Between 0.000 s and 1.00 s redis-2 was paused, until the end."},
		nil,
	},
	{
		"a fault in force when the run ends, and one that ended before", "", `{"lockcheck":1,"lease_ms":10000,"nodes":3}
{"time":0,"process":"nemesis","type":"info","f":"server-pause","id":1,"on":["redis-2"]}
{"time":0,"process":"nemesis","type":"info","f":"server-pause","id":2,"on":["redis-3"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"process":"nemesis","type":"info","f":"server-pause-end","id":2,"on":["redis-3"]}
{"time":1250000000,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":2000000000,"client":"c1","process":1,"type":"invoke","f":"release"}
{"time":2000000000,"client":"c1","process":1,"type":"ok","f":"release"}
{"time":3000000000,"process":"nemesis","type":"info","f":"server-pause-end","id":1,"on":["redis-2"]}
{"time":3000000000,"process":"nemesis","type":"info","f":"server-pause-end-done","id":1,"on":["redis-2"]}
{"time":3000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"redis-2 was paused. ", "redis-3 was paused for 1 s. "},
		[]string{"for 3 s"},
	},
	{
		"a fault between a release and its answer", "", `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":2000000000,"client":"c1","process":1,"type":"invoke","f":"release"}
{"time":2010000000,"process":"nemesis","type":"info","f":"pause","id":1,"on":["c1"]}
{"time":4000000000,"process":"nemesis","type":"info","f":"pause-end","id":1,"on":["c1"]}
{"time":4500000000,"client":"c1","process":1,"type":"ok","f":"release"}
{"time":5000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":5000000000,"client":"c2","process":2,"type":"ok","f":"acquire"}`,
		[]string{"At 2.00 s it began to release the lock. At 2.01 s it was paused for 1.99 s. At 4.00 s it woke up. At 4.50 s it got the answer to its release: yes."},
		nil,
	},
	{
		"a slow release whose entry goes before its answer", checker.Handover, `{"lockcheck":1,"lease_ms":1000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"mysql-1","type":"event","f":"grant","op":1,"by":1}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":1000000000}
{"time":100000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":200000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":900000000,"process":"mysql-1","type":"event","f":"remove","op":1,"by":5}
{"time":940000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}
{"time":950000000,"process":"mysql-1","type":"event","f":"grant","op":4,"by":4}
{"time":960000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":2000000000}`,
		[]string{"c1 began to release the lock. At 900 ms its release removed its entry. At 940 ms c1 got the answer to its release: yes."},
		[]string{"; at 940 ms"},
	},
	{
		"an entry that expires after its client has given it up", "", heldOnRedis + `
{"time":5000000000,"process":"nemesis","type":"info","f":"pause","id":1,"on":["c1"]}
{"time":9000000000,"process":"nemesis","type":"info","f":"pause-end","id":1,"on":["c1"]}
{"time":9990000000,"client":"c1","process":1,"type":"event","f":"lost","grant":1}
{"time":10002000000,"process":"redis-1","type":"event","f":"expire","op":1}
{"time":11000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":11100000000,"process":"redis-1","type":"event","f":"grant","op":8,"by":8}
{"time":11200000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":21000000000}`,
		[]string{"it noticed that it had lost the lock. At 10.00 s redis-1 dropped c1's entry: its lease was over."},
		[]string{"lease ended and"},
	},
	{
		"entries that came and went in one transaction, or came late, while both held", checker.Exclusion, `{"lockcheck":1,"lease_ms":10000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":11000000000}
{"time":3000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":3000000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":13000000000}
{"time":4000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":5000000000,"process":"mysql-1","type":"event","f":"grant","op":1,"by":1}
{"time":5000000000,"process":"mysql-1","type":"event","f":"remove","op":1,"by":5}
{"time":5100000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}
{"time":6000000000,"process":"mysql-1","type":"event","f":"grant","op":3,"by":3}
{"time":7000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{
			"c1 was told that it had the lock, with a lease until 11.00 s, but no entry for it was visible.",
			"At 3.00 s c2 was told that it had the lock: from then on both held it, but its entry was visible only from 6.00 s on.",
			"lease until 13.00 s: both hold it; its entry is visible only from 6.00 s on",
		},
		nil,
	},
	{
		"an acquire out of turn that got a place all the same", "", `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire","text":"out of turn"}
{"time":1000000000,"client":"c1","process":1,"type":"event","f":"queued","op":1,"value":1}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":11000000000}`,
		[]string{"c1 was granted the lock, with"},
		[]string{"queue", "turn"},
	},
	{
		"a grant before those that are told", "", `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":100000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":1}
{"time":200000000,"client":"c2","process":2,"type":"invoke","f":"release","grant":1}
{"time":200000000,"client":"c2","process":2,"type":"ok","f":"release","grant":1}
{"time":300000000,"client":"c3","process":3,"type":"invoke","f":"acquire"}
{"time":400000000,"client":"c3","process":3,"type":"ok","f":"acquire","grant":2}
{"time":500000000,"client":"c3","process":3,"type":"invoke","f":"release","grant":2}
{"time":500000000,"client":"c3","process":3,"type":"ok","f":"release","grant":2}
{"time":600000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":700000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":3}
{"time":800000000,"client":"c2","process":2,"type":"invoke","f":"release","grant":3}
{"time":800000000,"client":"c2","process":2,"type":"ok","f":"release","grant":3}
{"time":900000000,"client":"c3","process":3,"type":"invoke","f":"try"}
{"time":900000000,"client":"c3","process":3,"type":"fail","f":"try","error":"held"}
{"time":910000000,"client":"c3","process":3,"type":"invoke","f":"try"}
{"time":910000000,"client":"c3","process":3,"type":"fail","f":"try","error":"held"}
{"time":920000000,"client":"c3","process":3,"type":"invoke","f":"try"}
{"time":920000000,"client":"c3","process":3,"type":"fail","f":"try","error":"held"}
{"time":930000000,"client":"c3","process":3,"type":"invoke","f":"try"}
{"time":930000000,"client":"c3","process":3,"type":"fail","f":"try","error":"held"}
{"time":940000000,"client":"c3","process":3,"type":"invoke","f":"try"}
{"time":940000000,"client":"c3","process":3,"type":"fail","f":"try","error":"held"}
{"time":950000000,"client":"c3","process":3,"type":"invoke","f":"try"}
{"time":950000000,"client":"c3","process":3,"type":"fail","f":"try","error":"held"}
{"time":1000000000,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":2000000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":4}
{"time":2500000000,"process":"nemesis","type":"info","f":"pause","id":1,"on":["c1"]}
{"time":3000000000,"process":"nemesis","type":"info","f":"pause-end","id":1,"on":["c1"]}
{"time":3500000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":4}
{"time":3500000000,"client":"c1","process":1,"type":"ok","f":"release","grant":4}`,
		[]string{"There were 3 more grants (the first to c2 at 0.10 s)."},
		nil,
	},
	{
		"entries that an earlier round of an acquire left behind", "", lateMajorityReleases + `
{"time":6000000000,"process":"redis-2","type":"event","f":"remove","op":1,"by":6}
{"time":6000000000,"process":"redis-3","type":"event","f":"remove","op":1,"by":6}
{"time":6001000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}
{"time":6100000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"c1 was granted the lock by redis-2 and redis-3, with", "its entry on redis-1 stayed"},
		nil,
	},
	{
		"an old entry that a release removes with the others", "", lateMajorityReleases + `
{"time":6000000000,"process":"redis-1","type":"event","f":"remove","op":1,"by":6}
{"time":6000000000,"process":"redis-2","type":"event","f":"remove","op":1,"by":6}
{"time":6000000000,"process":"redis-3","type":"event","f":"remove","op":1,"by":6}
{"time":6001000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}
{"time":6100000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"c1 was granted the lock by redis-1, redis-2 and redis-3"},
		nil,
	},
	{
		"entries that expired on both sides of the end of a lease", checker.Exclusion, `{"lockcheck":1,"lease_ms":10000,"nodes":3,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":1000000,"process":"redis-2","type":"event","f":"grant","op":1,"by":1}
{"time":1000000,"process":"redis-3","type":"event","f":"grant","op":1,"by":1}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":10100000000}
{"time":5000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":10001000000,"process":"redis-2","type":"event","f":"expire","op":1}
{"time":10150000000,"process":"redis-1","type":"event","f":"expire","op":1}
{"time":10160000000,"process":"redis-3","type":"event","f":"expire","op":1}
{"time":10200000000,"process":"redis-1","type":"event","f":"grant","op":6,"by":6}
{"time":10200000000,"process":"redis-2","type":"event","f":"grant","op":6,"by":6}
{"time":10201000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":20000000000}
{"time":12000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{
			"At 10.00 s redis-2 dropped c1's entry as expired, 0.10 s before c1 thought that its lease would end, while c1 still believed that it held the lock.",
			"Between 10.15 s and 10.16 s redis-1 and redis-3 dropped c1's entries, 50 ms to 60 ms after the lease had ended, before c1 had released the lock.",
		},
		nil,
	},
	{
		"a lease whose entry goes just before its end", checker.Exclusion, `{"lockcheck":1,"lease_ms":10000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":10002000000}
{"time":5000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":10001000000,"process":"redis-1","type":"event","f":"expire","op":1}
{"time":10200000000,"process":"redis-1","type":"event","f":"grant","op":4,"by":4}
{"time":10201000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":20000000000}
{"time":12000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"its lease ended and redis-1 dropped the entry, before c1 had released the lock."},
		nil,
	},
	{
		"a pause between the answer to a release and its end", "", heldOnRedis + `
{"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":3001000000,"process":"redis-1","type":"event","f":"remove","op":1,"by":4}
{"time":3002000000,"process":"nemesis","type":"info","f":"pause","id":1,"on":["c1"],"point":"c1 release: after request 1, EVAL"}
{"time":5002000000,"process":"nemesis","type":"info","f":"pause-end","id":1,"on":["c1"]}
{"time":5002000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}`,
		[]string{"just after the answer to the EVAL of its release, it was paused for 2 s. At 5.00 s it woke up and learned the outcome of its release: yes."},
		[]string{"got the answer"},
	},
	{
		"a time-out that a stopped server need not explain", "", `{"lockcheck":1,"lease_ms":2000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1}
{"time":400000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":600000000,"process":"nemesis","type":"info","f":"restart","id":1,"on":["mysql-1"]}
{"time":902000000,"client":"c2","process":2,"type":"fail","f":"acquire","error":"unavailable","text":"unavailable: mysql: no answer in time"}
{"time":943000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":944000000,"client":"c2","process":2,"type":"fail","f":"acquire","error":"unavailable","text":"unavailable: mysql: not connected: invalid connection"}
{"time":1236000000,"process":"nemesis","type":"info","f":"restart-done","id":1,"on":["mysql-1"]}
{"time":1437000000,"process":"nemesis","type":"info","f":"restart-end","id":1,"on":["mysql-1"]}
{"time":2000000000,"process":"nemesis","type":"info","f":"restart-end-done","id":1,"on":["mysql-1"]}
{"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":3001000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}`,
		[]string{
			"Between 600 ms and 944 ms mysql-1 was stopped, until 2000 ms at the latest.",
			"mysql-1 is stopped, until 2000 ms at the latest (begins between 600 ms and 944 ms)",
			"At 902 ms c2 ended its acquire without a grant; that happened twice.",
		},
		nil,
	},
	{
		"a server without memory that answers all the same", "", `{"lockcheck":1,"lease_ms":1000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":1000000000}
{"time":200000000,"process":"nemesis","type":"info","f":"evict","id":1,"on":["redis-1"]}
{"time":210000000,"process":"nemesis","type":"info","f":"evict-done","id":1,"on":["redis-1"]}
{"time":300000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":400000000,"process":"nemesis","type":"info","f":"evict-end","id":1,"on":["redis-1"]}
{"time":450000000,"process":"redis-1","type":"event","f":"remove","op":1,"by":6}
{"time":500000000,"process":"nemesis","type":"info","f":"evict-end-done","id":1,"on":["redis-1"]}
{"time":510000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}`,
		[]string{"Between 200 ms and 210 ms redis-1 ran out of memory, until 500 ms at the latest."},
		nil,
	},
	{
		"a release without an answer that removed its entry", "", `{"lockcheck":1,"lease_ms":1000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"mysql-1","type":"event","f":"grant","op":1,"by":1}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":1000000000}
{"time":300000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":340000000,"process":"mysql-1","type":"event","f":"remove","op":1,"by":4}
{"time":400000000,"client":"c1","process":1,"type":"info","f":"release","grant":1,"error":"unknown"}
{"time":500000000,"client":"c2","process":2,"type":"invoke","f":"try"}
{"time":510000000,"client":"c2","process":2,"type":"fail","f":"try","error":"held"}`,
		[]string{"At 300 ms it began to release the lock. At 340 ms its release removed its entry. At 400 ms c1 gave up on its release without knowing what had come of it. At 510 ms c2 was refused"},
		nil,
	},
	{
		"an acquire without an answer whose entry is in the way", "", `{"lockcheck":1,"lease_ms":1000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":1000000000}
{"time":300000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":300000000,"process":"redis-1","type":"event","f":"remove","op":1,"by":4}
{"time":300000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}
{"time":500000000,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":510000000,"process":"redis-1","type":"event","f":"grant","op":7,"by":7}
{"time":900000000,"client":"c1","process":1,"type":"info","f":"acquire","error":"unknown"}
{"time":1100000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":1510000000,"process":"redis-1","type":"event","f":"expire","op":7}
{"time":1511000000,"process":"redis-1","type":"event","f":"grant","op":10,"by":10}
{"time":1512000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":2500000000}`,
		[]string{"At 510 ms redis-1 made an entry for c1. At 900 ms c1's acquire ended, its outcome unknown. At 1510 ms redis-1 dropped c1's entry: its time was over."},
		nil,
	},
	{
		"errors of one kind with two texts", "", `{"lockcheck":1,"lease_ms":1000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":2000000,"client":"c1","process":1,"type":"fail","f":"acquire","error":"unavailable","text":"unavailable: read: reset"}
{"time":3000000,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":4000000,"client":"c1","process":1,"type":"fail","f":"acquire","error":"unavailable","text":"unavailable: write: reset"}
{"time":5000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":6000000,"client":"c2","process":2,"type":"fail","f":"acquire","error":"unavailable","text":"unavailable: write: reset"}
{"time":7000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":8000000,"client":"c2","process":2,"type":"fail","f":"acquire","error":"unavailable","text":"unavailable: write: reset"}`,
		[]string{
			"it ended its acquire without a grant; that happened twice",
			"c2 ended its acquire without a grant (write: reset); that happened twice",
		},
		nil,
	},
	{
		"a session that ended long after the point at which that began", "", `{"lockcheck":1,"version":"1","on":"docker","lease_ms":1000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"mysql-1","type":"event","f":"grant","op":1,"by":1}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1}
{"time":10000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":20000000,"process":"nemesis","type":"info","f":"session-expiry","id":1,"on":["c1"],"point":"c2 acquire: after request 1, SELECT"}
{"time":500000000,"process":"mysql-1","type":"event","f":"lose","op":1,"text":"session-over"}
{"time":500000000,"process":"nemesis","type":"info","f":"session-expiry-done","id":1,"on":["c1"]}
{"time":501000000,"process":"mysql-1","type":"event","f":"grant","op":4,"by":4}
{"time":502000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2}`,
		[]string{"after the answer to"},
		[]string{"just after"},
	},
	{
		"servers that lost the entries of one grant at once", checker.Exclusion, `{"lockcheck":1,"version":"1","on":"sim","lease_ms":10000,"nodes":3,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":1000000,"process":"redis-2","type":"event","f":"grant","op":1,"by":1}
{"time":1000000,"process":"redis-3","type":"event","f":"grant","op":1,"by":1}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":9900000000}
{"time":1000000000,"process":"nemesis","type":"info","f":"restart-lost","id":1,"on":["redis-2"]}
{"time":1000000000,"process":"redis-2","type":"event","f":"lose","op":1}
{"time":1000000000,"process":"nemesis","type":"info","f":"restart-lost","id":2,"on":["redis-3"]}
{"time":1000000000,"process":"redis-3","type":"event","f":"lose","op":1}
{"time":1500000000,"process":"nemesis","type":"info","f":"restart-lost-end","id":1,"on":["redis-2"]}
{"time":1500000000,"process":"nemesis","type":"info","f":"restart-lost-end","id":2,"on":["redis-3"]}
{"time":2000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":2001000000,"process":"redis-2","type":"event","f":"grant","op":12,"by":12}
{"time":2001000000,"process":"redis-3","type":"event","f":"grant","op":12,"by":12}
{"time":2002000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":11900000000}`,
		[]string{"redis-2 and redis-3 lost c1's entries, while c1 still believed that it held the lock. At 2.00 s c2", "redis-2 and redis-3 lose c1's entries"},
		[]string{"redis-3 lost c1's entry"},
	},
	{
		"the one answer of a lock that entered twice, after its first release had removed the node", checker.Exclusion, enteredTwice + `
{"time":2001000000,"process":"zk-1","type":"event","f":"remove","key":"/a/1","op":1,"by":6}
{"time":9000000000,"client":"c1","process":2,"type":"invoke","f":"release","grant":2}
{"time":9001000000,"client":"c1","process":1,"type":"fail","f":"release","grant":1,"error":"not-held"}`,
		[]string{"At 2.00 s it released the lock.", "At 9.00 s c1 released the lock once more and was told that it no longer held it."},
		[]string{"although", "answer"},
	},
	{
		"the one answer of a lock that entered twice, whose first release removed nothing", checker.Exclusion, enteredTwice + `
{"time":9000000000,"client":"c1","process":2,"type":"invoke","f":"release","grant":2}
{"time":9001000000,"client":"c1","process":1,"type":"fail","f":"release","grant":1,"error":"not-held"}`,
		nil,
		[]string{"once more and was told"},
	},
	{
		"a release that says yes after its entry has ended", checker.Answers, tellingOnRedis + `
{"time":10002000000,"process":"redis-1","type":"event","f":"expire","op":1}
{"time":12100000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":12102000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}`,
		[]string{"c1 was told that it had released the lock, and its entry had ended before", "At 12.10 s c1 began to release the lock, of which it had no entry any more. Then it was told that it had released the lock."},
		[]string{"stayed"},
	},
	{
		"a release that says no and has removed the entry", checker.Answers, tellingOnRedis + `
{"time":1000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":1001000000,"process":"redis-1","type":"event","f":"remove","op":1,"by":4}
{"time":1002000000,"client":"c1","process":1,"type":"fail","f":"release","grant":1,"error":"not-held"}`,
		[]string{"c1 was told that it had not released the lock, and its release removed the entry", "At 1.00 s its release removed its entry. Then c1 was told that it had not released the lock."},
		[]string{"stayed"},
	},
}
