package wire_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
)

// parse returns all requests in the parts of a client's bytes, and the error at their
// end.
func parse(parts ...string) (requests [][]string, err error) {
	var p wire.Parser
	for _, part := range parts {
		p.Feed([]byte(part))
		for {
			words, ok, err := p.Next()
			if err != nil {
				return requests, err
			}
			if !ok {
				break
			}
			requests = append(requests, words)
		}
	}
	return requests, nil
}

// Errors are those of Redis 7.0.
func TestParser(t *testing.T) {
	ping := [][]string{{"PING"}}
	for _, c := range []struct {
		in   string
		want [][]string
		err  string
	}{
		{in: ""},
		{in: "*1\r\n$4\r\nPING\r\n", want: ping},
		{in: "*1\r\n$4\r\nPINGxx", want: ping},
		{in: "*2\r\n$4\r\nECHO\r\n$4\r\na\r\nb\r\n*1\r\n$4\r\nPING\r\n", want: [][]string{{"ECHO", "a\r\nb"}, {"PING"}}},
		{in: "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", want: [][]string{{"ECHO", ""}}},
		{in: "*1\r\n$11\r\nhello world\r\n", want: [][]string{{"hello world"}}},
		{in: "*0\r\nPING\r\n", want: ping},
		{in: "*-1\r\nPING\r\n", want: ping},
		{in: "\r\nPING\n", want: ping},
		{in: "ECHO a\r\n", want: [][]string{{"ECHO", "a"}}},
		{in: "*1\r\n$4\r\nPING\r"},
		{in: "*1\r\n$4"},
		{in: "*1\r\n\x00"},
		{in: "*1048577\r\n"},
		{in: "*x\r\n", err: "ERR Protocol error: invalid multibulk length"},
		{in: "*\r\n", err: "ERR Protocol error: invalid multibulk length"},
		{in: "*01\r\n", err: "ERR Protocol error: invalid multibulk length"},
		{in: "*2147483648\r\n", err: "ERR Protocol error: invalid multibulk length"},
		{in: "*1\r\nx\r\n", err: "ERR Protocol error: expected '$', got 'x'"},
		{in: "*1\r\n\xff\r\n", err: "ERR Protocol error: expected '$', got '\xff'"},
		{in: "*1\r\n$x\r\n", err: "ERR Protocol error: invalid bulk length"},
		{in: "*1\r\n$\r\n", err: "ERR Protocol error: invalid bulk length"},
		{in: "*1\r\n$+4\r\n", err: "ERR Protocol error: invalid bulk length"},
		{in: "*1\r\n$-1\r\n", err: "ERR Protocol error: invalid bulk length"},
		{in: "*1\r\n$999999999999\r\n", err: "ERR Protocol error: invalid bulk length"},
		{in: strings.Repeat("x", 70000), err: "ERR Protocol error: too big inline request"},
		{in: "*" + strings.Repeat("1", 70000), err: "ERR Protocol error: too big mbulk count string"},
		{in: "*1\r\n$" + strings.Repeat("1", 70000), err: "ERR Protocol error: too big bulk count string"},
	} {
		got, err := parse(c.in)
		if err == nil && c.err != "" || err != nil && err.Error() != c.err || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%.60q: got %q, %v; want %q, %s", c.in, got, err, c.want, c.err)
		}
	}
}

// Requests are the same however the network cuts the bytes, and a request survives.
func FuzzParser(f *testing.F) {
	f.Add("*1\r\n$4\r\nPING\r\n", 3)
	f.Add("*2\r\n$4\r\nECHO\r\n$4\r\na\r\nb\r\nPING\r\n*1\r\nx", 15)
	f.Add("*-1\r\n*0\r\n\r\nA B", 5)
	f.Fuzz(func(t *testing.T, in string, cut int) {
		want, wantErr := parse(in)
		if cut > 0 && cut < len(in) {
			got, err := parse(in[:cut], in[cut:])
			if !reflect.DeepEqual(got, want) || (err == nil) != (wantErr == nil) {
				t.Fatalf("cut at %d: %q, %v; whole: %q, %v", cut, got, err, want, wantErr)
			}
		}
		for _, words := range want {
			got, err := parse(encode(words))
			if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], words) {
				t.Fatalf("%q comes back as %q, %v", words, got, err)
			}
		}
	})
}
