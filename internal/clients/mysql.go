package clients

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"strings"
	"sync/atomic"

	mysqlclient "github.com/lockcheck/lockcheck/internal/stores/mysql/client"
)

// MySQL is a client's connection to a MySQL server: packets with their length and a
// number before them. The server greets. The client's first packet numbered 0 is its
// first command, and has no other before it is answered.
//
// Source: MariaDB, "Clients & Utilities, Server-Client Protocol".
type MySQL struct {
	Replies *bufio.Reader // from the server
	// Greeted is called with the server's number of the connection, or an error. nil: nothing
	// to do, as with the others.
	Greeted func(session int64, err error)
	// Sends is called with each command. If it has an effect, what Sends returns is called
	// just before it leaves; otherwise it only prepares or ends something.
	Sends func(op int64, command []byte, effect bool) (leaves func(session int64))
	// Answered is called with the answer's packets, nil of an error, to a command that has
	// an effect. If it returns an error, the answer is lost.
	Answered func(session int64, packets []byte) error

	session   atomic.Int64 // the server's number of the connection; 0: no greeting yet
	effective atomic.Bool  // the client's last packet has an effect
}

// The commands of a library that prepare or end something.
const (
	comQuit      = 1
	comQuery     = 3
	comPing      = 14
	comPrepare   = 22
	comStmtClose = 25
	comReset     = 31

	comStmtExecute = 23
)

var preparingCommands = []byte{comQuit, comPing, comPrepare, comStmtClose, comReset}

var asksNumber = append([]byte{comQuery}, mysqlclient.Greeting...)

// prepares reports whether a command only prepares a connection, or ends it.
func prepares(command []byte) bool {
	return bytes.IndexByte(preparingCommands, command[0]) >= 0 || bytes.Equal(command, asksNumber)
}

// packetError begins an answer that is an error.
const packetError = 0xff

// MySQLHead is the size of a packet's header: three bytes of its length, and its
// number.
const MySQLHead = 4

var errNotMySQL = errors.New("not the protocol of MySQL")

// Packets returns the bodies of packets of MySQL.
func Packets(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(raw) >= MySQLHead {
			end := min(MySQLHead+mysqlLength(raw), len(raw))
			if !yield(raw[MySQLHead:end]) {
				return
			}
			raw = raw[end:]
		}
	}
}

// ReadMySQL reads a packet, and returns its raw bytes and its body.
func ReadMySQL(r *bufio.Reader) (raw, body []byte, err error) {
	head, err := r.Peek(MySQLHead)
	if err != nil { // return a partial header with the error, so that it is not read again
		raw = append(raw, head...)
		r.Discard(len(head))
		return raw, nil, err
	}
	raw = make([]byte, MySQLHead+mysqlLength(head))
	n, err := io.ReadFull(r, raw)
	return raw[:n], raw[min(MySQLHead, n):n], err
}

func mysqlLength(head []byte) int { return int(head[0]) | int(head[1])<<8 | int(head[2])<<16 }

// Request implements Dialect.
func (t *MySQL) Request(r *bufio.Reader, op int64) Parcel {
	raw, body, err := ReadMySQL(r)
	if err != nil || len(body) == 0 || raw[MySQLHead-1] != 0 || prepares(body) {
		t.effective.Store(false)
		if t.Sends != nil && len(body) > 0 {
			t.Sends(op, body, false)
		}
		return Parcel{Raw: raw, Kind: Library}
	}
	t.effective.Store(true)
	p := Parcel{Raw: raw}
	if t.Sends != nil {
		leaves := t.Sends(op, body, true)
		p.Pass = func(<-chan struct{}) { leaves(t.session.Load()) }
	}
	return p
}

// Executes reports whether a command of MySQL executes a prepared one.
func Executes(command []byte) bool { return command[0] == comStmtExecute }

// ChangesRows reports whether a command of MySQL may change rows: one that reads them, or ends
// the transaction of an earlier one, does not.
func ChangesRows(command []byte) bool {
	if command[0] != comQuery {
		return command[0] == comStmtExecute
	}
	word, _, _ := bytes.Cut(bytes.TrimSpace(command[1:]), []byte(" "))
	switch strings.ToUpper(string(word)) {
	case "SELECT", "COMMIT", "ROLLBACK", "START", "BEGIN", "SET":
		return false
	}
	return true
}

// Reply implements Dialect. It returns all of an answer that has arrived with its first packet: everything,
// except for large answers. It waits until the server's events are reported, whatever
// happens to the answer.
func (t *MySQL) Reply() (Parcel, error) {
	raw, body, err := ReadMySQL(t.Replies)
	if err != nil {
		return Parcel{}, err
	}
	if t.session.Load() == 0 {
		id, err := greetingOf(body)
		t.session.Store(id)
		if t.Greeted != nil {
			t.Greeted(id, err)
		}
	}
	for {
		head, err := t.Replies.Peek(min(MySQLHead, t.Replies.Buffered()))
		if err != nil || len(head) < MySQLHead || t.Replies.Buffered() < MySQLHead+mysqlLength(head) {
			break
		}
		more, _, err := ReadMySQL(t.Replies)
		if err != nil {
			return Parcel{}, err
		}
		raw = append(raw, more...)
	}
	if !t.effective.Load() {
		return Parcel{Raw: raw, Kind: Library}, nil
	}
	if t.Answered != nil {
		packets := raw
		if len(body) == 0 || body[0] == packetError {
			packets = nil
		}
		if err := t.Answered(t.session.Load(), packets); err != nil {
			return Parcel{}, err
		}
	}
	return Parcel{Raw: raw}, nil
}

// greetingOf returns the connection's number from a server's first packet, which has it
// after the versions of the protocol and the server. A server that refuses connections
// sends an error instead: -1.
func greetingOf(body []byte) (session int64, err error) {
	const version = 10
	if len(body) == 0 || body[0] != version && body[0] != packetError {
		return 0, errNotMySQL
	}
	end := bytes.IndexByte(body, 0)
	if body[0] == packetError {
		return -1, nil
	}
	if end < 0 || len(body) < end+5 {
		return 0, errNotMySQL
	}
	return int64(binary.LittleEndian.Uint32(body[end+1:])), nil
}
