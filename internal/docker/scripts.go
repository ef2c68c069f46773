package docker

import (
	"fmt"
	"strings"
	"time"
)

// The shell scripts that run in the containers of servers. The number of a server's
// process is in /data/pid.

const (
	// storeBirth is the first line of a script that becomes a server's process. It stores the
	// process's number and its start time, in ticks.
	storeBirth = `read -r l </proc/$$/stat; set -- ${l##*) }; echo $$ "${20}" >/data/born
`
	// checkAlive is a script that prints "gone" unless the stored process still exists. A
	// stopped process counts as existing; another process with its number does not.
	checkAlive = `{ read -r p at </data/born && read -r l <"/proc/$p/stat" && set -- ${l##*) } &&
[ "$1" != Z ] && [ "${20}" = "$at" ]; } 2>/dev/null || echo gone`
	// awaitEnd is a script that waits until the server has ended, for 10 s.
	awaitEnd = `p=$(cat /data/pid 2>/dev/null) || exit 0; ` + awaitGone
	// awaitGone is awaitEnd for the process $p.
	awaitGone = `i=0; while [ -d "/proc/$p" ] && [ $i -lt 1000 ]; do sleep 0.01; i=$((i+1)); done; [ ! -d "/proc/$p" ]`
)

// killServer is a script that kills the server, if it runs, and waits for its end.
const killServer = `if [ -e /data/pid ]; then kill -9 "$(cat /data/pid)" 2>/dev/null; ` + awaitEnd + ` && rm -f /data/pid; fi`

// stopScript is a script that stops the server and waits until all its threads are
// stopped.
const stopScript = `p=$(cat /data/pid) && kill -STOP "$p" && while grep -h ^State: /proc/$p/task/*/status | grep -qv '(stopped)'; do sleep 0.002; done`

// faketime makes libfaketime answer the server's reads of the wall clock. The C library
// must come second: the server's allocator deadlocks otherwise, because it reads the
// time while symbols are being resolved.
const faketime = `export FAKETIME_TIMESTAMP_FILE=/faketime/offset FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1
LD_PRELOAD="$(echo /usr/lib/*/faketime/libfaketimeMT.so.1) $(echo /lib/*/libc.so.6)"
export LD_PRELOAD
`

// setOffset returns a script that writes the offset of the wall clock. The server reads
// the file at each read of its clock, so it is replaced in one step.
func setOffset(offset time.Duration) string {
	return fmt.Sprintf("echo %+.6f >/faketime/new && mv /faketime/new /faketime/offset", offset.Seconds())
}

// filter is a script that finds the packet filter of this machine's kernel.
const filter = "ipt=iptables; $ipt -w -L -n >/dev/null 2>&1 || ipt=iptables-legacy; "

// dropping returns a script that drops all packets between its container and hosts,
// with the rules of one chain. All rules are set in one step: setting them one by one
// takes 0.25 s, in which many packets get through.
func dropping(chain string, hosts []string) string {
	var rules strings.Builder
	fmt.Fprintf(&rules, "*filter\n:%s - [0:0]\n", chain)
	for _, h := range hosts {
		fmt.Fprintf(&rules, "-A %[1]s -s %[2]s -j DROP\n-A %[1]s -d %[2]s -j DROP\n", chain, h)
	}
	fmt.Fprintf(&rules, "-I INPUT -j %[1]s\n-I OUTPUT -j %[1]s\nCOMMIT\n", chain)
	return filter + "$ipt-restore -w -n <<'end'\n" + rules.String() + "end\n"
}

// healScript is a script that removes all rules.
const healScript = filter + "$ipt -w -F"

// keepSynced is the start of a script for a server with an append-only file. It follows
// faketime if both are used: then its library comes first, and those of faketime stay
// in order.
const keepSynced = `export LD_PRELOAD="/usr/local/lib/synced.so${LD_PRELOAD:+ $LD_PRELOAD}"
`

// powerLoss is a script that turns the end of a killed server into a loss of power: it
// cuts its append-only files and its snapshot to their synced part. A file that was
// never synced becomes empty but stays, as a file system with a journal may leave it:
// the server starts with it, but not without a file that its manifest names.
const powerLoss = `setfattr -n user.lockcheck -v 1 /data || { echo "without extended attributes in /data the synced part is unknown" >&2; exit 1; }
for f in /data/appendonlydir/* /data/*.rdb; do
  [ -f "$f" ] || continue
  synced=$(getfattr --only-values -n user.synced "$f" 2>/dev/null) || synced=0
  [ "$synced" -ge "$(stat -c %s "$f")" ] || truncate -s "$synced" "$f" || exit 1
done`

// quote quotes words as arguments for the shell.
func quote(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
