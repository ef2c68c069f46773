package clients

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

func TestCommandsThatChangeRows(t *testing.T) {
	for command, changes := range map[string]bool{
		"\x03UPDATE t SET a = 1": true, "\x03insert into t": true, "\x17\x01": true, "\x03/* x */ DELETE": true,
		"\x03COMMIT": false, "\x03rollback": false, "\x03SELECT 1": false, "\x03START TRANSACTION": false, "\x0e": false,
	} {
		if ChangesRows([]byte(command)) != changes {
			t.Errorf("%q", command)
		}
	}
}

// Packets may be split anywhere, and a greeting has the connection's number.
func TestMySQLPackets(t *testing.T) {
	t.Parallel()
	packets := []string{"\x03\x00\x00\x00\x03ab", "\x00\x00\x00\x01", "\x01\x00\x00\x00\x0e"}
	r := bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(strings.Join(packets, ""))), 16)
	for _, want := range packets {
		if raw, body, err := ReadMySQL(r); string(raw) != want || string(body) != want[MySQLHead:] || err != nil {
			t.Errorf("%q %q %v, want %q", raw, body, err, want)
		}
	}
	for greeting, want := range map[string]string{
		"\x0a10.11-MariaDB\x00\x07\x01\x00\x00salt": "263 <nil>",
		"\xff\x10\x04Too many connections":          "-1 <nil>",
		"\x0a10.11":                                 "0 " + errNotMySQL.Error(),
		"HTTP/1.1":                                  "0 " + errNotMySQL.Error(),
		"":                                          "0 " + errNotMySQL.Error(),
	} {
		if id, err := greetingOf([]byte(greeting)); fmt.Sprint(id, " ", err) != want {
			t.Errorf("%q: %d %v, want %s", greeting, id, err, want)
		}
	}
}

// A disturbance of a lock's requests does not act on commands that only prepare a
// connection.
func TestMySQLPrepares(t *testing.T) {
	t.Parallel()
	for packet, want := range map[string]Kind{
		"\x00\x00\x00\x01":                              Library, // of the greeting
		"\x01\x00\x00\x00\x0e":                          Library,
		"\x17\x00\x00\x00\x03SELECT CONNECTION_ID()":    Library,
		"\x1a\x00\x00\x00\x03SELECT GET_LOCK('a',0.25)": Effect,
		"\x0b\x00\x00\x00\x03START TRAN":                Effect,
		"\x17\x00\x00\x00\x16SELECT CONNECTION_ID()":    Library, // prepared, and not executed
	} {
		talk := &MySQL{}
		p := talk.Request(bufio.NewReader(strings.NewReader(packet)), 1)
		if p.Kind != want || talk.effective.Load() != (want == Effect) {
			t.Errorf("%q: %v, want %v", packet, p.Kind, want)
		}
	}
}
