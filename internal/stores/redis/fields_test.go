package redis_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/internal/rapidtest"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// Fields returns what AppendField has joined, of any length and with any bytes.
func TestFields(t *testing.T) {
	texts := rapid.OneOf(rapid.StringN(0, 3, -1), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 400), func(b []byte) string { return string(b) }))
	rapidtest.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Map(rapid.SliceOfN(texts, 2, 2), func(p []string) [2]string { return [2]string{p[0], p[1]} }), 0, 5).Draw(t, "fields")
		var joined []byte
		for _, f := range want {
			joined = redis.AppendField(joined, f[0], f[1])
		}
		got := [][2]string{}
		for field, value := range redis.Fields(string(joined)) {
			got = append(got, [2]string{field, value})
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
