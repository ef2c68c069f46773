package wire_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// requests are the beginnings of random requests.
var requests = []string{
	"GET k", "SET k v", "SET k v", "SETNX k v", "SETEX k n v", "PSETEX k n v", "GETSET k v", "GETDEL k", "GETEX k",
	"MGET k k", "MSET k v k v", "MSETNX k v k v", "GETRANGE k i i", "STRLEN k", "INCR k", "DECR k", "INCRBY k i",
	"DECRBY k i", "RPUSH k v", "EXISTS k k", "TYPE k", "DEL k k", "UNLINK k", "EXPIRE k n", "PEXPIRE k n",
	"EXPIREAT k n", "PEXPIREAT k n", "PERSIST k", "TTL k", "PTTL k", "HGET k f", "HSET k f v", "HSET k f v f v",
	"HMSET k f v", "HSETNX k f v", "HMGET k f f", "HDEL k f f", "HEXISTS k f", "HINCRBY k f i", "HLEN k", "HGETALL k",
	"HKEYS k", "HVALS k", "MULTI", "EXEC", "EXEC", "DISCARD", "WATCH k k", "UNWATCH", "PING", "ECHO v", "WAIT 0 i",
	"SELECT i", "CLIENT GETNAME", "CLIENT SETNAME v", "SUBSCRIBE channel", "UNSUBSCRIBE channel", "PUBLISH other v",
	"LPUSH k v v", "RPUSH k v v", "LPUSHX k v", "LPOP k", "RPOP k i", "LRANGE k i i", "LLEN k", "LINDEX k i", "LREM k i v",
	"LTRIM k i i", "LMOVE k k LEFT RIGHT", "RPOPLPUSH k k", "SADD k i i", "SREM k i", "SCARD k", "SISMEMBER k i",
	"SMISMEMBER k i v", "ZADD k s v", "ZADD k s v s v", "ZINCRBY k s v", "ZREM k v", "ZCARD k", "ZSCORE k v", "ZRANK k v",
	"ZREVRANK k v", "ZRANGE k i i", "ZRANGE k i i WITHSCORES", "ZREVRANGE k i i", "ZRANGEBYSCORE k s s", "ZCOUNT k s s",
	"ZRANGE k s s BYSCORE LIMIT i i", "ZREMRANGEBYSCORE k s s", "ZREMRANGEBYRANK k i i", "ZPOPMIN k", "ZPOPMAX k i",
	"SCRIPT EXISTS v", "EVALSHA v i k", "CLIENT CACHING f",
	"EVAL {GET} 1 k", "EVAL {SET} 1 k v", "EVAL {HGETALL} 1 k", "EVAL {INCRBY} 1 k i", "EVAL {PTTL} 1 k", "EVAL_RO {SET} 1 k v",
}

// words that take the place of a letter. n has times to live that nobody waits for.
var replacements = map[string][]string{
	"k": {"a", "b", "c"},
	"f": {"f", "g", "h"},
	"v": {"v", "w", "", "1", "7", "9223372036854775807", "x y"},
	"i": {"0", "1", "2", "3", "-1", "-3", "9223372036854775807", "-9223372036854775808", "1.5", "x", "", "01", "+1"},
	"s": {"0", "1", "2", "2.5", "-1", "inf", "-inf", "(1", "x", "", "1e3", "0.1"},
	"n": {"0", "-1", "90000", "80000", "-90000", "-9223372036854775808", "1.5", "x", ""},
}

var extras = []string{"NX", "XX", "GET", "KEEPTTL", "PERSIST", "EX", "PX", "PXAT", "EXAT", "90000", "-1", "x", "nx", "XX", "GT", "LT"}

// randomRequest returns a request that is valid in most cases.
func randomRequest(r *rand.Rand) (words []string) {
	for w := range strings.FieldsSeq(requests[r.IntN(len(requests))]) {
		switch {
		case len(replacements[w]) > 0:
			w = replacements[w][r.IntN(len(replacements[w]))]
		case w[0] == '{':
			w = "local t = {'" + strings.Trim(w, "{}") + "', KEYS[1]} for _, a in ipairs(ARGV) do t[#t + 1] = a end return redis.call(unpack(t))"
		}
		words = append(words, w)
	}
	switch n := r.IntN(12); {
	case strings.HasSuffix(words[0], "SUBSCRIBE"): // more words, more messages
	case n == 0 && len(words) > 1:
		words = words[:len(words)-1]
	case n < 3, n < 8 && slices.Contains([]string{"SET", "GETEX", "ZADD", "EXPIRE", "PEXPIRE"}, words[0]):
		for range 1 + r.IntN(2) {
			words = append(words, extras[r.IntN(len(extras))])
		}
	}
	return words
}

// A real server answers random requests alike, apart from those that the model lacks.
func TestRandomRequestsWithARealServer(t *testing.T) {
	s := &server{addr: realServer(t)}
	r := rand.New(rand.NewPCG(1, 2))
	total, lacks := 0, 0
	for round := range 300 {
		s.begin(t)
		f := newFrontEnd()
		var said []string
		for i := range 60 {
			words := randomRequest(r)
			if i == 0 {
				words = []string{"HELLO", strconv.Itoa(2 + round%2)}
			}
			f.clock = s.now()
			f.send(t, "1", encode(words))
			total++
			if f.server.Missing() != "" {
				lacks++
				break
			}
			s.send(t, "1", encode(words))
			want, got := visible(s.receive(t, "1")), visible(f.receive(t, "1"))
			said = append(said, strings.Join(words, " "))
			if !similar(got, want) {
				t.Fatalf("%s\ngot\n\t%s\nwant\n\t%s", strings.Join(said, "\n"), strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
			}
		}
		if f.server.Missing() == "" {
			s.idle(t)
			f.idle(t)
		}
	}
	t.Logf("%d requests, %d of which the model lacks", total, lacks)
}
