package clients

import (
	"net"

	"golang.org/x/sys/unix"
)

// bytesReceived returns how many bytes the kernel has received on c.
func bytesReceived(c *net.TCPConn) (n int64, ok bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil {
			n, ok = int64(info.Bytes_received), true
		}
	})
	return n, ok
}
