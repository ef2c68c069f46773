package porttest

import (
	"errors"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// runPort calls each method of the port at least twice: once with and once
// without an effect.
func runPort(t *testing.T, w World) {
	ctx, p := t.Context(), redis.Port{Transport: w.Conns[0]}
	k, n, l := prefix()+"k", prefix()+"n", prefix()+"l"

	type result struct {
		value any
		yes   bool
	}
	as := func(value any, yes bool, err error) func(string, any, bool) {
		return func(what string, wantValue any, wantYes bool) {
			t.Helper()
			if got, want := (result{value, yes}), (result{wantValue, wantYes}); err != nil || got != want {
				t.Errorf("%s: got %v, error %v; want %v", what, got, err, want)
			}
		}
	}
	of := func(value any, err error) func(string, any) {
		return func(what string, want any) {
			t.Helper()
			as(value, false, err)(what, want, false)
		}
	}

	as(p.Get(ctx, 0, k))("Get of a missing key", "", false)
	of(p.SetIfAbsent(ctx, 0, k, "", 0))("SetIfAbsent", true)
	as(p.Get(ctx, 0, k))("Get of an empty value", "", true)
	of(p.SetIfAbsent(ctx, 0, k, "w", 0))("SetIfAbsent, taken", false)
	of(p.SetNX(ctx, 0, k, "w"))("SetNX, taken", false)
	of(p.PTTL(ctx, 0, k))("PTTL without expiry", -ms)
	of(p.PExpire(ctx, 0, k, 0))("PExpire at once", true)
	of(p.PExpire(ctx, 0, k, long))("PExpire of a missing key", false)
	of(p.PTTL(ctx, 0, k))("PTTL of a missing key", -2*ms)
	of(p.SetNX(ctx, 0, k, "w"))("SetNX", true)
	of(nil, p.Set(ctx, 0, k, "v", 0))("Set", nil)
	of(p.CompareAndDelete(ctx, 0, k, "w"))("CompareAndDelete of another's", false)
	of(p.CompareAndDelete(ctx, 0, k, "v"))("CompareAndDelete", true)
	of(p.Del(ctx, 0, k))("Del of a missing key", false)
	of(p.Incr(ctx, 0, n))("Incr", int64(1))
	of(p.Grant(ctx, 0, k, "v", n, long))("Grant", uint64(2))
	of(p.Grant(ctx, 0, k, "w", n, long))("Grant, taken", uint64(0))
	of(p.Claim(ctx, 0, k, "v", n, long))("Claim", uint64(3))
	of(p.Claim(ctx, 0, k, "w", n, long))("Claim, taken", uint64(0))
	of(p.Extend(ctx, 0, k, "w", long))("Extend of another's", false)
	of(p.Extend(ctx, 0, k, "v", long))("Extend", true)
	of(p.Replace(ctx, 0, k, "w", "x", long))("Replace of another's", false)
	of(p.Replace(ctx, 0, k, "v", "x", long))("Replace", true)
	as(p.GetSet(ctx, 0, k, "y"))("GetSet", "x", true)
	of(p.Del(ctx, 0, k))("Del", true)
	as(p.GetSet(ctx, 0, k, "y"))("GetSet of a missing key", "", false)
	of(p.Wait(ctx, 0, 1, ms))("Wait without replicas", 0)
	of(p.RPush(ctx, 0, l, "x"))("RPush", int64(1))

	_, _, err := p.Get(ctx, 0, l)
	var server redis.ServerError
	if !errors.As(err, &server) || string(server) != wrongType.Str || !locks.IsDefinite(err) {
		t.Errorf("Get of a list: got error %v, want a definite %q", err, wrongType.Str)
	}
}
