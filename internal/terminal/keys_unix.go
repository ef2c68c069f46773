//go:build linux || darwin

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// readKeys makes a terminal give each key at once, and not show it. Ctrl-C stays a
// signal. restore undoes that. The error says that f is no terminal.
func readKeys(f *os.File) (restore func(), err error) {
	fd := int(f.Fd())
	old, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, err
	}
	keywise := *old
	keywise.Lflag &^= unix.ICANON | unix.ECHO
	keywise.Cc[unix.VMIN], keywise.Cc[unix.VTIME] = 1, 0
	return func() { unix.IoctlSetTermios(fd, setTermios, old) }, unix.IoctlSetTermios(fd, setTermios, &keywise)
}
