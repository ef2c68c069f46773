package clients

import (
	"bufio"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// Messages may be split anywhere, in both versions of the protocol.
func TestRESP(t *testing.T) {
	t.Parallel()
	requests := []string{"*2\r\n$3\r\nGET\r\n$1\r\na\r\n", "PING x\r\n", "*1\r\n$0\r\n\r\n", "*0\r\n"}
	r := bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(strings.Join(requests, ""))), 16)
	for i, want := range [][]string{{"GET", "a"}, {"PING", "x"}, {""}, nil} {
		raw, words, err := ReadRequest(r)
		if string(raw) != requests[i] || !slices.Equal(words, want) || err != nil {
			t.Errorf("%q %q %v", raw, words, err)
		}
	}
	replies := []string{
		"+OK\r\n", "-ERR x\r\n", ":1\r\n", "$-1\r\n", "$3\r\na\r\n\r\n", "*-1\r\n", "*0\r\n", "*2\r\n*1\r\n:1\r\n$1\r\nx\r\n", "_\r\n",
		"%1\r\n+a\r\n*1\r\n#t\r\n", ">2\r\n+x\r\n,1.5\r\n", "|1\r\n+a\r\n:1\r\n+OK\r\n", "=5\r\ntxt:x\r\n", "~1\r\n(12\r\n", "!3\r\nERR\r\n",
	}
	r = bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(strings.Join(replies, ""))), 16)
	for _, want := range replies {
		if raw, err := ReadReply(r); string(raw) != want || err != nil {
			t.Errorf("%q %v, want %q", raw, err, want)
		}
	}
	for _, bad := range []string{"*x\r\n", "*1\r\n+x\r\n", "*1\r\n$x\r\n", "*1\r\n$-2\r\n", "*1\n"} {
		if _, words, err := ReadRequest(bufio.NewReader(strings.NewReader(bad))); !errors.Is(err, ErrNotRESP) {
			t.Errorf("%q: %q %v", bad, words, err)
		}
	}
	if _, err := ReadReply(bufio.NewReader(strings.NewReader("HTTP/1.1 200\r\n"))); !errors.Is(err, ErrNotRESP) {
		t.Errorf("another protocol: %v", err)
	}
}
