package wire_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
)

// Requests change entries as their single steps do: each connection is the maker of what
// it sets. The property ownership rests on it.
func TestEffects(t *testing.T) {
	for _, c := range []struct {
		name     string
		requests []string // "1: SET k v" on connection 1
		want     []string // "created k 1 1": the entry's maker and who acted
	}{
		{
			"a lock, another's attempts, a release",
			[]string{
				"1: SET k v NX PX 30000", "2: SET k w NX PX 30000", "2: EVAL {script redsync-delete} 1 k w",
				"2: EVAL {script redsync-touch} 1 k w 60000", "1: EVAL {script redsync-touch} 1 k v 60000",
				"1: EVAL {script redsync-delete} 1 k v",
			},
			[]string{"created k 1 1", "prolonged k 1 1", "removed k 1 1"},
		},
		{
			"a release without a look at the value",
			[]string{"1: SET k v", "2: DEL missing k", "2: SETNX k w", "1: GETDEL k"},
			[]string{"created k 1 1", "removed k 1 2", "created k 2 2", "removed k 2 1"},
		},
		{
			"values in place of others",
			[]string{"1: SET k v", "2: SET k w XX KEEPTTL", "1: GETSET k v", "2: SET k w NX GET", "2: MSETNX n 1 k 1", "2: MSET k 1"},
			[]string{"created k 1 1", "overwritten k 1 2", "overwritten k 2 1", "overwritten k 1 2"},
		},
		{
			"expiry that moves",
			[]string{"1: SET k v", "2: EXPIRE k 30", "2: GETEX k EX 60", "1: PERSIST k", "1: TTL k", "2: GETEX k PERSIST", "2: EXPIREAT k 1"},
			[]string{"created k 1 1", "shortened k 1 2", "prolonged k 1 2", "prolonged k 1 1", "removed k 1 2"},
		},
		{
			"a key that expires at once",
			[]string{"1: SET k v PXAT 1000", "1: SET k v PXAT 1000 XX"},
			[]string{"created k 1 1", "removed k 1 1"},
		},
		{
			"refused requests",
			[]string{"1: SET k v", "2: SET k v FOO", "2: SET k v EX 0", "2: INCR k", "2: HSET k a 1", "2: MULTI", "2: DEL k", "2: DISCARD"},
			[]string{"created k 1 1"},
		},
		{
			"a transaction",
			[]string{"1: MULTI", "1: SETNX k v", "1: PEXPIRE k 30000", "2: SETNX k w", "1: EXEC"},
			[]string{"created k 2 2", "shortened k 2 1"},
		},
		{
			"a reentrant lock",
			[]string{
				"1: EVAL {script reentrant-lock} 1 k 30000 a", "2: EVAL {script reentrant-lock} 1 k 30000 b",
				"1: EVAL {script reentrant-lock} 1 k 30000 a", "1: EVAL {script reentrant-unlock} 2 k c 0 30000 a",
				"2: EVAL {script reentrant-unlock} 2 k c 0 30000 b", "1: EVAL {script reentrant-unlock} 2 k c 0 30000 a",
			},
			[]string{"created k 1 1", "shortened k 1 1", "removed k 1 1"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, conns := model.New(model.Options{}), map[int]*wire.Conn{1: {}, 2: {}}
			var front wire.Server
			var got []string
			now := time.Now()
			for _, r := range c.requests {
				by := int(r[0] - '0')
				apply := func(c redis.Command) redis.Reply {
					r := server.Apply(time.Duration(now.UnixNano()), by, c)
					for _, e := range server.Effects() {
						got = append(got, fmt.Sprintf("%s %s %d %d", e.Kind, e.Key, e.Maker, e.By))
					}
					return r
				}
				front.Do(conns[by], apply, words(t, r[3:], now))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
