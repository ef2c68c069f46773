package client_test

import (
	"encoding/binary"
	"hash/adler32"
)

// snapshotZxid is the transaction that created the nodes of a snapshot.
const snapshotZxid = 1<<32 | 1

// snapshot returns a snapshot file for ZooKeeper 3.8: a new ensemble with
// persistent nodes, each of which has had counter children, all deleted since.
// Creating 2^31 children would take weeks.
//
// Source: org.apache.zookeeper.server, DataTree.serialize and
// persistence.FileSnap; the records are those of zookeeper.jute.
func snapshot(counter int32, paths ...string) []byte {
	const acl = 1 // the only one: everyone may do everything
	b := append([]byte("ZKSN"), ints(nil, 2)...)
	b = longs(b, -1)
	b = ints(b, 0) // sessions
	b = longs(ints(b, 1), acl)
	b = text(text(ints(b, 1, 31), "world"), "anyone")
	node := func(path string, zxid int64, counter int32) {
		b = longs(ints(text(b, path), 0), acl) // no data
		b = longs(b, zxid, zxid, 0, 0)         // czxid, mzxid, ctime, mtime
		b = ints(b, 0, counter, 0)             // version, cversion, aversion
		b = longs(b, 0, zxid)                  // no owner; pzxid
	}
	node("", 0, -1)
	node("/zookeeper", 0, 0)
	node("/zookeeper/config", 0, 0)
	node("/zookeeper/quota", 0, 0)
	for _, path := range paths {
		node(path, snapshotZxid, counter)
	}
	b = text(b, "/") // end of nodes
	return text(longs(b, int64(adler32.Checksum(b))), "/")
}

func longs(b []byte, values ...int64) []byte {
	for _, v := range values {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	return b
}
