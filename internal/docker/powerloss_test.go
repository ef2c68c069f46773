package docker_test

import (
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

const (
	waitUp = `i=0; until [ "$(redis-cli ping 2>/dev/null)" = PONG ]; do i=$((i+1)); [ $i -lt 6000 ] || exit 1; sleep 0.01; done; `

	// setBoth sets a key that is certainly synced, and another one in the second of the
	// last sync: everysec syncs when a new second of the server's clock has begun, and
	// this one has just begun. It prints "late" if that second ends before the server.
	setBoth = waitUp + `
redis-cli del newer >/dev/null && redis-cli set older 1 >/dev/null && sleep 2.1
until [ "$(date +%1N)" = 0 ]; do sleep 0.01; done; s=$(date +%s)
redis-cli set tick 1 >/dev/null && sleep 0.05
until redis-cli info persistence | grep -q aof_pending_bio_fsync:0; do sleep 0.01; done
redis-cli set newer 1 >/dev/null
kill -9 "$(cat /data/pid)"
while [ -d "/proc/$(cat /data/pid)" ]; do sleep 0.01; done
[ "$(date +%s)" = "$s" ] || { echo late >&2; exit 1; }`
)

// After a loss of power unsynced data is gone; after the end of the process alone it is
// there. A server that syncs always keeps everything.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	dockertest.Require(t)
	for name, c := range map[string]struct {
		fsync, before string
		lose          bool
		newer         string
	}{
		"everysec":                {fsync: "everysec", lose: true, newer: ""},
		"everysec, kill alone":    {fsync: "everysec", newer: "1"},
		"always":                  {fsync: "always", lose: true, newer: "1"},
		"everysec, a faked clock": {fsync: "everysec", before: docker.Faketime, lose: true, newer: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := dockertest.Group(t, 1)[0]
			do := func(script string, detach bool) error { return m.Run(t.Context(), script, detach) }
			start := c.before + docker.KeepSynced +
				`exec redis-server --dir /data --pidfile /data/pid --logfile /data/log --save "" --appendonly yes --appendfsync ` + c.fsync
			for try := 1; ; try++ {
				if err := do(start, true); err != nil {
					t.Fatal(err)
				}
				err := do(setBoth, false)
				if err == nil {
					break
				}
				if try == 20 || !strings.HasSuffix(strings.TrimSpace(err.Error()), "late") {
					t.Fatal(err)
				}
			}
			if c.lose {
				if err := do(docker.PowerLoss, false); err != nil {
					t.Fatal(err)
				}
			}
			if err := do(start, true); err != nil {
				t.Fatal(err)
			}
			if err := do(waitUp+`got="$(redis-cli get older),$(redis-cli get newer)"; [ "$got" = "1,`+c.newer+`" ] || { echo "got $got" >&2; cat /data/log; ls -l /data/appendonlydir; exit 1; }`, false); err != nil {
				t.Error(strings.ReplaceAll(err.Error(), waitUp, ""))
			}
		})
	}
}
