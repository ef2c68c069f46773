package wire

import (
	"slices"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// subscriptionNames are the words in the messages of each kind.
var subscriptionNames = [kinds]struct{ subscribe, unsubscribe, message string }{
	channel: {"subscribe", "unsubscribe", "message"},
	pattern: {"psubscribe", "punsubscribe", "pmessage"},
	shard:   {"ssubscribe", "sunsubscribe", "smessage"},
}

// confirm is the answer to one change of c's subscriptions.
func (c *Conn) confirm(word string, name reply, kind subscription) reply {
	n := len(c.channels[channel]) + len(c.channels[pattern])
	if kind == shard {
		n = len(c.channels[shard])
	}
	return listOf(push, bulk(word), name, integer(int64(n)))
}

func subscribe(kind subscription) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		c, s := x.conn, x.server
		r := listOf(several)
		for _, name := range w[1:] {
			if !slices.Contains(c.channels[kind], name) {
				c.channels[kind] = append(c.channels[kind], name)
			}
			if !slices.Contains(s.subscribers, c) {
				s.subscribers = append(s.subscribers, c)
			}
			r.list = append(r.list, c.confirm(subscriptionNames[kind].subscribe, bulk(name), kind))
		}
		return r
	}
}

// unsubscribe ends the named subscriptions, or all of that kind.
func unsubscribe(kind subscription) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		c, word := x.conn, subscriptionNames[kind].unsubscribe
		names := w[1:]
		if len(names) == 0 {
			names = slices.Clone(c.channels[kind])
		}
		r := listOf(several)
		for _, name := range names {
			if i := slices.Index(c.channels[kind], name); i >= 0 {
				c.channels[kind] = slices.Delete(c.channels[kind], i, i+1)
			}
			r.list = append(r.list, c.confirm(word, bulk(name), kind))
		}
		if len(names) == 0 {
			r.list = append(r.list, c.confirm(word, reply{}, kind))
		}
		if c.subscriptions() == 0 {
			x.server.unsubscribeAll(c)
		}
		return r
	}
}

// unsubscribeAll forgets all subscriptions of c.
func (s *Server) unsubscribeAll(c *Conn) {
	c.channels = [kinds][]string{}
	if i := slices.Index(s.subscribers, c); i >= 0 {
		s.subscribers = slices.Delete(s.subscribers, i, i+1)
	}
}

func publish(kind subscription) func(*call, []string) reply {
	return func(x *call, w []string) reply {
		n := 0
		for _, c := range x.server.subscribers {
			messages, count := c.messages(kind, w[1], w[2])
			n += count
			switch {
			case count == 0:
			case c == x.conn:
				x.before = append(x.before, messages...)
			default:
				x.server.pushes = append(x.server.pushes, Push{Conn: c, Data: messages})
			}
		}
		return integer(int64(n))
	}
}

// messages returns the messages of c's subscriptions that match, and their number.
func (c *Conn) messages(kind subscription, name, payload string) (b []byte, n int) {
	tell := func(kind subscription, words ...string) {
		list := bulks(append([]string{subscriptionNames[kind].message}, words...)...)
		b = reply{Reply: redis.Reply{Kind: push}, list: list}.append(b, c.resp3)
		n++
	}
	if slices.Contains(c.channels[kind], name) {
		tell(kind, name, payload)
	}
	if kind == shard {
		return b, n
	}
	for _, p := range c.channels[pattern] {
		if match(p, name) {
			tell(pattern, p, name, payload)
		}
	}
	return b, n
}

// match reports whether name matches a pattern with *, ?, [a-z], [^a-z] and \.
func match(pattern, name string) bool {
	for pattern != "" {
		switch pattern[0] {
		case '*':
			for i := range len(name) + 1 {
				if match(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		case '?':
			if name == "" {
				return false
			}
			pattern = pattern[1:]
		case '[':
			var in bool
			if name == "" {
				return false
			}
			if in, pattern = matchSet(pattern[1:], name[0]); !in {
				return false
			}
		default:
			if pattern[0] == '\\' && len(pattern) > 1 {
				pattern = pattern[1:]
			}
			if name == "" || name[0] != pattern[0] {
				return false
			}
			pattern = pattern[1:]
		}
		name = name[1:]
	}
	return name == ""
}

// matchSet reports whether c is in the set at the start of pattern, after its bracket.
// rest is the pattern after the set.
func matchSet(pattern string, c byte) (in bool, rest string) {
	not := pattern != "" && pattern[0] == '^'
	if not {
		pattern = pattern[1:]
	}
	for pattern != "" && pattern[0] != ']' {
		if pattern[0] == '\\' && len(pattern) > 1 {
			pattern = pattern[1:]
		}
		from, to := pattern[0], pattern[0]
		if len(pattern) > 2 && pattern[1] == '-' {
			to, pattern = pattern[2], pattern[2:]
		}
		in = in || min(from, to) <= c && c <= max(from, to)
		pattern = pattern[1:]
	}
	if pattern != "" {
		pattern = pattern[1:]
	}
	return in != not, pattern
}

// Drop forgets a closed connection.
func (s *Server) Drop(c *Conn) {
	s.unsubscribeAll(c)
	s.unwatch(c)
	s.untrack(c)
	s.wake(c)
}
