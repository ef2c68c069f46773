package checker

// Several grants may stand on the entries of one acquire: a lock that calls the
// critical section itself may call it twice, or after its caller has stopped waiting.

// In the first ones c1 has a node, twice, or may have one. In the others the node has no
// key.
const (
	node = `
		0 c1 acquire
		1 zk grant of=c1 by=c1 key=/a/sub1
		2 c1 acquire ok`
	nodeTwice = node + `
		3 c1' acquire
		3 c1' acquire ok stands=c1`
	nodeUnsure = `
		0 c1 acquire
		1 zk grant of=c1 by=c1 key=/a/sub1
		2 c1 acquire info error=timeout`
	owned = `
		0 c1 acquire
		1 zk grant of=c1 by=c1
		2 c1 acquire ok`
	ownedTwice = owned + `
		3 c1' acquire
		3 c1' acquire ok stands=c1`
	ownedUnsure = `
		0 c1 acquire
		1 zk grant of=c1 by=c1
		2 c1 acquire info error=timeout`
)

var sharedAnswersSpecs = []spec{
	{"the lock enters again on the node that it has", node + `
		3 c2 acquire
		4 zk grant of=c2 by=c2 key=/a/sub2
		5 c1' acquire
		5 c1' acquire ok stands=c1
		6 c1 release
		7 zk remove of=c1 by=c1 key=/a/sub1
		8 c1 release ok
		9 c1' release
		10 c2 acquire ok`, "valid"},
	{"the lock enters after its caller has given up", nodeUnsure + `
		5 c1' acquire
		5 c1' acquire ok stands=c1
		6 c1' release
		7 zk remove of=c1 by=c1 key=/a/sub1`, "valid"},
	{"a node that has gone meanwhile still counts as made", nodeUnsure + `
		4 zk expire of=c1 key=/a/sub1
		5 c1' acquire
		5 c1' acquire ok stands=c1`, "valid"},
	{"so was one that the first entry has removed", node + `
		3 c1 release
		4 zk remove of=c1 by=c1 key=/a/sub1
		4 c1 release ok
		5 c1' acquire
		5 c1' acquire ok stands=c1`, "valid"},
	{"a second entry that does not say what it stands on", nodeUnsure + `
		5 c1' acquire
		5 c1' acquire ok`, `violated 4,5: c1 was told at 5.000 s that it got the lock, for which it had asked at 5.000 s, and no server had granted it.`},
	{"an entry on what no server has made", `
		0 c1 acquire
		2 c1 acquire info error=timeout
		5 c1' acquire
		5 c1' acquire ok stands=c1`, `violated 3,4: c1 was told at 5.000 s that it got the lock, for which it had asked at 5.000 s, and no server had granted it.`},
	{"an entry on what a server makes only afterwards", `
		0 c1 acquire
		2 c1 acquire info error=timeout
		5 c1' acquire
		5 c1' acquire ok stands=c1
		6 zk grant of=c1 by=c1 key=/a/sub1`, `violated 3,4: c1 was told at 5.000 s that it got the lock, for which it had asked at 5.000 s, and no server had granted it.`},
	{"an entry that a server has granted itself, and that names another", `
		0 c1 acquire
		2 c1 acquire info error=timeout
		5 c1' acquire
		5 zk grant of=c1' by=c1' key=/a/sub2
		5 c1' acquire ok stands=c1`, "valid"},
	{"a release that said yes, and the second entry still stands on the node", nodeTwice + `
		4 c1 release
		5 c1 release ok
		50 c2 try
		50 c2 try fail error=held`, "valid"},
	{"the second entry is given back, and the first one still stands on the node", nodeTwice + `
		4 c1' release
		5 c1' release ok
		50 c2 try
		50 c2 try fail error=held`, "valid"},
	{"the other release has no answer", nodeTwice + `
		4 c1' release
		5 c1 release
		6 c1 release ok
		50 c2 try
		50 c2 try fail error=held`, "valid"},
	{"both are given back, and the node stays", nodeTwice + `
		4 c1 release
		5 c1 release ok
		6 c1' release
		7 c1' release ok
		18 c2 try
		18 c2 try fail error=held`, `violated 2,8,9: c1 was told at 7.000 s that it released the lock, but the entry that zk made for it at 1.000 s was still there at 18.000 s.`},
	{"both are given back, and the node has had less than its time since", nodeTwice + `
		4 c1 release
		5 c1 release ok
		6 c1' release
		7 c1' release ok
		17.9 c2 try
		17.9 c2 try fail error=held`, "valid"},
	{"a late entry is given back, and the node stays", nodeUnsure + `
		3 c1' acquire
		3 c1' acquire ok stands=c1
		4 c1' release
		5 c1' release ok
		50 c2 try
		50 c2 try fail error=held`, `violated 2,6,7: c1 was told at 5.000 s that it released the lock, but the entry that zk made for it at 1.000 s was still there at 50.000 s.`},
	{"a refused acquire leaves the node to the entry that uses it", `
		0 c1 acquire
		1 zk grant of=c1 by=c1 key=/a/sub1
		2 c1' acquire
		2 c1' acquire ok stands=c1
		3 c1 acquire fail error=held
		4 c1' release
		5 zk remove of=c1 by=c1' key=/a/sub1
		6 c1' release ok`, "valid"},
	{"a refusal before another entry exists must leave no node", `
		0 c1 acquire
		1 zk grant of=c1 by=c1 key=/a/sub1
		2 c1 acquire fail error=held
		3 c1' acquire
		3 c1' acquire ok stands=c1`, `violated 1,2,3: c1 was told at 2.000 s that it did not get the lock, but zk held its entry since 1.000 s, which was still there at the end.`},
	{"the second entry extends the entry that it uses", `
		0 c1 acquire
		1 redis grant of=c1 by=c1 key=k
		2 c1 acquire info error=timeout
		3 c1' acquire
		3 c1' acquire ok stands=c1
		4 c1' extend
		5 redis remove of=c1 by=c1' key=k
		5 redis grant from=c1' by=c1' key=k
		6 c1' extend ok
		7 c1' release
		8 redis remove of=c1 by=c1' key=k
		8 c1' release ok
		50 c2 try
		50 c2 try fail error=held`, "valid"},
	{"a line that names the second entry's grant is about what that stands on", nodeUnsure + `
		3 c1' acquire
		3 c1' acquire ok stands=c1
		4 c1' release
		5 zk remove grant=1 by=c1' key=/a/sub1
		5 c1' release ok
		50 c2 try
		50 c2 try fail error=held`, "valid"},
}

