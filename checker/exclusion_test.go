package checker

var exclusionSpecs = []spec{
	{"one holder after the other", released + `
		4 c2 acquire ok
		5 c1 release ok`, "valid"},
	{"a second grant before the release", `
		0 c1 acquire
		0.003 c1 acquire ok
		1 c2 acquire
		10.104 c2 acquire ok
		12.01 c1 release`, `violated 2,4,5: c1 was granted the lock at 0.003 s and held it until 12.010 s, and c2 was granted it at 10.104 s.`},
	{"a second grant, and the first was never released", `
		0 c1 acquire lock=a
		1 c1 acquire ok lock=a
		1 c2 acquire lock=a
		2 c2 acquire ok lock=a
		3 c2 release lock=a`, `violated 2,4: c1 was granted "a" at 1.000 s and was still holding it, and c2 was granted it at 2.000 s.`},
	{"two locks have nothing to do with each other", `
		0 c1 acquire lock=a
		1 c1 acquire ok lock=a
		1 c2 acquire lock=b
		2 c2 acquire ok lock=b`, "valid"},
	{"a client that goes on after an info is the same holder", extended + `
		3 c1 extend info error=timeout
		4 c1' acquire
		5 c1' acquire ok`, "valid"},
	{"processes of one client that work side by side are not", granted1 + `
		4 c1' acquire
		5 c1' acquire ok`, `violated 2,4: c1 (process 1) was granted the lock at 1.000 s and was still holding it, and c1 (process 2) was granted it at 5.000 s.`},
	{"readers hold together", `
		0 c1 acquire shared=true
		1 c1 acquire ok shared=true
		2 c2 acquire shared=true
		3 c2 acquire ok shared=true`, "valid"},
	{"a writer among readers", `
		0 c1 acquire shared=true
		1 c1 acquire ok shared=true
		2 c2 acquire shared=true
		3 c2 acquire ok shared=true
		4 c2 acquire
		5 c2 acquire ok`, `violated 2,6: c1 was granted the lock at 1.000 s and was still holding it, and c2 was granted it at 5.000 s.`},
	{"a reader while somebody writes", granted1 + `
		2 c2 acquire shared=true
		3 c2 acquire ok shared=true`, `violated 2,4: c1 was granted the lock at 1.000 s and was still holding it, and c2 was granted it at 3.000 s.`},
	{"a hold ends when its release is invoked, whatever comes of it", granted1 + `
		2 c1 release
		2 c2 acquire
		3 c2 acquire ok
		4 c1 release fail error=not-held`, "valid"},
	{"a hold ends with an extend that says lost", extended + `
		3 c1 extend fail error=lost
		4 c2 acquire
		5 c2 acquire ok`, "valid"},
	{"a hold ends with an extend that says not-held", extended + `
		3 c1 extend fail error=not-held
		4 c2 acquire
		5 c2 acquire ok`, "valid"},
	{"a hold survives an extend that fails for another reason", extended + `
		3 c1 extend fail error=unavailable
		4 c2 acquire
		5 c2 acquire ok`, `violated 2,6: c1 was granted the lock at 1.000 s and was still holding it, and c2 was granted it at 5.000 s.`},
	{"a hold survives an extend without an answer", extended + `
		3 c1 extend info error=timeout
		4 c2 acquire
		5 c2 acquire ok`, `violated 2,6: c1 was granted the lock at 1.000 s and was still holding it, and c2 was granted it at 5.000 s.`},
	{"a hold ends when the lock reports its loss", granted1 + `
		2 c1 lost
		4 c2 acquire
		5 c2 acquire ok`, "valid"},
	{"a hold ends when its client is killed", granted1 + `
		2 nemesis kill id=1 on=c1
		4 c2 acquire
		5 c2 acquire ok`, "valid"},
	{"a hold ends when its client loses power", granted1 + `
		2 nemesis poweroff id=1 on=c1
		4 c2 acquire
		5 c2 acquire ok`, "valid"},
	{"the kill of another client ends nothing", granted1 + `
		2 nemesis kill id=1 on=c3
		4 c2 acquire
		5 c2 acquire ok`, `violated 2,5: c1 was granted the lock at 1.000 s and was still holding it, and c2 was granted it at 5.000 s.`},
	{"a client that is killed in a pause held until the pause began", contended + `
		2 nemesis pause id=1 on=c1
		5 c2 acquire ok
		6 nemesis kill id=2 on=c1`, "valid"},
	{"a client that is paused holds", contended + `
		2 nemesis pause id=1 on=c1
		5 c2 acquire ok
		6 nemesis pause-end id=1 on=c1
		7 c1 release`, `violated 2,5,7: c1 was granted the lock at 1.000 s and held it until 7.000 s, and c2 was granted it at 5.000 s.`},
	{"a pause whose end has one line is over there, though its start has two", `
		0 nemesis pause id=1 on=c1
		1 nemesis pause-done id=1 on=c1
		2 nemesis pause-end id=1 on=c1
		3 c1 acquire
		4 c1 acquire ok
		5 c2 acquire
		6 c2 acquire ok
		7 nemesis kill id=2 on=c1`, `violated 5,7,8: c1 was granted the lock at 4.000 s and held it until 7.000 s, and c2 was granted it at 6.000 s.`},
	{"a pause whose end has two lines lasts up to the second, though its start has one", granted1 + `
		2 nemesis pause id=1 on=c1
		3 c2 acquire
		4 c2 acquire ok
		5 nemesis pause-end id=1 on=c1
		6 nemesis kill id=2 on=c1
		7 nemesis pause-end-done id=1 on=c1`, "valid"},
	{"a request between the lines of a kill belongs to the life that ends", `
		0 nemesis kill id=1 on=c2
		0 c2 acquire
		1 c2 acquire ok
		2 nemesis kill-done id=1 on=c2
		3 c1 acquire
		4 c1 acquire ok`, "valid"},
	{"the second line of a kill says nothing of another kill without an id", `
		0 nemesis kill on=c1
		1 c1 acquire
		2 c1 acquire ok
		3 c2 acquire
		4 c2 acquire ok
		5 nemesis kill on=c2
		6 nemesis kill-done on=c2`, `violated 3,5: c1 was granted the lock at 2.000 s and was still holding it, and c2 was granted it at 4.000 s.`},
	{"a request after one death, before another is certain, belongs to the old life", `
		0 nemesis kill id=1 on=c1
		1 nemesis poweroff id=2 on=c1
		2 nemesis poweroff-done id=2 on=c1
		3 c1 acquire
		4 c1 acquire ok
		5 nemesis kill-done id=1 on=c1
		6 c2 acquire
		7 c2 acquire ok`, "valid"},
	{"a client that dies again without a fault held until the kill before", `
		0 c2 acquire
		1 c1 acquire
		2 c2 acquire ok
		3 c1 acquire ok
		4 nemesis kill id=1 on=c2
		5 c2 release
		6 c2 release info error=crashed`, `violated 3,4,5: c2 was granted the lock at 2.000 s and held it until 4.000 s, and c1 was granted it at 3.000 s.`},
	{"a kill in a pause that began in an earlier life", `
		0 c1 acquire
		1 nemesis pause id=1 on=c1
		2 nemesis pause-end id=1 on=c1
		3 c1 acquire ok
		4 c2 acquire
		5 c2 acquire ok
		6 c1 extend
		7 c1 extend ok
		8 nemesis exit on=c1
		9 c1' acquire
		10 nemesis kill id=2 on=c1
		11 nemesis pause-end-done id=1 on=c1`, `violated 4,6,8: c1 was granted the lock at 3.000 s and held it until 7.000 s, and c2 was granted it at 5.000 s.`},
	{"a client that says something between the lines of its kill held until the first", `
		0 c2 acquire
		1 c2 acquire ok
		2 c1 acquire
		3 c1 acquire ok
		4 nemesis kill id=2 on=c2
		5 c2 release
		6 nemesis kill-done id=2 on=c2
		7 c2 release info error=crashed`, `violated 2,4,5: c2 was granted the lock at 1.000 s and held it until 4.000 s, and c1 was granted it at 3.000 s.`},
	{"a worker that died held until its last line", granted1 + `
		2 c1 write value=1
		3 c2 acquire
		4 c2 acquire ok
		5 c1 write info error=crashed`, "valid"},
	{"a client that ended by itself held until its last line", granted1 + `
		3 c2 acquire
		4 c2 acquire ok
		5 nemesis exit on=c1`, "valid"},
	{"a request of a former life is no grant of the next one", `
		1 c2 acquire grant=2
		2 c2 acquire info grant=2 error=timeout
		3 nemesis kill id=1 on=c2
		4 c1 acquire
		5 c1 acquire ok grant=3
		6 c2' extend grant=2
		7 c2' extend ok grant=2`, "valid"},
	{"nor if its end was noted after the kill", `
		1 c2 acquire grant=2
		2 nemesis kill id=1 on=c2
		3 c2 acquire info grant=2 error=timeout
		4 c1 acquire
		5 c1 acquire ok grant=3
		6 c2' extend grant=2
		7 c2' extend ok grant=2`, "valid"},
	{"nor if it ended by itself", `
		1 c2 acquire grant=2
		2 c2 acquire info grant=2 error=crashed
		4 c1 acquire
		5 c1 acquire ok grant=3
		6 c2' extend grant=2
		7 c2' extend ok grant=2`, "valid"},
	{"a worker that died held up to its last line", granted2 + `
		3 c1 write value=1
		4 c1 write ok value=1
		5 c1 release
		6 c1 release info error=crashed`, `violated 2,4,6: c1 was granted the lock at 1.000 s and held it until 4.000 s, and c2 was granted it at 2.000 s.`},
	{"an invoke, which the harness writes, is no sign of life", granted2 + `
		3 c1 write value=1
		5 c1 write info error=crashed`, "valid"},
	{"a release that the harness wrote for a worker that had died ends nothing later", granted2 + `
		3 c1 release
		5 c1 release info error=crashed`, "valid"},
	{"a release that is invoked in the pause in which its client is killed", granted1 + `
		2 nemesis pause id=1 on=c1
		3 c2 acquire
		4 c2 acquire ok
		5 c1 release
		6 nemesis kill id=2 on=c1`, "valid"},
	{"an ok that is written after its client was killed is no hold", `
		0 c1 acquire
		1 nemesis kill id=1 on=c1
		2 c1 acquire ok
		3 c2 acquire
		4 c2 acquire ok`, "valid"},
	{"the same while somebody else holds", `
		0 c2 acquire
		1 c2 acquire ok
		2 c1 acquire
		3 nemesis kill id=1 on=c1
		4 c1 acquire ok
		5 c2 release`, "valid"},
	{"a pause without an id ends with its own end", granted1 + `
		2 nemesis partition on=c1,redis
		3 nemesis pause on=c1
		4 nemesis partition-end on=c1,redis
		5 c2 acquire
		12 c2 acquire ok
		13 nemesis kill on=c1`, "valid"},
	{"a nested acquire deepens the hold of its process", granted1 + `
		2 c1 acquire
		3 c1 acquire ok
		4 c1 release
		5 c1 release ok
		6 c1 release
		7 c2 acquire
		8 c2 acquire ok`, "valid"},
	{"after the inner release the outer hold goes on", granted1 + `
		2 c1 acquire
		3 c1 acquire ok
		4 c1 release
		5 c1 release ok
		6 c2 acquire
		7 c2 acquire ok
		8 c1 release`, `violated 2,8,9: c1 was granted the lock at 1.000 s and held it until 8.000 s, and c2 was granted it at 7.000 s.`},
	{"the loss of one nested hold is the loss of all", granted1 + `
		2 c1 acquire
		3 c1 acquire ok
		4 c1 lost grant=2
		5 c2 acquire
		6 c2 acquire ok
		7 c2 acquire
		8 c2 acquire ok
		9 c2 extend grant=3
		10 c2 extend fail error=not-held
		11 c3 acquire
		12 c3 acquire ok`, "valid"},
	{"the loss of a nested grant that has no answer yet is the loss of all", granted1 + `
		2 c1 acquire grant=2
		3 c1 lost grant=2
		4 c2 acquire
		5 c2 acquire ok`, "valid"},
	{"the loss of a grant that was released says nothing about a later one", `
		0 c1 acquire
		1 c1 acquire ok grant=1
		2 c1 release grant=1
		3 c1 release ok grant=1
		4 c1 acquire
		5 c1 acquire ok grant=2
		6 c1 lost grant=1
		7 c2 acquire
		8 c2 acquire ok grant=3`, `violated 6,9: c1 was granted the lock at 5.000 s and was still holding it, and c2 was granted it at 8.000 s.`},
	{"the loss of one lock says nothing about another", `
		0 c1 acquire lock=a
		1 c1 acquire ok lock=a
		2 c1 acquire lock=b
		3 c1 acquire ok lock=b
		4 c1 lost lock=b
		5 c2 acquire lock=a
		6 c2 acquire ok lock=a`, `violated 2,7: c1 was granted "a" at 1.000 s and was still holding it, and c2 was granted it at 6.000 s.`},
	{"an acquire without an answer is no hold", `
		0 c1 acquire
		1 c1 acquire info error=timeout
		2 c2 acquire
		3 c2 acquire ok
		4 c3 acquire
		5 c3 acquire info error=timeout`, "valid"},
	{"a refused acquire is no hold", granted1 + `
		2 c2 try
		3 c2 try fail error=held`, "valid"},
	{"a late answer does not turn info into ok", unsure + `
		2 c2 acquire
		3 c2 acquire ok
		4 c1 late grant=7`, "valid"},
	{"an extend that says yes presupposes its grant, whatever the acquire said", unsure + `
		2 c1' extend grant=7
		3 c1' extend ok grant=7
		4 c2 acquire
		5 c2 acquire ok`, `violated 4,6: c1 confirmed that it held the lock at 3.000 s and was still holding it, and c2 was granted it at 5.000 s.`},
	{"a write that says yes presupposes nothing about the lock", unsure + `
		2 c1' write grant=7 value=1
		3 c1' write ok grant=7 value=1
		4 c2 acquire
		5 c2 acquire ok`, "valid"},
	{"a grant that was released before its confirmation is not held", unsure + `
		2 c1' release grant=7
		3 c1' release ok grant=7
		4 c1' valid until=14 grant=7
		5 c2 acquire
		6 c2 acquire ok`, "valid"},
	{"a grant that was lost before its confirmation is not held", unsure + `
		2 c1' lost grant=7
		3 c1' valid until=13 grant=7
		4 c2 acquire
		5 c2 acquire ok`, "valid"},
	{"no line confirms a grant of a killed client", unsure + `
		2 nemesis kill id=1 on=c1
		3 c1' valid until=13 grant=7
		4 c2 acquire
		5 c2 acquire ok`, "valid"},
	{"no client got the lock", `
		0 c1 acquire
		1 c1 acquire fail error=held`, "unknown: no acquire succeeded: there is nothing to judge"},
	{"nothing happened", ``, "unknown: no acquire succeeded: there is nothing to judge"},
	{"on real servers the machine stood still during a hold", `
		.on docker
		0 c1 acquire
		1 c1 acquire ok until=11
		12 nemesis stall for=6
		12 c2 acquire
		12 c2 acquire ok`, "unknown: the machine stood still for 6.000 s between 1.000 s and 12.000 s, and no fault had struck, so it may be the reason: c1 was granted the lock at 1.000 s and was still holding it, and c2 was granted it at 12.000 s."},
	{"on real servers a stall of less than T/2 is no reason", `
		.on docker
		0 c1 acquire
		1 c1 acquire ok until=11
		12 nemesis stall for=4
		12 c2 acquire
		12 c2 acquire ok`, "violated 2,5: c1 was granted the lock at 1.000 s and was still holding it, and c2 was granted it at 12.000 s."},
	{"on real servers a fault is the reason, and no stall after it", `
		.on docker
		0 c1 acquire
		1 c1 acquire ok until=11
		2 nemesis pause id=1 on=c1
		12 nemesis stall for=6
		12 c2 acquire
		12 c2 acquire ok`, "violated 2,6: c1 was granted the lock at 1.000 s and was still holding it, and c2 was granted it at 12.000 s."},
}
