//go:build !unix

package dockertest

// takeTurn does nothing: see turn_unix.go.
func takeTurn(func()) error { return nil }
