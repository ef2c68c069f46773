package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// recorded reads a history as a user's own recorder may write it.
func recorded(t *testing.T, lines string) *history.History {
	t.Helper()
	h, _, err := history.Decode(strings.NewReader(lines), "test")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

const granted2 = `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":1000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":2000000000,"client":"c2","process":2,"type":"ok","f":"acquire"}
`

// truth is a history, and what its story says and must not say.
type truth struct {
	name  string
	about checker.Property
	lines string
	says  []string
	never []string
}

// truths are histories whose story could claim too much.
var truths = []truth{
	{
		"a client that waits for a dead one, and before that for others", checker.Liveness, `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":2000000000,"client":"c2","process":2,"type":"ok","f":"acquire"}
{"time":3000000000,"client":"c2","process":2,"type":"invoke","f":"release"}
{"time":3000000000,"client":"c2","process":2,"type":"ok","f":"release"}
{"time":3000000000,"client":"c3","process":3,"type":"invoke","f":"acquire"}
{"time":4000000000,"client":"c3","process":3,"type":"ok","f":"acquire"}
{"time":5000000000,"process":"nemesis","type":"info","f":"kill","id":1,"on":["c3"]}
{"time":10000000000,"client":"c1","process":1,"type":"fail","f":"acquire","error":"held"}
{"time":11000000000,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":40000000000,"client":"c1","process":1,"type":"fail","f":"acquire","error":"held"}
{"time":40000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"At 4.00 s c3 was granted the lock.", "it was killed"},
		[]string{"between two of these tries", "while nobody held it"},
	},
	{
		"a lock that ends with its session, on a server that fails over", checker.Exclusion, `{"lockcheck":1,"version":"0.1.0","lock":"mysql-get-lock","servers":"servers with 1 replica each","on":"docker","seed":1,"lease_ms":4000,"observes":["ownership","answers"]}
{"time":1000000,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":2000000,"process":"mysql-1","type":"event","f":"grant","key":"a","by":1,"op":1}
{"time":3000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1}
{"time":1000000000,"process":"nemesis","type":"info","f":"failover","id":1,"on":["mysql-1"]}
{"time":1005000000,"process":"nemesis","type":"info","f":"failover-done","id":1,"on":["mysql-1"]}
{"time":1500000000,"process":"mysql-1b","type":"event","f":"promote","text":"mysql-1"}
{"time":1500000000,"process":"mysql-1b","type":"event","f":"lose","grant":1,"text":"session-over","key":"a","op":1}
{"time":1600000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":1700000000,"process":"mysql-1b","type":"event","f":"grant","key":"a","by":8,"op":8}
{"time":1800000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2}
{"time":2000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":2001000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}`,
		[]string{"Then c1's entry was gone with its session, while c1 still believed"},
		[]string{"reached"},
	},
	{
		"a server that stops, and ends the sessions", checker.Exclusion, `{"lockcheck":1,"version":"0.1.0","lock":"mysql-get-lock","on":"sim","seed":1,"lease_ms":4000,"observes":["ownership","answers"]}
{"time":1000000,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":2000000,"process":"mysql-1","type":"event","f":"grant","key":"a","by":1,"op":1}
{"time":3000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1}
{"time":1000000000,"process":"nemesis","type":"info","f":"restart","id":1,"on":["mysql-1"]}
{"time":1000000000,"process":"mysql-1","type":"event","f":"lose","grant":1,"text":"session-over","key":"a","op":1}
{"time":1500000000,"process":"nemesis","type":"info","f":"restart-end","id":1,"on":["mysql-1"]}
{"time":1600000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":1700000000,"process":"mysql-1","type":"event","f":"grant","key":"a","by":7,"op":7}
{"time":1800000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2}
{"time":2000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":2001000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}`,
		[]string{"mysql-1 was stopped for 0.50 s. Then c1's entry was gone with its session"},
		[]string{"mysql-1 dropped"},
	},
	{
		"servers that were cut off at a client's point, when exactly nobody knows", checker.Exclusion, `{"lockcheck":1,"version":"0.1.0","lock":"redis-set-lua","servers":"servers with 1 replica each","on":"docker","seed":1,"lease_ms":4000,"observes":["ownership","answers"]}
{"time":1000000,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":200000000,"process":"nemesis","type":"info","f":"partition-servers","id":1,"on":["redis-1"],"point":"c1 acquire: before request 1, SET"}
{"time":260000000,"process":"nemesis","type":"info","f":"partition-servers-done","id":1,"on":["redis-1"]}
{"time":270000000,"process":"redis-1","type":"event","f":"grant","key":"a","by":1,"op":1}
{"time":280000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":4200000000}
{"time":1500000000,"process":"redis-1b","type":"event","f":"promote","text":"redis-1"}
{"time":1500000000,"process":"redis-1b","type":"event","f":"lose","grant":1,"key":"a","op":1}
{"time":1600000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":1700000000,"process":"redis-1b","type":"event","f":"grant","key":"a","by":8,"op":8}
{"time":1800000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":5600000000}
{"time":2000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":2001000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}`,
		[]string{"Between 0.20 s and 0.26 s, just before the SET of c1's acquire, redis-1 was cut off"},
		[]string{"At 0.26 s"},
	},
	{
		"a write over another's that its own write was computed before", "", granted2 + `
{"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"write","value":1}
{"time":3000000000,"process":"resource","type":"event","f":"write","by":5,"value":1,"was":0}
{"time":3000000000,"client":"c1","process":1,"type":"ok","f":"write"}
{"time":4000000000,"client":"c2","process":2,"type":"invoke","f":"write","value":7}
{"time":4000000000,"process":"resource","type":"event","f":"write","by":8,"value":7,"was":1}
{"time":4000000000,"client":"c2","process":2,"type":"ok","f":"write"}
{"time":6000000000,"client":"c1","process":1,"type":"invoke","f":"write","value":2}
{"time":6000000000,"process":"resource","type":"event","f":"write","by":11,"value":2,"was":7}
{"time":6000000000,"client":"c1","process":1,"type":"ok","f":"write"}`,
		[]string{"it wrote 2 over c2's 7, which it had not read: c2's update was lost."},
		[]string{"this time"},
	},
	{
		"a write of the value that was there already", "", granted2 + `
{"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"read"}
{"time":3000000000,"process":"resource","type":"event","f":"read","by":5,"value":0}
{"time":3000000000,"client":"c1","process":1,"type":"ok","f":"read","value":0}
{"time":4000000000,"client":"c2","process":2,"type":"invoke","f":"write","value":0}
{"time":4000000000,"process":"resource","type":"event","f":"write","by":8,"value":0,"was":0}
{"time":4000000000,"client":"c2","process":2,"type":"ok","f":"write"}
{"time":6000000000,"client":"c1","process":1,"type":"invoke","f":"write","value":2}
{"time":6000000000,"process":"resource","type":"event","f":"write","by":11,"value":2,"was":0}
{"time":6000000000,"client":"c1","process":1,"type":"ok","f":"write"}`,
		[]string{"No update was lost this time."},
		[]string{"c2's update was lost"},
	},
	{
		"a value that nobody is known to have written", checker.Resource, granted2 + `
{"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"read"}
{"time":3000000000,"process":"resource","type":"event","f":"read","by":5,"value":0}
{"time":3000000000,"client":"c1","process":1,"type":"ok","f":"read","value":0}
{"time":6000000000,"client":"c1","process":1,"type":"invoke","f":"write","value":2}
{"time":6000000000,"process":"resource","type":"event","f":"write","by":8,"value":2,"was":5}
{"time":6000000000,"client":"c1","process":1,"type":"ok","f":"write"}`,
		[]string{"c1's write at 6.00 s replaced 5, which it had not read", "it wrote 2 over 5, which it had not read."},
		[]string{"lost", "'s 5"},
	},
	{
		"clients' writes that overlap", "", granted2 + `
{"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"read"}
{"time":3000000000,"client":"c1","process":1,"type":"ok","f":"read","value":0}
{"time":4000000000,"client":"c2","process":2,"type":"invoke","f":"read"}
{"time":4000000000,"client":"c2","process":2,"type":"ok","f":"read","value":0}
{"time":4000000000,"client":"c1","process":1,"type":"invoke","f":"write","value":1}
{"time":5000000000,"client":"c2","process":2,"type":"invoke","f":"write","value":2}
{"time":5500000000,"client":"c2","process":2,"type":"ok","f":"write"}
{"time":6000000000,"client":"c1","process":1,"type":"ok","f":"write"}`,
		[]string{"At 6.00 s c1 had written 1."},
		[]string{"over", "lost", "this time"},
	},
	{
		"clients' values that contradict each other", checker.Resource, granted2 + `
{"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"read"}
{"time":3000000000,"client":"c1","process":1,"type":"ok","f":"read","value":1}
{"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"write","value":2}
{"time":3000000000,"client":"c1","process":1,"type":"ok","f":"write","value":2}
{"time":4000000000,"client":"c2","process":2,"type":"invoke","f":"read"}
{"time":4000000000,"client":"c2","process":2,"type":"ok","f":"read","value":0}
{"time":6000000000,"client":"c2","process":2,"type":"invoke","f":"write","value":1}
{"time":7000000000,"client":"c2","process":2,"type":"ok","f":"write","value":1}`,
		[]string{"c2 began its write of 1."},
		[]string{"noted", "this time"},
	},
	{
		"a client that was found dead", "", `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":2000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":3000000000,"client":"c2","process":2,"type":"ok","f":"acquire"}
{"time":40000000000,"process":"nemesis","type":"info","f":"exit","on":["c1"]}
{"time":50000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"✓ HELD exclusion", "At 3.00 s c2 was granted the lock. At 40.00 s c1 was found dead: nothing was heard of it after 1.00 s.", "c1 ·█ "},
		[]string{"c1 ·██"},
	},
	{
		"a server that is paused all the time, and others that answer", "", `{"lockcheck":1,"lease_ms":10000,"nodes":3}
{"time":0,"process":"nemesis","type":"info","f":"server-pause","id":1,"on":["redis-2"]}
{"time":1000000000,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1250000000,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":2000000000,"client":"c1","process":1,"type":"invoke","f":"release"}
{"time":2000000000,"client":"c1","process":1,"type":"ok","f":"release"}
{"time":3000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"✓ HELD exclusion", "At 2.00 s it released the lock."},
		[]string{"struck nobody"},
	},
	{
		"two killed at once, in a pause", "", `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":2000000000,"process":"nemesis","type":"info","f":"pause","id":1,"on":["c3","c1"]}
{"time":3000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":4000000000,"client":"c2","process":2,"type":"ok","f":"acquire"}
{"time":40000000000,"process":"nemesis","type":"info","f":"kill","id":2,"on":["c3","c1"]}
{"time":50000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"✓ HELD exclusion", "At 2.00 s c3 and c1 were paused.", "At 40.00 s c3 and c1 were killed."},
		nil,
	},
	{
		"a hold that an extend confirmed", "", `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":1,"type":"info","f":"acquire","grant":1,"error":"timeout"}
{"time":2000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":9000000000,"client":"c1","process":3,"type":"invoke","f":"extend","grant":1}
{"time":9100000000,"client":"c1","process":3,"type":"ok","f":"extend","grant":1,"valid_until":19000000000}
{"time":19000000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":29000000000}`,
		[]string{"c1 and c2 both held the lock at 19.00 s", "At 9.10 s its extend confirmed that it held the lock, with a lease until 19.00 s."},
		[]string{"c1 was granted", "noted"},
	},
	{
		"a hold that a renewal confirmed", checker.Exclusion, `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":1,"type":"info","f":"acquire","grant":1,"error":"timeout"}
{"time":2000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":3000000000,"client":"c1","process":3,"type":"event","f":"valid","grant":1,"valid_until":13000000000}
{"time":4000000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":14000000000}`,
		[]string{"At 3.00 s its renewal confirmed that it held the lock"},
		[]string{"c1 was granted"},
	},
	{
		"what a server did to another lock", "", `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire","lock":"a"}
{"time":0,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire","lock":"a","valid_until":11000000000}
{"time":1000000000,"client":"c2","process":2,"type":"invoke","f":"acquire","lock":"b"}
{"time":1000000000,"process":"redis-1","type":"event","f":"grant","op":4,"by":4}
{"time":2000000000,"client":"c2","process":2,"type":"ok","f":"acquire","lock":"b","valid_until":12000000000}
{"time":3000000000,"process":"redis-1","type":"event","f":"expire","op":4}
{"time":4000000000,"client":"c3","process":3,"type":"invoke","f":"acquire","lock":"a"}
{"time":5000000000,"client":"c3","process":3,"type":"ok","f":"acquire","lock":"a","valid_until":15000000000}`,
		[]string{`c1 and c3 both held "a"`, "redis-1 c1" + strings.Repeat("━", 60)},
		nil,
	},
	{
		"a lock without a name beside one that has one", "", `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire","lock":"a"}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire","lock":"a"}
{"time":1000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":2000000000,"client":"c2","process":2,"type":"ok","f":"acquire"}
{"time":3000000000,"client":"c3","process":3,"type":"invoke","f":"acquire"}
{"time":4000000000,"client":"c3","process":3,"type":"ok","f":"acquire"}`,
		[]string{"c2 and c3 both held the lock at 4.00 s"},
		[]string{"c1 "},
	},
	{
		"a release by name of who was refused", checker.Ownership, `{"lockcheck":1,"lease_ms":10000,"observes":["ownership"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":0,"process":"redis-1","type":"event","f":"grant","op":1,"by":1}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":11000000000}
{"time":1000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":2000000000,"client":"c2","process":2,"type":"fail","f":"acquire","error":"held"}
{"time":2000000000,"client":"c2","process":2,"type":"invoke","f":"release"}
{"time":3000000000,"process":"redis-1","type":"event","f":"remove","op":1,"grant":1,"by":6}
{"time":4000000000,"client":"c2","process":2,"type":"ok","f":"release"}`,
		[]string{
			"At 2.00 s c2 had been refused the lock, and released it all the same. At 3.00 s its release removed c1's entry, while c1 still believed that it held the lock.",
			"c2 has been refused, and releases all the same",
		},
		nil,
	},
	{
		"a grant on two servers while the third keeps the entry of the one before", "", `{"lockcheck":1,"lease_ms":10000,"nodes":3}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"redis-1","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":1000000,"process":"redis-2","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":1000000,"process":"redis-3","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":9900000000}
{"time":1000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":2000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":2000000000,"process":"nemesis","type":"info","f":"partition","id":1,"on":["c1","redis-3"],"point":"c1 release: before request 1, script"}
{"time":3000000000,"client":"c1","process":1,"type":"info","f":"release","grant":1,"error":"unknown"}
{"time":10000000000,"process":"redis-1","type":"event","f":"expire","key":"a","op":1}
{"time":10050000000,"process":"redis-2","type":"event","f":"expire","key":"a","op":1}
{"time":10050000000,"process":"redis-1","type":"event","f":"grant","key":"a","op":6,"by":6}
{"time":10050000000,"process":"redis-2","type":"event","f":"grant","key":"a","op":6,"by":6}
{"time":10060000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":20000000000}
{"time":10200000000,"process":"redis-3","type":"event","f":"expire","key":"a","op":1}
{"time":11000000000,"client":"c2","process":2,"type":"invoke","f":"release","grant":2}
{"time":11000000000,"process":"redis-1","type":"event","f":"remove","key":"a","op":6,"by":16}
{"time":11000000000,"process":"redis-2","type":"event","f":"remove","key":"a","op":6,"by":16}
{"time":11010000000,"client":"c2","process":2,"type":"ok","f":"release","grant":2}
{"time":12000000000,"client":"c1","process":3,"type":"invoke","f":"acquire"}
{"time":12001000000,"process":"redis-1","type":"event","f":"grant","key":"a","op":20,"by":20}
{"time":12001000000,"process":"redis-2","type":"event","f":"grant","key":"a","op":20,"by":20}
{"time":12010000000,"client":"c1","process":3,"type":"ok","f":"acquire","grant":3,"valid_until":22000000000}
{"time":13000000000,"client":"c1","process":3,"type":"invoke","f":"release","grant":3}
{"time":13000000000,"process":"nemesis","type":"info","f":"partition","id":2,"on":["c1","redis-3"],"point":"c1 release: before request 1, script"}
{"time":13000000000,"process":"redis-1","type":"event","f":"remove","key":"a","op":20,"by":24}
{"time":14000000000,"client":"c1","process":3,"type":"info","f":"release","grant":3,"error":"unknown"}
{"time":15000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{
			"just before one of the first scripts of c1's release, the network cut c1 off from redis-3.",
			"Between 10.00 s and 10.20 s redis-1, redis-2 and redis-3 dropped c1's entries, 0.10 s to 0.30 s after the lease had ended. At 10.06 s c2 was granted the lock by redis-1 and redis-2, with a lease until 20.00 s.",
		},
		[]string{"At 13.00 s"},
	},
	{
		"a grant that an entry of an earlier round is no part of", "", `{"lockcheck":1,"lease_ms":10000,"nodes":5}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":20000000,"process":"redis-1","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":30000000,"process":"redis-2","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":40000000,"process":"redis-2","type":"event","f":"remove","key":"a","op":1,"by":1}
{"time":50000000,"process":"redis-2","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":60000000,"process":"redis-2","type":"event","f":"remove","key":"a","op":1,"by":1}
{"time":1000000000,"process":"redis-2","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":1010000000,"process":"redis-3","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":1020000000,"process":"redis-4","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":1030000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":10900000000}
{"time":2000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":2001000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}
{"time":2100000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"c1 was granted the lock by redis-2, redis-3 and redis-4"},
		[]string{"by 4 servers"},
	},
	{
		"who gave up does not wait to the end", "", `{"lockcheck":1,"lease_ms":1000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":0,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"release"}
{"time":0,"client":"c1","process":1,"type":"ok","f":"release"}
{"time":0,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":0,"client":"c3","process":3,"type":"invoke","f":"acquire"}
{"time":500000000,"client":"c3","process":3,"type":"fail","f":"acquire","error":"held"}
{"time":10000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"nobody held the lock from 0 ms to 10000 ms while c2 waited"},
		nil,
	},
	{
		"servers that made entries in vain, one of them more often", "", `{"lockcheck":1,"lease_ms":10000,"nodes":5}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"nemesis","type":"info","f":"partition","id":1,"on":["c1","redis-3"]}
{"time":20000000,"process":"redis-1","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":21000000,"process":"redis-2","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":40000000,"process":"redis-1","type":"event","f":"remove","key":"a","op":1,"by":1}
{"time":41000000,"process":"redis-2","type":"event","f":"remove","key":"a","op":1,"by":1}
{"time":50000000,"process":"redis-2","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":60000000,"process":"redis-2","type":"event","f":"remove","key":"a","op":1,"by":1}
{"time":1030000000,"client":"c1","process":1,"type":"fail","f":"acquire","error":"held"}
{"time":2100000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"Between 0.020 s and 0.050 s redis-1 and redis-2 made entries for c1, which were never a majority, and c1 removed them again; that happened once on redis-1 and twice on redis-2."},
		nil,
	},
	{
		"a server that made entries in vain after the others", "", `{"lockcheck":1,"lease_ms":10000,"nodes":5}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"nemesis","type":"info","f":"partition","id":1,"on":["c1","redis-3"]}
{"time":20000000,"process":"redis-1","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":20000000,"process":"redis-3","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":20000000,"process":"redis-4","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":21000000,"process":"redis-5","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":40000000,"process":"redis-1","type":"event","f":"remove","key":"a","op":1,"by":1}
{"time":50000000,"process":"redis-1","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":60000000,"process":"redis-1","type":"event","f":"remove","key":"a","op":1,"by":1}
{"time":70000000,"process":"redis-2","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":80000000,"process":"redis-2","type":"event","f":"remove","key":"a","op":1,"by":1}
{"time":1030000000,"client":"c1","process":1,"type":"fail","f":"acquire","error":"held"}
{"time":2100000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"Between 0.020 s and 0.070 s redis-1 and redis-2 made entries for c1, which c1 removed again; that happened twice on redis-1 and once on redis-2."},
		[]string{"redis-1 made an entry"},
	},
	{
		"an answer to a release that comes after all that matters", checker.Exclusion, `{"lockcheck":1,"lease_ms":10000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":0,"process":"mysql-1","type":"event","f":"grant","op":1,"by":1}
{"time":1000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":10000000000}
{"time":2000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":2500000000,"process":"mysql-1","type":"event","f":"takeover","op":1,"by":4}
{"time":3000000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":13000000000}
{"time":4000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":7000000000,"client":"c1","process":1,"type":"fail","f":"release","grant":1,"error":"deadlock"}
{"time":8000000000,"client":"c2","process":2,"type":"invoke","f":"release","grant":2}
{"time":9000000000,"client":"c2","process":2,"type":"ok","f":"release","grant":2}`,
		[]string{
			"c1 begins to release the lock; at 7.00 s it gets the answer: an error, and nothing was released",
			"At 8.00 s c2 began to release the lock; at 9.00 s it got the answer: yes, but its entry stayed.",
		},
		nil,
	},
	{
		"a death that is found after the climax, and no server is seen", "", granted2 + `
{"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"read"}
{"time":3000000000,"client":"c1","process":1,"type":"ok","f":"read","value":1}
{"time":40000000000,"process":"nemesis","type":"info","f":"exit","on":["c1"]}
{"time":41000000000,"client":"c2","process":2,"type":"invoke","f":"release"}
{"time":50000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"At 2.00 s c2 was granted the lock: from then on both held it."},
		[]string{"found dead"},
	},
	{
		"readers that hold together, and a writer among them", checker.Exclusion, `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire","shared":true}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":1000000000,"client":"c2","process":2,"type":"invoke","f":"acquire","shared":true}
{"time":2000000000,"client":"c2","process":2,"type":"ok","f":"acquire"}
{"time":2000000000,"client":"c3","process":3,"type":"invoke","f":"acquire"}
{"time":3000000000,"client":"c3","process":3,"type":"ok","f":"acquire"}
{"time":4000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"c3 also both held it from 3.00 s to 4.00 s."},
		[]string{"c1 and c2", "more overlap", "c1, c2 hold"},
	},
	{
		"entries on five servers, of which one expires only later", "", `{"lockcheck":1,"lease_ms":10000,"nodes":5,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"process":"redis-1","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":1000000,"process":"redis-2","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":1000000,"process":"redis-3","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":1000000,"process":"redis-4","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":1000000,"process":"redis-5","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":9900000000}
{"time":1000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":10000000000,"process":"redis-1","type":"event","f":"expire","key":"a","op":1}
{"time":10000000000,"process":"redis-2","type":"event","f":"expire","key":"a","op":1}
{"time":10000000000,"process":"redis-3","type":"event","f":"expire","key":"a","op":1}
{"time":10000000000,"process":"redis-4","type":"event","f":"expire","key":"a","op":1}
{"time":10050000000,"process":"redis-1","type":"event","f":"grant","key":"a","op":8,"by":8}
{"time":10050000000,"process":"redis-2","type":"event","f":"grant","key":"a","op":8,"by":8}
{"time":10050000000,"process":"redis-3","type":"event","f":"grant","key":"a","op":8,"by":8}
{"time":10050000000,"process":"redis-4","type":"event","f":"grant","key":"a","op":8,"by":8}
{"time":10060000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":20000000000}
{"time":10700000000,"process":"redis-5","type":"event","f":"expire","key":"a","op":1}
{"time":11000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{
			"c1 was granted the lock by 5 servers", "At 10.00 s 4 of 5 servers dropped c1's entries, 0.10 s after the lease had ended",
			"c1's entries expire on 4 of 5 servers, 0.10 s after the lease has ended", "c2 was granted the lock by 4 servers",
		},
		nil,
	},
	{
		"two releases of one client at a time, one of them without an answer", checker.Handover, `{"lockcheck":1,"lease_ms":10000,"promises":["handover"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1}
{"time":1000000000,"client":"c1","process":2,"type":"invoke","f":"acquire"}
{"time":2000000000,"client":"c1","process":2,"type":"ok","f":"acquire","grant":2}
{"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":4000000000,"client":"c1","process":2,"type":"invoke","f":"release","grant":2}
{"time":5000000000,"client":"c1","process":1,"type":"fail","f":"release","grant":1,"error":"not-held"}
{"time":6000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{
			"At 3.00 s it began to release the lock. At 4.00 s it began to release the lock; no answer had come by the end. " +
				"At 5.00 s it got the answer to its release of 3.00 s: the lock was no longer its own.",
		},
		nil,
	},
	{
		"one client under two processes", "", `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":1000000000,"client":"c1","process":2,"type":"invoke","f":"acquire"}
{"time":2000000000,"client":"c1","process":2,"type":"ok","f":"acquire"}
{"time":3000000000,"client":"c1","process":2,"type":"invoke","f":"release"}`,
		[]string{"c1 held the lock twice from 2.00 s to 3.00 s", "from then on it held it twice."},
		[]string{"both"},
	},
	{
		"renewals of another's entry before and after a client asks", checker.Liveness, `{"lockcheck":1,"lease_ms":1000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":0,"process":"redis-1","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":1000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":1000000000}
{"time":10000000,"process":"nemesis","type":"info","f":"hang","id":1,"on":["c1"]}
{"time":1000000000,"process":"redis-1","type":"event","f":"expire","key":"a","op":1}
{"time":1010000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":1010000000,"process":"redis-1","type":"event","f":"grant","key":"a","op":6,"by":6}
{"time":1011000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":2010000000}
{"time":1400000000,"process":"redis-1","type":"event","f":"prolong","key":"a","op":6,"by":1}
{"time":1600000000,"process":"nemesis","type":"info","f":"kill","id":2,"on":["c2"]}
{"time":2000000000,"client":"c3","process":3,"type":"invoke","f":"acquire"}
{"time":2300000000,"process":"redis-1","type":"event","f":"prolong","key":"a","op":6,"by":1}
{"time":3200000000,"process":"redis-1","type":"event","f":"prolong","key":"a","op":6,"by":1}
{"time":5900000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{
			"nobody had been granted the lock in the last 3900 ms, and c1 had renewed c2's entry twice in that time, and before that from 1400 ms on.",
			"still nobody has been granted the lock; c1 has renewed c2's entry since 1400 ms, twice since 2000 ms",
		},
		nil,
	},
	{
		"an entry that ends soon because its owner's renewal shortened it", checker.Exclusion, `{"lockcheck":1,"lease_ms":10000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":0,"process":"redis-1","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":1000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":10000000000}
{"time":500000000,"process":"redis-1","type":"event","f":"shorten","key":"a","op":1,"by":1}
{"time":502000000,"client":"c1","process":1,"type":"event","f":"valid","grant":1,"valid_until":600000000}
{"time":602000000,"process":"redis-1","type":"event","f":"expire","key":"a","op":1}
{"time":1000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":1000000000,"process":"redis-1","type":"event","f":"grant","key":"a","op":7,"by":7}
{"time":1001000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":11000000000}
{"time":2000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{
			"At 0.50 s a request of c1 brought the end of its entry nearer, to 0.60 s. At 0.60 s c1's lease ended and redis-1 dropped the entry",
			"0.500 s a request of c1 brings the end of its entry nearer, to 0.60 s",
		},
		nil,
	},
	{
		"an entry that another client has shortened", checker.Exclusion, `{"lockcheck":1,"lease_ms":10000,"observes":["ownership","answers"]}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":0,"process":"redis-1","type":"event","f":"grant","key":"a","op":1,"by":1}
{"time":1000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":10000000000}
{"time":400000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":500000000,"process":"redis-1","type":"event","f":"shorten","key":"a","op":1,"by":4}
{"time":602000000,"process":"redis-1","type":"event","f":"expire","key":"a","op":1}
{"time":1000000000,"process":"redis-1","type":"event","f":"grant","key":"a","op":4,"by":4}
{"time":1001000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":11000000000}
{"time":2000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"At 0.50 s a request of c2 brought the end of c1's entry nearer. At 0.60 s redis-1 dropped c1's entry as expired, 9.40 s before"},
		nil,
	},
	{
		"a yes that no server gave, among holders", checker.Exclusion, heldOnMySQL + `
{"time":1000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":2000000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":11000000000}
{"time":3000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{
			"c1 was granted the lock, with a lease until 10.00 s.",
			"At 2.00 s c2 was told that it had the lock, but no entry for it was visible: from then on both held it.",
			"2.000 s c2 is told that it has the lock, lease until 11.00 s; no entry for it is visible: both hold it",
		},
		[]string{"c2 was granted", "c2 acquires"},
	},
	{
		"a yes on the entry of the client's own earlier acquire, and a yes to the owner of an entry", checker.Exclusion, heldOnMySQL + `
{"time":1000000000,"client":"c1","process":2,"type":"invoke","f":"acquire"}
{"time":1500000000,"process":"mysql-1","type":"event","f":"prolong","key":"a","op":1,"by":4}
{"time":2000000000,"client":"c1","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":11000000000}
{"time":3000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"At 2.00 s it was granted the lock again"},
		[]string{"no server"},
	},
	{
		"clients that are killed one by one, each in a time", checker.Liveness, `{"lockcheck":1,"lease_ms":1000}
{"time":0,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":1000000,"client":"c2","process":2,"type":"ok","f":"acquire"}
{"time":2000000,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":3000000,"client":"c3","process":3,"type":"invoke","f":"acquire"}
{"time":500600000,"process":"nemesis","type":"info","f":"kill","id":4,"on":["c2"]}
{"time":502400000,"process":"nemesis","type":"info","f":"kill","id":1,"on":["c1"]}
{"time":508900000,"process":"nemesis","type":"info","f":"kill-done","id":1,"on":["c1"]}
{"time":517000000,"process":"nemesis","type":"info","f":"kill-done","id":4,"on":["c2"]}
{"time":5900000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{
			"Between 501 ms and 517 ms c1 and c2 were killed.",
			"500.6 ms c1 and c2 are killed (between 501 ms and 517 ms)",
		},
		[]string{"At 501 ms", "c2 and c1"},
	},
	{
		"a client that is killed and dead within one written time", checker.Liveness, `{"lockcheck":1,"lease_ms":10000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":500000000,"process":"nemesis","type":"info","f":"poweroff","id":1,"on":["c1"]}
{"time":501000000,"process":"nemesis","type":"info","f":"poweroff-done","id":1,"on":["c1"]}
{"time":600000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":59000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"At 0.50 s it lost power."},
		[]string{"etween"},
	},
	{
		"two updates that one write destroys", checker.Exclusion, granted2 + `
{"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"read"}
{"time":3000000000,"process":"resource","type":"event","f":"read","by":5,"value":0}
{"time":3000000000,"client":"c1","process":1,"type":"ok","f":"read","value":0}
{"time":4000000000,"client":"c2","process":2,"type":"invoke","f":"write","value":1}
{"time":4000000000,"process":"resource","type":"event","f":"write","by":8,"value":1,"was":0}
{"time":4000000000,"client":"c2","process":2,"type":"ok","f":"write"}
{"time":4100000000,"client":"c3","process":3,"type":"invoke","f":"acquire"}
{"time":4200000000,"client":"c3","process":3,"type":"ok","f":"acquire"}
{"time":4300000000,"client":"c3","process":3,"type":"invoke","f":"read"}
{"time":4300000000,"process":"resource","type":"event","f":"read","by":13,"value":1}
{"time":4300000000,"client":"c3","process":3,"type":"ok","f":"read","value":1}
{"time":4400000000,"client":"c3","process":3,"type":"invoke","f":"write","value":2}
{"time":4400000000,"process":"resource","type":"event","f":"write","by":16,"value":2,"was":1}
{"time":4400000000,"client":"c3","process":3,"type":"ok","f":"write"}
{"time":6000000000,"client":"c1","process":1,"type":"invoke","f":"write","value":1}
{"time":6000000000,"process":"resource","type":"event","f":"write","by":19,"value":1,"was":2}
{"time":6000000000,"client":"c1","process":1,"type":"ok","f":"write"}`,
		[]string{
			"c1 wrote 1 over c3's 2, which it had not read: the updates of c2 and c3 were lost.",
			"c1 writes 1 over c3's 2: the updates of c2 and c3 are lost",
		},
		nil,
	},
	{
		"an update that was lost before the write that is told", checker.Exclusion, granted2 + `
{"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"read"}
{"time":3000000000,"process":"resource","type":"event","f":"read","by":5,"value":0}
{"time":3000000000,"client":"c1","process":1,"type":"ok","f":"read","value":0}
{"time":3500000000,"client":"c3","process":3,"type":"invoke","f":"acquire"}
{"time":3500000000,"client":"c3","process":3,"type":"ok","f":"acquire"}
{"time":3600000000,"client":"c3","process":3,"type":"invoke","f":"read"}
{"time":3600000000,"process":"resource","type":"event","f":"read","by":10,"value":0}
{"time":3600000000,"client":"c3","process":3,"type":"ok","f":"read","value":0}
{"time":4000000000,"client":"c2","process":2,"type":"invoke","f":"write","value":1}
{"time":4000000000,"process":"resource","type":"event","f":"write","by":13,"value":1,"was":0}
{"time":4000000000,"client":"c2","process":2,"type":"ok","f":"write"}
{"time":4400000000,"client":"c3","process":3,"type":"invoke","f":"write","value":2}
{"time":4400000000,"process":"resource","type":"event","f":"write","by":16,"value":2,"was":1}
{"time":4400000000,"client":"c3","process":3,"type":"ok","f":"write"}
{"time":6000000000,"client":"c1","process":1,"type":"invoke","f":"write","value":1}
{"time":6000000000,"process":"resource","type":"event","f":"write","by":19,"value":1,"was":2}
{"time":6000000000,"client":"c1","process":1,"type":"ok","f":"write"}`,
		[]string{"c1 wrote 1 over c3's 2, which it had not read: c3's update was lost."},
		[]string{"the updates of"},
	},
	{
		"a third client that removes the entry of one of two holders, and is granted the lock", checker.Exclusion, heldOnMySQL + `
{"time":1000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":2000000000,"client":"c3","process":3,"type":"invoke","f":"acquire"}
{"time":3000000000,"process":"mysql-1","type":"event","f":"remove","key":"a","op":1,"by":5}
{"time":3100000000,"process":"mysql-1","type":"event","f":"grant","key":"a","op":4,"by":4}
{"time":3200000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":13000000000}
{"time":4000000000,"process":"mysql-1","type":"event","f":"remove","key":"a","op":4,"by":5}
{"time":5000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":5000000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}
{"time":6000000000,"process":"mysql-1","type":"event","f":"grant","key":"a","op":5,"by":5}
{"time":6100000000,"client":"c3","process":3,"type":"ok","f":"acquire","grant":3,"valid_until":16000000000}
{"time":9000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{
			"At 4.00 s c3's acquire removed c2's entry, while c2 still believed that it held the lock.",
			"c2 and c3 also both held it from 6.10 s to 9.00 s.",
		},
		nil,
	},
	{
		"faults of clients that the story of a run without a violation is not about", "", `{"lockcheck":1,"lease_ms":10000}
{"time":0,"process":"nemesis","type":"info","f":"skew","id":1,"on":["c3"],"amount_ns":15000000000}
{"time":1000000,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1,"valid_until":10000000000}
{"time":1000000000,"client":"c3","process":3,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c4","process":4,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c5","process":5,"type":"invoke","f":"acquire"}
{"time":2000000000,"process":"nemesis","type":"info","f":"kill","id":2,"on":["c5"]}
{"time":2000000000,"process":"nemesis","type":"info","f":"kill","id":3,"on":["c4"]}
{"time":3000000000,"client":"c1","process":1,"type":"invoke","f":"release","grant":1}
{"time":3000000000,"client":"c1","process":1,"type":"ok","f":"release","grant":1}
{"time":3100000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":3100000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2,"valid_until":13000000000}
{"time":4000000000,"client":"c2","process":2,"type":"invoke","f":"release","grant":2}
{"time":4000000000,"client":"c2","process":2,"type":"ok","f":"release","grant":2}
{"time":9000000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{"At 0.000 s c3's clock was set 15 s ahead.", "At 2.00 s c4 and c5 were killed."},
		nil,
	},
	{
		"a wait that ends with a no", checker.Liveness, `{"lockcheck":1,"lease_ms":1000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":100000000,"client":"c1","process":1,"type":"invoke","f":"release"}
{"time":101000000,"client":"c1","process":1,"type":"ok","f":"release"}
{"time":200000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":4201000000,"client":"c2","process":2,"type":"fail","f":"acquire","error":"held"}
{"time":4300000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{
			"At 4201 ms it was refused the lock, which nobody had held for 4101 ms.",
			"4201.0 ms c2 is refused the lock, which nobody holds",
		},
		[]string{"still nobody"},
	},
	{
		"a wait that ends without an answer", checker.Liveness, `{"lockcheck":1,"lease_ms":1000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":100000000,"client":"c1","process":1,"type":"invoke","f":"release"}
{"time":101000000,"client":"c1","process":1,"type":"ok","f":"release"}
{"time":200000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":4201000000,"client":"c2","process":2,"type":"info","f":"acquire","error":"timeout"}
{"time":4300000000,"process":"nemesis","type":"info","f":"ended"}`,
		[]string{
			"At 4201 ms it stopped waiting for the lock, which nobody had held for 4101 ms.",
			"c2 stops waiting for the lock, which nobody holds",
		},
		[]string{"still nobody"},
	},
}

func TestStoriesSayWhatIsShown(t *testing.T) {
	t.Parallel()
	for _, s := range slices.Concat(truths, asRead) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			h := recorded(t, s.lines)
			got := story(t, h, checker.Judge(h), Options{About: s.about})
			wellFormed(t, got)
			for _, say := range s.says {
				mustSay(t, got, flat(say))
			}
			told, _, _ := strings.Cut(flat(got), "Also violated:")
			for _, say := range s.never {
				if strings.Contains(told, say) {
					t.Errorf("the story says %q:\n%s", say, got)
				}
			}
		})
	}
}

// A point of an operation is named by its request, and is never called the last step:
// the line does not show whether another request follows.
func TestWhereAFaultStruck(t *testing.T) {
	t.Parallel()
	for point, want := range map[string]string{
		"c1 release: before last":                           "just before what is usually the last request of its release",
		"c2 release: after last":                            "just after the answer to what is usually the last request of c2's release",
		"c1 acquire: after request 1":                       "just after the answer to request 1 of its acquire",
		"c1 acquire: before request 4":                      "just before request 4 of its acquire",
		"c1 release: before request 1, GET":                 "just before the GET of its release",
		"c1 release: after request 1, GET":                  "just after the answer to the GET of its release",
		"c1 release: before request 2, DEL after GET":       "between the GET and the DEL of its release",
		"c2 release: before request 2, DEL after GET":       "between the GET and the DEL of c2's release",
		"c1 acquire: before request 4, SET after SET":       "just before request 4 (SET) of its acquire",
		"c1 acquire: after request 4, SELECT FOR UPDATE":    "just after the answer to request 4 (SELECT FOR UPDATE) of its acquire",
		"c1 acquire: before request 2, COMMIT after INSERT": "between the INSERT and the COMMIT of its acquire",
		"c1 write: before last":                             "before its write left",
		"c2 read: after request 1":                          "when the answer to c2's read had come",
		"c1 acquire: after ok":                              "once its acquire had succeeded",
		"somewhere":                                         "",
	} {
		if got := (&fault{on: []string{"c1"}, point: point}).where("c1", 0); got != want {
			t.Errorf("%s: %q", point, got)
		}
	}
}

// A story of any times ends quickly.
func TestStoriesOfAnyTimes(t *testing.T) {
	t.Parallel()
	times := []time.Duration{math.MinInt64, math.MinInt64 + 1, -1_700_000_000e9, -5, -1, 0, 1, 1e6, 1_700_000_000e9, math.MaxInt64 - 1, math.MaxInt64}
	for _, from := range times {
		for _, to := range times {
			if from > to {
				continue
			}
			h := recorded(t, granted2)
			h.Entries[0].Time, h.Entries[1].Time, h.Entries[2].Time, h.Entries[3].Time = from, from, to, to
			done := make(chan string, 1)
			go func() {
				v := verdicts(checker.Exclusion, "two held", 1, 3)
				pageOf(t, h, v)
				done <- story(t, h, v, Options{})
			}()
			select {
			case got := <-done:
				wellFormed(t, got)
			case <-time.After(10 * time.Second):
				t.Fatalf("from %d to %d: no story", from, to)
			}
		}
	}
}

// A story of a run without a violation counts the faults that it has no room for.
func TestAStoryCountsTheFaultsThatItDoesNotTell(t *testing.T) {
	t.Parallel()
	const faults = 30
	r := newRun("redis-set-lua")
	r.at(2).acquire("c1", 0, 10_000)
	for i := range faults {
		r.at(1000+100*i).fault("pause", i+1, "", 0, "c2")
		r.at(1050+100*i).heal("pause", i+1, "c2")
	}
	r.at(9000).releases("c1")
	r.at(9100).acquire("c3", 0, 20_000)
	r.at(9200).releases("c3")
	r.over()
	text := flat(story(t, &r.h, verdicts("", ""), Options{}))
	told := strings.Count(text, "was paused for 50 ms")
	if want := fmt.Sprintf("There were %d more faults (pause).", faults-told); told == 0 || !strings.Contains(text, want) {
		t.Errorf("the story tells of %d faults, and does not say %q:\n%s", told, want, text)
	}
}

// The story and the judge agree on holds and on lost updates: if the judge finds an
// overlap or a lost update, the story has it, and otherwise not.
func TestStoryAndJudgeAgree(t *testing.T) {
	t.Parallel()
	convicted := map[checker.Property]int{}
	for seed := range uint64(20_000) {
		h := clients(rand.New(rand.NewPCG(seed, 0)))
		if err := history.Check(h); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		d := newDigest(h)
		overlap, lost := "", ""
		for i, a := range d.grants {
			for _, b := range d.grants[i+1:] {
				stillborn := before(a.end, a.got) || before(b.end, b.got)
				if a.op.lock == b.op.lock && a.client != b.client && !stillborn && a.holds(b.got) {
					overlap = fmt.Sprintf("%s from %d to %d and %s from %d to %d", a.client, a.got, a.end, b.client, b.got, b.end)
				}
			}
		}
		all := d.visits
		for _, v := range all {
			d.visits = nil
			for _, o := range all { // the resource that one lock guards
				if o.lock == v.lock {
					d.visits = append(d.visits, o)
				}
			}
			if over, _ := d.overwritten(v); over {
				lost = fmt.Sprintf("that of %d", v.pos)
			}
		}
		for _, v := range checker.Judge(h) {
			found := map[checker.Property]string{checker.Exclusion: overlap, checker.Resource: lost}
			mine, compared := found[v.Property]
			if !compared || v.Property == checker.Resource && len(all) == 0 {
				continue
			}
			if mine != "" {
				convicted[v.Property]++
			}
			if (v.Outcome == checker.Violated) != (mine != "") {
				var b strings.Builder
				_ = history.Encode(&b, h)
				t.Fatalf("seed %d: the judge says %v, and the story knows %q\n%s", seed, v, mine, b.String())
			}
		}
	}
	if convicted[checker.Exclusion] < 1000 || convicted[checker.Resource] < 100 {
		t.Errorf("that compares too little: %v", convicted)
	}
}

// clients returns a history of clients that are paused, killed, lost and found, as
// history.Check accepts it.
func clients(rng *rand.Rand) *history.History {
	h := &history.History{Header: history.Header{Format: history.Format, LeaseMS: 10_000}}
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	var now time.Duration
	type session struct {
		process int
		f       string // of the open operation
		lock    string
		grant   int
		invoke  int // its index
	}
	open := map[string]*session{}
	grants, processes := 0, 0
	add := func(e history.Entry) {
		now += time.Duration(rng.IntN(2000)) * time.Millisecond
		e.Index, e.Time = len(h.Entries)+1, now
		h.Entries = append(h.Entries, e)
	}
	for range rng.IntN(40) {
		name := pick("c1", "c2", "c3")
		s := open[name]
		if s == nil {
			processes++
			s = &session{process: processes}
			open[name] = s
		}
		switch rng.IntN(8) {
		case 0:
			on := [][]string{{"c1"}, {"c2"}, {"c1", "c3"}, {"c3", "c2"}}[rng.IntN(4)]
			add(history.Entry{
				Process: history.Process{Name: history.Nemesis}, Type: history.Info, ID: rng.IntN(2), On: on,
				F: pick("pause", "pause", "kill", "poweroff", history.Exit, "pause"+history.EndSuffix),
			})
		case 1:
			f := pick(history.Valid, history.Lost)
			add(history.Entry{Client: name, Process: history.Process{N: s.process}, Type: history.Event, F: f, Grant: rng.IntN(grants + 1), Lock: pick("", "b")})
		default:
			e := history.Entry{Client: name, Process: history.Process{N: s.process}, F: s.f, Lock: s.lock, Grant: s.grant}
			if s.f == "" {
				e.F = pick(history.Acquire, history.Acquire, history.Try, history.Release, history.Extend, history.Read, history.Write)
				e.Type, e.Lock = history.Invoke, pick("", "", "b")
				if e.F != history.Acquire && e.F != history.Try {
					e.Grant = rng.IntN(grants + 1)
				}
				add(e)
				s.f, s.lock, s.grant, s.invoke = e.F, e.Lock, e.Grant, len(h.Entries)
				continue
			}
			if (s.f == history.Read || s.f == history.Write) && rng.IntN(3) > 0 {
				add(history.Entry{
					Process: history.Process{Name: history.Resource}, Type: history.Event, F: s.f, Lock: s.lock,
					By: history.Some(int64(s.invoke)), Value: history.Some(int64(rng.IntN(3))), Was: history.Opt{V: int64(rng.IntN(3)), Set: rng.IntN(4) > 0},
				})
			}
			e.Type = []history.Type{history.OK, history.OK, history.OK, history.Fail, history.Info}[rng.IntN(5)]
			if e.Type != history.OK {
				e.Error = pick("", history.ErrNotHeld, history.ErrLost, history.ErrCrashed)
			}
			if (s.f == history.Acquire || s.f == history.Try) && e.Type != history.Fail {
				grants++
				e.Grant = grants
			}
			add(e)
			s.f, s.grant = "", 0
			if e.Type == history.Info {
				delete(open, name)
			}
		}
	}
	return h
}
