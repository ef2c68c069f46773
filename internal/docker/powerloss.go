package docker

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
