package wire

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"
	"unicode/utf16"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// The codes of answers that the port does not know: SessionExpired to any request
// after the end of its session, and the server's own ZUNIMPLEMENTED to an Unknown one.
const (
	SessionExpired zookeeper.Code = -112
	unimplemented  zookeeper.Code = -6
)

// AppendHello appends the answer to a Hello: the session with its password and its
// granted length. With the length 0 the session of the Hello has ended.
func AppendHello(buf []byte, session int64, password []byte, length time.Duration) []byte {
	if length == 0 {
		session, password = 0, make([]byte, passwordLength)
	}
	buf, start := begin(buf)
	buf = jute.AppendInt(buf, 0) // the version of the protocol
	buf = jute.AppendInt(buf, int32(length.Milliseconds()))
	buf = jute.AppendBuffer(jute.AppendLong(buf, session), password)
	return end(buf, start)
}

// AppendAnswer appends the answer to any other request: zxid is the last transaction
// that the server has committed. The reply to a request that is no Call has a Code at
// most. An Unknown request is refused; a four-letter word has no such answer.
func AppendAnswer(buf []byte, r *Request, zxid int64, reply zookeeper.Reply) []byte {
	switch r.Kind {
	case Auth:
		zxid = 0 // a server answers it before everything else
	case Unknown:
		if r.Op == 0 {
			return buf
		}
		zxid, reply = 0, zookeeper.Reply{Code: unimplemented}
	}
	buf, start := begin(buf)
	buf = appendHeader(buf, r.Xid, zxid, reply.Code)
	if body := operationOf(r.Op).body; body != nil && reply.Code == zookeeper.OK {
		buf = body(buf, r, &reply)
	}
	return end(buf, start)
}

// AppendEvent appends the event of a watch. A server sends it before every answer that
// shows the change.
func AppendEvent(buf []byte, e zookeeper.Event) []byte {
	const connected = 3 // the state of the session
	buf, start := begin(buf)
	buf = appendHeader(buf, jute.XidEvent, -1, zookeeper.OK)
	buf = jute.AppendInt(jute.AppendInt(buf, int32(e.Type)), connected)
	return end(jute.AppendBuffer(buf, e.Path), start)
}

// begin leaves room for the length of a packet; end fills it in.
func begin(buf []byte) (_ []byte, start int) { return jute.AppendInt(buf, 0), len(buf) }

func end(buf []byte, start int) []byte {
	binary.BigEndian.PutUint32(buf[start:], uint32(len(buf)-start-4))
	return buf
}

func appendHeader(buf []byte, xid int32, zxid int64, code zookeeper.Code) []byte {
	return jute.AppendInt(jute.AppendLong(jute.AppendInt(buf, xid), zxid), int32(code))
}

func appendPath(buf []byte, _ *Request, reply *zookeeper.Reply) []byte {
	return jute.AppendBuffer(buf, reply.Path)
}

func appendSynced(buf []byte, r *Request, _ *zookeeper.Reply) []byte {
	return jute.AppendBuffer(buf, r.Command.Path)
}

func appendData(buf []byte, r *Request, reply *zookeeper.Reply) []byte {
	return appendStat(jute.AppendBuffer(buf, reply.Data), r, reply)
}

func appendChildren(buf []byte, _ *Request, reply *zookeeper.Reply) []byte {
	buf = jute.AppendInt(buf, int32(len(reply.Children)))
	for _, name := range unsorted(reply.Children) {
		buf = jute.AppendBuffer(buf, name)
	}
	return buf
}

func appendChildren2(buf []byte, r *Request, reply *zookeeper.Reply) []byte {
	return appendStat(appendChildren(buf, r, reply), r, reply)
}

func appendStat(buf []byte, _ *Request, reply *zookeeper.Reply) []byte {
	s := &reply.Stat
	buf = jute.AppendLong(jute.AppendLong(buf, s.Czxid), s.Mzxid)
	buf = jute.AppendLong(jute.AppendLong(buf, 0), 0) // the times of its creation and its last change
	buf = jute.AppendInt(jute.AppendInt(buf, s.Version), s.CVersion)
	buf = jute.AppendInt(buf, 0) // the version of its permissions
	buf = jute.AppendLong(buf, s.Owner)
	buf = jute.AppendInt(jute.AppendInt(buf, s.DataLength), s.NumChildren)
	return jute.AppendLong(buf, s.Pzxid)
}

// unsorted returns names in the order in which a server sends them, so that a client
// that forgets to sort them is found out. It is the order of a java.util.HashSet that
// never had more names than these.
func unsorted(names []string) []string {
	size := uint32(8)
	for uint32(len(names)) > size/4*3 {
		size *= 2
	}
	place := func(name string) uint32 {
		var hash uint32 // String.hashCode
		for _, c := range utf16.Encode([]rune(name)) {
			hash = 31*hash + uint32(c)
		}
		return (hash ^ hash>>16) & (size - 1)
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	return names
}

const passwordLength = 16

// Password returns the password of a session. A server makes it of the session's number
// in this way, so that every other server of the ensemble knows it, too:
// java.util.Random with a seed from the number.
func Password(session int64) []byte {
	const secret, factor, mask = 0xb3415c00, 0x5deece66d, 1<<48 - 1
	seed := (uint64(session) ^ secret ^ factor) & mask
	var password []byte
	for len(password) < passwordLength {
		seed = (seed*factor + 0xb) & mask
		password = binary.LittleEndian.AppendUint32(password, uint32(seed>>16))
	}
	return password
}
