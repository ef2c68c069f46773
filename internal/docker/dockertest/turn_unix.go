//go:build unix

package dockertest

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// takeTurn waits for the machine's one turn, which this process then has to
// its end, however that comes. The turn is a lock on the directory for
// temporary files itself: it leaves no file behind.
var takeTurn = sync.OnceValue(func() error {
	fd, err := unix.Open(os.TempDir(), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for {
		if err = unix.Flock(fd, unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
})
