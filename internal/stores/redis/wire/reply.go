package wire

import (
	"strconv"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// reply is an answer. Kind has the kinds of package redis and those below.
type reply struct {
	redis.Reply
	list []reply
}

// These kinds of replies have no use in package redis.
const (
	array     = redis.Error + 1 + iota // list
	mapping                            // list: keys and values in turn
	push                               // list: a message
	several                            // list: one reply after the other
	nilArray                           // no list
	text                               // Str: a text for people
	double                             // Str: a number with a fraction
	unordered                          // list: a set
)

func status(s string) reply    { return reply{Reply: redis.Reply{Kind: redis.Status, Str: s}} }
func bulk(s string) reply      { return reply{Reply: redis.Reply{Kind: redis.Bulk, Str: s}} }
func integer(n int64) reply    { return reply{Reply: redis.Reply{Kind: redis.Int, Int: n}} }
func failure(err string) reply { return reply{Reply: redis.Reply{Kind: redis.Error, Str: err}} }

func listOf(kind redis.Kind, list ...reply) reply {
	return reply{Reply: redis.Reply{Kind: kind}, list: list}
}

// bulks returns the replies of words.
func bulks(words ...string) []reply {
	list := make([]reply, len(words))
	for i, w := range words {
		list[i] = bulk(w)
	}
	return list
}

var okay = status("OK")

// failed reports whether r is an error.
func (r reply) failed() bool { return r.Kind == redis.Error }

// append appends r in RESP, of version 3 if resp3.
func (r reply) append(b []byte, resp3 bool) []byte {
	switch r.Kind {
	case redis.Nil:
		if resp3 {
			return append(b, "_\r\n"...)
		}
		return append(b, "$-1\r\n"...)
	case nilArray:
		if resp3 {
			return append(b, "_\r\n"...)
		}
		return append(b, "*-1\r\n"...)
	case redis.Status:
		return append(append(append(b, '+'), r.Str...), "\r\n"...)
	case redis.Error:
		return append(append(append(b, '-'), r.Str...), "\r\n"...)
	case redis.Int:
		return appendHeader(b, ':', r.Int)
	case double:
		if resp3 {
			return append(append(append(b, ','), r.Str...), "\r\n"...)
		}
		return bulk(r.Str).append(b, false)
	case text:
		if resp3 {
			b = appendHeader(b, '=', int64(len("txt:")+len(r.Str)))
			return append(append(append(b, "txt:"...), r.Str...), "\r\n"...)
		}
		fallthrough
	case redis.Bulk:
		b = appendHeader(b, '$', int64(len(r.Str)))
		return append(append(b, r.Str...), "\r\n"...)
	case array, mapping, push, unordered:
		n := int64(len(r.list))
		switch {
		case !resp3 || r.Kind == array:
			b = appendHeader(b, '*', n)
		case r.Kind == mapping:
			b = appendHeader(b, '%', n/2)
		case r.Kind == push:
			b = appendHeader(b, '>', n)
		default:
			b = appendHeader(b, '~', n)
		}
	}
	for _, e := range r.list {
		b = e.append(b, resp3)
	}
	return b
}

func appendHeader(b []byte, kind byte, n int64) []byte {
	return append(strconv.AppendInt(append(b, kind), n, 10), "\r\n"...)
}

const (
	errInteger = "ERR value is not an integer or out of range"
	errSyntax  = "ERR syntax error"
)

// parseInt reads a number in exactly the server's format.
func parseInt(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	var buf [20]byte
	return n, err == nil && s[0] != '+' && len(strconv.AppendInt(buf[:0], n, 10)) == len(s)
}
