// Package porttest is the one conformance suite of the Redis port. Whatever
// stands behind the port, the real server or a model of it, has to pass it;
// where two differ, the real server is right.
package porttest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/stores/redis"
)

// World is a running server and the way to it.
type World struct {
	// Conns are connections to the server, at least three. They are used by
	// several goroutines at once only where Slack is not 0.
	Conns []redis.Transport
	// Now is the time since some instant. It runs as the server's clock does.
	Now func() time.Duration
	// Sleep waits; Now has gone on by d at least when it returns.
	Sleep func(d time.Duration)
	// Slack is how late anything here may be seen to happen: the suite does not
	// look at a key that is nearer to its expiry, and times to live may be
	// wrong by as much. 0: time is virtual, no command takes any, and all is exact.
	Slack time.Duration
}

// Factory brings up a World, and has t's clean-up take it down. The server may
// hold keys of others: the suite's begin with a prefix that is used once.
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

// prefixes counts the key prefixes that this process has used.
var prefixes atomic.Int64

// prefix is the start of keys that nobody else uses.
func prefix() string {
	return fmt.Sprintf("porttest/%x/%d/", time.Now().UnixNano(), prefixes.Add(1))
}

// within puts c on the keys under prefix.
func within(prefix string, c redis.Command) redis.Command {
	c.Key = prefix + c.Key
	if c.Counter != "" {
		c.Counter = prefix + c.Counter
	}
	return c
}

// describe is c as a person writes it.
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
