package wire

import "strings"

// Do serves one request of a connection and returns its answer in RESP. It is one
// atomic step. One goroutine at a time may call it. Without an answer the request waits:
// see Blocked.
func (s *Server) Do(c *Conn, apply Apply, words []string) []byte {
	if c.id == 0 {
		s.conns++
		c.id = s.conns
	}
	commands := dataCommands
	if s.sentinel != nil {
		commands = sentinelCommands
	}
	s.current = call{server: s, conn: c, apply: apply, commands: commands}
	x := &s.current
	r := x.serve(words)
	out := r.append(x.before, c.resp3)
	out = append(out, x.after...)
	s.serveWaiting(apply)
	return out
}

// serve executes a request of a client, or queues it.
func (x *call) serve(words []string) reply {
	cmd, name, ok := x.find(words)
	c := x.conn
	r, refused := x.refuse(cmd, name, ok, words)
	if !refused && !c.resp3 && c.subscriptions() > 0 && cmd.flags&subscribed == 0 {
		r, refused = failure("ERR Can't execute '"+strings.ToLower(name)+"': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"), true
	}
	switch {
	case refused && strings.EqualFold(words[0], "exec"):
		x.endMulti()
		return aborted(r)
	case refused:
		c.broken = c.multi
		return r
	case c.blocked != nil:
		return x.miss("request on a connection that waits (" + strings.ToUpper(name) + ")")
	case c.multi && cmd.flags&unqueued == 0:
		c.queue = append(c.queue, words)
		return status("QUEUED")
	}
	r = x.execute(cmd, words)
	if !c.multi && !strings.EqualFold(words[0], "client") {
		c.tracking.caching = ""
	}
	return r
}

// Do serves one request of a connection and returns its answer in RESP.
func (s *Sentinel) Do(c *Conn, words []string) []byte {
	s.front.sentinel = s
	return s.front.Do(c, nil, words)
}

// Drop forgets a closed connection.
func (s *Sentinel) Drop(c *Conn) { s.front.Drop(c) }

// SwitchMaster returns the message of a +switch-master event for a connection that
// subscribed to it, or nil.
func (s *Sentinel) SwitchMaster(c *Conn, oldHost, oldPort, newHost, newPort string) []byte {
	message := strings.Join([]string{s.Name, oldHost, oldPort, newHost, newPort}, " ")
	b, _ := c.messages(channel, "+switch-master", message)
	return b
}
