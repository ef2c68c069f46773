package checker

var fencingSpecs = []spec{
	{"tokens grow", `
		0 c1 acquire
		1 c1 acquire ok token=1
		2 c2 acquire
		3 c2 acquire ok token=2
		4 c3 acquire
		5 c3 acquire ok token=7`, "valid"},
	{"tokens fall", `
		0 c1 acquire
		1 c1 acquire ok token=2
		2 c2 acquire
		3 c2 acquire ok token=1`, `violated 2,3,4: c1 was granted the lock at 1.000 s with token 2; c2 asked after that, at 2.000 s, and got the smaller token 1 at 3.000 s.`},
	{"the same token one after the other", `
		0 c1 acquire lock=a
		1 c1 acquire ok token=2 lock=a
		2 c2 acquire lock=a
		3 c2 acquire ok token=2 lock=a`, `violated 2,4: c1 was granted "a" at 1.000 s with token 2, and c2 at 3.000 s with the same token.`},
	{"the same token for acquires that overlap", `
		0 c1 acquire
		0 c2 acquire
		1 c1 acquire ok token=2
		3 c2 acquire ok token=2`, `violated 3,4: c1 was granted the lock at 1.000 s with token 2, and c2 at 3.000 s with the same token.`},
	{"the same token a while later", `
		0 c1 acquire
		0 c2 acquire
		0 c3 acquire
		1 c1 acquire ok token=2
		2 c2 acquire ok token=3
		3 c3 acquire ok token=2`, `violated 4,6: c1 was granted the lock at 1.000 s with token 2, and c3 at 3.000 s with the same token.`},
	{"acquires that overlap are not ordered", `
		0 c1 acquire
		0 c2 acquire
		1 c1 acquire ok token=2
		3 c2 acquire ok token=1`, "valid"},
	{"the order holds over a grant in between", `
		0 c1 acquire
		0 c2 acquire
		1 c1 acquire ok token=5
		2 c2 acquire ok token=3
		3 c3 acquire
		4 c3 acquire ok token=4`, `violated 3,5,6: c1 was granted the lock at 1.000 s with token 5; c3 asked after that, at 3.000 s, and got the smaller token 4 at 4.000 s.`},
	{"an ok counts from its arrival on", `
		0 c1 acquire
		1 c2 acquire
		2 c1 acquire ok token=5
		3 c2 acquire ok token=3
		4 c3 acquire
		5 c3 acquire ok token=6`, "valid"},
	{"tokens of two locks have nothing to do with each other", `
		0 c1 acquire lock=a
		1 c1 acquire ok token=5 lock=a
		2 c2 acquire lock=b
		3 c2 acquire ok token=5 lock=b
		4 c3 acquire lock=b
		5 c3 acquire ok token=6 lock=b`, "valid"},
	{"tokens of one of two locks fall", `
		0 c1 acquire lock=a
		1 c1 acquire ok token=5 lock=a
		2 c2 acquire lock=b
		3 c2 acquire ok token=9 lock=b
		4 c3 acquire lock=a
		5 c3 acquire ok token=4 lock=a`, `violated 2,5,6: c1 was granted "a" at 1.000 s with token 5; c3 asked after that, at 4.000 s, and got the smaller token 4 at 5.000 s.`},
	{"a counter that starts anew", `
		0 c1 acquire
		1 c1 acquire ok token=1
		2 c1 release
		3 c1 release ok
		4 c1 acquire
		5 c1 acquire ok token=1`, `violated 2,6: c1 was granted the lock at 1.000 s with token 1, and c1 at 5.000 s with the same token.`},
	{"a counter that starts anew and goes on", `
		0 c1 acquire
		1 c1 acquire ok token=8
		4 c2 acquire
		5 c2 acquire ok token=1
		6 c3 acquire
		7 c3 acquire ok token=2`, `violated 2,3,4: c1 was granted the lock at 1.000 s with token 8; c2 asked after that, at 4.000 s, and got the smaller token 1 at 5.000 s.`},
	{"a nested acquire may get the token that its process has", `
		0 c1 acquire
		1 c1 acquire ok token=5
		2 c1 acquire
		2 c1 acquire ok token=5
		3 c1 acquire
		3 c1 acquire ok token=5
		4 c2 acquire
		5 c2 acquire ok token=6`, "valid"},
	{"a nested acquire gets the token of somebody else", `
		0 c1 acquire
		0 c2 acquire
		1 c1 acquire ok token=5
		2 c2 acquire ok token=6
		3 c1 acquire
		4 c1 acquire ok token=6`, `violated 4,6: c2 was granted the lock at 2.000 s with token 6, and c1 at 4.000 s with the same token.`},
	{"a nested acquire that comes back while its client is killed", `
		0 c1 acquire
		1 c1 acquire ok token=5
		2 c1 acquire
		3 nemesis kill id=1 on=c1
		4 c1 acquire ok token=5
		5 nemesis kill-done id=1 on=c1`, "valid"},
	{"both grants come back while their client is killed", `
		0 c1 acquire
		1 nemesis kill id=1 on=c1
		2 c1 acquire ok token=5
		3 c1 acquire
		4 c1 acquire ok token=5
		5 nemesis kill-done id=1 on=c1`, "valid"},
	{"a client that is killed releases a nested grant and gets it again", `
		0 c1 acquire
		1 c1 acquire ok token=5 grant=1
		2 c1 acquire
		3 c1 acquire ok token=5 grant=2
		3 c1 release grant=2
		3 c1 release ok
		4 c1 acquire
		5 nemesis kill id=1 on=c1
		6 c1 acquire ok token=5 grant=3
		6 c1 release grant=3
		6 c1 release ok
		7 c1 acquire
		8 c1 acquire ok token=5 grant=4
		9 nemesis kill-done id=1 on=c1`, "valid"},
	{"a client that is killed releases and acquires again", `
		0 c1 acquire
		1 c1 acquire ok token=5 grant=1
		2 nemesis kill id=1 on=c1
		3 c1 release grant=1
		3 c1 release ok
		4 c1 acquire
		5 c1 acquire ok token=5 grant=2
		6 nemesis kill-done id=1 on=c1`, `violated 2,7: c1 was granted the lock at 1.000 s with token 5, and c1 at 5.000 s with the same token.`},
	{"a client that was killed before gets its old token", `
		0 c1 acquire
		1 c1 acquire ok token=5
		2 nemesis kill id=1 on=c1
		3 nemesis kill-done id=1 on=c1
		4 c1' acquire
		5 c1' acquire ok token=5`, `violated 2,6: c1 (process 1) was granted the lock at 1.000 s with token 5, and c1 (process 2) at 5.000 s with the same token.`},
	{"grants without a token are left out", `
		0 c1 acquire
		1 c1 acquire ok token=1
		2 c2 acquire
		3 c2 acquire ok
		4 c3 acquire
		5 c3 acquire ok token=2`, "valid"},
	{"no grant has a token", granted1, "n/a: no grant has a token"},
	{"a token that no client got", `
		0 c1 acquire
		1 c1 acquire info token=9
		2 c2 acquire
		3 c2 acquire ok token=2`, "valid"},
	{"no client got the lock", `
		0 c1 acquire
		1 c1 acquire fail`, "unknown: no acquire succeeded: there is nothing to judge"},
}
