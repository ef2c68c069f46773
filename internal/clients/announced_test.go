package clients

import (
	"bufio"
	"strings"
	"testing"
	"testing/iotest"
)

// bulk encodes words as an array of strings.
func bulk(words ...string) string { return string(Encode(words...)) }

// Links replace every address that leads around them, wherever Redis and Sentinels write
// one, and leave everything else as it is.
func TestLinksReplaceAnnouncedAddresses(t *testing.T) {
	t.Parallel()
	a := newAnnounced(map[string]string{
		"10.0.0.2:6379": "127.0.0.1:41001", "10.0.0.3:6379": "127.0.0.1:41002", "10.0.0.4:26379": "127.0.0.1:5",
	})
	for name, tt := range map[string]struct{ reply, want string }{
		"get-master-addr-by-name":   {bulk("10.0.0.2", "6379"), bulk("127.0.0.1", "41001")},
		"no master":                 {"*-1\r\n", "*-1\r\n"},
		"no master, RESP3":          {"_\r\n", "_\r\n"},
		"null string":               {"$-1\r\n", "$-1\r\n"},
		"replicas":                  {"*1\r\n" + bulk("name", "10.0.0.3:6379", "ip", "10.0.0.3", "port", "6379", "master-host", "10.0.0.2", "master-port", "6379"), "*1\r\n" + bulk("name", "127.0.0.1:41002", "ip", "127.0.0.1", "port", "41002", "master-host", "127.0.0.1", "master-port", "41001")},
		"sentinels, RESP3":          {"*1\r\n%2\r\n$2\r\nip\r\n$8\r\n10.0.0.4\r\n$4\r\nport\r\n$5\r\n26379\r\n", "*1\r\n%2\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$4\r\nport\r\n$1\r\n5\r\n"},
		"+switch-master":            {bulk("message", "+switch-master", "redis-1 10.0.0.2 6379 10.0.0.3 6379"), bulk("message", "+switch-master", "redis-1 127.0.0.1 41001 127.0.0.1 41002")},
		"+switch-master, RESP3":     {">" + bulk("message", "+switch-master", "redis-1 10.0.0.2 6379 10.0.0.3 6379")[1:], ">" + bulk("message", "+switch-master", "redis-1 127.0.0.1 41001 127.0.0.1 41002")[1:]},
		"+slave":                    {bulk("pmessage", "*", "+slave", "slave 10.0.0.3:6379 10.0.0.3 6379 @ redis-1 10.0.0.2 6379"), bulk("pmessage", "*", "+slave", "slave 127.0.0.1:41002 127.0.0.1 41002 @ redis-1 127.0.0.1 41001")},
		"ROLE of a master":          {"*3\r\n$6\r\nmaster\r\n:5\r\n*1\r\n" + bulk("10.0.0.3", "6379", "5"), "*3\r\n$6\r\nmaster\r\n:5\r\n*1\r\n" + bulk("127.0.0.1", "41002", "5")},
		"ROLE of a replica":         {"*5\r\n$5\r\nslave\r\n$8\r\n10.0.0.2\r\n:6379\r\n$9\r\nconnected\r\n:5\r\n", "*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1\r\n:41001\r\n$9\r\nconnected\r\n:5\r\n"},
		"INFO of a master":          {bulk("role:master\r\nslave0:ip=10.0.0.3,port=6379,state=online\r\n"), bulk("role:master\r\nslave0:ip=127.0.0.1,port=41002,state=online\r\n")},
		"INFO of a replica":         {bulk("role:slave\r\nmaster_host:10.0.0.2\r\nmaster_port:6379\r\n"), bulk("role:slave\r\nmaster_host:127.0.0.1\r\nmaster_port:41001\r\n")},
		"INFO of a Sentinel, RESP3": {"=48\r\ntxt:master0:status=ok,address=10.0.0.2:6379,sl=2\r\n", "=50\r\ntxt:master0:status=ok,address=127.0.0.1:41001,sl=2\r\n"},
		"an unknown server":         {bulk("10.0.0.9", "6379", "10.0.0.9:6379", "10.0.0.2:63", "110.0.0.2:6379"), bulk("10.0.0.9", "6379", "10.0.0.9:6379", "10.0.0.2:63", "110.0.0.2:6379")},
		"an error":                  {"-ERR no 10.0.0.2:6379\r\n", "-ERR no 127.0.0.1:41001\r\n"},
		"attributes, RESP3":         {"|1\r\n+ttl\r\n:5\r\n" + bulk("10.0.0.2", "6379"), "|1\r\n+ttl\r\n:5\r\n" + bulk("127.0.0.1", "41001")},
		"empty":                     {"*0\r\n", "*0\r\n"},
		"values of RESP3":           {"*4\r\n#t\r\n,1.5\r\n(12\r\n~1\r\n:1\r\n", "*4\r\n#t\r\n,1.5\r\n(12\r\n~1\r\n:1\r\n"},
	} {
		raw, err := ReadReply(bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(tt.reply)), 16))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := string(a.rewrite(raw)); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if got := string(announced{}.rewrite(raw)); got != tt.reply {
			t.Errorf("%s, without links: %q", name, got)
		}
	}
}

// A client's way to a Sentinel replaces addresses; its way to a server leaves the data
// there alone, which may look like an address.
func TestOnlyRepliesAboutServersAreRewritten(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sentinel bool
		ask      []string
		want     bool
	}{
		"a Sentinel":        {true, []string{"SENTINEL", "MASTERS"}, true},
		"news":              {true, nil, true},
		"ROLE of a server":  {false, []string{"role"}, true},
		"INFO of a server":  {false, []string{"INFO"}, true},
		"data of a server":  {false, []string{"LRANGE", "a", "0", "1"}, false},
		"news of a server":  {false, nil, false},
		"a Sentinel's PING": {true, []string{"PING"}, true},
	} {
		talk := &Redis{Replies: bufio.NewReader(strings.NewReader(bulk("10.0.0.2", "6379"))), Names: tt.sentinel}
		if tt.ask != nil {
			talk.Request(bufio.NewReader(strings.NewReader(bulk(tt.ask...))), 1)
		}
		if p, err := talk.Reply(); err != nil || p.Names != tt.want {
			t.Errorf("%s: names servers: %v (%v)", name, p.Names, err)
		}
	}
}
