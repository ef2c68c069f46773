package docker_test

import (
	"net"
	"testing"

	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

// A killed server comes back at the same address.
func TestMySQLServerComesBack(t *testing.T) {
	s := dockertest.MySQL(t)
	if err := s.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", s.Addr); err == nil {
		defer conn.Close()
		if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Error("a killed server answers")
		}
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}