var sharedOwnershipSpecs = []spec{
	{"the first entry removes the node that the second one stands on", ownedTwice + `
		4 c1 release
		5 zk remove of=c1 by=c1`, "valid"},
	{"the second entry removes the node that the first one stands on", ownedTwice + `
		4 c1' release
		5 zk remove of=c1 by=c1'`, "valid"},
	{"the second entry removes it while the ok of the first is on its way", `
		0 c1 acquire
		1 zk grant of=c1 by=c1
		3 c1' acquire
		3 c1' acquire ok stands=c1
		4 c1' release
		5 zk remove of=c1 by=c1'
		6 c1 acquire ok`, "valid"},
	{"the task of the first acquire removes it", ownedUnsure + `
		3 c1' acquire
		3 c1' acquire ok stands=c1
		4 zk remove of=c1 by=c1`, "valid"},
	{"the client cleans up after itself", `
		0 c1 acquire
		1 zk grant of=c1 by=c1
		2 c1 acquire info error=timeout grant=7
		3 c1' acquire
		3 c1' acquire ok stands=c1
		4 c1'' release grant=7
		5 zk remove of=c1 by=c1''`, "valid"},
	{"the second entry is in when somebody else removes the node", ownedUnsure + `
		3 c1' acquire
		3 c1' acquire ok stands=c1
		4 c2 acquire
		5 zk remove of=c1 by=c2`, `violated 5,6,7: the acquire that c2 invoked at 4.000 s removed c1's entry for the lock at 5.000 s; c1 was granted it at 3.000 s, and had not invoked its release.`},
	{"the first entry is over when somebody else removes the node of the second", ownedTwice + `
		4 c1 release
		5 c1 release ok
		6 c2 acquire
		7 zk remove of=c1 by=c2`, `violated 5,8,9: the acquire that c2 invoked at 6.000 s removed c1's entry for the lock at 7.000 s; c1 was granted it at 3.000 s, and had not invoked its release.`},
	{"both entries are over", ownedTwice + `
		4 c1 release
		5 c1 release ok
		6 c1' release
		6 c2 acquire
		7 zk remove of=c1 by=c2`, "valid"},
	{"an entry on what somebody else has removed before", ownedUnsure + `
		3 c2 acquire
		4 zk remove of=c1 by=c2
		5 c1' acquire
		5 c1' acquire ok stands=c1`, "valid"},
}
