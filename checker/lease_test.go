package checker

var leaseSpecs = []spec{
	{"two readers", `
		0 c1 acquire shared=true
		1 c1 acquire ok until=11 shared=true
		2 c2 acquire shared=true
		3 c2 acquire ok until=13 shared=true`, "valid"},
	{"a reader, and who goes on after an info", `
		0 c1 acquire shared=true
		1 c1 acquire ok until=11 shared=true
		2 c1 read
		3 c1 read info error=timeout
		4 c1' acquire
		5 c1' acquire ok until=15`, "valid"},
	{"one holder after the other", leased + `
		2 c1 release
		3 c2 acquire
		4 c2 acquire ok until=14`, "valid"},
	{"a grant before the first one's deadline", leased + `
		3 c2 acquire
		4 c2 acquire ok until=14`, `violated 2,4: at 4.000 s c1 held the lock (granted at 1.000 s, valid until 11.000 s), and so did c2 (granted at 4.000 s, valid until 14.000 s).`},
	{"a grant after the first one's deadline", leased + `
		3 c2 acquire
		12 c2 acquire ok until=22
		13 c1 release`, "valid"},
	{"a grant at the very deadline", leased + `
		3 c2 acquire
		11 c2 acquire ok until=22`, "valid"},
	{"a grant just before the deadline", `
		0 c1 acquire lock=a
		1 c1 acquire ok until=11 lock=a
		3 c2 acquire lock=a
		10.999999 c2 acquire ok until=21 lock=a`, `violated 2,4: at 11.000 s c1 held "a" (granted at 1.000 s, valid until 11.000 s), and so did c2 (granted at 11.000 s, valid until 21.000 s).`},
	{"an ok that arrives after its own deadline", `
		0 c1 acquire
		1 c1 acquire ok until=30
		3 c2 acquire
		14 c2 acquire ok until=13`, "valid"},
	{"an extend moves the deadline", leased + `
		5 c1 extend
		6 c1 extend ok until=16
		7 c2 acquire
		12 c2 acquire ok until=22`, `violated 2,4,6: at 12.000 s c1 held the lock (granted at 1.000 s, valid until 16.000 s), and so did c2 (granted at 12.000 s, valid until 22.000 s).`},
	{"a renewal in the background moves the deadline", leased + `
		6 c1 valid until=16
		7 c2 acquire
		12 c2 acquire ok until=22`, `violated 2,3,5: at 12.000 s c1 held the lock (granted at 1.000 s, valid until 16.000 s), and so did c2 (granted at 12.000 s, valid until 22.000 s).`},
	{"an extend without a definite ok changes nothing", leased + `
		5 c1 extend
		6 c1 extend info until=16
		7 c2 acquire
		12 c2 acquire ok until=22`, "valid"},
	{"an extend may move the deadline nearer", `
		0 c1 acquire
		1 c1 acquire ok until=30
		5 c1 extend
		6 c1 extend ok until=8
		7 c2 acquire
		12 c2 acquire ok until=22`, "valid"},
	{"a renewal after the deadline, while somebody else holds", leased + `
		7 c2 acquire
		12 c2 acquire ok until=22
		13 c1 valid until=23`, `violated 2,4,5: at 13.000 s c2 held the lock (granted at 12.000 s, valid until 22.000 s), and so did c1 (granted at 1.000 s, valid until 23.000 s).`},
	{"a renewal after the deadline, when the other one has released", leased + `
		7 c2 acquire
		12 c2 acquire ok until=22
		13 c2 release
		14 c1 valid until=23`, "valid"},
	{"a report moves the deadline nearer, since the client's clock runs fast", leased + `
		2 nemesis rate id=1 on=c1
		2 c1 valid until=10.9
		3 c2 acquire
		10.95 c2 acquire ok until=21`, "valid"},
	{"a report moves the deadline away, since the client's clock runs slow", leased + `
		2 nemesis rate id=1 on=c1
		2 c1 valid until=11.1
		3 c2 acquire
		11.05 c2 acquire ok until=21`, `violated 2,4,6: at 11.050 s c1 held the lock (granted at 1.000 s, valid until 11.100 s), and so did c2 (granted at 11.050 s, valid until 21.000 s).`},
	{"only the last of several renewals counts", leased + `
		4 c1 valid until=30
		5 c1 valid until=12
		6 c2 acquire
		13 c2 acquire ok until=23`, "valid"},
	{"a renewal that comes while the next one is asked for", leased + `
		5 c1 extend
		6 c1 valid until=16
		7 c1 extend info error=timeout
		8 c2 acquire
		12 c2 acquire ok until=22`, `violated 2,4,7: at 12.000 s c1 held the lock (granted at 1.000 s, valid until 16.000 s), and so did c2 (granted at 12.000 s, valid until 22.000 s).`},
	{"a renewal of a holder that hangs", leased + `
		2 nemesis hang id=1 on=c1
		8 c1 valid until=18
		9 c2 acquire
		12 c2 acquire ok until=22`, `violated 2,4,6: at 12.000 s c1 held the lock (granted at 1.000 s, valid until 18.000 s), and so did c2 (granted at 12.000 s, valid until 22.000 s).`},
	{"a client that learns of its loss holds no longer", leased + `
		2 c2 acquire
		3 c1 lost
		4 c2 acquire ok until=14
		5 c1 valid until=20 grant=1`, "valid"},
	{"a release ends before the deadline does", leased + `
		2 c1 release
		3 c2 acquire
		4 c2 acquire ok until=14
		5 c2 release`, "valid"},
	{"a renewal after the release changes nothing", leased + `
		2 c1 release
		3 c1 valid until=30 grant=1
		3 c2 acquire
		4 c2 acquire ok until=14`, "valid"},
	{"a kill ends before the deadline does", leased + `
		2 nemesis kill id=1 on=c1
		3 c2 acquire
		4 c2 acquire ok until=14`, "valid"},
	{"grants that report no deadline are left out", leased + `
		2 c2 acquire
		3 c2 acquire ok`, "valid"},
	{"no grant reports a deadline", contended + `
		3 c2 acquire ok`, "n/a: no grant reports how long it is valid"},
	{"times are not known", `
		0 c1 acquire
		0 c1 acquire ok until=10
		0 c2 acquire
		0 c2 acquire ok until=21`, "n/a: the history has no times"},
	{"three in a row, and the last two overlap", leased + `
		2 c2 acquire
		12 c2 acquire ok until=22
		13 c3 acquire
		21 c3 acquire ok until=31`, `violated 4,6: at 21.000 s c2 held the lock (granted at 12.000 s, valid until 22.000 s), and so did c3 (granted at 21.000 s, valid until 31.000 s).`},
	{"a nested acquire is no other holder", leased + `
		2 c1 acquire
		3 c1 acquire ok until=13
		4 c2 acquire
		14 c2 acquire ok until=24`, "valid"},
	{"the inner of two nested holds counts too", leased + `
		2 c1 acquire
		3 c1 acquire ok until=13
		4 c2 acquire
		12 c2 acquire ok until=22`, `violated 4,6: at 12.000 s c1 held the lock (granted at 3.000 s, valid until 13.000 s), and so did c2 (granted at 12.000 s, valid until 22.000 s).`},
	{"an extend that was asked for before a renewal confirmed the grant moves its deadline", unsure + `
		2 c1' extend grant=7
		3 c1' valid grant=7 until=9
		4 c1' extend ok grant=7 until=14
		5 c2 acquire
		11 c2 acquire ok until=21`, `violated 4,5,7: at 11.000 s c1 held the lock (confirmed at 3.000 s, valid until 14.000 s), and so did c2 (granted at 11.000 s, valid until 21.000 s).`},
	{"two processes of one client", leased + `
		2 c1' acquire
		3 c1' acquire ok until=13`, `violated 2,4: at 3.000 s c1 (process 1) held the lock (granted at 1.000 s, valid until 11.000 s), and so did c1 (process 2) (granted at 3.000 s, valid until 13.000 s).`},
}
