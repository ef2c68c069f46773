package checker

// unanswered: the acquire of c3 has no answer.
const unanswered = contended + `
		3 c1 release
		3 c3 acquire
		4 c3 acquire info error=timeout
		13 c2 acquire ok`

var handoverSpecs = []spec{
	{"a client that ends by itself may have held until then, and waited until its last sign of life", contended + `
		3 c3 acquire
		50 nemesis exit on=c1
		51 c2 acquire ok
		52 c2 release
		70 c3 acquire info error=crashed`, "valid"},
	{"a grant soon after the release", granted1 + `
		1 c2 acquire
		3 c1 release
		4 c2 acquire ok`, "valid"},
	{"a grant long after the release", granted1 + `
		1 c2 acquire
		3 c1 release
		9 c2 acquire ok`, `violated 3,4,5: from 3.000 s nobody held the lock and c2 waited for it, but it was granted only at 9.000 s, 6.000 s later; 5.000 s are allowed.`},
	{"a grant exactly T/2 after the release", granted1 + `
		1 c2 acquire
		3 c1 release
		8 c2 acquire ok`, "valid"},
	{"the lock declares that it takes longer", `
		.handover 8s
		0 c1 acquire
		1 c1 acquire ok
		1 c2 acquire
		3 c1 release
		9 c2 acquire ok`, "valid"},
	{"a time below a millisecond has as many digits as it needs", `
		.lease 1ms
		0 c1 acquire
		0.0001 c1 acquire ok
		0.0001 c2 acquire
		0.0002 c1 release
		0.001 c2 acquire ok`, `violated 3,4,5: from 0.2 ms nobody held the lock and c2 waited for it, but it was granted only at 0.001 s, 0.8 ms later; 0.5 ms are allowed.`},
	{"the lock declares that it is quicker", `
		.handover 500ms
		0 c1 acquire
		0.5 c1 acquire ok
		1 c2 acquire
		3 c1 release
		4 c2 acquire ok`, `violated 3,4,5: from 3.000 s nobody held the lock and c2 waited for it, but it was granted only at 4.000 s, 1.000 s later; 0.500 s are allowed.`},
	{"a client asks long after the release", granted1 + `
		3 c1 release
		20 c2 acquire
		21 c2 acquire ok`, "valid"},
	{"the wait begins the count", `
		0 c1 acquire lock=a
		1 c1 acquire ok lock=a
		3 c1 release lock=a
		20 c2 acquire lock=a
		26 c2 acquire ok lock=a`, `violated 3,4,5: from 20.000 s nobody held "a" and c2 waited for it, but it was granted only at 26.000 s, 6.000 s later; 5.000 s are allowed.`},
	{"the first grant takes too long", `
		0 c1 acquire
		6 c1 acquire ok`, `violated 1,2: from 0.000 s nobody held the lock and c1 waited for it, but it was granted only at 6.000 s, 6.000 s later; 5.000 s are allowed.`},
	{"the holder was killed, and its entry stays until it expires", contended + `
		3 nemesis kill id=1 on=c1
		11 c2 acquire ok`, `violated 3,4,5: from 3.000 s nobody held the lock and c2 waited for it, but it was granted only at 11.000 s, 8.000 s later; 5.000 s are allowed.`},
	{"an acquire without an answer leaves its entry", unanswered, `violated 3,4,7: from 3.000 s nobody held the lock and c2 waited for it, but it was granted only at 13.000 s, 10.000 s later; 5.000 s are allowed.`},
	{"on real servers a slow machine may be why it has no answer", ".on docker\n" + unanswered, "unknown: c3's acquire at 3.000 s got no answer although no fault had struck, so a slow machine may be the reason for the wait for the lock between 1.000 s and 13.000 s"},
	{"on real servers, too, a fault is why it has no answer", `
		.on docker` + contended + `
		2 nemesis drop-reply id=1 on=c3,redis
		2 c3 acquire
		3 c1 release
		3 c3 acquire info error=timeout
		3 nemesis drop-reply-end id=1 on=c3,redis hits=1
		13 c2 acquire ok`, `violated 3,6,9: from 3.000 s nobody held the lock and c2 waited for it, but it was granted only at 13.000 s, 10.000 s later; 5.000 s are allowed.`},
	{"on real servers a client that crashed left its entry", `
		.on docker
		0 c1 acquire
		1 c1 acquire info error=crashed
		1 nemesis exit on=c1
		2 c2 acquire
		13 c2 acquire ok`, `violated 4,5: from 2.000 s nobody held the lock and c2 waited for it, but it was granted only at 13.000 s, 11.000 s later; 5.000 s are allowed.`},
	{"on real servers an acquire that asks in vain for a free lock is no such reason", ".on docker" + contended + `
		3 c1 release
		12 c2 acquire info error=timeout
		12 c2' acquire
		13 c2' acquire ok`, `violated 3,4,7: from 3.000 s nobody held the lock and c2 waited for it, asking again and again, but it was granted only at 13.000 s, 10.000 s later; 5.000 s are allowed.`},
	{"on real servers the entry of an acquire without an answer is gone after T", `
		.on docker
		0 c3 acquire
		1 c3 acquire info error=timeout
		11 c1 acquire
		12 c1 acquire ok
		13 c1 release
		20 c2 acquire
		29 c2 acquire ok`, `violated 5,6,7: from 20.000 s nobody held the lock and c2 waited for it, but it was granted only at 29.000 s, 9.000 s later; 5.000 s are allowed.`},
	{"no client is granted it again", released + `
		9 nemesis ended`, `violated 3,4,5: from 3.000 s nobody held the lock and c2 waited for it, but by 9.000 s nobody had been granted it, 6.000 s later; 5.000 s are allowed.`},
	{"the waiter gives up in time", released + `
		4 c2 acquire fail
		50 nemesis ended`, "valid"},
	{"a client that waits is relieved by another", released + `
		5 c3 acquire
		6 c2 acquire fail
		9 c3 acquire ok`, `violated 3,4,5,7: from 3.000 s nobody held the lock and c2 waited for it, then c3, but it was granted only at 9.000 s, 6.000 s later; 5.000 s are allowed.`},
	{"two who wait one after the other, each in time", released + `
		6 c2 acquire fail
		13 c3 acquire
		16 c3 acquire ok`, "valid"},
	{"a client that is refused and asks again soon goes on waiting", granted1 + `
		2 c2 try
		2 c2 try fail error=held
		3 c1 release
		6 c2 try
		6 c2 try fail error=held
		9 c2 try
		9 c2 try ok`, `violated 3,5,9: from 3.000 s nobody held the lock and c2 waited for it, asking again and again, but it was granted only at 9.000 s, 6.000 s later; 5.000 s are allowed.`},
	{"a client holds all the time", contended + `
		20 nemesis ended`, "valid"},
	{"a pause is not counted", released + `
		4 nemesis pause id=1 on=c2
		8 nemesis pause-end id=1 on=c2
		9 c2 acquire ok`, "valid"},
	{"a stall of the machine does not count", released + `
		8 nemesis stall for=4
		9 c2 acquire ok`, "valid"},
	{"a stall excuses only its own time", released + `
		8 nemesis stall for=4
		13 c2 acquire ok`, `violated 3,4,6: from 3.000 s nobody held the lock and c2 waited for it, but it was granted only at 13.000 s, 10.000 s later (6.000 s without stall); 5.000 s are allowed.`},
	{"the time beside a pause counts", released + `
		4 nemesis pause id=1 on=c2
		8 nemesis pause-end id=1 on=c2
		13 c2 acquire ok`, `violated 3,4,7: from 3.000 s nobody held the lock and c2 waited for it, but it was granted only at 13.000 s, 10.000 s later (6.000 s without pause); 5.000 s are allowed.`},
	{"faults that overlap are not counted twice", released + `
		4 nemesis restart id=1 on=redis
		5 nemesis partition id=2 on=c2,redis
		7 nemesis restart-end id=1 on=redis
		8 nemesis partition-end id=2 on=c2,redis
		13 c2 acquire ok`, `violated 3,4,9: from 3.000 s nobody held the lock and c2 waited for it, but it was granted only at 13.000 s, 10.000 s later (6.000 s without restart and partition); 5.000 s are allowed.`},
	{"a clock's jump excuses nothing", released + `
		4 nemesis server-jump id=1 on=redis
		9 c2 acquire ok`, `violated 3,4,6: from 3.000 s nobody held the lock and c2 waited for it, but it was granted only at 9.000 s, 6.000 s later; 5.000 s are allowed.`},
	{"nor does a clock that is wrong or runs fast or slow, or memory that is full", `
		0 nemesis skew id=1 on=c2
		0 nemesis rate id=2 on=c2
		0 nemesis server-skew id=3 on=redis
		0 nemesis server-rate id=4 on=redis
		0 nemesis evict id=5 on=redis
		0 nemesis jump id=6 on=c2
		0 c1 acquire
		1 c1 acquire ok
		2 c2 acquire
		3 c1 release
		9 c2 acquire ok`, `violated 9,10,11: from 3.000 s nobody held the lock and c2 waited for it, but it was granted only at 9.000 s, 6.000 s later; 5.000 s are allowed.`},
	{"a hang, a server that stands still and servers cut off from the others are not counted", released + `
		4 nemesis hang id=1 on=c3
		5 nemesis hang-end id=1 on=c3
		5 nemesis server-pause id=2 on=redis-2
		6 nemesis server-pause-end id=2 on=redis-2
		6 nemesis partition-servers id=3 on=redis-1,sentinel-1
		7 nemesis partition-servers-end id=3 on=redis-1,sentinel-1
		11 c2 acquire ok`, "valid"},
	{"a failover is not counted, up to its promotion", released + `
		4 nemesis failover id=1 on=redis-1
		5 nemesis failover-end id=1 on=redis-1
		8 redis-1b promote text=redis-1
		12 c2 acquire ok`, "valid"},
	{"the time after the first promotion counts", released + `
		4 nemesis failover id=1 on=redis-1
		5 redis-1b promote text=redis-1
		6 nemesis failover-end id=1 on=redis-1
		8 redis-1 promote text=redis-1b
		9 redis-1b promote text=redis-1
		12 c2 acquire ok`, `violated 3,4,10: from 3.000 s nobody held the lock and c2 waited for it, but it was granted only at 12.000 s, 9.000 s later (7.000 s without failover); 5.000 s are allowed.`},
	{"a server that stays down excuses everything", released + `
		4 nemesis restart id=1 on=redis
		50 nemesis ended`, "valid"},
	{"a client may have held that confirmed it only later", `
		0 c1 acquire
		1 c1 acquire info error=timeout grant=1
		2 c2 acquire
		9 c1' extend grant=1
		9.1 c1' extend ok grant=1 until=19
		19 c2 acquire ok grant=2
		20 c2 release grant=2`, "valid"},
	{"before its acquire was invoked it did not hold", `
		0 c2 acquire
		10 c1 acquire
		11 c1 acquire info error=timeout grant=1
		19 c1' extend grant=1
		20 c1' extend ok grant=1`, `violated 1,2,5: from 0.000 s nobody held the lock and c2 waited for it, but by 10.000 s, when c1 asked for what it confirmed that it held at 20.000 s, nobody had been granted it, 10.000 s later; 5.000 s are allowed.`},
	{"neither T nor the lock's own bound is known", `
		.lease 0s
		0 c1 acquire
		1 c1 acquire ok`, "n/a: the history says neither how long T is nor what the lock declares"},
	{"times are not known", `
		0 c1 acquire
		0 c1 acquire ok`, "n/a: the history has no times"},
}
