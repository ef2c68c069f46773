package wire

import (
	"strings"
)

func multi(x *call, _ []string) reply {
	if x.conn.multi {
		return failure("ERR MULTI calls can not be nested")
	}
	x.conn.multi = true
	return okay
}

func discard(x *call, _ []string) reply {
	if !x.conn.multi {
		return failure("ERR DISCARD without MULTI")
	}
	x.endMulti()
	return okay
}

// exec executes the queued commands. Each is answered, also after one that failed.
func exec(x *call, _ []string) reply {
	c := x.conn
	if !c.multi {
		return failure("ERR EXEC without MULTI")
	}
	queue, broken, changed := c.queue, c.broken, c.changed
	for _, w := range c.watched {
		changed = changed || w.exists && !x.exists(w.key)
	}
	x.endMulti()
	switch {
	case broken:
		return failure("EXECABORT Transaction discarded because of previous errors.")
	case changed:
		return listOf(nilArray)
	}
	if r, refused := x.refuseQueue(queue); refused {
		return aborted(r)
	}
	r := listOf(array)
	x.inExec = true
	for _, words := range queue {
		cmd, _, _ := x.find(words)
		r.list = append(r.list, x.execute(cmd, words))
	}
	return r
}

// aborted is EXEC's answer if the server refuses it.
func aborted(why reply) reply {
	return failure("EXECABORT Transaction discarded because of: " + strings.TrimPrefix(why.Str, "ERR "))
}

// refuseQueue returns the refusal of queued commands by a server that became a replica
// after MULTI, or whose memory is full by now.
func (x *call) refuseQueue(queue [][]string) (reply, bool) {
	for _, words := range queue {
		cmd, name, ok := x.find(words)
		if r, refused := x.refuse(cmd, name, ok, words); refused {
			return r, true
		}
	}
	return reply{}, false
}

func (x *call) endMulti() {
	c := x.conn
	c.multi, c.broken, c.queue = false, false, nil
	x.server.unwatch(c)
}

func watch(x *call, w []string) reply {
	c := x.conn
	if c.multi {
		return failure("ERR WATCH inside MULTI is not allowed")
	}
	for _, key := range w[1:] {
		c.watched = append(c.watched, watched{key, x.exists(key)})
		note(&x.server.watchers, key, c)
	}
	return okay
}

func unwatch(x *call, _ []string) reply {
	x.server.unwatch(x.conn)
	return okay
}

// unwatch forgets the keys that c watches.
func (s *Server) unwatch(c *Conn) {
	for _, w := range c.watched {
		forget(s.watchers, w.key, c)
	}
	c.watched, c.changed = nil, false
}
