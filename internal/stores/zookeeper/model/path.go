package model

import (
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// Valid reports whether the path of c is valid. A client library checks this
// before it sends anything, and returns BadArguments if not; so do Propose and
// Read.
func Valid(c zookeeper.Command) bool {
	if !strings.HasPrefix(c.Path, "/") {
		return false
	}
	if c.Path == "/" {
		return true
	}
	for rest, more := c.Path[1:], true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		numbered := !more && c.Verb == zookeeper.Create && c.Mode&zookeeper.Sequential != 0
		if name == "" && !numbered || name == "." || name == ".." {
			return false
		}
	}
	for _, r := range c.Path {
		if !allowed(r) {
			return false
		}
	}
	return true
}

// allowed reports whether a path may contain r: no control character, no
// private-use character, and no character that needs two in Java.
func allowed(r rune) bool {
	return r > 0x1f && (r < 0x7f || r > 0x9f) && (r < 0xd800 || r > 0xf8ff) && r < 0xfff0
}
