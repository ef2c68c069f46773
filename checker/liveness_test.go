package checker

// refusedFrom17 are tries of c2 from 17 s to 33 s that are refused.
const refusedFrom17 = `
		17 c2 try
		17 c2 try fail
		22 c2 try
		22 c2 try fail
		27 c2 try
		27 c2 try fail
		32 c2 try
		32 c2 try fail
		33 c2 try
		33 c2 try fail`

var livenessSpecs = []spec{
	{"everybody gets his turn", granted1 + `
		1 c2 acquire
		3 c1 release
		4 c2 acquire ok`, "valid"},
	{"someone waits for longer than 3 T and nobody gets the lock", freed + `
		40 c2 acquire fail error=timeout`, `violated 4,5: c2 waited for the lock from 2.000 s to 40.000 s, and no client was granted it in these 38.000 s; 30.000 s (3 T) are allowed.`},
	{"the time in which the machine stands still is nobody's", freed + `
		35 nemesis stall for=5
		36 c2 acquire fail error=timeout`, "valid"},
	{"a stall is no fault from which liveness would count anew", freed + `
		35 nemesis stall for=5
		40 c2 acquire fail error=timeout`, `violated 4,6: c2 waited for the lock from 2.000 s to 40.000 s, and no client was granted it in these 38.000 s; 30.000 s (3 T) are allowed.`},
	{"a client that ends by itself may have held until then", contended + `
		50 nemesis exit on=c1
		51 c2 acquire ok`, "valid"},
	{"a client that crashes in its release may have held until it asked for that", contended + `
		40 c1 release
		41 c1 release info error=crashed
		60 c2 acquire ok`, "valid"},
	{"and not until it crashed", contended + `
		4 c1 release
		38 c1 release info error=crashed
		39 c2 acquire ok`, `violated 3,4,6: c2 waited for the lock from 4.000 s to 39.000 s after c1 had held it, and no client was granted it in these 35.000 s; 30.000 s (3 T) are allowed.`},
	{"a client that crashes may have waited for a moment only", freed + `
		40 c2 acquire info error=crashed`, "valid"},
	{"someone waits for 3 T exactly", freed + `
		32 c2 acquire fail error=timeout`, "valid"},
	{"someone waits until the end", `
		0 c1 acquire lock=a
		1 c1 acquire ok lock=a
		1 c1 release lock=a
		2 c2 acquire lock=a
		33 nemesis ended`, `violated 4,5: c2 waited for "a" from 2.000 s to 33.000 s, and no client was granted it in these 31.000 s; 30.000 s (3 T) are allowed.`},
	{"the grant comes after all", freed + `
		40 c2 acquire ok
		41 c2 release`, `violated 4,5: c2 waited for the lock from 2.000 s to 40.000 s, and no client was granted it in these 38.000 s; 30.000 s (3 T) are allowed.`},
	{"someone waits while others are granted the lock", contended + `
		10 c1 release
		10 c1 release ok
		20 c1 acquire
		21 c1 acquire ok
		50 nemesis ended`, "valid"},
	{"the last grant begins the count", `
		0 c1 acquire
		2 c2 acquire
		20 c1 acquire ok
		20 c1 release
		51 nemesis ended`, `violated 2,3,5: c2 waited for the lock from 20.000 s to 51.000 s after the last grant, and no client was granted it in these 31.000 s; 30.000 s (3 T) are allowed.`},
	{"a client that asks again within T/2 goes on waiting", granted1 + `
		1 c1 release
		2 c2 try
		2 c2 try fail error=held
		7 c2 try
		7 c2 try fail error=held
		12 c2 try
		20 c2 try fail error=held
		25 c2 try
		33 c2 try fail error=held`, `violated 4,11: c2 waited for the lock from 2.000 s to 33.000 s, asking again and again, and no client was granted it in these 31.000 s; 30.000 s (3 T) are allowed.`},
	{"a client that goes on under a new process number goes on waiting", freed + `
		20 c2 acquire info error=timeout
		24 c2' acquire
		35 c2' acquire info error=timeout`, `violated 4,7: c2 waited for the lock from 2.000 s to 35.000 s, asking again and again, and no client was granted it in these 33.000 s; 30.000 s (3 T) are allowed.`},
	{"a client that asks again after more than T/2 has given up", freed + `
		20 c2 acquire fail error=timeout
		26 c2 acquire
		40 c2 acquire fail error=timeout`, "valid"},
	{"a dead client does not wait", freed + `
		3 nemesis kill id=1 on=c2
		50 nemesis ended`, "valid"},
	{"the count begins with the end of the last fault", paused + `
		20 nemesis pause-end id=1 on=c1
		50 nemesis ended`, "valid"},
	{"no client is granted the lock after the end of the last fault", paused + `
		20 nemesis pause-end id=1 on=c1
		51 nemesis ended`, `violated 3,5,6: c2 waited for the lock from 20.000 s to 51.000 s after the last fault, and no client was granted it in these 31.000 s; 30.000 s (3 T) are allowed.`},
	{"a fault that stays counts from its start", contended + `
		3 nemesis kill id=1 on=c1
		34 nemesis ended`, `violated 3,4,5: c2 waited for the lock from 3.000 s to 34.000 s after the last fault, and no client was granted it in these 31.000 s; 30.000 s (3 T) are allowed.`},
	{"a client that is stopped for good does not wait", freed + `
		3 nemesis hang id=1 on=c2
		50 nemesis ended`, "valid"},
	{"someone else waits for a client that is stopped for good", contended + `
		3 nemesis hang id=1 on=c1
		50 nemesis ended`, `violated 3,4,5: c2 waited for the lock from 3.000 s to 50.000 s after the last fault, and no client was granted it in these 47.000 s; 30.000 s (3 T) are allowed.`},
	{"a hang that stays is counted from its start, renewals or not", leased + `
		2 c2 acquire
		10 nemesis hang id=1 on=c1
		11 c1 valid until=21
		20 c1 valid until=30
		29 c1 valid until=39
		38 c1 valid until=48
		41 nemesis ended`, `violated 3,4,9: c2 waited for the lock from 10.000 s to 41.000 s after the last fault, and no client was granted it in these 31.000 s; 30.000 s (3 T) are allowed.`},
	{"a client that hangs for a while works again after it", contended + `
		3 nemesis hang id=1 on=c1
		20 nemesis hang-end id=1 on=c1
		50 nemesis ended`, "valid"},
	{"a failover lasts until a replica has become the master", freed + `
		3 nemesis failover id=1 on=redis-1
		5 nemesis failover-end id=1 on=redis-1
		9 redis-1b promote text=redis-1
		39 nemesis ended`, "valid"},
	{"no client is granted the lock after a failover", freed + `
		3 nemesis failover id=1 on=redis-1
		5 redis-1b promote text=redis-1
		9 nemesis failover-end id=1 on=redis-1
		40 nemesis ended`, `violated 4,7,8: c2 waited for the lock from 9.000 s to 40.000 s after the last fault, and no client was granted it in these 31.000 s; 30.000 s (3 T) are allowed.`},
	{"a client is refused at every try while no client holds the lock", granted1 + `
		1 c1 release
		1 c1 release ok
		2 c2 try
		2 c2 try fail
		7 c2 try
		7 c2 try fail
		8 c1 acquire
		9 c1 acquire ok
		10 c1 release
		10 c1 release ok
		12 c2 try
		12 c2 try fail` + refusedFrom17, `violated 5,24: c2 was refused the lock at each of its 8 tries from 2.000 s to 33.000 s, and no client held it at any of them; 30.000 s (3 T) are allowed.`},
	{"a client held it at one of the tries", granted1 + `
		1 c1 release
		1 c1 release ok
		2 c2 try
		2 c2 try fail
		7 c2 try
		7 c2 try fail
		8 c1 acquire
		9 c1 acquire ok
		12 c2 try
		12 c2 try fail
		13 c1 release
		13 c1 release ok` + refusedFrom17, "valid"},
	{"an acquire without an answer may hold", granted1 + `
		1 c1 release
		1 c1 release ok
		2 c2 try
		2 c2 try fail
		3 c3 acquire
		4 c3 acquire info error=timeout
		7 c2 try
		7 c2 try fail
		12 c2 try
		12 c2 try fail
		17 c2 try
		17 c2 try fail
		22 c2 try
		22 c2 try fail
		27 c2 try
		27 c2 try fail
		29 c1 acquire
		29 c1 acquire ok
		29 c1 release
		29 c1 release ok
		32 c2 try
		32 c2 try fail
		33 c2 try
		33 c2 try fail`, "valid"},
	{"an entry may stay for T without the ok of its release", granted1 + `
		1 c1 release
		1 c1 release fail
		2 c2 try
		2 c2 try fail
		7 c2 try
		7 c2 try fail
		8 c1 acquire
		8 c1 acquire ok
		8 c1 release
		8 c1 release fail
		12 c2 try
		12 c2 try fail` + refusedFrom17, "valid"},
	{"no client ever gets the lock", `
		0 c1 acquire
		31 c1 acquire fail`, "unknown: no acquire succeeded: there is nothing to judge"},
	{"the only grant is one whose client died before its answer came", `
		0 c1 acquire
		1 redis grant of=c1 by=c1
		2 nemesis kill id=1 on=c1
		2 c2 acquire
		34 c2 acquire fail`, `violated 4,5: c2 waited for the lock from 2.000 s to 34.000 s, and no client was granted it in these 32.000 s; 30.000 s (3 T) are allowed.`},
	{"no client got the lock, and none waited for long", `
		0 c1 acquire
		2 c1 acquire fail`, "unknown: no acquire succeeded: there is nothing to judge"},
	{"grants of another lock do not help", `
		0 c1 acquire lock=a
		1 c1 acquire ok lock=a
		1 c1 release lock=a
		2 c2 acquire lock=a
		10 c3 acquire lock=b
		20 c3 acquire ok lock=b
		40 c2 acquire fail lock=a`, `violated 4,7: c2 waited for "a" from 2.000 s to 40.000 s, and no client was granted it in these 38.000 s; 30.000 s (3 T) are allowed.`},
	{"a client that holds and works may hold for as long as it wants", contended + `
		90 c2 acquire fail error=timeout`, "valid"},
	{"a holder that keeps renewing works", `
		0 c1 acquire
		0.1 c1 acquire ok until=10
		1 c2 acquire
		9 c1 valid until=19
		18 c1 valid until=28
		27 c1 valid until=37
		36 c1 release
		37 c2 acquire ok`, "valid"},
	{"the end of somebody's work begins the count", contended + `
		40 c1 release
		71 c2 acquire fail error=timeout`, `violated 3,4,5: c2 waited for the lock from 40.000 s to 71.000 s after c1 had held it, and no client was granted it in these 31.000 s; 30.000 s (3 T) are allowed.`},
	{"a holder that outlives its deadline does not work any more", leased + `
		2 c2 acquire
		9 c1 valid until=19
		50 nemesis ended`, `violated 3,4,5: c2 waited for the lock from 19.000 s to 50.000 s after c1 had held it, and no client was granted it in these 31.000 s; 30.000 s (3 T) are allowed.`},
	{"a holder whose clock was meddled with is not known to work", contended + `
		3 nemesis skew id=1 on=c1
		50 nemesis ended`, `violated 3,4,5: c2 waited for the lock from 3.000 s to 50.000 s after the last fault, and no client was granted it in these 47.000 s; 30.000 s (3 T) are allowed.`},
	{"a holder whose session was ended works on", granted1 + `
		2 nemesis session-expiry id=1 on=c1
		3 c2 acquire
		50 c1 release
		51 c2 acquire ok`, "valid"},
	{"a fault on the holder that was over before its grant is forgotten", `
		0 nemesis pause id=1 on=c1
		1 nemesis pause-end id=1 on=c1
		1 c1 acquire
		2 c1 acquire ok
		2 c2 acquire
		90 nemesis ended`, "valid"},
	{"a client that is confirmed to hold may have been granted it when it asked", `
		0 c1 acquire
		1 c1 acquire info error=timeout grant=1
		2 c2 acquire
		31 c1' extend grant=1
		32 c1' extend ok grant=1
		33 c2 acquire ok`, "valid"},
	{"a client that was stopped for good before it asked does not wait", granted1 + `
		2 c1 release
		3 nemesis pause id=1 on=c2
		4 c2 acquire
		50 nemesis ended`, "valid"},
	{"a client that hangs and then exits does not work", granted1 + `
		2 nemesis hang id=1 on=c1
		3 nemesis hang-end id=1 on=c1
		4 c2 acquire
		50 nemesis exit on=c1
		51 c2 acquire ok`, `violated 5,7: c2 waited for the lock from 4.000 s to 51.000 s, and no client was granted it in these 47.000 s; 30.000 s (3 T) are allowed.`},
	{"T is not known", `
		.lease 0s
		0 c1 acquire
		1 c1 acquire ok
		2 c2 acquire
		90 nemesis ended`, "n/a: the history does not say how long T is"},
	{"times are not known", `
		0 c1 acquire
		0 c1 acquire ok`, "n/a: the history has no times"},
}
