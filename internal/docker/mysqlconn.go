package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	mysqlclient "github.com/lockcheck/lockcheck/internal/stores/mysql/client"
)

// mysqlTalk is a client's connection to a MySQL server: packets with their length and a
// number before them. The server greets. The client's first packet numbered 0 is its
// first command, and has no other before it is answered.
//
// Source: MariaDB, "Clients & Utilities, Server-Client Protocol".
type mysqlTalk struct {
	primary *primary
	reign   int // the reign in which the connection began
	client  string
	replies *bufio.Reader
	life    context.Context // of the link

	session   atomic.Int64 // the server's number of the connection; 0: no greeting yet
	effective atomic.Bool  // the client's last packet has an effect
	prepared  bool         // the client has prepared a command that takes a named lock
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

// mysqlHead is the size of a packet's header: three bytes of its length, and its
// number.
const mysqlHead = 4

var errNotMySQL = errors.New("not the protocol of MySQL")

// readMySQL reads a packet, and returns its raw bytes and its body.
func readMySQL(r *bufio.Reader) (raw, body []byte, err error) {
	head, err := r.Peek(mysqlHead)
	if err != nil { // return a partial header with the error, so that it is not read again
		raw = append(raw, head...)
		r.Discard(len(head))
		return raw, nil, err
	}
	raw = make([]byte, mysqlHead+mysqlLength(head))
	n, err := io.ReadFull(r, raw)
	return raw[:n], raw[min(mysqlHead, n):n], err
}

func mysqlLength(head []byte) int { return int(head[0]) | int(head[1])<<8 | int(head[2])<<16 }

// request assigns a command to its operation before it is sent.
func (t *mysqlTalk) request(r *bufio.Reader, op int64) parcel {
	raw, body, err := readMySQL(r)
	if err != nil || len(body) == 0 || raw[mysqlHead-1] != 0 || prepares(body) {
		t.effective.Store(false)
		t.prepared = t.prepared || takesLock(body) != ""
		return parcel{raw: raw, kind: kindLibrary}
	}
	t.effective.Store(true)
	c := sentCommand{op: int(op), means: mysql.MeaningIn(body), takes: takesLock(body)}
	if t.prepared && body[0] == comStmtExecute {
		c.takes = string(body)
	}
	return parcel{raw: raw, pass: func(<-chan struct{}) {
		t.primary.rows.addCommand(t.reign, t.session.Load(), c, changesRows(body))
	}}
}

// changesRows reports whether a command may change rows: one that reads them, or ends
// the transaction of an earlier one, does not.
func changesRows(command []byte) bool {
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

// reply returns all of an answer that has arrived with its first packet: everything,
// except for large answers. It waits until the server's events are reported, whatever
// happens to the answer.
func (t *mysqlTalk) reply() (parcel, error) {
	raw, body, err := readMySQL(t.replies)
	if err != nil {
		return parcel{}, err
	}
	if t.session.Load() == 0 {
		id, err := greetingOf(body)
		if err != nil {
			t.primary.rows.drop("the greeting of the server to %s is %v", t.client, err)
		}
		t.session.Store(id)
		t.primary.opened(t.reign, t.client, id)
	}
	for {
		head, err := t.replies.Peek(min(mysqlHead, t.replies.Buffered()))
		if err != nil || len(head) < mysqlHead || t.replies.Buffered() < mysqlHead+mysqlLength(head) {
			break
		}
		more, _, err := readMySQL(t.replies)
		if err != nil {
			return parcel{}, err
		}
		raw = append(raw, more...)
	}
	if !t.effective.Load() {
		return parcel{raw: raw, kind: kindLibrary}, nil
	}
	if len(body) > 0 && body[0] != packetError {
		t.primary.rows.answer(t.reign, t.session.Load(), raw)
	}
	if !t.primary.rows.await(t.life.Done(), t.reign, t.primary.rows.ask()) {
		return parcel{}, errDown
	}
	return parcel{raw: raw}, nil
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

// reach implements farServer.
func (p *primary) reach(ctx context.Context, client string) (*net.TCPConn, dialect, error) {
	p.mu.Lock()
	s, rising, reign := p.first, p.rising, p.rows.now()
	p.mu.Unlock()
	if rising || !s.runs() {
		return nil, nil, errDown
	}
	conn, err := (&net.Dialer{Timeout: feedLimit}).DialContext(ctx, "tcp", s.Addr)
	if err != nil {
		return nil, nil, err
	}
	return conn.(*net.TCPConn), &mysqlTalk{primary: p, reign: reign, client: client, replies: bufio.NewReader(conn), life: ctx}, nil
}
