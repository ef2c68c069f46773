// Package porttest is the conformance suite of the Redis port, for real servers
// and for the model. If two implementations differ, the real server is right.
package porttest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// World is a running server and its connections.
type World struct {
	// Conns are connections to the server, at least three. Several goroutines use
	// them at once only if Slack is not 0.
	Conns []redis.Transport
	// Now returns the time since some instant. It runs like the server's clock.
	Now func() time.Duration
	// Sleep waits until Now has advanced by at least d.
	Sleep func(d time.Duration)
	// Slack is the greatest delay of an observation: the suite does not read a
	// key closer to its expiry, and times to live may be off by this much. 0
	// means virtual time: commands take none, and everything is exact.
	Slack time.Duration
}

// Factory returns a World, which t's cleanup stops. The server may have other
// keys: the suite's keys begin with a new prefix.
type Factory func(t *testing.T) World

// Run runs the suite.
func Run(t *testing.T, f Factory) {
	t.Helper()
	w := f(t)
	t.Run("commands", func(t *testing.T) { runCases(t, w) })
	t.Run("bytes", func(t *testing.T) { runBytes(t, w) })
	t.Run("port", func(t *testing.T) { runPort(t, w) })
	t.Run("sequences", func(t *testing.T) { runSequences(t, w) })
}

// prefixes counts this process's key prefixes.
var prefixes atomic.Int64

// prefix returns a new prefix for keys.
func prefix() string {
	return fmt.Sprintf("porttest/%x/%d/", time.Now().UnixNano(), prefixes.Add(1))
}

// within puts the keys of c under prefix.
func within(prefix string, c redis.Command) redis.Command {
	c.Key = prefix + c.Key
	if c.Counter != "" {
		c.Counter = prefix + c.Counter
	}
	return c
}

// describe formats c for people.
func describe(c redis.Command) string {
	if c.Verb == redis.Wait {
		return fmt.Sprintf("WAIT(%d, %v)", c.N, c.TTL)
	}
	s := fmt.Sprintf("%s(%q", names[c.Verb], c.Key)
	switch c.Verb {
	case redis.Replace:
		s += fmt.Sprintf(", %.40q", c.Old)
		fallthrough
	case redis.Set, redis.SetNX, redis.GetSet, redis.RPush, redis.CompareAndDelete, redis.Grant, redis.Claim, redis.Extend:
		s += fmt.Sprintf(", %.40q", c.Value)
	}
	if c.Counter != "" {
		s += fmt.Sprintf(", counter %q", c.Counter)
	}
	if c.NX {
		s += ", NX"
	}
	if c.TTL != 0 || c.Verb == redis.PExpire || c.Verb == redis.Extend {
		s += fmt.Sprintf(", %v", c.TTL)
	}
	return s + ")"
}

var names = [...]string{
	redis.Get: "GET", redis.Set: "SET", redis.SetNX: "SETNX", redis.PExpire: "PEXPIRE",
	redis.PTTL: "PTTL", redis.Del: "DEL", redis.Incr: "INCR", redis.RPush: "RPUSH", redis.GetSet: "GETSET",
	redis.CompareAndDelete: "CompareAndDelete", redis.Grant: "Grant", redis.Claim: "Claim",
	redis.Extend: "Extend", redis.Replace: "Replace",
}
