package porttest

import (
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// runBytes sends every byte and long values and reads them back: in keys and
// values, with commands and scripts.
func runBytes(t *testing.T, w World) {
	var all strings.Builder
	values := []string{"\r\n", "$-1\r\n", " v ", "ÿ日本", strings.Repeat("x", 1<<17)}
	for b := range 256 {
		all.WriteByte(byte(b))
		values = append(values, string([]byte{byte(b)}))
	}
	p := prefix()
	for _, v := range append(values, all.String()) {
		key := v
		if len(key) > 256 {
			key = "long"
		}
		for _, s := range []step{
			{do: set(key, v, 0), want: ok},
			{do: get(key), want: bulk(v)},
			{do: compareAndDelete(key, v+"\x00"), want: number(0)},
			{do: compareAndDelete(key, v), want: number(1)},
			{do: grant(key, v, key+"/n", long), want: number(1)},
			{do: claim(key, v, key+"/n", long), want: number(2)},
			{do: get(key), want: bulk(v)},
			{do: replace(key, v+"\x00", "", long), want: number(0)},
			{do: replace(key, v, v+"\x00", long), want: number(1)},
			{do: extend(key, v, long), want: number(0)},
			{do: extend(key, v+"\x00", long), want: number(1)},
			{do: getSet(key, v), want: bulk(v + "\x00")},
			{do: redis.Command{Verb: redis.RPush, Key: key + "/l", Value: v}, want: number(1)},
			{do: del(key), want: number(1)},
		} {
			got, err := w.Conns[0].Do(t.Context(), 0, within(p, s.do))
			if err != nil {
				t.Fatalf("%s: %v", describe(s.do), err)
			}
			if got != s.want {
				t.Fatalf("%s: got %.80q of kind %d, number %d", describe(s.do), got.Str, got.Kind, got.Int)
			}
		}
	}
}
