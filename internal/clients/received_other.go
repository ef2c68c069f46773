//go:build !linux

package clients

import "net"

// bytesReceived is unsupported here.
func bytesReceived(*net.TCPConn) (n int64, ok bool) { return 0, false }
