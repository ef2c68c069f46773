package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/wire"
)

// line is a request of the conversation below. stat: the answer ends with a Stat.
type line struct {
	name string
	stat bool
	in   []byte
}

// conversation has the requests of one session.
var conversation = []line{
	{"the root", true, packet(1, 3, "/", false)},
	{"create", false, packet(2, 1, "/w", "data", open, 0)},
	{"create again", false, packet(3, 1, "/w", "", open, 0)},
	{"create below no node", false, packet(4, 1, "/none/a", "", open, 1)},
	{"create the root", false, packet(5, 1, "/", "", open, 0)},
	{"create with a bad path", false, packet(6, 1, "/w/.", "", open, 0)},
	{"watch a node", true, packet(7, 3, "/w", true)},
	{"watch a missing node", false, packet(8, 3, "/later", true)},
	{"watch children", true, packet(9, 12, "/w", true)},
	{"an ephemeral node", false, packet(10, 1, "/w/n-", "x", open, 3)},
	{"another one", false, packet(11, 1, "/w/n-", "y", open, 3)},
	{"a name of a number only", false, packet(12, 1, "/w/", "", open, 2)},
	{"create below an ephemeral node", false, packet(13, 1, "/w/n-0000000000/a", "", open, 0)},
	{"the Stat of an ephemeral node", true, packet(14, 3, "/w/n-0000000001", false)},
	{"the Stat of a parent", true, packet(15, 3, "/w", false)},
	{"data", true, packet(16, 4, "/w", true)},
	{"data of no node", false, packet(17, 4, "/none", true)},
	{"data of the root", true, packet(18, 4, "/", false)},
	{"set data", true, packet(19, 5, "/w", "longer data", 0)},
	{"set data at another version", false, packet(20, 5, "/w", "", 0)},
	{"set data at any version", true, packet(21, 5, "/w", "", -1)},
	{"set data of no node", false, packet(22, 5, "/none", "", -1)},
	{"empty data", true, packet(23, 4, "/w", false)},
	{"children of no node", false, packet(24, 12, "/none", true)},
	{"a watched node is created", false, packet(25, 1, "/later", "", open, 1)},
	{"delete a parent", false, packet(26, 2, "/w", -1)},
	{"delete at another version", false, packet(27, 2, "/w/n-0000000000", 1)},
	{"watch a node that goes", true, packet(28, 4, "/w/n-0000000000", true)},
	{"watch its children, too", false, packet(29, 8, "/w/n-0000000000", true)},
	{"watch its parent", false, packet(30, 8, "/w", true)},
	{"delete", false, packet(31, 2, "/w/n-0000000000", 0)},
	{"delete again", false, packet(32, 2, "/w/n-0000000000", -1)},
	{"delete the root", false, packet(33, 2, "/", -1)},
	{"delete a node of ZooKeeper", false, packet(34, 2, "/zookeeper", -1)},
	{"delete with a bad path", false, packet(35, 2, "w", -1)},
	{"sync", false, packet(36, 9, "/w")},
	{"sync of no node", false, packet(37, 9, "/none")},
	{"credentials", false, packet(-4, 100, 0, "digest", "user:password")},
	{"a heartbeat", false, packet(-2, 11)},
	{"watches that have missed changes", false, packet(-8, 101, int64(1), 2, "/gone", "/w", 2, "/later", "/never", 2, "/", "/gone")},
	{"a watch of these", false, packet(38, 1, "/never", "", open, 1)},
	{"a fifth child", false, packet(39, 1, "/w/ä", "", open, 0)},
	{"a sixth", false, packet(40, 1, "/w/_c_0b7a-lock-", "", open, 3)},
	{"a seventh", false, packet(41, 1, "/w/_c_9f3e-lock-", "", open, 3)},
	{"children in no order", false, packet(42, 8, "/w", false)},
	{"an eighth", false, packet(43, 1, "/w/x", "", open, 0)},
	{"a ninth", false, packet(44, 1, "/w/b", "", open, 0)},
	{"a tenth", false, packet(45, 1, "/w/a", "", open, 0)},
	{"more children in no order", true, packet(46, 12, "/w", true)},
	{"the end", false, packet(47, -11)},
}

// endings are requests on a second connection, while a first one carries a session, after
// which a server closes the connection.
var endings = []struct {
	name string
	send func(session int64, password string) []byte
}{
	{"another password", func(session int64, _ string) []byte {
		return packet(0, int64(0), 4000, session, secret)
	}},
	{"an unknown session", func(session int64, password string) []byte {
		return packet(0, int64(0), 4000, session+1, password)
	}},
	{"the session again, and its end", func(session int64, password string) []byte {
		return slices.Concat(packet(0, int64(0), 4000, session, password), packet(1, -11))
	}},
	{"an unknown operation", func(int64, string) []byte {
		return slices.Concat(greeting, packet(1, 555))
	}},
	{"a greeting that is too long", func(int64, string) []byte { return []byte{0, 0x10, 0, 0} }},
	{"another protocol", func(int64, string) []byte { return []byte("GET / HTTP/1.1") }},
}

