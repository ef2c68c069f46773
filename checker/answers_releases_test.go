package checker

// expiredTold is a grant whose entry has ended, of a lock whose release tells that.
const expiredTold = `
		.tells` + keyed + `
		11 redis expire of=c1 key=k`

// releaseSpecs have releases that were ok although the entry stayed.
var releaseSpecs = []spec{
	{"a release that said yes, and the entry stays until its session is over", `
		0 c1 acquire
		1 mysql grant of=c1 by=c1 key=k
		2 c1 acquire ok
		3 c1 release
		4 c1 release ok
		6 mysql lose of=c1 key=k text=session-over`, `violated 2,4,5,6: c1 was told at 4.000 s that it released the lock, but the entry that mysql made for it at 1.000 s was still there, and ended by itself at 6.000 s.`},
	{"a release that said yes, and there was nothing to release", expiredTold + `
		12 c1 release
		13 c1 release ok`, `violated 2,4,5,6: c1 was told at 13.000 s that it released the lock, but the entry that redis made for it at 1.000 s had expired at 11.000 s, so nothing of its own was left to release.`},
	{"a release that says that there was nothing", expiredTold + `
		12 c1 release
		13 c1 release fail error=not-held`, "valid"},
	{"a lock that does not say whether there was anything to release", keyed + `
		11 redis expire of=c1 key=k
		12 c1 release
		13 c1 release ok`, "valid"},
	{"an entry that ended while it was released", `
		.tells` + keyed + `
		10 c1 release
		11 redis expire of=c1 key=k
		13 c1 release ok`, "valid"},
	{"an entry that comes back while it is released", expiredTold + `
		12 c1 release
		12 redis grant of=c1 key=k
		12 redis remove of=c1 by=c1 key=k
		13 c1 release ok`, "valid"},
	{"a release that removes an entry which had expired by then", expiredTold + `
		12 c1 release
		12 redis remove of=c1 by=c1 key=k
		13 c1 release ok`, "valid"},
	{"a release after a fault without an end, and one in which its answer may be lost", `
		.tells` + keyed + `
		3 c1 release
		3 nemesis drop-reply id=1 on=c1
		4 redis remove of=c1 by=c1 key=k
		4 nemesis drop-reply-end id=1 on=c1 hits=1
		5 c1 release fail error=not-held`, "valid"},
	{"nested grants, of which the inner one took over the entry", `
		.tells` + keyed + `
		3 c1 acquire
		3 redis takeover of=c1 by=c1 key=k
		4 c1 acquire ok
		5 c1 release grant=2
		6 c1 release ok grant=2
		7 c1 release grant=1
		8 redis remove of=c1 by=c1 key=k
		9 c1 release ok grant=1`, "valid"},
	{"a second release, after one without an answer", `
		.tells` + keyed + `
		3 c1 release
		4 redis remove of=c1 by=c1 key=k
		5 c1 release info error=timeout
		6 c1' release grant=1
		7 c1' release ok`, "valid"},
	{"a release that says that there was nothing, and removed the entry", `
		.tells` + keyed + `
		3 c1 release
		4 redis remove of=c1 by=c1 key=k
		5 c1 release fail error=not-held`, `violated 4,5,6: c1 was told at 5.000 s that it did not release the lock, but its request removed the entry at 4.000 s.`},
	{"a release that fails and has removed one entry of three", `
		.tells
		.nodes 3
		0 c1 acquire
		1 n1 grant of=c1 by=c1 key=k
		1 n2 grant of=c1 by=c1 key=k
		2 c1 acquire ok
		3 c1 release
		4 n1 remove of=c1 by=c1 key=k
		5 c1 release fail error=not-held`, "valid"},
	{"a release that said yes, and a crash takes the entry", keyedReleased + `
		6 redis lose of=c1 key=k`, "valid"},
	{"a release that said yes, and its request arrives later", keyedReleased + `
		6 redis remove of=c1 by=c1 key=k`, "valid"},
	{"a release that said yes, and the next one takes over the row when its time is over", `
		0 c1 acquire
		1 mysql grant of=c1 by=c1 key=k
		2 c1 acquire ok until=10
		3 c1 release
		4 c1 release ok
		5 c2 acquire
		11 mysql takeover of=c1 by=c2 key=k
		11 c2 acquire ok until=21`, `violated 2,4,5,7: c1 was told at 4.000 s that it released the lock, but the entry that mysql made for it at 1.000 s was still there, and was taken over only at 11.000 s.`},
	{"a release that said yes, and the next one takes over the row before its time is over", `
		0 c1 acquire
		1 mysql grant of=c1 by=c1 key=k
		2 c1 acquire ok until=10
		3 c1 release
		4 c1 release ok
		5 c2 acquire
		6 mysql takeover of=c1 by=c2 key=k
		6 c2 acquire ok until=16`, "valid"},
	{"a release while the entry ends", keyed + `
		10 c1 release
		11 redis expire of=c1 key=k
		11 c1 release ok`, "valid"},
	{"an entry that came back while it was released, and ends", keyed1 + `
		3 c1 release
		3 redis-1 remove of=c1 by=c1 key=k
		4 redis-1b promote text=redis-1
		4 redis-1b grant of=c1 key=k
		5 c1 release ok
		11 redis-1b expire of=c1 key=k`, "valid"},
	{"a release at a server that is master no longer, and the entry ends on the new one", keyed1 + `
		3 redis-1b promote text=redis-1
		4 c1 release
		5 redis-1 remove of=c1 by=c1 key=k
		5 c1 release ok
		11 redis-1b expire of=c1 key=k`, "valid"},
	{"a release that knows nothing, and the entry ends on the new master", keyed1 + `
		3 redis-1b promote text=redis-1
		4 c1 release
		5 c1 release ok
		11 redis-1b expire of=c1 key=k`, `violated 2,5,6,7: c1 was told at 5.000 s that it released the lock, but the entry that redis-1 made for it at 1.000 s was still there, and ended by itself at 11.000 s.`},
	{"a majority of three of five servers keeps the entry until it ends", `
		.nodes 5
		0 c1 acquire
		1 n1 grant of=c1 by=c1 key=k
		1 n2 grant of=c1 by=c1 key=k
		1 n3 grant of=c1 by=c1 key=k
		1 n4 grant of=c1 by=c1 key=k
		2 c1 acquire ok
		3 c1 release
		3 n1 remove of=c1 by=c1 key=k
		4 c1 release ok
		11 n2 expire of=c1 key=k
		11 n3 expire of=c1 key=k
		11 n4 expire of=c1 key=k`, `violated 3,7,9,10: c1 was told at 4.000 s that it released the lock, but the entry that n2 made for it at 1.000 s was still there, and ended by itself at 11.000 s.`},
	{"two of five servers keep the entry until it ends", `
		.nodes 5
		0 c1 acquire
		1 n1 grant of=c1 by=c1 key=k
		1 n2 grant of=c1 by=c1 key=k
		1 n3 grant of=c1 by=c1 key=k
		2 c1 acquire ok
		3 c1 release
		3 n1 remove of=c1 by=c1 key=k
		4 c1 release ok
		11 n2 expire of=c1 key=k
		11 n3 expire of=c1 key=k`, "valid"},
	{"two of five servers keep the entry up to the end", `
		.nodes 5
		0 c1 acquire
		1 n1 grant of=c1 by=c1 key=k
		1 n2 grant of=c1 by=c1 key=k
		1 n3 grant of=c1 by=c1 key=k
		2 c1 acquire ok
		3 c1 release
		3 n1 remove of=c1 by=c1 key=k
		4 c1 release ok
		30 c2 acquire`, "valid"},
	{"on a majority of the declared servers the entry ends or stays", `
		.nodes 3
		0 c1 acquire
		1 n1 grant of=c1 by=c1 key=k
		1 n2 grant of=c1 by=c1 key=k
		1 n3 grant of=c1 by=c1 key=k
		2 c1 acquire ok
		3 c1 release
		3 n1 remove of=c1 by=c1 key=k
		4 c1 release ok
		11 n2 expire of=c1 key=k
		30 c2 acquire`, `violated 4,6,8: c1 was told at 4.000 s that it released the lock, but the entry that n3 made for it at 1.000 s was still there at 30.000 s.`},
	{"an extend whose ok came between the lines of a kill", keyed + `
		3 c2 acquire
		4 redis grant of=c2 by=c2 key=k
		5 c2 acquire ok
		6 c1 extend
		7 nemesis kill id=1 on=c1
		8 c1 extend ok
		9 nemesis kill-done id=1 on=c1`, "valid"},
	{"some of an unknown number of servers keep the entry until it ends", `
		0 c1 acquire
		1 n1 grant of=c1 by=c1 key=k
		1 n2 grant of=c1 by=c1 key=k
		1 n3 grant of=c1 by=c1 key=k
		2 c1 acquire ok
		3 c1 release
		3 n1 remove of=c1 by=c1 key=k
		4 c1 release ok
		11 n2 expire of=c1 key=k
		11 n3 expire of=c1 key=k`, "valid"},
}

