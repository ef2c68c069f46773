package checker

var ownershipSpecs = []spec{
	{"everybody removes his own", enteredUntil + `
		3 c1 release
		4 redis remove of=c1 by=c1
		5 c1 release ok`, "valid"},
	{"an operator removes the entry of a holder: no client is to blame", enteredUntil + `
		3 nemesis entry-lost id=1 on=redis
		3 redis remove of=c1
		4 c2 acquire
		5 redis grant of=c2 by=c2
		5 c2 acquire ok until=15`, "valid"},
	{"an operator gives the entry of a holder to another: no client is to blame, nor who removes it then", enteredUntil + `
		3 nemesis entry-changed id=1 on=redis
		3 redis takeover of=c1
		4 c1 release
		5 redis remove by=c1
		5 c1 release ok
		6 c2 acquire
		7 redis grant of=c2 by=c2
		7 c2 acquire ok until=17
		8 redis takeover of=c2
		9 c3 acquire
		9 redis takeover by=c3
		9 redis grant of=c3 by=c3
		9 c3 acquire ok until=19`, "valid"},
	{"an entry that an operator changed is still its owner's", enteredUntil + `
		3 redis change of=c1
		4 c2 acquire
		5 redis remove of=c1 by=c2`, `violated 3,5,6: the acquire that c2 invoked at 4.000 s removed c1's entry for the lock at 5.000 s; c1 was granted it at 2.000 s, valid until 11.000 s, and had not invoked its release.`},
	{"a late release removes the next holder's entry", `
		0 c1 acquire lock=a
		1 redis grant of=c1 by=c1
		2 c1 acquire ok until=11 lock=a
		3 c2 acquire lock=a
		11 redis expire of=c1
		12 redis grant of=c2 by=c2
		12 c2 acquire ok until=22 lock=a
		13 c1 release lock=a
		14 redis remove of=c2 by=c1`, `violated 7,8,9: the release that c1 invoked at 13.000 s, for what it was granted at 2.000 s, removed c2's entry for "a" at 14.000 s; c2 was granted it at 12.000 s, valid until 22.000 s, and had not invoked its release.`},
	{"the same while the ok is still on its way", enteredUntil + `
		3 c2 acquire
		11 redis expire of=c1
		12 redis grant of=c2 by=c2
		13 c1 release
		14 redis remove of=c2 by=c1
		15 c2 acquire ok until=22`, `violated 7,8,9: the release that c1 invoked at 13.000 s, for what it was granted at 2.000 s, removed c2's entry for the lock at 14.000 s; c2 was granted it at 15.000 s, valid until 22.000 s, and had not invoked its release.`},
	{"an acquire that never came back ok is not protected", `
		0 c1 acquire
		2 c1 acquire ok until=11
		3 c2 acquire
		12 redis grant of=c2 by=c2
		13 c1 release
		14 redis remove of=c2 by=c1
		15 c2 acquire info error=timeout`, "valid"},
	{"nor is one that came back without an answer and was confirmed later", `
		0 c1 acquire
		0.5 redis grant of=c1 by=c1
		1 c1 acquire info error=timeout grant=1
		2 c2 release
		3 redis remove of=c1 by=c2
		4 c1' extend grant=1
		5 c1' extend ok until=15 grant=1`, "unknown: no acquire succeeded: there is nothing to judge"},
	{"an entry that is left after its deadline is not protected", enteredUntil + `
		3 c2 acquire
		11 redis takeover of=c1 by=c2
		12 c2 acquire ok until=21`, "valid"},
	{"a takeover before the deadline", enteredUntil + `
		3 c2 acquire
		10.9 redis takeover of=c1 by=c2
		12 c2 acquire ok until=21`, `violated 3,4,5: the acquire that c2 invoked at 3.000 s took over c1's entry for the lock at 10.900 s; c1 was granted it at 2.000 s, valid until 11.000 s, and had not invoked its release.`},
	{"a takeover where no deadline is reported", entered + `
		3 c2 acquire
		100 redis takeover of=c1 by=c2
		101 c2 acquire ok`, `violated 3,4,5: the acquire that c2 invoked at 3.000 s took over c1's entry for the lock at 100.000 s; c1 was granted it at 2.000 s, and had not invoked its release.`},
	{"a takeover after the release was invoked", entered + `
		3 c2 acquire
		4 c1 release
		5 redis takeover of=c1 by=c2
		6 c2 acquire ok`, "valid"},
	{"an extend that shortens another's entry", `
		0 c1 acquire
		2 c1 acquire ok until=11
		3 c2 acquire
		12 redis grant of=c2 by=c2
		13 c2 acquire ok until=30
		14 c1 extend
		15 redis shorten of=c2 by=c1`, `violated 5,6,7: the extend that c1 invoked at 14.000 s, for what it was granted at 2.000 s, shortened c2's entry for the lock at 15.000 s; c2 was granted it at 13.000 s, valid until 30.000 s, and had not invoked its release.`},
	{"an extend that prolongs another's entry", `
		0 c1 acquire
		2 c1 acquire ok until=11
		3 c2 acquire
		12 redis grant of=c2 by=c2
		13 c2 acquire ok until=30
		14 c1 extend
		15 redis prolong of=c2 by=c1`, "valid"},
	{"an acquire that removes what it thinks stale", enteredUntil + `
		3 c2 acquire
		4 redis remove of=c1 by=c2`, `violated 3,4,5: the acquire that c2 invoked at 3.000 s removed c1's entry for the lock at 4.000 s; c1 was granted it at 2.000 s, valid until 11.000 s, and had not invoked its release.`},
	{"a release without a grant", enteredUntil + `
		3 c2 release
		4 redis remove of=c1 by=c2`, `violated 3,4,5: the release that c2 invoked at 3.000 s removed c1's entry for the lock at 4.000 s; c1 was granted it at 2.000 s, valid until 11.000 s, and had not invoked its release.`},
	{"the renewed deadline protects", enteredUntil + `
		8 c1 valid until=18
		9 c2 acquire
		12 redis takeover of=c1 by=c2`, `violated 3,4,5,6: the acquire that c2 invoked at 9.000 s took over c1's entry for the lock at 12.000 s; c1 was granted it at 2.000 s, valid until 18.000 s, and had not invoked its release.`},
	{"a killed holder is protected until its deadline", enteredUntil + `
		3 nemesis kill id=1 on=c1
		4 c2 acquire
		5 redis remove of=c1 by=c2`, `violated 3,5,6: the acquire that c2 invoked at 4.000 s removed c1's entry for the lock at 5.000 s; c1 was granted it at 2.000 s, valid until 11.000 s, and had not invoked its release.`},
	{"the server's own expiry and loss", enteredUntil + `
		3 redis expire of=c1
		4 redis grant of=c1
		5 redis lose of=c1
		6 redis remove of=c1`, "valid"},
	{"an acquire that cleans up after itself and asks again", `
		0 c1 acquire
		1 redis grant of=c1 by=c1
		2 redis remove of=c1 by=c1
		3 redis grant of=c1 by=c1
		4 c1 acquire ok until=14`, "valid"},
	{"an entry was taken from an acquire that was granted anew", `
		0 c1 acquire
		1 mysql-1 grant of=c1 by=c1
		11 c2 acquire
		12 mysql-1 takeover of=c1 by=c2
		13 c2 acquire ok until=22
		14 c2 release
		15 mysql-1 remove of=c2 by=c2
		16 mysql-1 grant of=c1 by=c1
		17 c1 acquire ok until=26`, "valid"},
	{"the same where it takes over", `
		0 c1 acquire
		1 mysql-1 grant of=c1 by=c1
		11 c2 acquire
		12 mysql-1 takeover of=c1 by=c2
		13 c2 acquire ok until=22
		23 mysql-1 takeover of=c2 by=c1
		24 c1 acquire ok until=33`, "valid"},
	{"its entry on another server does not make up for that", `
		0 c1 acquire
		1 redis-1 grant of=c1 by=c1
		2 c2 acquire
		3 redis-1 remove of=c1 by=c2
		4 redis-2 grant of=c1 by=c1
		5 c1 acquire ok until=14`, `violated 3,4,6: the acquire that c2 invoked at 2.000 s removed c1's entry for the lock at 3.000 s; c1 was granted it at 5.000 s, valid until 14.000 s, and had not invoked its release.`},
	{"nor does an entry that is made after the ok", `
		0 c1 acquire
		1 redis-1 grant of=c1 by=c1
		2 c2 acquire
		3 redis-1 remove of=c1 by=c2
		4 c1 acquire ok until=14
		5 redis-1 grant of=c1 by=c1`, `violated 3,4,5: the acquire that c2 invoked at 2.000 s removed c1's entry for the lock at 3.000 s; c1 was granted it at 4.000 s, valid until 14.000 s, and had not invoked its release.`},
	{"the inner release of a nested acquire", `
		0 c1 acquire
		1 redis grant of=c1 by=c1
		2 c1 acquire ok until=12
		3 c1 acquire
		4 c1 acquire ok until=14
		5 c1 release
		6 redis remove by=c1 grant=1`, "valid"},
	{"an entry is removed from one of several servers", `
		0 c1 acquire
		1 redis-1 grant of=c1 by=c1
		1 redis-2 grant of=c1 by=c1
		1 redis-3 grant of=c1 by=c1
		2 c1 acquire ok until=11
		3 c2 acquire
		4 redis-2 remove of=c1 by=c2`, `violated 5,6,7: the acquire that c2 invoked at 3.000 s removed c1's entry for the lock at 4.000 s; c1 was granted it at 2.000 s, valid until 11.000 s, and had not invoked its release.`},
	{"an acquire that was refused removes what it has left on the servers", `
		0 c1 acquire
		1 redis-1 grant of=c1 by=c1
		1 redis-2 grant of=c1 by=c1
		2 c2 acquire
		3 redis-3 grant of=c2 by=c2
		4 redis-3 remove of=c2 by=c2
		4 c2 acquire fail error=held
		5 c1 acquire ok until=11`, "valid"},
	{"an extend puts another entry in the place of its own", entered1 + `
		3 c1 extend
		4 redis-1 remove of=c1 by=c1
		4 redis-1 grant from=c1 by=c1
		5 c1 extend ok until=14
		6 c1 extend
		7 redis-1 remove grant=1 by=c1`, "valid"},
	{"an entry that an extend made is protected, also while its answer is on its way", entered1 + `
		3 c1 extend
		4 redis-1 takeover of=c1 by=c1
		4 redis-1 grant from=c1 by=c1
		5 c2 acquire
		6 redis-1 takeover from=c1 by=c2`, `violated 3,7,8: the acquire that c2 invoked at 5.000 s took over c1's entry for the lock at 6.000 s; c1 was granted it at 2.000 s, valid until 11.000 s, and had not invoked its release.`},
	{"a deadline that was moved nearer protects no longer", entered1 + `
		3 nemesis rate id=1 on=c1
		3 c1 valid until=10.9
		9 c2 acquire
		10.95 redis-1 takeover of=c1 by=c2`, "valid"},
	{"a deadline that was moved away protects for longer", entered1 + `
		3 nemesis rate id=1 on=c1
		3 c1 valid until=11.1
		9 c2 acquire
		11.05 redis-1 takeover of=c1 by=c2`, `violated 3,5,6,7: the acquire that c2 invoked at 9.000 s took over c1's entry for the lock at 11.050 s; c1 was granted it at 2.000 s, valid until 11.100 s, and had not invoked its release.`},
	{"a renewal protects the entry of a hung holder", entered1 + `
		3 nemesis hang id=1 on=c1
		8 c1 valid until=18
		9 c2 acquire
		12 redis-1 remove of=c1 by=c2`, `violated 3,5,6,7: the acquire that c2 invoked at 9.000 s removed c1's entry for the lock at 12.000 s; c1 was granted it at 2.000 s, valid until 18.000 s, and had not invoked its release.`},
	{"entries that a new master had not got, and entries that it brings back", entered1 + `
		3 c2 acquire
		4 redis-1b promote text=redis-1
		4 redis-1b lose of=c1
		4 redis-1b grant of=c1
		4 redis-1b shorten of=c1`, "valid"},
	{"the history has no lines of servers", `
		.observes answers
		0 c1 acquire
		1 c1 acquire ok`, "n/a: the history does not say what the servers did to the entries of their stores"},
	{"a bare history without lines of servers", `
		.bare
		0 c1 acquire
		1 c1 acquire ok`, "n/a: the history does not say what the servers did to the entries of their stores"},
	{"a header that does not say what was seen", `
		.observes
		0 c1 acquire
		1 redis grant of=c1 by=c1
		2 c1 acquire ok`, `n/a: the history does not record all that the servers did: the header's "observes" does not name "ownership"`},
	{"a takeover that may have come after the deadline, without times", `
		0 c1 acquire
		0 redis grant of=c1 by=c1
		0 c1 acquire ok until=10
		0 c2 acquire
		0 redis takeover of=c1 by=c2
		0 c2 acquire ok until=21`, "unknown: the history has no times, so it is unknown whether a deadline had passed"},
	{"a takeover where no deadline is reported, without times", `
		0 c1 acquire
		0 redis grant of=c1 by=c1
		0 c1 acquire ok
		0 c2 acquire
		0 redis takeover of=c1 by=c2`, `violated 3,4,5: the acquire that c2 invoked at 0.000 s took over c1's entry for the lock at 0.000 s; c1 was granted it at 0.000 s, and had not invoked its release.`},
	{"a bare history with lines of servers", `
		.bare
		0 c1 acquire
		1 redis grant of=c1 by=c1
		2 c1 acquire ok
		3 c2 release
		4 redis remove of=c1 by=c2`, `violated 3,4,5: the release that c2 invoked at 3.000 s removed c1's entry for the lock at 4.000 s; c1 was granted it at 2.000 s, and had not invoked its release.`},
}
