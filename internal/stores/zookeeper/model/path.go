package model

import (
	"strings"

	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// Valid tells whether the path of c is one. A client library says so before it
// sends anything, and answers BadArguments if not; so do Propose and Read.
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

// allowed tells whether a path may hold r: no control characters, nothing for
// private use, and nothing that takes Java two characters.
func allowed(r rune) bool {
	return r > 0x1f && (r < 0x7f || r > 0x9f) && (r < 0xd800 || r > 0xf8ff) && r < 0xfff0
}