// renewalSpecs have extends and renewals in the background.
var renewalSpecs = []spec{
	{"an extend that said yes after another client was granted", observed + `
		11 c2 acquire
		11 c2 acquire ok until=21
		12 c2 release
		12 c2 release ok
		13 c1 extend
		13 c1 extend ok until=23`, `violated 2,4,7,8: c1 was told at 13.000 s that it still held the lock, which it was granted at 0.000 s, but c2 was granted it at 11.000 s, in between.`},
	{"the same without any time or lease", `
		.bare
		0 c1 acquire
		0 c1 acquire ok
		0 c2 acquire
		0 c2 acquire ok
		0 c1 extend
		0 c1 extend ok`, `violated 2,4,5,6: c1 was told at 0.000 s that it still held the lock, which it was granted at 0.000 s, but c2 was granted it at 0.000 s, in between.`},
	{"the other client had waited for all of the lease", `
		.observes
		0 c1 acquire
		0 c2 acquire
		0 c1 acquire ok until=10
		15 c2 acquire ok until=25
		16 c1 extend
		16 c1 extend ok until=26`, `violated 3,4,5,6: c1 was told at 16.000 s that it still held the lock, which it was granted at 0.000 s, but c2 was granted it at 15.000 s, in between.`},
	{"a later renewal of the other client does not say when it asked", `
		.observes
		0 c2 acquire
		1 c1 acquire
		2 c2 acquire ok
		3 c1 acquire ok until=13
		4 c1 extend
		5 c1 extend ok until=15
		24 c2 valid until=34`, `n/a: the history does not say what the servers did to the entries of their stores`},
	{"nor does a later extend", `
		.observes
		0 c2 acquire
		12 c1 acquire
		13 c1 acquire ok until=22
		15 c2 acquire ok
		16 c1 extend
		17 c1 extend ok until=26
		30 c2 extend
		31 c2 extend ok until=40`, `n/a: the history does not say what the servers did to the entries of their stores`},
	{"the other client may have been granted it first, and heard of it late", `
		0 c2 acquire
		0 redis grant of=c2 by=c2 key=k
		10 redis expire of=c2 key=k
		11 c1 acquire
		11 redis grant of=c1 by=c1 key=k
		11 c1 acquire ok until=21
		12 c2 acquire ok until=10
		13 c1 extend
		13 redis prolong of=c1 by=c1 key=k
		13 c1 extend ok until=23`, "valid"},
	{"the other client was granted it while the extend was under way", observed + `
		9 c1 extend
		30 c2 acquire
		30 c2 acquire ok until=40
		31 c1 extend ok until=19`, "n/a: the history does not say what the servers did to the entries of their stores"},
	{"a renewal in the background after another client held the lock", observed + `
		11 c2 acquire
		11 c2 acquire ok until=21
		12 c2 release
		12 c2 release ok
		15 c1 valid until=25`, `violated 2,4,7: c1 reported at 15.000 s that it still held the lock, which it was granted at 0.000 s, but c2 was granted it at 11.000 s, in between.`},
	{"a renewal that may have been asked for before another client was granted the lock", observed + `
		11 c2 acquire
		11 c2 acquire ok until=21
		12 c1 valid until=14`, "n/a: the history does not say what the servers did to the entries of their stores"},
	{"an extend that brought ten times the lease, and then another client was granted the lock", `
		.observes
		0 c1 acquire
		1 c1 acquire ok until=10
		2 c1 extend
		3 c1 extend ok until=100
		4 c1 release
		5 c1 release ok
		90 c2 acquire
		91 c2 acquire ok until=101`, "n/a: the history does not say what the servers did to the entries of their stores"},
	{"a renewal in the background that brought ten times the lease", `
		.observes
		0 c1 acquire
		1 c1 acquire ok until=10
		11 c2 acquire
		11 c2 acquire ok until=21
		12 c1 valid until=100`, "n/a: the history does not say what the servers did to the entries of their stores"},
	{"an extend after an acquire whose answer came late, without a lease in the header", `
		.bare
		0 c1 acquire
		9 c1 acquire ok until=10
		9 c1 extend
		9 c1 extend ok until=19
		10 c1 release
		10 c1 release ok
		11 c2 acquire
		11 c2 acquire ok until=21`, "n/a: the history does not say what the servers did to the entries of their stores"},
	{"another lock was granted in between, and the same one to the same client", `
		0 c1 acquire lock=a
		0 redis grant of=c1 by=c1 key=a
		0 c1 acquire ok until=10 lock=a
		1 c2 acquire lock=b
		1 redis grant of=c2 by=c2 key=b
		1 c2 acquire ok until=11 lock=b
		2 c1 acquire lock=a
		2 c1 acquire ok until=12 lock=a
		3 c1 extend grant=1 lock=a
		3 redis prolong of=c1 by=c1 key=a
		3 c1 extend ok until=13 grant=1 lock=a`, "valid"},
	{"a third client, and the first renewal that is wrong", observed + `
		5 c1 extend
		5 c1 extend ok until=15
		16 c2 acquire
		16 c2 acquire ok until=26
		27 c3 acquire
		27 c3 acquire ok until=37
		38 c1 extend
		38 c1 extend ok until=48
		39 c1 extend
		39 c1 extend ok until=49`, `violated 2,8,9,10: c1 was told at 38.000 s that it still held the lock, which it was granted at 0.000 s, but c3 was granted it at 27.000 s, in between.`},
	{"an extend that names its grant only when it comes back", `
		.observes
		0 c1 acquire
		0 c1 acquire ok until=10 grant=1
		1 c2 acquire
		11 c2 acquire ok until=21 grant=2
		12 c2 release grant=2
		12 c2 release ok
		13 c1 acquire
		13 c1 acquire ok until=23 grant=3
		14 c1 release grant=3
		14 c1 release fail error=not-held
		15 c1 extend
		15 c1 extend ok grant=3`, "n/a: the history does not say what the servers did to the entries of their stores"},
	{"readers do not end each other's grants", `
		.observes
		0 c1 acquire shared=true
		0 c1 acquire ok until=10 shared=true
		1 c2 acquire shared=true
		1 c2 acquire ok until=11 shared=true
		2 c1 extend
		2 c1 extend ok until=12`, "n/a: the history does not say what the servers did to the entries of their stores"},
	{"a reader's grant does not outlive a writer's", `
		.observes
		0 c1 acquire shared=true
		0 c1 acquire ok until=10 shared=true
		11 c2 acquire
		11 c2 acquire ok until=21
		12 c1 extend
		12 c1 extend ok until=22`, `violated 2,4,5,6: c1 was told at 12.000 s that it still held the lock, which it was granted at 0.000 s, but c2 was granted it at 11.000 s, in between.`},
}
