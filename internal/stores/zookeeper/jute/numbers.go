package jute

// The numbers of operations: of clients' requests, and of the transactions that
// they become.
//
// Source: org.apache.zookeeper.ZooDefs.OpCode.
const (
	OpCreate          = 1
	OpDelete          = 2
	OpExists          = 3
	OpGetData         = 4
	OpSetData         = 5
	OpGetChildren     = 8
	OpSync            = 9
	OpPing            = 11
	OpGetChildren2    = 12
	OpCheck           = 13
	OpMulti           = 14
	OpCreate2         = 15
	OpCreateContainer = 19
	OpDeleteContainer = 20
	OpCreateTTL       = 21
	OpMultiRead       = 22
	OpAuth            = 100
	OpSetWatches      = 101
	OpEphemerals      = 103
	OpSetWatches2     = 105
	OpCloseSession    = -11
	OpError           = -1 // a part of a multi that failed
)

// The numbers of messages that are no requests of the library's user: they have no
// number of their own. go-zookeeper numbers its authentication and its watches like
// requests.
const (
	XidEvent      = -1
	XidPing       = -2
	XidAuth       = -4
	XidSetWatches = -8
)
