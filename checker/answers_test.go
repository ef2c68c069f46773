package checker

var answersSpecs = []spec{
	{"yes was yes, and no was no", keyed + `
		3 c2 try
		4 c2 try fail error=held
		5 c1 release
		6 redis remove of=c1 by=c1 key=k
		7 c1 release ok`, "valid"},
	{"a no, and the entry is there", `
		0 c1 acquire
		1 redis grant of=c1 by=c1 key=k
		2 c1 acquire fail error=held
		11 redis expire of=c1 key=k
		12 c1 acquire
		13 redis grant of=c1 by=c1 key=k
		14 c1 acquire ok`, `violated 1,2,3: c1 was told at 2.000 s that it did not get the lock, but redis held its entry since 1.000 s, which stayed until 11.000 s.`},
	{"a no, and the entry stays", `
		0 c1 try lock=a
		1 redis grant of=c1 by=c1 key=k
		2 c1 try fail error=held lock=a`, `violated 1,2,3: c1 was told at 2.000 s that it did not get "a", but redis held its entry since 1.000 s, which was still there at the end.`},
	{"a no after the entry was removed again", `
		0 c1 acquire
		1 redis grant of=c1 by=c1 key=k
		2 redis remove of=c1 by=c1 key=k
		3 c1 acquire fail error=held
		4 c2 acquire
		5 redis grant of=c2 by=c2 key=k
		6 c2 acquire ok`, "valid"},
	{"a no, and one of several servers still has the entry", `
		0 c1 acquire
		1 n1 grant of=c1 by=c1 key=k
		1 n2 grant of=c1 by=c1 key=k
		2 n1 remove of=c1 by=c1 key=k
		3 c1 acquire fail error=held`, `violated 1,3,5: c1 was told at 3.000 s that it did not get the lock, but n2 held its entry since 1.000 s, which was still there at the end.`},
	{"a no, and the request arrives only afterwards", `
		0 c1 acquire
		2 c1 acquire fail error=held
		3 redis grant of=c1 by=c1 key=k
		4 c2 acquire
		5 redis grant of=c2 by=c2 key=k2
		6 c2 acquire ok`, "valid"},
	{"a no after taking over", keyed + `
		3 c2 acquire
		4 redis takeover of=c1 by=c2 key=k
		5 c2 acquire fail error=held`, `violated 4,5,6: c2 was told at 5.000 s that it did not get the lock, but redis held its entry since 4.000 s, which was still there at the end.`},
	{"no answer is never judged", `
		0 c1 acquire
		1 redis grant of=c1 by=c1 key=k
		2 c1 acquire info error=timeout
		11 redis expire of=c1 key=k
		12 c2 acquire
		13 redis grant of=c2 by=c2 key=k
		14 c2 acquire ok`, "valid"},
	{"a release whose entry an operator had changed", keyed + `
		3 nemesis entry-changed id=1 on=redis
		3 redis takeover of=c1 key=k
		4 c1 release
		5 c1 release ok
		11 redis expire key=k`, "valid"},
	{"a yes by taking over what an operator had changed", keyed + `
		3 redis takeover of=c1 key=k
		4 c2 acquire
		5 redis takeover by=c2 key=k
		5 redis grant of=c2 by=c2 key=k
		6 c2 acquire ok`, "valid"},
	{"a yes that no server knows of", keyed + `
		3 c2 acquire
		4 c2 acquire ok`, `violated 4,5: c2 was told at 4.000 s that it got the lock, for which it had asked at 3.000 s, and no server had granted it.`},
	{"a yes before the server granted it", `
		0 c1 acquire
		2 c1 acquire ok
		3 redis grant of=c1 by=c1 key=k`, `violated 1,2: c1 was told at 2.000 s that it got the lock, for which it had asked at 0.000 s, and no server had granted it.`},
	{"a yes by takeover", keyed + `
		3 c2 acquire
		13 redis takeover of=c1 by=c2 key=k
		14 c2 acquire ok`, "valid"},
	{"a yes by recognising an entry of one's own", `
		0 c1 acquire
		1 redis grant of=c1 by=c1 key=k
		2 redis prolong of=c1 by=c1 key=k
		3 c1 acquire ok`, "valid"},
	{"a nested yes rests on the entry that is there", keyed + `
		3 c1 acquire
		4 c1 acquire ok`, "valid"},
	{"a release that said yes, and T later the entry is there", keyedReleased + `
		5 c2 try
		15 c2 try fail error=held`, `violated 2,4,5: c1 was told at 4.000 s that it released the lock, but the entry that redis made for it at 1.000 s was still there at 15.000 s.`},
	{"a release that said yes, and the history ends before T has passed", keyedReleased + `
		5 c2 try
		14.9 c2 try fail error=held`, "valid"},
	{"a release that said yes, without any T", `
		.lease 0s
		0 c1 acquire
		1 redis grant of=c1 by=c1 key=k
		2 c1 acquire ok
		3 c1 release
		4 c1 release ok`, "valid"},
	{"a release that said yes, and the entry went by itself", keyedReleased + `
		11 redis expire of=c1 key=k
		50 c2 try
		50 c2 try fail error=held`, `violated 2,4,5,6: c1 was told at 4.000 s that it released the lock, but the entry that redis made for it at 1.000 s was still there, and ended by itself at 11.000 s.`},
	{"a release that said no is not held to it", keyed + `
		3 c1 release
		4 c1 release fail error=not-held
		50 c2 try
		50 c2 try fail error=held`, "valid"},
	{"a release that one of several servers did not see", `
		0 c1 acquire
		1 n1 grant of=c1 by=c1 key=k
		1 n2 grant of=c1 by=c1 key=k
		2 c1 acquire ok
		3 c1 release
		4 n1 remove of=c1 by=c1 key=k
		4 c1 release ok
		50 c2 try
		50 c2 try fail error=held`, `violated 3,5,7: c1 was told at 4.000 s that it released the lock, but the entry that n2 made for it at 1.000 s was still there at 50.000 s.`},
	{"an entry that a new master removes", keyed1 + `
		3 c1 release
		4 redis-2 remove of=c1 by=c1 key=k
		4 c1 release ok
		50 c2 try
		50 c2 try fail error=held`, "valid"},
	{"an entry that the new master had not got", keyed1 + `
		3 redis-1b promote text=redis-1
		3 redis-1b lose of=c1 key=k
		4 c1 release
		4 c1 release ok
		50 c2 try
		50 c2 try fail error=held`, "valid"},
	{"an entry that the new master had, and that stays there", keyed1 + `
		3 redis-1b promote text=redis-1
		4 c1 release
		4 c1 release ok
		50 c2 try
		50 c2 try fail error=held`, `violated 2,5,6: c1 was told at 4.000 s that it released the lock, but the entry that redis-1 made for it at 1.000 s was still there at 50.000 s.`},
	{"a new master speaks of its own node's entry", `
		0 c1 acquire
		1 redis-3 grant of=c1 by=c1 key=k
		1 redis-2 grant of=c1 by=c1 key=k
		2 c1 acquire ok
		3 redis-3b promote text=redis-3
		3 redis-3b lose of=c1 key=k
		4 c1 release
		5 redis-2 remove of=c1 by=c1 key=k
		5 c1 release ok
		50 c2 try
		50 c2 try fail error=held`, "valid"},
	{"a new master lost its entry, and the one of another node stays", `
		0 c1 acquire
		1 redis-3 grant of=c1 by=c1 key=k
		1 redis-2 grant of=c1 by=c1 key=k
		2 c1 acquire ok
		3 redis-3b promote text=redis-3
		3 redis-3b lose of=c1 key=k
		5 c1 release
		5 c1 release ok
		50 c2 try
		50 c2 try fail error=held`, `violated 3,7,8: c1 was told at 5.000 s that it released the lock, but the entry that redis-2 made for it at 1.000 s was still there at 50.000 s.`},
	{"a release at a server that is master no longer", keyed1 + `
		3 redis-1b promote text=redis-1
		4 c1 release
		5 redis-1 remove of=c1 by=c1 key=k
		5 c1 release ok
		50 c2 try
		50 c2 try fail error=held`, `violated 2,5,7: c1 was told at 5.000 s that it released the lock, but the entry that redis-1 made for it at 1.000 s was still there at 50.000 s.`},
	{"a grant and a release at the old master, which is cut off", `
		0 nemesis partition-servers id=1 on=redis-1
		1 redis-1b promote text=redis-1
		2 c1 acquire
		2 redis-1 grant of=c1 by=c1 key=k
		3 c1 acquire ok
		4 c2 acquire
		4 redis-1b grant of=c2 by=c2 key=k
		5 c2 acquire ok
		6 c1 release
		6 redis-1 remove of=c1 by=c1 key=k
		6 c1 release ok
		7 c2 release
		7 redis-1b remove of=c2 by=c2 key=k
		7 c2 release ok
		50 c3 try
		50 c3 try fail error=held`, "valid"},
	{"an entry comes back whose removal a failover lost, and goes", keyed1 + `
		3 c1 release
		3 redis-1 remove of=c1 by=c1 key=k
		3 c1 release ok
		4 redis-1b promote text=redis-1
		4 redis-1b grant of=c1 key=k
		11 redis-1b expire of=c1 key=k
		50 c2 try
		50 c2 try fail error=held`, "valid"},
	{"an entry comes back and has not had its time", keyed1 + `
		3 c1 release
		3 redis-1 remove of=c1 by=c1 key=k
		3 c1 release ok
		8 redis-1b promote text=redis-1
		8 redis-1b grant of=c1 key=k
		17.9 c2 try
		17.9 c2 try fail error=held`, "valid"},
	{"an entry comes back and stays", keyed1 + `
		3 c1 release
		3 redis-1 remove of=c1 by=c1 key=k
		3 c1 release ok
		8 redis-1b promote text=redis-1
		8 redis-1b grant of=c1 key=k
		19 c2 try
		19 c2 try fail error=held`, `violated 4,6,8: c1 was told at 3.000 s that it released the lock, but from 8.000 s on redis-1b had an entry for it again, which was still there at 19.000 s.`},
	{"an entry comes back because a crash lost its removal, and has not had its time", keyed + `
		3 c1 release
		3 redis remove of=c1 by=c1 key=k
		3 c1 release ok
		8 redis grant of=c1 key=k
		17.9 c2 try
		17.9 c2 try fail error=held`, "valid"},
	{"an entry comes back because a crash lost its removal, and stays", keyed + `
		3 c1 release
		3 redis remove of=c1 by=c1 key=k
		3 c1 release ok
		8 redis grant of=c1 key=k
		19 c2 try
		19 c2 try fail error=held`, `violated 4,6,7: c1 was told at 3.000 s that it released the lock, but from 8.000 s on redis had an entry for it again, which was still there at 19.000 s.`},
	{"a no is true though its entry comes back later", `
		0 c1 acquire
		1 redis-1 grant of=c1 by=c1 key=k
		2 redis-1 remove of=c1 by=c1 key=k
		3 c1 acquire fail error=held
		4 redis-1b promote text=redis-1
		4 redis-1b grant of=c1 key=k
		5 c2 acquire
		5 redis-1b takeover of=c1 by=c2 key=k
		6 c2 acquire ok`, "valid"},
	{"a no of a quorum that left nothing on any server", `
		0 c1 acquire
		1 redis-1 grant of=c1 by=c1 key=k
		1 redis-2 grant of=c1 by=c1 key=k
		2 redis-1 remove of=c1 by=c1 key=k
		2 redis-2 expire of=c1 key=k
		3 c1 acquire fail error=held
		4 c2 acquire
		5 redis-3 grant of=c2 by=c2 key=k
		6 c2 acquire ok`, "valid"},
	{"a yes of a quorum needs one server", `
		0 c1 acquire
		1 redis-3 grant of=c1 by=c1 key=k
		1 redis-3 lose of=c1 key=k
		2 c1 acquire ok`, "valid"},
	{"an entry that an extend put in the place of the first goes with the release", `
		0 c1 acquire
		1 redis-1 grant of=c1 by=c1 key=k
		2 c1 acquire ok until=11
		3 c1 extend
		4 redis-1 remove of=c1 by=c1 key=k
		4 redis-1 grant from=c1 by=c1 key=k
		5 c1 extend ok until=14
		6 c1 extend
		7 redis-1 remove grant=1 by=c1 key=k
		7 redis-1 grant from=c1 by=c1 key=k
		8 c1 extend ok until=17
		9 c1 release
		9 redis-1 remove grant=1 by=c1 key=k
		9 c1 release ok
		50 c2 try
		50 c2 try fail error=held`, "valid"},
	{"an entry that an extend put in the place of the first stays", `
		0 c1 acquire
		1 redis-1 grant of=c1 by=c1 key=k
		2 c1 acquire ok until=11
		3 c1 extend
		4 redis-1 takeover of=c1 by=c1 key=k
		4 redis-1 grant from=c1 by=c1 key=k
		5 c1 extend ok until=14
		9 c1 release
		9 c1 release ok
		50 c2 try
		50 c2 try fail error=held`, `violated 5,8,9: c1 was told at 9.000 s that it released the lock, but the entry that redis-1 made for it at 4.000 s was still there at 50.000 s.`},
	{"a request of the acquire arrives after the release, and its entry has its time", `
		0 c1 acquire
		1 redis-1 grant of=c1 by=c1 key=k
		1 redis-2 grant of=c1 by=c1 key=k
		2 c1 acquire ok
		3 c1 release
		3 redis-1 remove of=c1 by=c1 key=k
		3 redis-2 remove of=c1 by=c1 key=k
		3 c1 release ok
		9 redis-3 grant from=c1 by=c1 key=k
		14 c2 try
		14 c2 try fail error=held`, "valid"},
	{"the first lie in the order of lines", keyedReleased + `
		5 c2 acquire
		6 c2 acquire ok
		50 c3 try
		50 c3 try fail error=held`, `violated 2,4,5: c1 was told at 4.000 s that it released the lock, but the entry that redis made for it at 1.000 s was still there at 50.000 s.`},
	{"a bare history with lines of servers may have left some out", `
		.bare
		0 c1 acquire
		1 c1 acquire ok
		11 redis expire of=c1`, `n/a: the history does not record all that the servers did: the header's "observes" does not name "answers"`},
	{"a header that does not say what was seen", `
		.observes
		0 c1 acquire
		1 redis grant of=c1 by=c1
		2 c1 acquire ok`, `n/a: the history does not record all that the servers did: the header's "observes" does not name "answers"`},
	{"the history has no lines of servers", `
		.observes ownership
		0 c1 acquire
		1 c1 acquire ok`, "n/a: the history does not say what the servers did to the entries of their stores"},
}
