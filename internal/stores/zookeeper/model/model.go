// Package model is a ZooKeeper ensemble as pure state machines: a Leader, which
// decides what every write does, and Members, which take in what was decided
// and answer reads. There is no clock, no network and no randomness: when time
// passes, and who hears what when, is the caller's, and the same calls always
// give the same answers.
//
// A write takes the way that it takes in ZooKeeper: a member hands it to the
// leader, Leader.Propose makes a transaction of it, each member that hears of
// the transaction's end puts it to Member.Commit, and the member that was asked
// sends the Reply that Commit returns. A member that lags is one to which fewer
// transactions have been committed. Sync is the caller's, too: the member
// answers it once its Zxid has reached that which Leader.Zxid had when the sync
// came there.
//
// It answers as ZooKeeper 3.8 does, and, for paths that no server gets to see,
// as its client libraries do. The suite in package porttest holds it to the
// real ensemble.
package model

import (
	"time"

	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// Kind is what a transaction does.
type Kind uint8

// The kinds.
const (
	Creation   Kind = iota + 1 // a node at Path
	Deletion                   // of the node at Path
	Change                     // of the data of the node at Path
	Opening                    // of Session
	Closing                    // of Session, whose ephemeral nodes go with it
	Refusal                    // nothing: a write was refused with Code, and its turn to be answered has come
	Presetting                 // see Leader.Preset
)

var kindNames = [...]string{
	Creation: "create", Deletion: "delete", Change: "set data", Opening: "open session",
	Closing: "close session", Refusal: "refuse", Presetting: "preset",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) && k != 0 {
		return kindNames[k]
	}
	return "none"
}

// Txn is one transaction, as the leader has decided it. It holds whatever has
// to be the same in every member; the sequence number is in its Path already.
type Txn struct {
	Zxid    int64 // the epoch of the leader, then 32 bits that count
	Kind    Kind
	By      int   // the caller's tag of the request; 0: the ensemble itself
	Session int64 // whose request it is
	Path    string
	Data    string
	Mode    zookeeper.Mode
	Version int32          // of the data: the new one
	Counter int32          // of the parent of what was created: the new one
	Timeout time.Duration  // of an Opening: what was granted
	Code    zookeeper.Code // of a Refusal
}
