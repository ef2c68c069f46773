package checker

// Both clients were granted the lock, and c1 has read the resource: by the resource's line,
// and without one.
const (
	readFirst = granted2 + `
		3 c1 read
		3 resource read by=c1 value=0
		3 c1 read ok`
	clientRead = granted2 + `
		3 c1 read
		3 c1 read ok value=0`
)

var resourceSpecs = []spec{
	{"read, modify, write, one after the other", readFirst + `
		3 c1 write value=1
		3 resource write by=c1 value=1 was=0
		3 c1 write ok
		4 c2 read
		4 resource read by=c2 value=1
		4 c2 read ok
		4 c2 write value=2
		4 resource write by=c2 value=2 was=1
		4 c2 write ok`, "valid"},
	{"a write that is applied twice", readFirst + `
		3 c1 write value=1
		3 resource write by=c1 value=1 was=0
		4 resource write by=c1 value=1 was=1
		4 c1 write ok`, "valid"},
	{"on real servers the machine stood still before a lost update", ".on docker" + readFirst + `
		9 nemesis stall for=5
		9 c2 write value=18
		9 resource write by=c2 value=18 was=0
		9 c2 write ok
		9 c1 write value=1
		9 resource write by=c1 value=1 was=18
		9 c1 write ok`, "unknown: the machine stood still for 5.000 s between 1.000 s and 9.000 s, and no fault had struck, so it may be the reason: c1 read 0 at 3.000 s, and its write of 1 at 9.000 s replaced 18, put there at 9.000 s."},
	{"a write without an answer, by who had read nothing, was seen", granted1 + `
		2 c1 read
		2 c1 read ok value=1
		2 c1 write value=2
		3 c1 write ok value=2
		3 c1 read
		4 c2 write value=3
		4 c1 read ok value=3`, "unknown: values were written twice or without having been read, so the order of the writes is not certain; record what each write replaced"},
	{"a lost update", granted2 + `
		3 c1 read
		3 resource read by=c1 value=16
		3 c1 read ok
		4 c2 write value=18
		4 resource write by=c2 value=18 was=16
		4 c2 write ok
		5 c1 write value=17
		6 resource write by=c1 value=17 was=18
		6 c1 write ok`, `violated 6,9,12: c1 read 16 at 3.000 s, and its write of 17 at 6.000 s replaced 18, put there at 4.000 s.`},
	{"a lost update of somebody who had read as well", readFirst + `
		3 c2 read
		3 resource read by=c2 value=0
		3 c2 read ok
		4 c2 write value=2
		4 resource write by=c2 value=2 was=0
		4 c2 write ok
		5 c1 write value=1
		6 resource write by=c1 value=1 was=2
		6 c1 write ok`, `violated 6,12,15: c1 read 0 at 3.000 s, and its write of 1 at 6.000 s replaced 2, put there at 4.000 s.`},
	{"a write that arrives late", readFirst + `
		4 c1 write value=1
		5 c1 write info error=timeout
		6 c2 read
		6 resource read by=c2 value=0
		6 c2 read ok
		7 c2 write value=2
		7 resource write by=c2 value=2 was=0
		7 c2 write ok
		8 resource write by=c1 value=1 was=2`, `violated 6,14,16: c1 read 0 at 3.000 s, and its write of 1 at 8.000 s replaced 2, put there at 7.000 s.`},
	{"a grant may build on its own write", granted1 + `
		3 c1 read
		3 resource read by=c1 value=0
		3 c1 read ok
		3 c1 write value=1
		3 resource write by=c1 value=1 was=0
		4 c1 write ok
		4 c1 write value=2
		5 resource write by=c1 value=2 was=1
		5 c1 write ok`, "valid"},
	{"another client's write between two of one grant", granted2 + `
		3 c1 write value=1
		3 resource write by=c1 value=1 was=0
		3 c1 write ok
		4 c2 write value=7
		4 resource write by=c2 value=7 was=1
		4 c2 write ok
		6 c1 write value=2
		6 resource write by=c1 value=2 was=7
		6 c1 write ok`, `violated 6,9,12: c1 had written 1 at 3.000 s, and its write of 2 at 6.000 s replaced 7, put there at 4.000 s.`},
	{"a write by nobody in particular between the two", granted1 + `
		3 c1 read
		3 resource read by=c1 value=0
		3 c1 read ok
		4 resource write value=5 was=0
		6 c1 write value=1
		6 resource write by=c1 value=1 was=5
		6 c1 write ok`, `violated 4,6,8: c1 read 0 at 3.000 s, and its write of 1 at 6.000 s replaced 5, put there at 4.000 s.`},
	{"a value that changed without a write", granted1 + `
		3 c1 read
		3 resource read by=c1 value=0
		3 c1 read ok
		6 c1 write value=1
		6 resource write by=c1 value=1 was=5
		6 c1 write ok`, `violated 4,7: c1 read 0 at 3.000 s, and its write of 1 at 6.000 s replaced 5.`},
	{"another value that somebody put there is not what was replaced", readFirst + `
		4 c2 write value=7
		4 resource write by=c2 value=7 was=0
		4 c2 write ok
		5 c1 write value=1
		5 resource write by=c1 value=1 was=6
		5 c1 write ok`, `violated 6,12: c1 read 0 at 3.000 s, and its write of 1 at 5.000 s replaced 6.`},
	{"the outer hold knows the writes of a nested hold", granted1 + `
		1 c1 read
		1 resource read by=c1 value=0
		1 c1 read ok
		2 c1 acquire
		2 c1 acquire ok
		2 c1 read
		2 resource read by=c1 value=0
		2 c1 read ok
		2 c1 write value=1 grant=2
		2 resource write by=c1 value=1 was=0
		2 c1 write ok grant=2
		2 c1 release grant=2
		2 c1 release ok grant=2
		3 c1 write value=2 grant=1
		3 resource write by=c1 value=2 was=1
		3 c1 write ok grant=1`, "valid"},
	{"accesses without their client", granted1 + `
		3 c1 read
		3 resource read value=0
		3 c1 read ok
		4 c1 write value=1
		4 resource write value=1 was=7
		4 c1 write ok`, "unknown: of no write is it known both what its grant had read or written before and what it replaced"},
	{"a read without an answer is not known to its client", granted1 + `
		3 c1 read
		3 resource read by=c1 value=0
		4 c1 read info error=timeout
		5 c1' write value=4 grant=1
		5 resource write by=c1' value=4 was=1
		6 c1' write ok grant=1`, "unknown: of no write is it known both what its grant had read or written before and what it replaced"},
	{"a late write was computed from what its grant knew when it sent it", granted2 + `
		3 c1 read
		3 resource read by=c1 value=10
		3 c1 read ok
		4 c1 write value=11
		5 c1 write info error=timeout
		6 c2 read
		6 resource read by=c2 value=10
		6 c2 read ok
		7 c2 write value=12
		7 resource write by=c2 value=12 was=10
		7 c2 write ok
		8 c1' read grant=1
		8 resource read by=c1' value=12
		8 c1' read ok grant=1
		9 resource write by=c1 value=11 was=12`, `violated 6,14,19: c1 read 10 at 3.000 s, and its write of 11 at 9.000 s replaced 12, put there at 7.000 s.`},
	{"a later write of one grant, which an earlier one destroys", granted1 + `
		3 c1 read
		3 resource read by=c1 value=10
		3 c1 read ok
		4 c1 write value=11
		5 c1 write info error=timeout
		6 c1' write value=12 grant=1
		6 resource write by=c1' value=12 was=10
		6 c1' write ok grant=1
		9 resource write by=c1 value=11 was=12`, `violated 4,9,11: c1 read 10 at 3.000 s, and its write of 11 at 9.000 s replaced 12, put there at 6.000 s.`},
	{"a late write that comes before the next one of its grant", granted1 + `
		3 c1 read
		3 resource read by=c1 value=10
		3 c1 read ok
		4 c1 write value=11
		5 c1 write info error=timeout
		6 c1' read grant=1
		6 resource read by=c1' value=10
		6 resource write by=c1 value=11 was=10
		6 c1' read ok grant=1
		7 c1' write value=12 grant=1
		7 resource write by=c1' value=12 was=11
		7 c1' write ok grant=1`, `violated 9,10,13: c1 read 10 at 6.000 s, and its write of 12 at 7.000 s replaced 11, put there at 6.000 s.`},
	{"two writes of one grant that take effect late, in their order", granted1 + `
		3 c1 read
		3 resource read by=c1 value=10
		3 c1 read ok
		4 c1 write value=11
		5 c1 write info error=timeout
		6 c1' write value=12 grant=1
		7 resource write by=c1 value=11 was=10
		8 resource write by=c1' value=12 was=11
		9 c1' write ok grant=1`, "valid"},
	{"the last read counts", readFirst + `
		4 c2 write value=2
		4 resource write by=c2 value=2 was=0
		4 c2 write ok
		5 c1 read
		5 resource read by=c1 value=2
		5 c1 read ok
		6 c1 write value=3
		6 resource write by=c1 value=3 was=2
		6 c1 write ok`, "valid"},
	{"a write that was refused replaced nothing", readFirst + `
		4 c2 write value=2
		4 resource write by=c2 value=2 was=0
		4 c2 write ok
		6 c1 write value=1
		6 resource refuse by=c1 value=1
		7 c2 write value=3
		7 resource write by=c2 value=3 was=2
		7 c2 write ok`, "valid"},
	{"a write without a read is not judged", granted2 + `
		4 c2 write value=2
		4 resource write by=c2 value=2 was=0
		4 c2 write ok
		6 c1 write value=1
		6 resource write by=c1 value=1 was=2
		6 c1 write ok`, "unknown: of no write is it known both what its grant had read or written before and what it replaced"},
	{"a read of an earlier grant does not count", granted1 + `
		2 c1 read
		2 resource read by=c1 value=0
		3 c1 read ok
		3 c1 release
		3 c1 release ok
		4 c2 acquire
		5 c2 acquire ok
		5 c2 write value=9
		5 resource write by=c2 value=9 was=0
		5 c2 write ok
		6 c1 acquire
		7 c1 acquire ok
		7 c1 write value=1
		7 resource write by=c1 value=1 was=9
		7 c1 write ok`, "unknown: of no write is it known both what its grant had read or written before and what it replaced"},
	{"the resource was only read", granted1 + `
		3 c1 read
		3 resource read by=c1 value=0
		3 c1 read ok`, "n/a: the resource was never written"},
	{"the resource was not touched", granted1, "n/a: the resource was never written"},

	{"clients: each write names the value that it replaced", clientRead + `
		4 c2 write value=2
		4 c2 write ok value=2 was=0
		6 c1 write value=1
		6 c1 write ok value=1 was=2`, `violated 6,10: c1 read 0 at 3.000 s, and its write of 1 at 6.000 s replaced 2.`},
	{"clients: only one write names the value that it replaced", clientRead + `
		3 c2 read
		3 c2 read ok value=0
		4 c1 write value=1
		4 c1 write ok value=1 was=0
		5 c2 write value=2
		5 c2 write ok value=2`, `violated 6,8,10,12: c1 and c2 both computed their writes (1, ok at 4.000 s, and 2, ok at 5.000 s) from 0, which was not in place that often.`},
	{"clients: a write without a read names the value that it replaced", granted1 + `
		3 c1 write value=1
		3 c1 write ok value=1 was=0`, "unknown: values were written twice or without having been read, so the order of the writes is not certain; record what each write replaced"},
	{"clients: the only write has no answer", granted1 + `
		2 c1 read
		2 c1 read ok value=0
		3 c1 write value=1`, "unknown: no write is known to have happened"},
	{"clients: the outer hold knows the writes of a nested hold", granted1 + `
		2 c1 read grant=1
		2 c1 read ok value=0 grant=1
		3 c1 acquire
		3 c1 acquire ok
		4 c1 write value=1 grant=2
		4 c1 write ok value=1 grant=2
		5 c1 write value=2 grant=1
		5 c1 write ok value=2 grant=1`, "valid"},
	{"clients: one client computes two writes from the same value", granted1 + `
		2 c1 read
		2 c1 read ok value=0
		3 c1 write value=1
		3 c1 write ok value=1
		4 c1 read
		4 c1 read ok value=0
		5 c1 write value=2
		5 c1 write ok value=2`, `violated 4,6,8,10: c1 computed both its writes (1, ok at 3.000 s, and 2, ok at 5.000 s) from 0, which was not in place that often.`},
	{"clients: one builds on the other", clientRead + `
		3 c1 write value=1
		4 c1 write ok value=1
		5 c2 read
		5 c2 read ok value=1
		6 c2 write value=2
		7 c2 write ok value=2`, "valid"},
	{"clients: two build on the same value", clientRead + `
		3 c2 read
		3 c2 read ok value=0
		4 c1 write value=1
		4 c1 write ok value=1
		6 c2 write value=2
		7 c2 write ok value=2`, `violated 6,8,10,12: c1 and c2 both computed their writes (1, ok at 4.000 s, and 2, ok at 7.000 s) from 0, which was not in place that often.`},
	{"clients: two count one up from the same value", granted2 + `
		3 c1 read
		3 c1 read ok value=5
		3 c2 read
		3 c2 read ok value=5
		4 c1 write value=6
		4 c1 write ok value=6
		6 c2 write value=6
		7 c2 write ok value=6`, `violated 6,8,10,12: c1 and c2 both computed their writes (6, ok at 4.000 s, and 6, ok at 7.000 s) from 5, which was not in place that often.`},
	{"clients: an own write without an answer may be what one builds on", clientRead + `
		4 c1 write value=1
		5 c1 write info error=timeout
		6 c2 read
		6 c2 read ok value=0
		7 c2 write value=1
		8 c2 write ok
		9 c1' write grant=1 value=3
		9 c1' write ok grant=1`, "unknown: values were written twice or without having been read, so the order of the writes is not certain; record what each write replaced"},
	{"clients: a write without an answer does not say what was there at first", clientRead + `
		3 c2 read
		3 c2 read ok value=0
		4 c1 write value=0
		4 c2 write value=2
		5 c1 write ok
		5 c2 write ok
		6 c2 read
		6 c2 read ok value=1
		7 c2 write value=3`, "unknown: values were written twice or without having been read, so the order of the writes is not certain; record what each write replaced"},
	{"clients: two values that nobody wrote", clientRead + `
		3 c1 write value=1
		3 c1 write ok value=1
		4 c2 read
		4 c2 read ok value=9
		6 c2 write value=10
		7 c2 write ok value=10`, `violated 6,8,10,12: c1 wrote 1 over 0 and c2 wrote 10 over 9, and nobody ever wrote 0 or 9.`},
	{"clients: the values contradict the order of the lines", granted2 + `
		3 c1 read
		3 c1 read ok value=1
		3 c1 write value=2
		3 c1 write ok value=2
		4 c2 read
		4 c2 read ok value=0
		6 c2 write value=1
		7 c2 write ok value=1`, `violated 6,8,11: c1's write of 2, computed from 1, was ok at 3.000 s, before c2 invoked its write of 1 at 6.000 s, but the values say that it came after it.`},
	{"clients: the values contradict the order of the lines over a write between", granted2 + `
		2 c3 acquire
		2 c3 acquire ok
		3 c1 read
		3 c1 read ok value=2
		3 c1 write value=3
		3 c1 write ok value=3
		4 c3 read
		4 c3 read ok value=1
		5 c3 write value=2
		5 c2 read
		5 c2 read ok value=0
		6 c2 write value=1
		7 c2 write ok value=1
		8 c3 write ok value=2`, `violated 8,10,12,13,16: c1's write of 3, computed from 2, was ok at 3.000 s, before c2 invoked its write of 1 at 6.000 s, but the values say that it came after it.`},
	{"clients: a write without an answer, on which one builds, has happened", clientRead + `
		3 c1 write value=1
		4 c1 write info error=timeout
		5 c2 read
		5 c2 read ok value=1
		6 c2 write value=2
		7 c2 write ok value=2`, "valid"},
	{"clients: a write without an answer, on which nobody builds, may not have happened", clientRead + `
		3 c1 write value=1
		4 c1 write info error=timeout
		5 c2 read
		5 c2 read ok value=0
		6 c2 write value=2
		7 c2 write ok value=2`, "valid"},
	{"clients: two build on a write without an answer", clientRead + `
		3 c1 write value=1
		4 c1 write info error=timeout
		5 c1' read grant=1
		5 c1' read ok value=1 grant=1
		5 c2 read
		5 c2 read ok value=1
		6 c1' write value=2 grant=1
		6 c1' write ok value=2 grant=1
		6 c2 write value=3
		7 c2 write ok value=3`, `violated 10,12,14,16: c1 and c2 both computed their writes (2, ok at 6.000 s, and 3, ok at 7.000 s) from 1, which was not in place that often.`},
	{"clients: two locks guard two values", granted1 + `
		2 c2 acquire lock=b
		2 c2 acquire ok lock=b
		3 c1 read
		3 c1 read ok value=0
		3 c2 read lock=b
		3 c2 read ok value=0 lock=b
		4 c1 write value=1
		4 c1 write ok value=1
		6 c2 write value=1 lock=b
		7 c2 write ok value=1 lock=b`, "valid"},
	{"clients: a write that failed did not happen", clientRead + `
		3 c1 write value=1
		4 c1 write fail error=stale-token
		5 c2 read
		5 c2 read ok value=0
		6 c2 write value=2
		7 c2 write ok value=2`, "valid"},
	{"clients: values that come again", clientRead + `
		3 c1 write value=1
		4 c1 write ok value=1
		5 c1 write value=0
		6 c1 write ok value=0
		6 c1 write value=1
		6 c1 write ok value=1`, "unknown: values were written twice or without having been read, so the order of the writes is not certain; record what each write replaced"},
}
