package main

import (
	"strings"
	"testing"
)

// A property that could not be broken does not count as kept: a client alone cannot
// violate exclusion, however bad the lock is.
func TestOneClientKeepsNoPromiseOfTwo(t *testing.T) {
	for _, tt := range []struct {
		args string
		code int
	}{
		{"--runs 20 --promise exclusion", unproven},
		{"--runs 20 --promise liveness,lease-exclusion", unproven},
		{"--promise exclusion --strategy exhaustive", unproven},
		{"--runs 20 --promise ownership", unproven}, // without a fault this needs a second client, too
		{"--runs 20", unproven},
	} {
		args := strings.Fields("run redis-set-lua --fault none --clients 1 --acquires 2 " + tt.args)
		r := lockcheck(t, append(args, "--out", t.TempDir())...)
		r.wants(t, tt.code, "there is one client: nobody could break it")
	}
}
