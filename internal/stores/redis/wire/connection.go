package wire

import (
	"strconv"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// IsHandshake reports whether a request belongs to the client library and not to a lock:
// a fault that strikes one request does not apply to it.
func IsHandshake(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch strings.ToLower(words[0]) {
	case "hello", "auth", "client", "select", "ping", "command", "cluster", "info", "role",
		"readonly", "readwrite", "asking", "quit", "reset":
		return true
	}
	return false
}

func ping(x *call, w []string) reply {
	switch {
	case len(w) > 2:
		return wrongArity(w[0])
	case !x.conn.resp3 && x.conn.subscriptions() > 0:
		return listOf(array, bulk("pong"), bulk(strings.Join(w[1:], "")))
	case len(w) == 2:
		return bulk(w[1])
	}
	return status("PONG")
}

func echo(_ *call, w []string) reply { return bulk(w[1]) }

// hello is HELLO [version [AUTH user password] [SETNAME name]].
func hello(x *call, w []string) reply {
	resp3 := x.conn.resp3
	if len(w) > 1 {
		n, ok := parseInt(w[1])
		if !ok {
			return failure("ERR Protocol version is not an integer or out of range")
		}
		if n != 2 && n != 3 {
			return failure("NOPROTO unsupported protocol version")
		}
		resp3 = n == 3
	}
	for i := 2; i < len(w); i++ {
		switch option := strings.ToUpper(w[i]); {
		case option == "AUTH" && i+2 < len(w):
			if w[i+1] != "default" {
				return failure(errPassword)
			}
			i += 2
		case option == "SETNAME" && i+1 < len(w):
			if r := setName(x.conn, w[i+1]); r.failed() {
				return r
			}
			i++
		default:
			return failure("ERR Syntax error in HELLO option '" + w[i] + "'")
		}
	}
	x.conn.resp3 = resp3
	proto := int64(2)
	if resp3 {
		proto = 3
	}
	mode := "standalone"
	if x.server.sentinel != nil {
		mode = "sentinel"
	}
	r := listOf(mapping, bulk("server"), bulk("redis"), bulk("version"), bulk(version),
		bulk("proto"), integer(proto), bulk("id"), integer(x.conn.id), bulk("mode"), bulk(mode))
	if x.server.sentinel == nil {
		r.list = append(r.list, bulk("role"), bulk(x.server.role()))
	}
	r.list = append(r.list, bulk("modules"), listOf(array))
	return r
}

const errPassword = "WRONGPASS invalid username-password pair or user is disabled."

// auth accepts the default user with any password: it has none.
func auth(_ *call, w []string) reply {
	switch {
	case len(w) > 3:
		return failure(errSyntax)
	case len(w) == 2:
		return failure("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
	case w[1] != "default":
		return failure(errPassword)
	}
	return okay
}

func quit(x *call, _ []string) reply {
	x.conn.closed = true
	return okay
}

// reset makes the connection a new one.
func reset(x *call, _ []string) reply {
	x.server.Drop(x.conn)
	*x.conn = Conn{id: x.conn.id}
	return status("RESET")
}

func selectDB(x *call, w []string) reply {
	switch n, ok := parseInt(w[1]); {
	case !ok:
		return failure(errInteger)
	case n != int64(int32(n)):
		return failure("ERR value is out of range, value must between -2147483648 and 2147483647")
	case n < 0 || n > 15:
		return failure("ERR DB index is out of range")
	case n != 0:
		return x.miss("SELECT " + w[1])
	}
	return okay
}

func noCluster(*call, []string) reply {
	return failure("ERR This instance has cluster support disabled")
}

func clientID(x *call, _ []string) reply { return integer(x.conn.id) }

func clientGetName(x *call, _ []string) reply {
	if x.conn.name == "" {
		return reply{}
	}
	return bulk(x.conn.name)
}

func clientSetName(x *call, w []string) reply { return setName(x.conn, w[2]) }

func setName(c *Conn, name string) reply {
	if strings.ContainsFunc(name, func(r rune) bool { return r < '!' || r > '~' }) {
		return failure("ERR Client names cannot contain spaces, newlines or special characters.")
	}
	c.name = name
	return okay
}

func clientNoEvict(_ *call, w []string) reply {
	if s := strings.ToUpper(w[2]); s != "ON" && s != "OFF" {
		return failure(errSyntax)
	}
	return okay
}

// commandTable is COMMAND. Clients of one server do without the table.
func commandTable(*call, []string) reply { return listOf(array) }
func commandDocs(*call, []string) reply  { return listOf(mapping) }

func commandCount(x *call, _ []string) reply { return integer(int64(len(x.commands))) }

// clock is TIME.
func clock(x *call, _ []string) reply {
	const each = int64(time.Second / time.Microsecond)
	now := x.now()
	x.timed = true
	return listOf(array, bulk(strconv.FormatInt(now/each, 10)), bulk(strconv.FormatInt(now%each, 10)))
}

// wait answers as the model does. The caller of Do blocks a WAIT that must wait.
func wait(x *call, w []string) reply {
	n, ok := parseInt(w[1])
	if !ok {
		return failure(errInteger)
	}
	limit, ok := parseInt(w[2])
	switch {
	case !ok:
		return failure("ERR timeout is not an integer or out of range")
	case limit < 0:
		return failure("ERR timeout is negative")
	}
	c := redis.Command{Verb: redis.Wait, N: n}
	if limit > 0 {
		c.TTL = duration(limit)
	}
	return x.step(c)
}

// master returns the address of the server's master if it is a replica.
func (s *Server) master() (host, port string, ok bool) {
	if s.Follows == nil {
		return "", "", false
	}
	return s.Follows()
}

func (s *Server) role() string {
	if _, _, ok := s.master(); ok {
		return "replica"
	}
	return "master"
}

// role is ROLE. The model knows no offsets and no list of replicas.
func role(x *call, _ []string) reply {
	if x.server.sentinel != nil {
		return listOf(array, bulk("sentinel"), listOf(array, bulk(x.server.sentinel.Name)))
	}
	host, port, ok := x.server.master()
	if !ok {
		return listOf(array, bulk("master"), integer(0), listOf(array))
	}
	n, _ := parseInt(port)
	return listOf(array, bulk("slave"), bulk(host), integer(n), bulk("connected"), integer(0))
}

// info is INFO with what a client library may look for.
func info(x *call, w []string) reply {
	var b strings.Builder
	mode := "standalone"
	if x.server.sentinel != nil {
		mode = "sentinel"
	}
	sections := []string{"server", "replication"}
	for _, s := range w[1:] {
		if s = strings.ToLower(s); s != "all" && s != "default" && s != "everything" {
			sections = []string{s}
		}
	}
	for _, s := range sections {
		if b.Len() > 0 {
			b.WriteString("\r\n")
		}
		switch s {
		case "server":
			b.WriteString("# Server\r\nredis_version:" + version + "\r\nredis_mode:" + mode + "\r\n")
		case "replication":
			b.WriteString("# Replication\r\n")
			if host, port, ok := x.server.master(); ok {
				b.WriteString("role:slave\r\nmaster_host:" + host + "\r\nmaster_port:" + port + "\r\nmaster_link_status:up\r\n")
			} else {
				b.WriteString("role:master\r\nconnected_slaves:0\r\n")
			}
		}
	}
	if x.server.sentinel != nil {
		return bulk(b.String())
	}
	return reply{Reply: redis.Reply{Kind: text, Str: b.String()}}
}
