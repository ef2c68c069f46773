package docker

import (
	"net"
	"testing"
)

// Until the new primary leads, no client reaches it, nor the old one, which may still
// serve.
func TestNoClientReachesAPrimaryDuringItsPromotion(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	servers := []*mysqld{{}, {}}
	for _, s := range servers {
		s.Addr, s.up = server.Addr().String(), true
	}
	cuts := 0
	p := &primary{
		servers: servers, rows: newRows(nil, "mysql-1", nil, t.Logf),
		first: servers[0], sessions: map[string][]int64{}, cut: func() { cuts++ },
	}
	reached := func() bool {
		conn, _, err := p.Reach(t.Context(), "c1")
		if err == nil {
			conn.Close()
		}
		return err == nil
	}
	if !reached() {
		t.Error("the primary is not reached")
	}
	p.replaceBy(servers[1])
	if reached() || cuts != 1 || !servers[0].deposed.Load() || p.leader() != servers[1] {
		t.Errorf("rising: reached, or cut off %d times, or not in the old one's place", cuts)
	}
}
