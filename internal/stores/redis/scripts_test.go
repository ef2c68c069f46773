package redis_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

func TestArgs(t *testing.T) {
	const ms = time.Millisecond
	del, grant, claim := redis.CompareAndDelete.Script(), redis.Grant.Script(), redis.Claim.Script()
	extend, replace := redis.Extend.Script(), redis.Replace.Script()
	for _, c := range []struct {
		do   redis.Command
		want []string
	}{
		{redis.Command{Verb: redis.Get, Key: "k"}, []string{"GET", "k"}},
		{redis.Command{Verb: redis.Set, Key: "k"}, []string{"SET", "k", ""}},
		{redis.Command{Verb: redis.Set, Key: "k", Value: "v", NX: true, TTL: 5 * ms}, []string{"SET", "k", "v", "NX", "PX", "5"}},
		{redis.Command{Verb: redis.Set, Key: "k", Value: "v", TTL: 1}, []string{"SET", "k", "v", "PX", "1"}},
		{redis.Command{Verb: redis.Set, Key: "k", Value: "v", TTL: -1}, []string{"SET", "k", "v", "PX", "0"}},
		{redis.Command{Verb: redis.SetNX, Key: "k", Value: "v", TTL: ms}, []string{"SETNX", "k", "v"}},
		{redis.Command{Verb: redis.PExpire, Key: "k", TTL: 5*ms + 1}, []string{"PEXPIRE", "k", "6"}},
		{redis.Command{Verb: redis.PExpire, Key: "k"}, []string{"PEXPIRE", "k", "0"}},
		{redis.Command{Verb: redis.PExpire, Key: "k", TTL: math.MaxInt64}, []string{"PEXPIRE", "k", "9223372036855"}},
		{redis.Command{Verb: redis.PTTL, Key: "k"}, []string{"PTTL", "k"}},
		{redis.Command{Verb: redis.Del, Key: "k"}, []string{"DEL", "k"}},
		{redis.Command{Verb: redis.Incr, Key: "k"}, []string{"INCR", "k"}},
		{redis.Command{Verb: redis.RPush, Key: "k", Value: "v"}, []string{"RPUSH", "k", "v"}},
		{redis.Command{Verb: redis.CompareAndDelete, Key: "k", Value: "v"}, []string{"EVAL", del, "1", "k", "v"}},
		{redis.Command{Verb: redis.Grant, Key: "k", Value: "v"}, []string{"EVAL", grant, "1", "k", "v"}},
		{redis.Command{Verb: redis.Grant, Key: "k", Value: "v", Counter: "n", TTL: ms}, []string{"EVAL", grant, "2", "k", "n", "v", "1"}},
		{redis.Command{Verb: redis.Claim, Key: "k", Value: "v", TTL: ms}, []string{"EVAL", claim, "1", "k", "v", "1"}},
		{redis.Command{Verb: redis.GetSet, Key: "k", Value: "v", TTL: ms}, []string{"GETSET", "k", "v"}},
		{redis.Command{Verb: redis.Wait, N: 2, TTL: ms}, []string{"WAIT", "2", "1"}},
		{redis.Command{Verb: redis.Wait, N: -1}, []string{"WAIT", "-1", "0"}},
		{redis.Command{Verb: redis.Extend, Key: "k", Value: "v", TTL: ms}, []string{"EVAL", extend, "1", "k", "v", "1"}},
		{redis.Command{Verb: redis.Extend, Key: "k", Value: "v"}, []string{"EVAL", extend, "1", "k", "v", "0"}},
		{redis.Command{Verb: redis.Replace, Key: "k", Value: "w", Old: "v", TTL: ms}, []string{"EVAL", replace, "1", "k", "w", "v", "1"}},
		{redis.Command{Verb: redis.Replace, Key: "k", Value: "w"}, []string{"EVAL", replace, "1", "k", "w", ""}},
		{redis.Command{}, nil},
		{redis.Command{Verb: 255}, nil},
	} {
		if got := c.do.Args(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %q, want %q", c.do, got, c.want)
		}
	}
	for v := range redis.Verb(20) {
		if got, want := v.Script() != "", v >= redis.CompareAndDelete && v <= redis.Replace; got != want {
			t.Errorf("verb %d: a script: %v, want %v", v, got, want)
		}
	}
}
