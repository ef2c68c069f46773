package checker

// lateTurns are turns of c2 long after the beginning, the last one without a release.
var lateTurns = `
		40 c2 acquire
		40 c2 acquire ok
		41 c2 release
		41 c2 release ok
` + takeTurns(42, 44) + `
		45 c2 acquire
		45 c2 acquire ok`

var fairnessSpecs = []spec{
	{"a history without a queue", granted1, `n/a: the lock does not promise order (the header's "order"), and no acquire says when it had a place in the queue (queued)`},
	{"a lock promises order, and shows no queue", `
		.order
		0 c1 acquire
		1 c1 acquire ok`, "unknown: no acquire says when it had a place in the queue (queued), so it is unknown who was overtaken"},
	{"every client gets its turn", `
		0 c1 acquire lock=a
		1 c1 queued lock=a
		2 c2 acquire lock=a
		2 c2 queued lock=a
		3 c1 acquire ok lock=a
		4 c1 release lock=a
		5 c2 acquire ok lock=a`, "valid"},
	{"a client that asks later is granted the lock first", `
		0 c1 acquire lock=a
		1 c1 queued lock=a
		2 c2 acquire lock=a
		3 c2 acquire ok lock=a
		4 c2 release lock=a
		5 c1 acquire ok lock=a`, `violated 2,3,4,6: c1 was in the queue for "a" from 1.000 s on, and c2, who asked only at 2.000 s, was granted it at 3.000 s, c1 only at 5.000 s.`},
	{"a grant without an answer overtakes, too", `
		0 c1 acquire
		1 c1 queued
		2 c2 acquire
		3 c2 acquire info error=timeout grant=7
		4 c2' extend grant=7
		5 c2' extend ok grant=7
		6 c1 acquire ok`, "violated 2,3,6,7: c1 was in the queue for the lock from 1.000 s on, and c2, who asked only at 2.000 s, confirmed that it held it at 5.000 s, c1 only at 6.000 s."},
	{"a client that asked before the other had a place may be granted first", `
		0 c1 acquire
		1 c2 acquire
		2 c1 queued
		3 c2 queued
		4 c2 acquire ok
		5 c2 release
		6 c1 acquire ok`, "valid"},
	{"the smaller number is first, whoever heard of his place first", `
		0 c1 acquire
		1 c2 acquire
		2 c2 queued value=8
		3 c1 queued value=7
		4 c2 acquire ok
		5 c2 release
		6 c1 acquire ok`, "violated 3,4,5,7: c1 was in the queue for the lock with number 7 from 3.000 s on, and c2, who had number 8, was granted it at 4.000 s, c1 only at 6.000 s."},
	{"the larger number is granted second", `
		0 c1 acquire
		1 c2 acquire
		2 c2 queued value=8
		3 c1 queued value=7
		4 c1 acquire ok
		5 c1 release
		6 c2 acquire ok`, "valid"},
	{"of equal numbers neither is first", `
		0 c1 acquire
		1 c2 acquire
		2 c2 queued value=7
		3 c1 queued value=7
		4 c2 acquire ok
		5 c2 release
		6 c1 acquire ok`, "valid"},
	{"numbers that began anew do not compare", `
		0 c2 acquire
		1 c2 queued value=8
		2 redis lose of=c2
		3 c1 acquire
		4 c1 queued value=0
		5 c2 acquire ok
		6 c2 release
		7 c1 acquire ok`, "valid"},
	{"a place that was lost before does not compare with one that came after", `
		0 c2 acquire
		0 c1 acquire
		1 redis grant of=c2 by=c2 key=8
		1 c2 queued value=8
		2 redis lose of=c2 key=8
		3 redis grant of=c1 by=c1 key=0
		3 c1 queued value=0
		5 c2 acquire ok
		6 c2 release
		7 c1 acquire ok`, "valid"},
	{"numbers of two locks do not compare", `
		0 c1 acquire lock=a
		1 c2 acquire lock=b
		2 c2 queued lock=b value=8
		3 c1 queued lock=a value=7
		4 c2 acquire ok lock=b
		6 c1 acquire ok lock=a`, "valid"},
	{"one who never queued cuts in", `
		0 c3 acquire
		0 c3 acquire ok
		1 c1 acquire
		1 c1 queued of=c1 value=1
		2 c2 acquire
		3 c3 release
		4 c2 acquire ok
		5 c2 release
		6 c1 acquire ok`, "violated 4,5,7,9: c1 was in the queue for the lock from 1.000 s on, and c2, who asked only at 2.000 s, was granted it at 4.000 s, c1 only at 6.000 s."},
	{"its entry is still there, and it is never granted", queued2 + `
		3 c2 acquire ok
		9 c1 acquire fail error=held`, "violated 3,4,5: c1 was in the queue for the lock from 1.000 s on, and c2, who asked only at 2.000 s, was granted it at 3.000 s, and c1 still waited."},
	{"its entry has expired", queued2 + `
		2 redis expire of=c1 key=1
		3 c2 acquire ok
		4 c2 release
		5 c1 acquire ok`, "valid"},
	{"its entry expires later", queued2 + `
		3 c2 acquire ok
		3 redis expire of=c1 key=1
		4 c2 release`, "violated 3,4,5: c1 was in the queue for the lock from 1.000 s on, and c2, who asked only at 2.000 s, was granted it at 3.000 s, and c1 still waited."},
	{"its entry had gone when it heard of its place", `
		0 c1 acquire
		0 redis grant of=c1 by=c1 key=1
		0 redis expire of=c1 key=1
		1 c1 queued
		2 c2 acquire
		3 c2 acquire ok
		4 c2 release
		5 c1 acquire ok`, "valid"},
	{"it gave its place up at an unknown time", `
		0 c1 acquire
		1 c1 queued
		2 c2 acquire
		3 c2 acquire ok
		4 c1 acquire fail error=held`, "valid"},
	{"it had to queue up anew", `
		0 c1 acquire
		1 c1 queued value=1
		2 c2 acquire
		2 c2 queued value=2
		3 c1 queued value=3
		4 c2 acquire ok
		5 c2 release
		6 c1 acquire ok`, "valid"},
	{"its second place counts", `
		0 c1 acquire
		0 redis grant of=c1 by=c1 key=1
		1 c1 queued value=1
		1 redis expire of=c1 key=1
		1 redis grant of=c1 by=c1 key=3
		2 c1 queued value=3
		3 c2 acquire
		4 c2 acquire ok
		5 c2 release`, "violated 6,7,8: c1 was in the queue for the lock from 2.000 s on, and c2, who asked only at 3.000 s, was granted it at 4.000 s, and c1 still waited."},
	{"a fault may have cost it its place", `
		0 c1 acquire
		1 c1 queued
		2 c2 acquire
		2 nemesis pause id=1 on=c1
		3 c2 acquire ok
		4 c2 release
		4 nemesis pause-end id=1 on=c1
		5 c1 acquire ok`, "valid"},
	{"a fault that began before it queued", `
		0 nemesis server-skew id=1 on=redis
		0 c1 acquire
		1 c1 queued
		1 nemesis server-skew-end id=1 on=redis
		2 c2 acquire
		3 c2 acquire ok
		4 c2 release
		5 c1 acquire ok`, "valid"},
	{"the machine stood still", `
		0 c1 acquire
		1 c1 queued
		2 c2 acquire
		3 nemesis stall for=2
		3 c2 acquire ok
		4 c2 release
		5 c1 acquire ok`, "valid"},
	{"a fault that was over before it asked", `
		0 nemesis pause id=1 on=c2
		1 nemesis pause-end id=1 on=c2
		1 c1 acquire
		1 c1 queued
		2 c2 acquire
		3 c2 acquire ok
		4 c2 release
		5 c1 acquire ok`, "violated 4,5,6,8: c1 was in the queue for the lock from 1.000 s on, and c2, who asked only at 2.000 s, was granted it at 3.000 s, c1 only at 5.000 s."},
	{"a fault that comes later", `
		0 c1 acquire
		1 c1 queued
		2 c2 acquire
		3 c2 acquire ok
		3 nemesis pause id=1 on=c1
		4 c2 release
		4 nemesis pause-end id=1 on=c1
		5 c1 acquire ok`, "violated 2,3,4,8: c1 was in the queue for the lock from 1.000 s on, and c2, who asked only at 2.000 s, was granted it at 3.000 s, c1 only at 5.000 s."},
	{"any fault while its entry is in the store", queued2 + `
		2 nemesis pause id=1 on=c1
		3 c2 acquire ok
		4 c2 release
		4 nemesis pause-end id=1 on=c1
		5 c1 acquire ok`, "violated 3,4,6,9: c1 was in the queue for the lock from 1.000 s on, and c2, who asked only at 2.000 s, was granted it at 3.000 s, c1 only at 5.000 s."},
	{"the dead wait for nothing", queued2 + `
		2 nemesis kill id=1 on=c1
		3 c2 acquire ok`, "valid"},
	{"a client that was killed in a pause was dead since then", queued2 + `
		2 nemesis pause id=1 on=c1
		3 c2 acquire ok
		4 nemesis kill id=2 on=c1`, "valid"},
	{"a client that ended by itself may have been dead", queued2 + `
		3 c2 acquire ok
		4 c1 acquire info error=crashed`, "valid"},
	{"the death of somebody else costs nobody a place", `
		0 c1 acquire
		0 nemesis kill id=1 on=c3
		1 c1 queued
		2 c2 acquire
		3 c2 acquire ok
		4 c2 release
		5 c1 acquire ok`, "violated 3,4,5,7: c1 was in the queue for the lock from 1.000 s on, and c2, who asked only at 2.000 s, was granted it at 3.000 s, c1 only at 5.000 s."},
	{"a client that holds may enter again", `
		0 c2 acquire
		0 c2 acquire ok
		1 c1 acquire
		1 c1 queued
		2 c2 acquire
		3 c2 acquire ok
		4 c2 release
		4 c2 release ok
		5 c2 release
		6 c1 acquire ok`, "valid"},
	{"an entry without a request of its own uses the place of another acquire", `
		0 c2 acquire
		0 c2 acquire ok
		1 c1 acquire
		1 c1 queued
		2 c2' acquire
		2 c2' acquire ok of=c2
		3 c2 release
		6 c1 acquire ok`, "valid"},
	{"no client overtakes itself", `
		0 c1 acquire
		1 c1 queued
		2 c1' acquire
		3 c1' acquire ok
		4 c1' release
		5 c1 acquire ok`, "valid"},
	{"an acquire without an answer overtakes no client", `
		0 c1 acquire
		1 c1 queued
		2 c2 acquire
		3 c2 acquire info
		5 c1 acquire ok`, "valid"},
	{"readers share", `
		0 c1 acquire shared=true
		1 c1 queued
		2 c2 acquire shared=true
		3 c2 acquire ok shared=true
		5 c1 acquire ok shared=true`, "valid"},
	{"without a header", `
		.bare
		0 c1 acquire
		1 c1 queued
		2 c2 acquire
		3 c2 acquire ok
		4 c2 release
		5 c1 acquire ok`, "violated 2,3,4,6: c1 was in the queue for the lock from 1.000 s on, and c2, who asked only at 2.000 s, was granted it at 3.000 s, c1 only at 5.000 s."},
	{"kept waiting for two turns of each", `
		.order
		0 c1 acquire
` + takeTurns(1, 3) + `
		4 c2 acquire
		4 c2 acquire ok
		9 nemesis ended`, "unknown: no acquire says when it had a place in the queue (queued), so it is unknown who was overtaken"},
	{"kept waiting for longer", `
		.order
		0 c1 acquire
` + takeTurns(1, 4) + `
		5 c2 acquire
		5 c2 acquire ok
		9 nemesis ended`, "violated 1,2,3,6,7,10,11,14,15,18,19,20: c1 waited for the lock from 0.000 s to 9.000 s, while 5 acquires that were invoked later were granted it; 4 are allowed, 2 for each of 2 clients."},
	{"refused after as long", `
		.order
		0 c2 acquire
		0 c2 acquire ok
		0 c2 release
		0 c2 release ok
		0 c1 acquire
` + takeTurns(1, 4) + `
		5 c2 acquire
		5 c2 acquire ok
		6 c1 acquire fail error=held`, "violated 5,6,7,10,11,14,15,18,19,22,23,24: c1 waited for the lock from 0.000 s to 6.000 s, while 5 acquires that were invoked later were granted it; 4 are allowed, 2 for each of 2 clients."},
	{"refused again and again, and back at the end of the queue", `
		0 c1 acquire
		0 c1 queued
		1 c2 acquire
		1 c1 acquire fail error=held
		1 c2 acquire ok
		1 c2 release
		2 c1 acquire
		2 c1 queued
		2 c1 acquire fail error=held
		2 c2 release ok
		2 c2 acquire
		2 c2 acquire ok
		2 c2 release
		2 c2 release ok
		3 c2 acquire
		3 c1 acquire
		3 c1 acquire fail error=held
		3 c2 acquire ok
		3 c2 release
		3 c2 release ok
		4 c2 acquire
		4 c2 acquire ok
		4 c2 release
		4 c2 release ok
		5 c2 acquire
		5 c2 acquire ok`, "valid"},
	{"a client that is cut off has 3 T to come back", `
		.order
		0 c1 acquire
		0 nemesis partition id=1 on=c1,redis
		1 nemesis partition-end id=1 on=c1,redis
` + takeTurns(1, 4) + `
		31 c2 acquire
		31 c2 acquire ok
		32 nemesis ended`, "unknown: no acquire says when it had a place in the queue (queued), so it is unknown who was overtaken"},
	{"starved long after a fault", `
		.order
		0 nemesis partition id=1 on=c1,redis
		1 nemesis partition-end id=1 on=c1,redis
		1 c1 acquire
` + lateTurns + `
		46 c1 acquire ok`, "violated 3,4,5,8,9,12,13,16,17,20,21,22: c1 waited for the lock from 1.000 s to 46.000 s, while 5 acquires that were invoked later were granted it; 4 are allowed, 2 for each of 2 clients."},
	{"a client that ended by itself at an unknown time did not wait", `
		.order
		0 c1 acquire
` + lateTurns + `
		46 c1 acquire info error=crashed`, "unknown: no acquire says when it had a place in the queue (queued), so it is unknown who was overtaken"},
	{"a client that stands still for good does not wait", `
		.order
		0 c1 acquire
		0 nemesis pause id=1 on=c1
` + lateTurns + `
		46 nemesis ended`, "unknown: no acquire says when it had a place in the queue (queued), so it is unknown who was overtaken"},
}
