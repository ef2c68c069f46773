package client_test

import (
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

// realServer returns the address of a Redis server that ends with the test.
//
// It starts the redis-server of this machine. Without one it skips, unless
// LOCKCHECK_DOCKER=require says that this run has to see a real server.
func realServer(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("LOCKCHECK_DOCKER") == "require" {
			t.Fatal("LOCKCHECK_DOCKER=require, but there is no redis-server")
		}
		t.Skip("no redis-server on this machine")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_, port, _ := net.SplitHostPort(addr)
	l.Close()

	cmd := exec.Command(path, "--bind", "127.0.0.1", "--port", port, "--save", "", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 500 {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return addr
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("redis-server did not come up within 5 s")
	return ""
}
