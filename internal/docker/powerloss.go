package docker

// keepSynced goes before a server that has an append-only file, in the script
// that starts it, and after faketime where both are there: then its library
// comes first, and those that faketime wants stay in their order.
const keepSynced = `export LD_PRELOAD="/usr/local/lib/synced.so${LD_PRELOAD:+ $LD_PRELOAD}"
`

// powerLoss is a script that makes a loss of power of a server's end by kill
// -9, when its process is gone: of what it has written to its append-only files
// and its snapshot, only what was synced is still there. What was never synced
// is empty and not gone, as a file system with a journal may leave it: the
// server starts with it, while it refuses to without a file that its manifest
// names.
const powerLoss = `setfattr -n user.lockcheck -v 1 /data || { echo "without extended attributes in /data nobody knows what was synced" >&2; exit 1; }
for f in /data/appendonlydir/* /data/*.rdb; do
  [ -f "$f" ] || continue
  synced=$(getfattr --only-values -n user.synced "$f" 2>/dev/null) || synced=0
  [ "$synced" -ge "$(stat -c %s "$f")" ] || truncate -s "$synced" "$f" || exit 1
done`
