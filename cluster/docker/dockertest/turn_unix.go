//go:build unix

package dockertest

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// takeTurn waits for the machine's one turn. A process that has it gets it
// again at once; it ends with the process, however that ends.
func takeTurn() error {
	path := filepath.Join(os.TempDir(), "lockcheck-docker-tests.lock")
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return err
	}
	// Record locks belong to the process, and the file stays open to its end.
	return unix.FcntlFlock(uintptr(fd), unix.F_SETLKW, &unix.Flock_t{Type: unix.F_WRLCK})
}