// The model behind this protocol and a server send the same bytes. Only the numbers of
// transactions, whose order counts, those of sessions, and the times of a Stat may
// differ.
func TestConformance(t *testing.T) {
	addr := dockertest.ZooKeeper(t).Addrs()[0]
	real := func() (net.Conn, error) { return net.Dial("tcp", addr) }
	ours := newServer(t).dial
	wants, gots := converse(t, real), converse(t, ours)
	for i, l := range conversation {
		if gots[i] != wants[i] {
			t.Errorf("%s:\n\tgot  %s\n\twant %s", l.name, gots[i], wants[i])
		}
	}
	for _, e := range endings {
		if want, got := end(t, real, e.send), end(t, ours, e.send); got != want {
			t.Errorf("%s:\n\tgot  %s\n\twant %s", e.name, got, want)
		}
	}
}

// talk is a client's connection to a server.
type talk struct {
	*testing.T
	net.Conn
}

func newTalk(t *testing.T, dial func() (net.Conn, error)) talk {
	t.Helper()
	conn, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	return talk{t, conn}
}

// receive returns the next packet without its length; nil: the server has closed the
// connection.
func (k talk) receive() []byte {
	k.Helper()
	length := make([]byte, 4)
	_, err := io.ReadFull(k, length)
	b := make([]byte, binary.BigEndian.Uint32(length))
	if err == nil {
		_, err = io.ReadFull(k, b)
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return nil
	case err != nil:
		k.Fatal(err)
	}
	return b
}

// receiveSession returns the session that a server grants.
func (k talk) receiveSession() int64 {
	k.Helper()
	b := k.receive()
	session := int64(binary.BigEndian.Uint64(b[8:]))
	if want := wire.AppendHello(nil, session, wire.Password(session), 4*time.Second)[4:]; session == 0 || !bytes.Equal(b, want) {
		k.Fatalf("the greeting is %x, want %x", b, want)
	}
	return session
}

// end returns what a server sends up to the end of the second connection, without the
// numbers of transactions.
func end(t *testing.T, dial func() (net.Conn, error), send func(session int64, password string) []byte) (all string) {
	t.Helper()
	first, second := newTalk(t, dial), newTalk(t, dial)
	first.Write(greeting)
	session := first.receiveSession()
	second.Write(send(session, string(wire.Password(session))))
	for b := second.receive(); b != nil; b = second.receive() {
		if len(b) == 36 && binary.BigEndian.Uint64(b[8:]) != 0 { // a granted session
			b = b[:8]
		} else if len(b) == 16 {
			clear(b[4:12])
		}
		all += fmt.Sprintf("%x ", b)
	}
	return all
}

// converse has the conversation with a server. It returns the packets that the server
// sent up to the answer to each line.
func converse(t *testing.T, dial func() (net.Conn, error)) (all []string) {
	t.Helper()
	k := newTalk(t, dial)
	k.Write(greeting)
	session := uint64(k.receiveSession())
	var packets [][][]byte
	var zxids [][]byte
	for _, l := range conversation {
		k.Write(l.in)
		var list [][]byte
		for done := false; !done; {
			b := k.receive()
			if len(b) < 16 {
				t.Fatalf("%s: the server has sent %x", l.name, b)
			}
			list, zxids = append(list, b), append(zxids, b[4:12])
			done = bytes.Equal(b[:4], l.in[4:8])
		}
		if answer := list[len(list)-1]; l.stat && len(answer) >= 16+68 {
			stat := answer[len(answer)-68:]
			zxids = append(zxids, stat[:8], stat[8:16], stat[60:])
			clear(stat[16:32])
			if owner := stat[44:52]; binary.BigEndian.Uint64(owner) == session {
				copy(owner, "session!")
			}
		}
		packets = append(packets, list)
	}
	rank(zxids)
	for _, list := range packets {
		all = append(all, fmt.Sprintf("%x", list))
	}
	return all
}

// rank replaces numbers by their places in the order of all.
func rank(numbers [][]byte) {
	var order []int64
	for _, n := range numbers {
		order = append(order, int64(binary.BigEndian.Uint64(n)))
	}
	values := slices.Clone(order)
	slices.Sort(order)
	order = slices.Compact(order)
	for i, n := range numbers {
		place, _ := slices.BinarySearch(order, values[i])
		binary.BigEndian.PutUint64(n, uint64(place))
	}
}
