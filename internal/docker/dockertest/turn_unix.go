//go:build unix

package dockertest

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// takeTurn waits for the machine's one turn, which this process then has until it ends,
// however it ends. It calls waits if another process has the turn. The turn is a lock on
// the directory for temporary files itself: it leaves no file behind.
func takeTurn(waits func()) error {
	turn.once.Do(func() { turn.err = lockTemp(waits) })
	return turn.err
}

var turn struct {
	once sync.Once
	err  error
}

func lockTemp(waits func()) error {
	fd, err := unix.Open(os.TempDir(), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != unix.EWOULDBLOCK {
		return err
	}
	waits()
	for {
		if err = unix.Flock(fd, unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
}
