package wire_test

import (
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
)

// A lock and its release: SET NX PX, and EVALSHA of a script that compares and deletes.
func BenchmarkLock(b *testing.B) {
	f := newFrontEnd()
	c := f.conn("1")
	release := `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`
	sha := string(f.server.Do(c, f.apply, []string{"SCRIPT", "LOAD", release}))[5:45]
	bytes := []byte(encode([]string{"set", "lock", "value", "nx", "px", "30000"}) + encode([]string{"evalsha", sha, "1", "lock", "value"}))
	var p wire.Parser
	b.ReportAllocs()
	for b.Loop() {
		p.Feed(bytes)
		for range 2 {
			words, ok, err := p.Next()
			if !ok || err != nil {
				b.Fatal(ok, err)
			}
			if out := f.server.Do(c, f.apply, words); out[0] == '-' || out[1] == '0' {
				b.Fatalf("%q: %q", words, out)
			}
		}
	}
}

// A new server that runs its first script.
func BenchmarkFirstScript(b *testing.B) {
	for name, shared := range map[string]*wire.Lua{"alone": nil, "shared": {}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f := newFrontEnd()
				f.server.Lua = shared
				f.server.Do(f.conn("1"), f.apply, []string{"EVAL", "return redis.call('get', KEYS[1])", "1", "k"})
			}
		})
	}
}
