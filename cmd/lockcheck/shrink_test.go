package main

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/lockcheck/lockcheck/internal/harness"
)

// An interrupt leaves the result so far, and says that it is incomplete.
func TestAnInterruptedShrink(t *testing.T) {
	out := t.TempDir()
	lockcheck(t, "run", "redis-set-get-del", "--fault", "pause", "--seed", "44", "--runs", "1", "--no-shrink", "--out", out)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := in(t, ctx, func(p *changed) {
		execute := p.execute
		p.execute = func(plan *harness.Plan, name string) (*harness.Judged, harness.Replay, error) {
			cancel()
			return execute(plan, name)
		}
	}, "shrink", filepath.Join(out, "redis-set-get-del-pause-44", scheduleFile))
	r.wants(t, interrupted, "interrupted, so there may be a shorter one")
}
