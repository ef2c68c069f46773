//go:build unix

package openfiles

import "syscall"

var _ = check()

// check looks at the hard limit: Go raises the other one.
func check() bool {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err == nil && uint64(limit.Max) < needed {
		print("lockcheck: this process may open ", uint64(limit.Max), " files (ulimit -n), and needs ", needed, "\n")
		syscall.Exit(4)
	}
	return true
}
