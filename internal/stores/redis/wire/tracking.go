package wire

import (
	"slices"
	"strings"
)

// clientTracking is CLIENT TRACKING ON|OFF [OPTIN | OPTOUT] [NOLOOP].
func clientTracking(x *call, w []string) reply {
	var t tracking
	for _, option := range w[3:] {
		switch option = strings.ToUpper(option); option {
		case "OPTIN", "OPTOUT":
			if t.option != "" && t.option != option {
				return failure("ERR You can't specify both OPTIN mode and OPTOUT mode")
			}
			t.option = option
		case "NOLOOP":
			t.noLoop = true
		case "BCAST", "PREFIX", "REDIRECT":
			return x.miss("CLIENT TRACKING " + option)
		default:
			return failure(errSyntax)
		}
	}
	switch strings.ToUpper(w[2]) {
	case "ON":
		if !x.conn.resp3 {
			return x.miss("CLIENT TRACKING in RESP2")
		}
		if before := x.conn.tracking; before.on && before.option != t.option {
			return failure("ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode.")
		}
		t.on = true
	case "OFF":
		x.server.untrack(x.conn)
		t = tracking{}
	default:
		return failure(errSyntax)
	}
	x.conn.tracking = t
	return okay
}

func clientCaching(x *call, w []string) reply {
	t := &x.conn.tracking
	if !t.on {
		return failure("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	}
	switch option := strings.ToUpper(w[2]); {
	case option == "YES" && t.option != "OPTIN":
		return failure("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.")
	case option == "NO" && t.option != "OPTOUT":
		return failure("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
	case option != "YES" && option != "NO":
		return failure(errSyntax)
	default:
		t.caching = option
	}
	return okay
}

// remember notes that the connection caches the keys of a command that reads. A script
// that reads any key caches all keys that it was called with.
func (x *call) remember(cmd command, words []string) {
	t := x.conn.tracking
	if t.option == "OPTIN" && t.caching != "YES" || t.option == "OPTOUT" && t.caching == "NO" {
		return
	}
	keys := words[1:]
	switch {
	case x.script != nil:
		keys = x.script.keys
	case cmd.flags&readsAll == 0:
		keys = words[1:2]
	}
	for _, key := range keys {
		note(&x.server.readers, key, x.conn)
	}
}

// invalidate tells all connections that cache key that it changed by a request of c.
// To c itself the message comes after the answer.
func (s *Server) invalidate(key string, c *Conn) {
	readers := s.readers[key]
	if len(readers) == 0 {
		return
	}
	delete(s.readers, key)
	message := listOf(push, bulk("invalidate"), listOf(array, bulk(key)))
	for _, r := range readers {
		switch {
		case r == c && r.tracking.noLoop:
		case r == c:
			s.current.after = message.append(s.current.after, true)
		default:
			s.pushes = append(s.pushes, Push{Conn: r, Data: message.append(nil, true)})
		}
	}
}

// untrack forgets what c caches.
func (s *Server) untrack(c *Conn) {
	for key := range s.readers {
		forget(s.readers, key, c)
	}
}

// note adds c to the connections of key.
func note(of *map[string][]*Conn, key string, c *Conn) {
	if *of == nil {
		*of = map[string][]*Conn{}
	}
	if !slices.Contains((*of)[key], c) {
		(*of)[key] = append((*of)[key], c)
	}
}

// forget removes c from the connections of key.
func forget(of map[string][]*Conn, key string, c *Conn) {
	if i := slices.Index(of[key], c); i >= 0 {
		of[key] = slices.Delete(of[key], i, i+1)
	}
}

// Changed tells the server that a key expired or was evicted: connections that watch or
// cache it need to know. Changes by requests it knows itself.
func (s *Server) Changed(key string) { s.touch(key, nil) }

// touch notes a change of key by a request of c, or, without c, by the server itself.
func (s *Server) touch(key string, c *Conn) {
	for _, w := range s.watchers[key] {
		w.changed = true
	}
	s.invalidate(key, c)
}
