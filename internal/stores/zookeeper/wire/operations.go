package wire

import (
	"fmt"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// operation is one operation of the protocol.
type operation struct {
	name string // in ZooDefs.OpCode
	kind Kind
	verb zookeeper.Verb                                              // of a Call
	read func(p jute.Packet, r *Request) (rest jute.Packet)          // reads the body of the request; nil: it is ignored
	body func(buf []byte, r *Request, reply *zookeeper.Reply) []byte // appends the body of the answer; nil: it is empty
}

// operations are the operations of ZooKeeper 3.8 by number.
var operations = map[int32]operation{
	jute.OpCreate:       {"create", Call, zookeeper.Create, readCreate, appendPath},
	jute.OpDelete:       {"delete", Call, zookeeper.Delete, readVersion, nil},
	jute.OpExists:       {"exists", Call, zookeeper.Exists, readWatch, appendStat},
	jute.OpGetData:      {"getData", Call, zookeeper.GetData, readWatch, appendData},
	jute.OpSetData:      {"setData", Call, zookeeper.SetData, readSetData, appendStat},
	jute.OpGetChildren:  {"getChildren", Call, zookeeper.GetChildren, readWatch, appendChildren},
	jute.OpGetChildren2: {"getChildren2", Call, zookeeper.GetChildren, readWatch, appendChildren2},
	jute.OpSync:         {"sync", Call, zookeeper.Sync, readPath, appendSynced},
	jute.OpPing:         {name: "ping", kind: Ping},
	jute.OpSetWatches:   {name: "setWatches", kind: SetWatches, read: readWatches},
	jute.OpAuth:         {name: "auth", kind: Auth},
	jute.OpCloseSession: {name: "closeSession", kind: Farewell},

	6:                      {name: "getACL", kind: Unknown},
	7:                      {name: "setACL", kind: Unknown},
	jute.OpCheck:           {name: "check", kind: Unknown},
	jute.OpMulti:           {name: "multi", kind: Unknown},
	jute.OpCreate2:         {name: "create2", kind: Unknown},
	16:                     {name: "reconfig", kind: Unknown},
	17:                     {name: "checkWatches", kind: Unknown},
	18:                     {name: "removeWatches", kind: Unknown},
	jute.OpCreateContainer: {name: "createContainer", kind: Unknown},
	jute.OpCreateTTL:       {name: "createTTL", kind: Unknown},
	jute.OpMultiRead:       {name: "multiRead", kind: Unknown},
	102:                    {name: "sasl", kind: Unknown},
	jute.OpEphemerals:      {name: "getEphemerals", kind: Unknown},
	104:                    {name: "getAllChildrenNumber", kind: Unknown},
	jute.OpSetWatches2:     {name: "setWatches2", kind: Unknown},
	106:                    {name: "addWatch", kind: Unknown},
	107:                    {name: "whoAmI", kind: Unknown},
}

func operationOf(op int32) operation {
	if o, ok := operations[op]; ok {
		return o
	}
	return operation{name: fmt.Sprintf("operation %d", op), kind: Unknown}
}
