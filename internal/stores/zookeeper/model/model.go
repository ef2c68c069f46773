// Package model is a ZooKeeper ensemble as pure state machines: a Leader, which
// decides the results of writes, and Members, which apply its decisions and
// answer reads. It has no clock, network or randomness. The caller decides when
// time passes and when messages arrive. The same calls always give the same
// answers.
//
// A write takes the same path as in ZooKeeper. A member passes it to the leader,
// and Leader.Propose makes a transaction of it. Each member that learns of the
// commit passes the transaction to Member.Commit, and the member with the client
// sends the Reply that Commit returns. A member that lags has fewer transactions
// committed. Sync is up to the caller, too: a member answers it when its Zxid has
// reached the Leader.Zxid at the sync's arrival there.
//
// It answers as ZooKeeper 3.8 does. For paths that never reach a server it
// answers as the client libraries do. The suite in package porttest compares it
// with the real ensemble.
package model

import (
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// Kind is the kind of a transaction.
type Kind uint8

// The kinds.
const (
	Creation   Kind = iota + 1 // a node at Path
	Deletion                   // of the node at Path
	Change                     // of the data of the node at Path
	Opening                    // of Session
	Closing                    // of Session, whose ephemeral nodes go with it
	Refusal                    // no change: a write was refused with Code, and its answer is due
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

// Txn is one transaction as the leader has decided it. It has all data that must
// be the same in every member. Its Path includes the sequence number.
type Txn struct {
	Zxid    int64 // the epoch of the leader, then a 32-bit counter
	Kind    Kind
	By      int   // caller's tag of the request; 0: the ensemble itself
	Session int64 // the session that requested it
	Path    string
	Data    string
	Mode    zookeeper.Mode
	Version int32          // new version of the data
	Counter int32          // new counter of the parent of a created node
	Timeout time.Duration  // of an Opening: the granted length
	Code    zookeeper.Code // of a Refusal
}
